//! Runs that do all they can to outlive their end, at each kind of end: with Landlock's scope for signals, where the
//! warden ends all at once, and without it, where it ends its children round after round.

use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::harnesses::children_of;
use super::watched::{PATIENCE, READY, Watched, with_daemon};
use crate::common::{Run, run, slowness, until};
use crate::supervision::both::{compile, has_compiler};

/// Beside the daemon, which ignores all signals: a process that is stopped, a chain of subreapers each of which ends before
/// its child does, sessions inside sessions, and processes each of which starts the next and ends. Then it is ready.
const STUBBORN: &str = "import ctypes\n\
    libc = ctypes.CDLL(None)\n\
    def ignores():\n  \
      for number in range(1, 65):\n    \
        try: signal.signal(number, signal.SIG_IGN)\n    \
        except (OSError, ValueError): pass\n\
    if os.fork() == 0: os.setsid(); os.kill(os.getpid(), 19); time.sleep(60)\n\
    if os.fork() == 0:\n  \
      ignores()\n  \
      for n in range(12):\n    \
        libc.prctl(36, 1, 0, 0, 0)\n    \
        if n % 3 == 0: os.setsid()\n    \
        if os.fork(): time.sleep(0.01 * n if n % 2 else 60); os._exit(0)\n  \
      time.sleep(60); os._exit(0)\n\
    for chain in range(3):\n  \
      if os.fork() == 0:\n    \
        ignores()\n    \
        if chain % 2: os.setsid()\n    \
        number = 0\n    \
        while True:\n      \
          number += 1\n      \
          if (chain, number) == (0, 20): os.write(writer, b'x')\n      \
          if os.fork(): os._exit(0)\n\
    os.read(reader, 1)\n";

#[derive(Debug, Clone, Copy)]
enum End {
    Exit,
    TimeLimit,
    Terminated,
    Killed,
}

fn begun(end: End, abi: Option<&str>) -> Run {
    let last = match end {
        End::Exit => "os._exit(3)",
        _ => "ignores(); time.sleep(60)",
    };
    let code = format!("{STUBBORN}{READY}\n{last}");
    let begun = with_daemon(&code);
    let begun = match abi {
        Some(abi) => begun.landlock(abi),
        None => begun,
    };
    match end {
        // An emulated interpreter takes seconds until it has begun.
        End::TimeLimit => begun.flags(["--time-limit", &format!("{}s", slowness().pow(2))]),
        _ => begun,
    }
}

fn ends(end: End, abi: Option<&str>) {
    let run = begun(end, abi);
    // What the time limit ends needn't be ready by then.
    let watched = match end {
        End::TimeLimit => Watched::start(run),
        _ => Watched::start_until_ready(run),
    };
    match end {
        End::Exit | End::TimeLimit => {}
        End::Terminated => watched.signal(Signal::SIGTERM),
        End::Killed => watched.signal(Signal::SIGKILL),
    }
    let code = match end {
        End::Exit => 3,
        End::TimeLimit => 124,
        End::Terminated => 143,
        End::Killed => -9,
    };
    assert_eq!(watched.ends(), code, "{end:?} with ABI {abi:?}");
}

#[test]
fn nothing_survives_any_end_without_the_scope() {
    for end in [End::Exit, End::Terminated, End::Killed] {
        for _ in 0..5 {
            ends(end, Some("2"));
        }
    }
    ends(End::TimeLimit, Some("2"));
}

#[test]
fn nothing_survives_any_end_within_the_scope() {
    for end in [End::Exit, End::TimeLimit, End::Terminated, End::Killed] {
        ends(end, None);
    }
}

/// Without the scope the warden goes through its children, of which the youngest come last: behind all that have ended and that it
/// has still to collect.
#[test]
fn a_storm_ends_that_leaves_more_behind_than_is_collected_at_once() {
    const STORM: &str = "#include <unistd.h>\n\
                         int main() {\n\
                           for (int chain = 0; chain < 100; chain++)\n\
                             if (fork() == 0)\n\
                               for (;;) { int child; while ((child = fork()) < 0); if (child) _exit(0); }\n\
                           pause();\n\
                         }\n";
    if !has_compiler() {
        return;
    }
    for abi in [None, Some("2")] {
        let begun = run().profile("workspace").flags(["--time-limit", "2s"]);
        let begun = match abi {
            Some(abi) => begun.landlock(abi),
            None => begun,
        };
        let program = compile(&begun.place, "storm", STORM, &["-static"]);
        begun
            .command([program.to_str().unwrap()])
            .any_stderr()
            .status(124)
            .ends();
        assert!(!lives(&program), "{abi:?}");
    }
}

/// Each process makes the next and stays: the kernel gives the warden one of them at a time, once the one before has ended.
#[test]
fn a_chain_ends_that_grows_at_its_far_end() {
    const CHAIN: &str = "#include <signal.h>\n\
                         #include <unistd.h>\n\
                         int main() {\n\
                           for (int i = 1; i < 65; i++) signal(i, SIG_IGN);\n\
                           if (fork()) for (;;) pause();\n\
                           for (;;) { usleep(300); if (fork() > 0) for (;;) pause(); }\n\
                         }\n";
    if !has_compiler() {
        return;
    }
    for abi in [None, Some("2")] {
        for is_warden_killed in [false, true] {
            // What the time limit ends has to have begun by then.
            let limit = format!("{}s", if is_warden_killed { 60 } else { slowness().pow(2) });
            let begun = run().profile("workspace").flags(["--time-limit", &limit]);
            let begun = match abi {
                Some(abi) => begun.landlock(abi),
                None => begun,
            };
            let program = compile(&begun.place, "chain", CHAIN, &["-static"]);
            let begun = begun.command([program.to_str().unwrap()]).any_stderr();
            if is_warden_killed {
                let mut launcher = begun.process().spawn().unwrap();
                assert!(until(PATIENCE, || lives(&program)), "the chain hasn't begun");
                let warden = children_of(launcher.id().cast_signed())[0];
                kill(Pid::from_raw(warden), Signal::SIGKILL).unwrap();
                assert_eq!(launcher.wait().unwrap().code(), Some(125));
            } else {
                begun.status(124).ends();
            }
            assert!(!lives(&program), "{abi:?} {is_warden_killed}");
        }
    }
}

/// Whether a process executes a program.
fn lives(program: &Path) -> bool {
    let executes = |entry: std::fs::DirEntry| {
        let executed = std::fs::read_link(entry.path().join("exe"));
        executed.is_ok_and(|executed| executed.starts_with(program))
    };
    std::fs::read_dir("/proc").unwrap().flatten().any(executes)
}
