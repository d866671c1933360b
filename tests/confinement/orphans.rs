//! Signals that the kernel sends of itself: to process groups that become orphans, and by events of a terminal.
#![cfg(target_arch = "x86_64")]

use std::fmt::Write as _;

use super::outsiders::{ABIS, Stage};

/// Ways to be the last that ties the launcher's group to its session, and to end then, while a process of the group is
/// stopped: SIGHUP and SIGCONT for all of the group.
const ORPHANING: &[(&str, &str)] = &[
    ("stopped(); x = waits(); os.setpgid(0, 0); ends(x)", "EPERM"),
    (
        "stopped(); P = os.getpgrp(); os.setpgid(0, 0); x = waits(lambda: os.setpgid(0, P)); ends(x)",
        "EPERM",
    ),
    ("stopped(); send_away()", "EACCES"),
    (
        "stopped(); t = threading.Thread(target=short); t.start(); leave(); t.join()",
        "EPERM",
    ),
    ("stopped(); leave_while_a_child_clones_siblings()", "EPERM"),
];

/// `waits` begins a child that waits until `ends` ends it, and is done with the preparation before.
const PROCESSES: &str = "signal.signal(1, signal.SIG_IGN)\n\
    def stopped():\n  \
      child = os.fork()\n  \
      if child == 0: signal.signal(1, signal.SIG_DFL); os.kill(os.getpid(), 19); os._exit(0)\n  \
      os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOWAIT)\n\
    go, held = os.pipe()\n\
    def waits(begin=lambda: None):\n  \
      told, tell = os.pipe()\n  \
      child = os.fork()\n  \
      if child == 0:\n    \
        try: begin(); error = 0\n    \
        except OSError as failure: error = failure.errno\n    \
        os.write(tell, bytes([error])); os.read(go, 1); os._exit(0)\n  \
      error = os.read(told, 1)[0]\n  \
      if error: ends(child); raise OSError(error, '')\n  \
      return child\n\
    def ends(child): os.kill(child, 9); os.waitpid(child, 0)\n\
    def send_away():\n  \
      told, tell = os.pipe()\n  \
      child = os.fork()\n  \
      if child == 0:\n    \
        if os.fork() == 0: os.read(go, 1); os._exit(0)\n    \
        os.write(tell, b'x'); os.wait(); os._exit(0)\n  \
      os.read(told, 1)\n  \
      try: os.setpgid(child, child)\n  \
      finally: os.write(held, b'x'); os.waitpid(child, 0)\n\
    def leave():\n  \
      time.sleep(0.02); os.setpgid(0, 0); time.sleep(0.1)\n\
    def short():\n  \
      for _ in range(100):\n    \
        if os.fork() == 0: time.sleep(0.003); os._exit(0)\n    \
        time.sleep(0.001)\n\
    def leave_while_a_child_clones_siblings():\n  \
      told, tell = os.pipe()\n  \
      if os.fork() == 0:\n    \
        for n in range(100):\n      \
          if call(56, 0x8000 | 17, 0, 0, 0, 0) == 0: time.sleep(0.003); os._exit(0)\n      \
          if n == 5: os.write(tell, b'x')\n      \
          time.sleep(0.001)\n    \
        os._exit(0)\n  \
      os.read(told, 1); os.setpgid(0, 0); time.sleep(0.2)\n";

/// In the program's own process: what it leaves behind may be stopped, and ends with the run.
fn tried(code: &str) -> Stage {
    Stage::new(&format!(
        "{PROCESSES}\
         try: {code}\n\
         except OSError as error: print('0:', errno.errorcode[error.errno])\n\
         else: print('0: ok')"
    ))
}

// promise: processes.4
#[test]
fn no_process_group_outside_is_orphaned_by_the_run() {
    for (code, refusal) in ORPHANING {
        let stage = tried(code);
        let free = stage.bare();
        for name in ["L", "G"] {
            assert!(
                free.signals(name).contains(&1),
                "unconfined `{code}`: {:?} {}",
                free.words,
                free.outside
            );
        }
        for abi in [None, Some("2")] {
            let held = stage.confined(abi);
            held.assert_untouched(code);
            assert_eq!(held.words, [format!("0: {refusal}")], "ABI {abi:?}: `{code}`");
        }
    }
}

#[test]
fn process_groups_of_the_run_are_its_own_affair() {
    let codes = [
        "os.setpgid(0, 0); expect(os.getpgrp() == os.getpid())",
        "os.setpgid(0, 0); x = os.fork(); x or os._exit(0 if os.getpgrp() == os.getppid() else 1); expect(os.wait()[1] == 0)",
        // A second process of a shell's pipeline.
        "a = waits(lambda: os.setpgid(0, 0)); b = waits(lambda: os.setpgid(0, a)); expect(os.getpgid(b) == a); ends(a); ends(b)",
        "a = waits(lambda: os.setpgid(0, 0)); os.setpgid(a, a); ends(a)",
        // Its parent is first, and waits for a child that is late.
        "x = os.fork(); x or (time.sleep(0.3), os.setpgid(0, 0), os.read(go, 1), os._exit(0)); \
         os.setpgid(x, x); expect(os.getpgid(x) == x); ends(x)",
        "os.setsid(); a = waits(); os.setpgid(a, a); expect(os.getpgid(a) == a); ends(a)",
        "expect(subprocess.run(['bash', '-c', 'set -m; sleep 60 & kill -- -$!']).returncode == 0)",
        "expect(subprocess.run(['timeout', '20', 'true']).returncode == 0)",
    ];
    let mut script = PROCESSES.to_string();
    for code in codes {
        let code = serde_json::to_string(code).unwrap();
        let _ = writeln!(script, "attempt(0, {code})");
    }
    for abi in ABIS {
        let held = Stage::new(&script).confined(abi);
        assert_eq!(held.words, ["0: ok"; 8], "ABI {abi:?}");
    }
}

/// The owner of a terminal's events, where none was named, is its foreground group.
const BY_TERMINAL: [&str; 3] = [
    "fcntl.fcntl(0, 10, 50); fcntl.fcntl(0, 4, fcntl.fcntl(0, 3) | os.O_ASYNC)",
    "fcntl.fcntl(0, 10, 50); fcntl.ioctl(0, 0x5452, struct.pack('i', 1))",
    "fcntl.fcntl(0, 8, os.getpid()); fcntl.fcntl(0, 8, 0); fcntl.fcntl(0, 10, 50); fcntl.ioctl(0, 0x5452, struct.pack('i', 1))",
];

// promise: processes.3
#[test]
fn events_of_the_terminal_signal_no_process_outside() {
    let stage = |code: &str, signal: i32| Stage {
        stdin: Some("terminal"),
        after: "program.stdout.readline(); os.write(near, b'x\\n')",
        ..Stage::new(&format!(
            "signal.pthread_sigmask(signal.SIG_BLOCK, [{signal}])\n\
             try: {code}; word = 'ok'\n\
             except OSError as error: word = errno.errorcode[error.errno]\n\
             print('ready', flush=True)\n\
             sys.stdin.readline()\n\
             print(word, {signal} in signal.sigpending())"
        ))
    };
    for code in BY_TERMINAL {
        let free = stage(code, 50).bare();
        assert_eq!(free.words, ["ok True"], "{}", free.outside);
        assert_eq!((free.signals("L"), free.signals("G")), (vec![50], vec![50]), "`{code}`");
        for abi in ABIS {
            let held = stage(code, 50).confined(abi);
            held.assert_untouched(code);
            assert_eq!(held.words, ["EPERM False"], "ABI {abi:?}: `{code}`");
        }
    }
    let own =
        "fcntl.fcntl(0, 8, os.getpid()); fcntl.fcntl(0, 10, 29); fcntl.fcntl(0, 4, fcntl.fcntl(0, 3) | os.O_ASYNC)";
    for abi in ABIS {
        let held = stage(own, 29).confined(abi);
        held.assert_untouched(own);
        assert_eq!(held.words, ["ok True"], "ABI {abi:?}");
    }
}
