//! A run that lets itself go on while a question is open at its terminal, and draws one of its own. What is typed then
//! opens nothing.

use serde_json::Value;

use crate::common::{Run, STOCKADE, Terminal, python, run};

/// What every prompt ends with.
const PROMPT: &str = " s)? ";
const WENT_ON: &str = "the program went on while the question was open: refused";

/// Asks for a file, and has a thread that draws a false prompt from when the run was let go on.
const ASKS: &str = "import ctypes, fcntl, os, signal, struct, sys, threading, time\n\
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCONT])\n\
    libc = ctypes.CDLL(None, use_errno=True)\n\
    def say(text): os.write(1, text.encode())\n\
    def timer(number, seconds):\n  \
      event = ctypes.create_string_buffer(struct.pack('qii', 0, number, 0), 64)\n  \
      made = ctypes.c_void_p()\n  \
      assert libc.timer_create(1, event, ctypes.byref(made)) == 0\n  \
      assert libc.timer_settime(made, 0, struct.pack('qqqq', 0, 0, int(seconds), int(seconds % 1 * 1e9)), None) == 0\n\
    def draw():\n  \
      signal.sigwait([signal.SIGCONT])\n  \
      while True: say('DRAWN: once, no or details? '); time.sleep(0.02)\n\
    def ask(name):\n  \
      try: open(name + '/file').read(); say(name + ' is ' + 'open\\n')\n  \
      except PermissionError: say(name + ' is ' + 'closed\\n')\n";

/// Lets go on what is below the warden.
const WAKE: &str = "for warden in $(pgrep -P $PROGRAM); do pkill -CONT -P $warden; done";

fn asking(code: &str) -> Run {
    let begun = run().flags(["--ask", "terminal"]).reporting();
    begun.place.file("d/file", "x");
    begun.place.file("e/file", "x");
    begun.python(&format!("{ASKS}{code}"))
}

fn report(run: &Run) -> Value {
    let text = std::fs::read(run.place.path("~/report.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

const DRAWS_WHILE_IT_ASKS: &str = "threading.Thread(target=draw, daemon=True).start()\n\
    ask('d'); time.sleep(0.3); say('over\\n'); os._exit(0)";

// promise: answers.3
#[test]
fn a_run_that_went_on_gets_no_answer_to_what_it_drew() {
    let begun = asking(DRAWS_WHILE_IT_ASKS);
    let code = Terminal::new()
        .awaits("d/file")
        .awaits(PROMPT)
        .never_saw("DRAWN")
        .meanwhile(WAKE)
        .awaits(WENT_ON)
        .awaits("DRAWN")
        .types("once\n")
        .awaits("over")
        .never_saw("d is open")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
    let report = report(&begun);
    let request = &report["escalation"]["requests"][0];
    assert_eq!(request["answer"], "silence", "{report}");
    assert_eq!(
        request["reason"], "the run went on while the question was open",
        "{report}"
    );
}

/// The answer is there before anybody has looked: what is in the terminal's line by then isn't taken.
#[test]
fn an_answer_that_comes_right_after_the_run_went_on_counts_for_nothing() {
    let begun = asking(DRAWS_WHILE_IT_ASKS);
    let code = Terminal::new()
        .awaits("d/file")
        .awaits(PROMPT)
        .meanwhile(WAKE)
        .types("once\n")
        .awaits("over")
        .never_saw("d is open")
        .never_saw("granted once")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
}

/// Stopped again before somebody looks, as if nothing had been.
#[test]
fn a_run_that_stops_itself_again_is_found_out() {
    let code = "def flash():\n  \
          signal.sigwait([signal.SIGCONT]); say('DRAWN: once, no or details? '); signal.raise_signal(signal.SIGSTOP)\n\
        if os.fork() == 0: flash(); time.sleep(20); os._exit(0)\n\
        ask('d'); say('over\\n'); os._exit(0)";
    let begun = asking(code);
    let code = Terminal::new()
        .awaits("d/file")
        .awaits(PROMPT)
        .meanwhile("for warden in $(pgrep -P $PROGRAM); do pkill -CONT -P $(pgrep -P $warden); done")
        .types("once\n")
        .awaits(WENT_ON)
        .awaits("over")
        .never_saw("d is open")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
}

#[test]
fn a_run_that_is_let_go_on_may_be_asked_about_again() {
    let begun = asking("ask('d'); ask('e')");
    let code = Terminal::new()
        .awaits("d/file")
        .awaits(PROMPT)
        .meanwhile(WAKE)
        .awaits("d is closed")
        .awaits("e/file")
        .awaits(PROMPT)
        .types("once\n")
        .awaits("e is open")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
}

/// The inner warden collects no orphans of the outer run's, and is below its warden itself.
#[test]
fn a_run_inside_the_run_that_goes_on_is_found_out_too() {
    let inside = "import os, time\nopen('inside', 'w').write(str(os.getpid()))\n\
                  while True: os.write(1, b'DRAWN'); time.sleep(0.02)";
    let begun = run()
        .profile("workspace")
        .flags(["--ask", "terminal", "--exec", STOCKADE.path()])
        .reporting();
    begun.place.file("inside.py", inside);
    let begun = begun.bash(&format!(
        "{STOCKADE} run --exec {STOCKADE} --profile workspace -- {} -I inside.py &\n\
         while ! [ -s inside ]; do sleep 0.05; done\n\
         if cat /etc/hosts >/dev/null 2>&1; then echo is open; else echo is' 'closed; fi; kill %1; exit 0",
        python()
    ));
    let inside = begun.place.path("inside");
    let code = Terminal::new()
        .awaits("/etc/hosts")
        .awaits(PROMPT)
        .meanwhile(&format!("kill -CONT $(cat {})", inside.display()))
        .awaits(WENT_ON)
        .types("once\n")
        .awaits("is closed")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
}

/// Nothing is asked where the kernel was told to let the run go on, or to end a part of it.
#[test]
fn with_a_timer_that_would_let_the_run_go_on_nothing_is_asked() {
    // Its end orphans a process group that is stopped, to which the kernel then sends SIGHUP and SIGCONT.
    let orphaning = "reader, writer = os.pipe()\n\
        if os.fork() == 0:\n  \
          if os.fork() == 0:\n    \
            os.setpgid(0, 0); signal.signal(signal.SIGHUP, signal.SIG_IGN); os.write(writer, b'x'); draw()\n  \
          timer(signal.SIGKILL, 20); os.write(writer, b'x'); time.sleep(20)\n\
        os.read(reader, 1); os.read(reader, 1)\n";
    let ways = ["timer(signal.SIGCONT, 20)\n", orphaning];
    for way in ways {
        let begun = asking(&format!("{way}ask('d'); os._exit(0)"));
        let code = Terminal::new()
            .awaits("d is closed")
            .never_saw(PROMPT)
            .ends_within(20)
            .plays(&begun);
        assert_eq!(code, 0);
        let report = report(&begun);
        let why =
            "refused by Stockade: a timer of the run would let it go on, so nothing is asked where it has its terminal";
        assert_eq!(report["denials"][0]["rule"]["text"], why, "{report}");
    }
}

#[test]
fn with_a_timer_that_only_rings_it_is_asked() {
    let begun = asking("signal.signal(14, lambda *_: say('rung\\n')); timer(14, 2); ask('d')");
    let code = Terminal::new()
        .awaits("d/file")
        .awaits(PROMPT)
        .never_saw("rung")
        // It takes the call back, as any signal does, and the program calls again.
        .awaits("rung")
        .awaits("d/file")
        .awaits(PROMPT)
        .types("no\n")
        .awaits("d is closed")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
}

/// Three requests for a SIGCONT at a time to come, each by a process that then stops itself.
const REQUESTS: &str = "def by_exit_signal():\n  \
      child = libc.syscall(56, signal.SIGCONT, 0, 0, 0, 0)\n  \
      if child < 0: raise OSError(ctypes.get_errno(), '')\n  \
      if child == 0: time.sleep(0.3); os._exit(0)\n\
    def by_death_signal():\n  \
      if libc.prctl(1, signal.SIGCONT, 0, 0, 0): raise OSError(ctypes.get_errno(), '')\n\
    def by_input():\n  \
      reader, writer = os.pipe()\n  \
      fcntl.fcntl(reader, fcntl.F_SETOWN, os.getpid()); fcntl.fcntl(reader, 10, signal.SIGCONT)\n  \
      fcntl.fcntl(reader, fcntl.F_SETFL, fcntl.fcntl(reader, fcntl.F_GETFL) | os.O_ASYNC)\n  \
      if os.fork() == 0: time.sleep(0.3); os.write(writer, b'x'); os._exit(0)\n\
    for way in by_exit_signal, by_death_signal, by_input:\n  \
      reader, writer = os.pipe()\n  \
      parent = os.fork()\n  \
      if parent == 0:\n    \
        if os.fork(): time.sleep(0.5); os._exit(0)\n    \
        try: way(); word = 'goes on'\n    \
        except OSError as error: os.write(writer, errno.errorcode[error.errno].encode()); os._exit(0)\n    \
        os.kill(os.getpid(), signal.SIGSTOP)\n    \
        os.write(writer, b'goes on'); os._exit(0)\n  \
      os.close(writer); print(way.__name__ + ':', os.read(reader, 20).decode(), flush=True)\n";

#[test]
fn sigcont_can_not_be_asked_for_in_advance() {
    let code = format!("import errno\n{ASKS}{REQUESTS}");
    let plain = std::process::Command::new(python())
        .args(["-I", "-c", &code])
        .output()
        .unwrap();
    let plain = String::from_utf8(plain.stdout).unwrap();
    assert_eq!(
        plain,
        "by_exit_signal: goes on\nby_death_signal: goes on\nby_input: goes on\n"
    );
    run()
        .python(&code)
        .stdout("by_exit_signal: EPERM\nby_death_signal: EINVAL\nby_input: EINVAL\n")
        .ends();
}
