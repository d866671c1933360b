//! Messages on standard error: what failed, why, and a hint.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use stockade_policy::profile::ProfileError;
use stockade_text::quote::quoted;
use stockade_text::visible::visible_but_for_blanks;

/// Where messages go in place of standard error.
static ELSEWHERE: OnceLock<File> = OnceLock::new();

/// Sends all messages from now on to a descriptor of the caller's. The first call counts: `exec` ends in `run`.
///
/// # Errors
/// It isn't an open descriptor that can be written.
pub fn send_to(number: i32) -> io::Result<()> {
    if ELSEWHERE.get().is_none() {
        let file = File::from(stockade_sys::duplicate(number)?);
        if stockade_sys::file::open_flags(file.as_fd())? & libc::O_ACCMODE == libc::O_RDONLY {
            return Err(io::Error::other("it isn't open for writing"));
        }
        let _ = ELSEWHERE.set(file);
    }
    Ok(())
}

/// A closed standard error is no error.
fn write(text: &str) {
    let _ = match ELSEWHERE.get() {
        Some(mut file) => file.write_all(text.as_bytes()),
        None => io::stderr().lock().write_all(text.as_bytes()),
    };
}

/// A failure of the command, ready to be printed.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit_code: u8,
    /// The first line: what failed and why.
    pub message: String,
    /// More lines, below the first.
    pub details: Vec<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// What else, with the words between: on a line of its own where one would be too long.
    pub other_way: Option<String>,
}

impl Failure {
    /// From an error and the chain of its sources, on one line.
    pub fn new(exit_code: u8, error: &dyn StdError) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            // Transparent errors repeat the message before them.
            if !message.ends_with(&cause_text) {
                let _ = write!(message, ": {cause_text}");
            }
            source = cause.source();
        }
        Failure {
            exit_code,
            message,
            details: Vec::new(),
            hint: None,
            other_way: None,
        }
    }

    /// From a sentence.
    pub fn text(exit_code: u8, message: impl Into<String>) -> Self {
        Failure {
            exit_code,
            message: message.into(),
            details: Vec::new(),
            hint: None,
            other_way: None,
        }
    }

    /// With a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints it to standard error; a closed standard error is no error.
    pub fn print(&self) {
        // A closed pipe has nothing to say.
        if !self.message.is_empty() {
            write(&self.lines());
        }
    }

    /// The lines to be printed.
    pub fn lines(&self) -> String {
        let mut text = format!("stockade: {}\n", escaped(&self.message));
        for detail in &self.details {
            let _ = writeln!(text, "  {}", escaped(detail));
        }
        if let Some(hint) = &self.hint {
            text += &hint_lines(hint, self.other_way.as_deref());
        }
        text
    }
}

/// A hint after an empty line. Names that a program chose are in it, so it isn't searched for a place to break.
fn hint_lines(hint: &str, other_way: Option<&str>) -> String {
    const COLUMNS: usize = 80;
    let mut text = format!("\nhint: {}", escaped(hint));
    if let Some(other) = other_way.map(escaped) {
        let is_short = text.trim_start().chars().count() + 1 + other.chars().count() <= COLUMNS;
        text += if is_short { " " } else { "\n  " };
        text += &other;
    }
    text + "\n"
}

impl From<stockade::Error> for Failure {
    fn from(error: stockade::Error) -> Self {
        Failure {
            details: error.details(),
            hint: file_of_name(&error).or_else(|| error.hint()),
            ..Failure::new(error.exit_code(), &error)
        }
    }
}

/// The file of a profile that was given without its path.
fn file_of_name(error: &stockade::Error) -> Option<String> {
    let stockade::Error::Profile(ProfileError::Unknown { name, .. }) = error else {
        return None;
    };
    let file = format!("./{name}.toml");
    let is_there = !name.contains('\0') && Path::new(&file).is_file();
    is_there.then(|| {
        format!(
            "a profile's file is named by its path: `--profile {}`",
            quoted(file.as_ref())
        )
    })
}

/// Whether only refusals, questions and failures are told.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves out from now on what [`inform`] would print.
pub fn be_quiet(is_quiet: bool) {
    QUIET.store(is_quiet, Ordering::Relaxed);
}

/// Prints one line that a person may not want to read.
pub fn inform(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        note(text);
    }
}

/// Prints one line that isn't a failure.
pub fn note(text: &str) {
    write(&format!("stockade: {}\n", escaped(text)));
}

/// Prints a note that a list for people is empty.
pub fn note_empty(what: &str, is_empty: bool, is_json: bool) {
    if is_empty && !is_json {
        note(&format!("there is no {what}"));
    }
}

/// Prints a hint for the lines before.
pub fn hint(text: &str) {
    write(&hint_lines(text, None));
}

/// Names of files and programs are chosen by the target: characters that a terminal doesn't show are escaped.
/// Blanks stay, since Stockade's lines are indented; quoted names go through [`stockade_text::visible::visible`].
/// Line ends of Stockade's own (several faults of one document) stay.
fn escaped(text: &str) -> String {
    text.lines().map(visible_but_for_blanks).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_broken_before_its_other_way_and_nowhere_else() {
        let other = Some("for good: `b`");
        assert_eq!(hint_lines("once: `a`;", other), "\nhint: once: `a`; for good: `b`\n");
        let long = format!("once: `a; {}`;", "x".repeat(60));
        assert_eq!(hint_lines(&long, other), format!("\nhint: {long}\n  for good: `b`\n"));
        let forged = format!("once: `a`, or more widely `{}`", "x".repeat(90));
        assert_eq!(hint_lines(&forged, None), format!("\nhint: {forged}\n"));
    }
}
