//! A run with a daemon. The proof that it is over is a pipe: its reader meets the end only when no process holds it.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{Run, is_alive, run, until};

/// Long enough for a loaded machine, shorter than anything that the runs here sleep.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Starts a daemon that ignores every signal it can, holds standard output, and has no parent of the run.
pub const DAEMON: &str = "import os, signal, sys, time\n\
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
pub const READY: &str = "print('ready', os.getpid(), flush=True)";

/// A run with a daemon, whose output is read here.
pub struct Watched {
    pub child: Child,
    /// Closed when no process holds the output any more.
    over: mpsc::Receiver<()>,
    pub daemon: i32,
    /// The command, where it said that it is ready.
    pub command: Option<i32>,
    _place: Option<Run>,
}

impl Watched {
    pub fn start(begun: Run) -> Watched {
        let mut process = begun.process();
        Watched::started(&mut process, Some(begun))
    }

    /// The same, and waits until the command is ready (see [`READY`]).
    pub fn start_until_ready(begun: Run) -> Watched {
        let mut process = begun.process();
        Watched::over(spawn(&mut process), Some(begun), true)
    }

    /// By a command that starts the run, or does what it does without Stockade.
    pub fn started(command: &mut Command, place: Option<Run>) -> Watched {
        Watched::over(spawn(command), place, false)
    }

    /// Of a daemon that survives what would have ended a run. Ends it.
    pub fn survives(self) {
        // Only time shows that something doesn't happen.
        assert!(!self.is_over_within(Duration::from_millis(500)));
        assert!(is_alive(self.daemon));
        kill(Pid::from_raw(self.daemon), Signal::SIGKILL).unwrap();
        assert!(self.is_over_within(PATIENCE));
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

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    pub fn is_over_within(&self, time: Duration) -> bool {
        self.over.recv_timeout(time) != Err(mpsc::RecvTimeoutError::Timeout)
    }

    /// The whole tree is gone; the exit code of Stockade, a signal as its negative.
    pub fn ends(mut self) -> i32 {
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

fn spawn(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The process that says this of itself in the next line.
fn told(reader: &mut BufReader<ChildStdout>, word: &str) -> i32 {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let pid = line.trim().strip_prefix(word).and_then(|pid| pid.trim().parse().ok());
    pid.unwrap_or_else(|| panic!("no process says {word:?}: {line:?}"))
}

/// Whether a process is stopped.
pub fn is_stopped(pid: i32) -> bool {
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

pub fn with_daemon(then: &str) -> Run {
    run().python(&format!("{DAEMON}{then}"))
}
