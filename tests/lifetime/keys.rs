//! Keys of a terminal: they reach the program, which decides, and nobody is locked out.

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
    let shell = ["bash", "--norc", "--noprofile", "-i"].map(Into::into).to_vec();
    let mut shell: Vec<std::ffi::OsString> = shell;
    shell[0] = "/bin/bash".into();
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
        .plays_command(&begun, shell);
    assert_eq!(status, 0);
}
