//! `stockade approvals` over pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::{Place, STOCKADE, until};

const PATIENCE: Duration = Duration::from_secs(30);

/// An approver at another terminal, killed on drop.
pub struct Watch {
    pub child: Child,
    input: Option<ChildStdin>,
    said: Arc<Mutex<String>>,
    complained: Arc<Mutex<String>>,
}

/// Starts `stockade approvals` with these flags; it has a socket on return.
pub fn watch(place: &Place, flags: &[&str]) -> Watch {
    let before = sockets(&place.state()).len();
    let mut child = place
        .command(STOCKADE)
        .arg("approvals")
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let watch = Watch {
        input: child.stdin.take(),
        said: collect(child.stdout.take().unwrap()),
        complained: collect(child.stderr.take().unwrap()),
        child,
    };
    let listens = until(PATIENCE, || sockets(&place.state()).len() > before);
    assert!(listens, "no socket: {}", watch.complaints());
    watch
}

/// The sockets in a state directory.
pub fn sockets(state: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(state.join("approvals"));
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "sock"))
        .collect()
}

fn collect(stream: impl std::io::Read + Send + 'static) -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let copy = Arc::clone(&text);
    thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            copy.lock().unwrap().push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
    });
    text
}

impl Watch {
    pub fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    pub fn complaints(&self) -> String {
        self.complained.lock().unwrap().clone()
    }

    /// Waits until this many lines with this text were printed.
    pub fn awaits(&self, text: &str, times: usize) {
        let was_said = until(PATIENCE, || self.said().matches(text).count() >= times);
        assert!(
            was_said,
            "{text:?} isn't {times} times in\n{}{}",
            self.said(),
            self.complaints()
        );
    }

    /// Waits until it has printed a complaint with this text.
    pub fn awaits_complaint(&self, text: &str) {
        self.awaits_complaint_times(text, 1);
    }

    /// The same for this many times.
    pub fn awaits_complaint_times(&self, text: &str, times: usize) {
        let was_said = until(PATIENCE, || self.complaints().matches(text).count() >= times);
        assert!(was_said, "{text:?} isn't in {}", self.complaints());
    }

    /// The number of the prompt about a target.
    pub fn number_of(&self, target: &str) -> u32 {
        let said = self.said();
        let ending = format!(": read {target}");
        let number = said.lines().find_map(|line| line.strip_suffix(&ending));
        number
            .and_then(|number| number.parse().ok())
            .unwrap_or_else(|| panic!("no {target} in\n{said}"))
    }

    pub fn types(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    /// Closes its input, so that it gets no more lines.
    pub fn closes(&mut self) {
        self.input = None;
    }

    pub fn signals(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(self.child.id().try_into().unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }

    pub fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        let has_ended = until(PATIENCE, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        assert!(has_ended, "it doesn't end: {}", self.said());
        status.unwrap()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
