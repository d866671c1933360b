//! No process of a run outlives it. The proof is a pipe: its reader meets the end only when nobody holds it.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{Run, is_alive, python, run, until};

/// Long enough for a loaded machine, shorter than anything that the runs here sleep.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts a daemon that ignores every signal it can, holds standard output, and has nobody above it.
const DAEMON: &str = "import os, signal, sys, time\n\
    def daemon():\n  \
      if os.fork(): os.wait(); return\n  \
      os.setsid()\n  \
      if os.fork(): os._exit(0)\n  \
      for number in range(1, 65):\n    \
        try: signal.signal(number, signal.SIG_IGN)\n    \
        except (OSError, ValueError): pass\n  \
      print('daemon', os.getpid(), flush=True)\n  \
      os.write(writer, b'x')\n  \
      time.sleep(90)\n  \
      os._exit(0)\n\
    reader, writer = os.pipe()\n\
    daemon()\n\
    os.read(reader, 1)\n";

/// Says that the command is where the signal is to meet it.
const READY: &str = "print('ready', os.getpid(), flush=True)";

/// A run with a daemon, whose output is read here.
struct Watched {
    child: Child,
    /// Closed when nobody holds the output any more.
    over: mpsc::Receiver<()>,
    daemon: i32,
    /// The command, where it said that it is ready.
    command: Option<i32>,
    _place: Option<Run>,
}

impl Watched {
    fn start(begun: Run) -> Watched {
        Watched::start_to(begun, false)
    }

    /// The same, and waits until the command is ready (see [`READY`]).
    fn start_until_ready(begun: Run) -> Watched {
        Watched::start_to(begun, true)
    }

    fn start_to(begun: Run, ready: bool) -> Watched {
        let mut process = begun.process();
        let child = process
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Watched::over(child, Some(begun), ready)
    }

    fn over(mut child: Child, place: Option<Run>, ready: bool) -> Watched {
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let daemon = told(&mut reader, "daemon");
        let command = ready.then(|| told(&mut reader, "ready"));
        Watched {
            child,
            over: end_of(reader),
            daemon,
            command,
            _place: place,
        }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    fn is_over_within(&self, time: Duration) -> bool {
        self.over.recv_timeout(time) != Err(mpsc::RecvTimeoutError::Timeout)
    }

    /// The whole tree is gone; the exit code of Stockade, a signal as its negative.
    fn ends(mut self) -> i32 {
        assert!(
            self.is_over_within(PATIENCE),
            "somebody of the run still holds its output"
        );
        assert!(until(PATIENCE, || !is_alive(self.daemon)), "the daemon survives");
        let status = self.child.wait().unwrap();
        status.code().unwrap_or_else(|| -status.signal().unwrap())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The process that says this of itself in the next line.
fn told(reader: &mut BufReader<ChildStdout>, word: &str) -> i32 {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let pid = line.trim().strip_prefix(word).and_then(|pid| pid.trim().parse().ok());
    pid.unwrap_or_else(|| panic!("nobody says {word:?}: {line:?}"))
}

/// Whether a process is stopped.
fn is_stopped(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| rest.trim_start().starts_with('T'))
}

fn end_of(mut reader: BufReader<ChildStdout>) -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut rest = Vec::new();
        let _ = reader.read_to_end(&mut rest);
        drop(sender);
    });
    receiver
}

fn with_daemon(then: &str) -> Run {
    run().python(&format!("{DAEMON}{then}"))
}

#[test]
fn unconfined_the_daemon_survives() {
    let child = std::process::Command::new(python())
        .args(["-I", "-c", DAEMON])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let watched = Watched::over(child, None, false);
    assert!(!watched.is_over_within(Duration::from_secs(1)));
    assert!(is_alive(watched.daemon));
    kill(Pid::from_raw(watched.daemon), Signal::SIGKILL).unwrap();
    assert!(watched.is_over_within(PATIENCE));
}

#[test]
fn a_daemon_ends_with_the_command() {
    assert_eq!(Watched::start(with_daemon("sys.exit(7)")).ends(), 7);
}

#[test]
fn a_daemon_ends_with_a_command_that_crashes() {
    assert_eq!(Watched::start(with_daemon("os.abort()")).ends(), 128 + 6);
}

#[test]
fn a_daemon_ends_when_stockade_is_told_to() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130), (Signal::SIGHUP, 129)] {
        let watched = Watched::start(with_daemon("time.sleep(60)"));
        watched.signal(signal);
        assert_eq!(watched.ends(), code, "{signal}");
    }
}

#[test]
fn a_command_that_ignores_the_signal_is_ended_all_the_same() {
    let ignoring = format!("signal.signal(15, signal.SIG_IGN); {READY}; time.sleep(60)");
    let watched = Watched::start_until_ready(with_daemon(&ignoring));
    watched.signal(Signal::SIGTERM);
    assert_eq!(watched.ends(), 143);
}

#[test]
fn a_command_may_tidy_up_before_it_ends() {
    let tidy = format!("signal.signal(15, lambda *_: sys.exit(9)); {READY}; time.sleep(60)");
    let watched = Watched::start_until_ready(with_daemon(&tidy));
    watched.signal(Signal::SIGTERM);
    assert_eq!(watched.ends(), 9);
}

#[test]
fn a_daemon_ends_on_the_time_limit() {
    let begun = with_daemon("time.sleep(60)").flags(["--time-limit", "1s"]);
    assert_eq!(Watched::start(begun).ends(), 124);
}

#[test]
fn a_daemon_ends_when_stockade_is_killed() {
    let watched = Watched::start(with_daemon("time.sleep(60)"));
    watched.signal(Signal::SIGKILL);
    assert_eq!(watched.ends(), -9);
}

#[test]
fn a_stopped_run_ends_when_stockade_is_killed() {
    let stopping = format!("{READY}; os.kill(os.getpid(), signal.SIGSTOP)");
    let watched = Watched::start_until_ready(with_daemon(&stopping));
    let command = watched.command.unwrap();
    assert!(until(PATIENCE, || is_stopped(command)), "the command isn't stopped");
    watched.signal(Signal::SIGKILL);
    assert_eq!(watched.ends(), -9);
}

#[test]
fn a_fork_storm_ends_with_the_command() {
    let storm = "for _ in range(20):\n  \
                   if os.fork() == 0:\n    \
                     while True:\n      \
                       if os.fork(): os._exit(0)\n\
                 time.sleep(0.5)\n\
                 os._exit(3)";
    assert_eq!(Watched::start(with_daemon(storm)).ends(), 3);
}

/// There is always one more process that has ended: collecting them must not be all that is done.
#[test]
fn a_fork_storm_ends_when_stockade_is_killed() {
    let storm = "for _ in range(400):\n  \
                   if os.fork() == 0:\n    \
                     while True:\n      \
                       if os.fork(): os._exit(0)\n\
                 time.sleep(60)";
    let watched = Watched::start(with_daemon(storm));
    // It is to rage for a while.
    thread::sleep(Duration::from_millis(500));
    watched.signal(Signal::SIGKILL);
    assert_eq!(watched.ends(), -9);
}

#[test]
fn two_runs_do_not_disturb_each_other() {
    let long = Watched::start(with_daemon("time.sleep(60)"));
    let short = Watched::start(with_daemon("time.sleep(60)"));
    short.signal(Signal::SIGKILL);
    assert_eq!(short.ends(), -9);
    let third = Watched::start(with_daemon("try: os.kill(-1, 9)\nexcept OSError: pass\nsys.exit(4)"));
    assert_eq!(third.ends(), 4);
    assert!(!long.is_over_within(Duration::from_millis(300)));
    assert!(is_alive(long.daemon));
    long.signal(Signal::SIGTERM);
    assert_eq!(long.ends(), 143);
}

#[test]
fn the_scratch_directory_is_removed_when_a_signal_ends_the_run() {
    let begun = with_daemon("time.sleep(60)").profile("readonly");
    let state = begun.place.state().join("scratch");
    let watched = Watched::start(begun);
    assert_eq!(std::fs::read_dir(&state).unwrap().count(), 1);
    watched.signal(Signal::SIGTERM);
    assert!(watched.is_over_within(PATIENCE));
    assert!(until(PATIENCE, || std::fs::read_dir(&state).unwrap().count() == 0));
    assert_eq!(watched.ends(), 143);
}
