//! How far a batch is, on a terminal: a bar where the number of jobs is known, with the rate and the time that is left.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stockade_batch::{Lines, Tally};

use super::super::message::note;

/// The bar, hidden where standard error is no terminal, and the notes that were printed above it.
pub struct Progress(ProgressBar, Mutex<HashSet<String>>);

impl Progress {
    /// Of the jobs in a file, some of which are done.
    pub fn of(jobs: &Path, done: u64) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress(ProgressBar::hidden(), Mutex::default());
        }
        let count = count(jobs);
        let bar = ProgressBar::with_draw_target(count, ProgressDrawTarget::stderr_with_hz(5));
        let template = match count {
            Some(_) => "{wide_bar} {pos}/{len} jobs, {per_sec}, {eta} left{msg}",
            None => "{spinner} {pos} jobs, {per_sec}, {elapsed}{msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_position(done);
        // An earlier batch's results say nothing about the rate of this one.
        bar.reset_eta();
        bar.enable_steady_tick(std::time::Duration::from_millis(500));
        Progress(bar, Mutex::default())
    }

    /// Draws how far it is.
    pub fn tell(&self, tally: Tally) {
        if tally.unanswered > 0 {
            self.0.set_message(format!(", {} without an answer", tally.unanswered));
        }
        self.0.set_position(tally.done);
    }

    /// Prints a note of some job, unless another job had the same.
    pub fn note_once(&self, text: &str) {
        if self
            .1
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(text.to_owned())
        {
            self.0.suspend(|| note(text));
        }
    }

    /// Removes the bar: the next line is a message, or the prompt of the shell.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// The number of jobs in a regular file.
pub fn count(jobs: &Path) -> Option<u64> {
    let file = File::open(jobs).ok().filter(|_| jobs != "-")?;
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut lines = Lines::of(file);
    while lines.read().ok()?.is_some() {}
    Some(lines.jobs())
}
