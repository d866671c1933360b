//! Keys of a terminal: they reach the program, which decides, and the user isn't locked out.

use crate::common::{STOCKADE, Terminal, run};

const CTRL_C: &str = "\u{3}";
const CTRL_Z: &str = "\u{1a}";
const CTRL_BACKSLASH: &str = "\u{1c}";

const IGNORES: &str = "import signal, time\n\
    signal.signal(signal.SIGINT, signal.SIG_IGN)\n\
    print('ready', flush=True)\n\
    time.sleep(60)";

/// Like an interpreter at its prompt: an interrupt drops the line. Waits for both without a race.
const CATCHES: &str = "import os, select, signal, sys\n\
    reader, writer = os.pipe()\n\
    os.set_blocking(writer, False)\n\
    signal.set_wakeup_fd(writer)\n\
    signal.signal(signal.SIGINT, lambda *_: None)\n\
    print('ready', flush=True)\n\
    while True:\n  \
      ready = select.select([0, reader], [], [])[0]\n  \
      if reader in ready:\n    \
        os.read(reader, 1)\n    \
        print('interrupted', flush=True)\n  \
      if 0 in ready:\n    \
        line = os.read(0, 100).decode().strip()\n    \
        print('heard', line, flush=True)\n    \
        if line == 'leave': sys.exit(5)";

#[test]
fn an_interrupt_ends_a_plain_program() {
    let code = Terminal::new()
        .awaits("ready")
        .types(CTRL_C)
        .ends_within(5)
        .plays(&run().bash("echo ready; sleep 60"));
    assert_eq!(code, 130);
}

#[test]
fn an_interrupt_ends_a_program_that_ignores_it() {
    let code = Terminal::new()
        .awaits("ready")
        .types(CTRL_C)
        .ends_within(5)
        .plays(&run().python(IGNORES));
    assert_eq!(code, 130);
}

/// A shell that catches it, for one, and stopped itself without a key: Stockade doesn't stop with it.
#[test]
fn an_interrupt_ends_a_stopped_program() {
    let code = Terminal::new()
        .awaits("ready")
        .types(CTRL_C)
        .ends_within(5)
        .plays(&run().bash(
            "trap : INT
             (until grep -q ' T ' /proc/$$/stat; do sleep 0.02; done; echo ready) &
             kill -STOP $$; sleep 60",
        ));
    assert_eq!(code, 130);
}

#[test]
fn a_program_that_catches_an_interrupt_goes_on() {
    let code = Terminal::new()
        .awaits("ready")
        .types(CTRL_C)
        .awaits("interrupted")
        .types("still here\n")
        .awaits("heard still here")
        .types(CTRL_C)
        .awaits("interrupted")
        .types("leave\n")
        .ends_within(5)
        .plays(&run().python(CATCHES));
    assert_eq!(code, 5);
}

#[test]
fn who_insists_ends_even_a_program_that_catches() {
    let code = Terminal::new()
        .awaits("ready")
        .types(CTRL_C)
        .awaits("interrupted")
        .types(CTRL_C)
        .awaits("interrupted")
        .types(CTRL_C)
        .ends_within(5)
        .plays(&run().python(CATCHES));
    assert_eq!(code, 130);
}

#[test]
fn a_key_pressed_at_once_is_answered_too() {
    // The program speaks before the launcher could have settled down.
    for _ in 0..10 {
        let begun = run()
            .profile("readonly")
            .reporting()
            .command(["sh", "-c", "echo ready; read line"]);
        let code = Terminal::new()
            .awaits("ready")
            .types(CTRL_C)
            .ends_within(5)
            .plays(&begun);
        assert_eq!(code, 130, "Stockade itself fell to the key");
        assert_eq!(begun.place.leftovers(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn a_quit_key_ends_a_plain_program() {
    let code = Terminal::new()
        .awaits("ready")
        .types(CTRL_BACKSLASH)
        .ends_within(5)
        .plays(&run().python("import time\nprint('ready', flush=True)\ntime.sleep(60)"));
    assert_eq!(code, 131);
}

#[test]
fn a_run_stops_at_a_key_and_goes_on() {
    let begun = run().python(
        "import time\n\
         print('ready', flush=True)\n\
         answer = input()\n\
         print('heard', answer, flush=True)",
    );
    // What a person types into a shell with job control.
    let command = format!("{STOCKADE} run --root {}", begun.place.root.display());
    let code = begun.words().last().unwrap().to_string_lossy().replace('\n', "\\n");
    let line = format!(
        "{command} -- {} -I -c $'{}'\n",
        crate::common::python(),
        code.replace('\'', "\\'")
    );
    let status = Terminal::new()
        .types(&line)
        .awaits("ready\r\n")
        .types(CTRL_Z)
        .awaits("Stopped")
        .types("echo in$((1+1))between\n")
        .awaits("in2between")
        .types("fg\n")
        .awaits("stockade run")
        .types("hello\n")
        .awaits("heard hello")
        .types("exit $?\n")
        .ends_within(5)
        .plays_command(&begun, job_control());
    assert_eq!(status, 0);
}

/// The question is no answer's: it comes again, and the program, which waited all along, has it then.
#[test]
fn a_question_stops_at_a_key_and_comes_again() {
    let begun = run();
    begun.place.file("notes.txt", "call Bo\n");
    let root = begun.place.root.display();
    let status = Terminal::new()
        .types(&format!(
            "{STOCKADE} run --root {root} -- cat {root}/notes.txt; echo over $((1000+$?))\n"
        ))
        .awaits("etails (60 s)? ")
        .types(CTRL_Z)
        .awaits("stockade: stopped; the question comes again")
        .awaits("Stopped")
        .types("echo in$((1+1))between\n")
        .awaits("in2between")
        .types("fg\n")
        .awaits("etails (60 s)? ")
        .types("y\n")
        .awaits("call Bo")
        .types("exit\n")
        .ends_within(20)
        .plays_command(&begun, job_control());
    assert_eq!(status, 0);
}

/// As `suspend` of a shell does. A script that waits for it hears of no stop, so there the run goes on to live.
#[test]
fn a_run_that_stops_itself_gives_the_shell_its_terminal_back() {
    let begun = run();
    let root = begun.place.root.display();
    let itself = format!("{STOCKADE} run --root {root} -- bash -c");
    let status = Terminal::new()
        .types(&format!("{itself} 'kill -STOP $$; echo went on'; echo\n"))
        .awaits("Stopped")
        .types("echo in$((1+1))between; fg\n")
        .awaits("in2between")
        .awaits("went on\r\n")
        .types(&format!(
            "bash -c \"{itself} '(until grep -q \\\" T \\\" /proc/\\$\\$/stat; do :; done; kill -CONT \\$\\$) & \
             kill -STOP \\$\\$; echo in a script'; echo and on\"\n"
        ))
        .awaits("in a script\r\nand on\r\n")
        .types("exit\n")
        .ends_within(10)
        .plays_command(&begun, job_control());
    assert_eq!(status, 0);
}

/// A shell with job control.
fn job_control() -> Vec<std::ffi::OsString> {
    ["/bin/bash", "--norc", "--noprofile", "-i"].map(Into::into).to_vec()
}

/// It goes back to the group that it was started in, which the run isn't let into.
#[test]
fn an_interactive_shell_that_fails_is_not_said_to_have_been_refused_its_group() {
    let begun = run();
    let root = begun.place.root.display();
    let line = format!(
        "{STOCKADE} run --root {root} --profile workspace -- bash --norc --noprofile -i; echo over $((1000+$?))\n"
    );
    let status = Terminal::new()
        .types(&line)
        .types("echo in''side; exit 3\n")
        .awaits("inside\r\n")
        .awaits("over 1003")
        .never_saw("process group")
        .types("exit\n")
        .ends_within(20)
        .plays_command(&begun, job_control());
    assert_eq!(status, 0);
}

/// A stopped launcher would keep no limits, so it stops with a run that is held still, and with no other.
#[test]
fn a_run_that_would_go_on_puts_no_limit_to_sleep_by_stopping_itself() {
    let begun = run().file(
        "x.py",
        "import ctypes, os, signal, struct, time\n\
         libc = ctypes.CDLL(None)\n\
         timer = ctypes.c_void_p()\n\
         event = struct.pack('qii48x', 0, signal.SIGCONT, 0) # SIGEV_SIGNAL\n\
         assert libc.timer_create(1, event, ctypes.byref(timer)) == 0\n\
         libc.timer_settime(timer, 0, struct.pack('qqqq', 0, 10_000_000, 0, 10_000_000), None)\n\
         print('ready', flush=True)\n\
         os.kill(os.getpid(), signal.SIGTTIN)\n\
         while True: time.sleep(0.1)\n",
    );
    let root = begun.place.root.display();
    let line = format!(
        "{STOCKADE} run --root {root} --time-limit 2s -- {} -I {root}/x.py; echo over $((1000+$?))\n",
        crate::common::python()
    );
    let status = Terminal::new()
        .types(&line)
        .awaits("ready\r\n")
        .awaits("over 1124")
        .types("exit\n")
        .ends_within(20)
        .plays_command(&begun, job_control());
    assert_eq!(status, 0);
}

/// Nothing of it runs meanwhile, but a caller that waits for its end has it.
#[test]
fn a_stopped_run_ends_at_its_time_limit() {
    let begun = run();
    let root = begun.place.root.display();
    let line = format!(
        "{STOCKADE} run --root {root} --time-limit 2s -- sh -c 'kill -TSTP $$; sleep 60'; \
         while [ -n \"$(jobs -s)$(jobs -r)\" ]; do sleep 0.1; done\n"
    );
    let status = Terminal::new()
        .types(&line)
        .awaits("Stopped")
        .awaits("Exit 124")
        .types("exit\n")
        .ends_within(20)
        .plays_command(&begun, job_control());
    assert_eq!(status, 0);
}

/// It was held still before that, while its trees were walked. On one processor it is told so before it has ended.
#[test]
fn a_run_that_ends_for_its_disk_does_not_stop_its_launcher() {
    let begun = run();
    std::fs::create_dir(begun.place.path("many")).unwrap();
    for number in 0..10_000 {
        std::fs::write(begun.place.path(&format!("many/{number}")), "").unwrap();
    }
    let root = begun.place.root.display();
    let line = format!(
        "{STOCKADE} run --root {root} --profile workspace --disk-limit 20M -- sh -c \
         'while :; do head -c 1M /dev/urandom >f$((n+=1)); done'; echo over $((1000+$?))\n"
    );
    let status = Terminal::new()
        .types(&format!("taskset -p -c 0 $$ || exit\n{line}"))
        .awaits("over 1137")
        .never_saw("Stopped")
        .types("exit\n")
        .ends_within(20)
        .plays_command(&begun, job_control());
    assert_eq!(status, 0);
}

/// What a program that ends in the midst of things leaves behind: no echo, no lines, no keys that signal. A shell for the
/// person around it says what the terminal is like after the run.
#[test]
fn the_terminal_has_its_modes_and_its_size_again_when_the_run_is_over() {
    let spoil = "import fcntl, os, struct, termios, tty\n\
                 tty.setraw(0)\n\
                 mode = termios.tcgetattr(0)\n\
                 mode[0] |= termios.IXOFF; mode[6][termios.VINTR] = b'x'\n\
                 termios.tcsetattr(0, termios.TCSANOW, mode)\n\
                 def size(fd):\n  \
                   try: fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('4H', 7, 9, 0, 0)); return 'changed'\n  \
                   except PermissionError: return 'kept'\n\
                 master, other = os.openpty()\n\
                 own = [size(master), size(other), os.get_terminal_size(other)[:]]\n\
                 print(size(0), *own, flush=True)\n\
                 os.kill(os.getpid(), 9)";
    let run = run().profile("workspace").python(spoil);
    let words: Vec<String> = run
        .words()
        .iter()
        .map(|word| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''")))
        .collect();
    let confined = format!("{STOCKADE} {} 2>/dev/null", words.join(" "));
    let before = "stty size; stty -g >before";
    let after = "stty -g >after; cmp before after && echo 'the same'; stty size";
    let script = format!("cd \"$HOME\"; stty rows 24 cols 80; {before}; {confined}; {after}; echo over");
    let code = Terminal::new()
        .awaits("24 80")
        .awaits("kept changed changed (9, 7)")
        .awaits("the same")
        .awaits("24 80")
        .awaits("over")
        .ends_within(5)
        .plays_command(&run, vec!["/bin/sh".into(), "-c".into(), script.into()]);
    assert_eq!(code, 0);
}
