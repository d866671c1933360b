//! A run that goes on while the test does something else.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::common::{Place, Run};

/// The run and its streams; it is ended with the value. Each line is an answer to the one before.
pub struct Begun {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _place: Place,
}

impl Begun {
    pub fn new(run: Run) -> Begun {
        let mut process = run.process();
        let mut child = process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Begun {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            _place: run.place,
        }
    }

    /// Stockade's own process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line that the program prints, empty at the end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        let _ = self.output.read_line(&mut line);
        line.trim_end().to_string()
    }

    pub fn say(&mut self, line: &str) {
        let _ = writeln!(self.input, "{line}");
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        // Stockade ends the tree.
        let id = nix::unistd::Pid::from_raw(self.child.id().try_into().unwrap());
        let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM);
        let _ = self.child.wait();
    }
}
