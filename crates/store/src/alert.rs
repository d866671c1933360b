//! `on_violation`: a command of the user's that receives each denial.
//!
//! It runs in the background, outside every confinement, as the user. Nothing waits for it: its input is a memory file,
//! its output is dropped, and the kernel ends it after a while, even if the run is long over.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use stockade_policy::config::OnViolation;
use stockade_policy::unconfined::{self, UnconfinedCaller};
use stockade_sys::{file, process};

/// Concurrent commands.
const MAX: usize = 4;

/// Bytes of rows that wait for a running command to end.
const MAX_WAITING: usize = 256 * 1024;

/// The time limit of a command.
const SECONDS: u32 = 10;

/// A command, resolved before any run that it may report.
struct Alert {
    /// `None` if there is no such program.
    program: Option<PathBuf>,
    arguments: Vec<String>,
}

impl Alert {
    fn new(command: OnViolation) -> Alert {
        Alert {
            program: UnconfinedCaller::of_process().program(OsStr::new(&command.program)),
            arguments: command.arguments,
        }
    }
}

/// The running commands and the waiting rows.
pub(super) struct Alerts {
    command: Option<Alert>,
    running: Vec<Child>,
    /// Rows for the next command, one on each line.
    waiting: Vec<u8>,
    waiting_rows: u64,
    /// Denials that weren't delivered, and the reason for the last of them.
    pub(super) untold: u64,
    pub(super) error: Option<io::Error>,
}

impl Alerts {
    pub(super) fn new(command: Option<OnViolation>) -> Alerts {
        Alerts {
            command: command.map(Alert::new),
            running: Vec::new(),
            waiting: Vec::new(),
            waiting_rows: 0,
            untold: 0,
            error: None,
        }
    }

    /// Whether any command is running.
    pub(super) fn are_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// Delivers a denial, at once or with the next ones.
    pub(super) fn tell(&mut self, row: &Value) {
        if self.command.is_none() {
            return;
        }
        let line = format!("{row}\n");
        if self.waiting.len() + line.len() > MAX_WAITING {
            self.untold += 1;
            return;
        }
        self.waiting.extend(line.as_bytes());
        self.waiting_rows += 1;
        self.go_on();
    }

    /// Starts a command for the waiting rows if few enough run.
    pub(super) fn go_on(&mut self) {
        // An error means that other code, which waits for any child, has reaped it.
        self.running.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        if self.running.len() < MAX {
            self.start();
        }
    }

    /// Starts a command for the waiting rows, and leaves all commands running.
    pub(super) fn end(&mut self) {
        self.go_on();
        self.start();
        let running = std::mem::take(&mut self.running);
        if !running.is_empty() {
            // A process that lives on, as a library's host may, keeps no zombies.
            let wait = move || running.into_iter().for_each(|mut child| drop(child.wait()));
            let _ = std::thread::Builder::new().stack_size(64 * 1024).spawn(wait);
        }
    }

    fn start(&mut self) {
        let Some(command) = &self.command else { return };
        if self.waiting.is_empty() {
            return;
        }
        let rows = std::mem::take(&mut self.waiting);
        let count = std::mem::take(&mut self.waiting_rows);
        match start(command, &rows) {
            Ok(child) => self.running.push(child),
            Err(error) => {
                self.untold += count;
                self.error = Some(error);
            }
        }
    }
}

fn start(alert: &Alert, rows: &[u8]) -> io::Result<Child> {
    // Not a pipe: a command that doesn't read would block the writer.
    let mut input = File::from(file::memory_file(c"stockade-violation", libc::MFD_CLOEXEC)?);
    input.write_all(rows)?;
    input.rewind()?;
    // A program that appeared since then may be the run's.
    let program = alert.program.as_ref().ok_or(io::ErrorKind::NotFound)?;
    let mut command = Command::new(program);
    command
        .args(&alert.arguments)
        .current_dir(unconfined::DIRECTORY)
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    process::set_apart(&mut command, SECONDS);
    command.spawn()
}
