//! `stockade approvals`: shows what runs ask, and sends the answers.
//!
//! The answers are those of every question (`approve::grammar`). Texts of questions come from confined programs, and are
//! escaped before they are shown.

mod ending;
mod event;
mod order;
mod plain;
mod screen;
mod shown;
mod typed;

use std::io::IsTerminal;

use super::REFUSED;
use super::args::Approvals;
use super::message::Failure;
use ending::Signals;
use event::Form;
use stockade::internal::Surroundings;
use stockade_report::approve::socket::{WatchError, Watcher};

/// How long the watcher stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stay {
    /// Until no question is pending.
    WhileAsked,
    /// Until it is told to end.
    Watching,
}

/// Watches for questions and returns the exit code.
pub fn approvals(task: &Approvals) -> Result<u8, Failure> {
    let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
    let state = surroundings.state.as_ref().ok_or_else(|| {
        Failure::text(REFUSED, "questions need a state directory, and there is none")
            .hint("set `HOME`, or `XDG_STATE_HOME` to an absolute path")
    })?;
    // Block signals before there is anything to clean up.
    let signals = Signals::take().map_err(|error| Failure::new(REFUSED, &error))?;
    let watcher = Watcher::begin(state)?;
    let stay = if task.watch { Stay::Watching } else { Stay::WhileAsked };
    let has_screen = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    if task.watch && !task.plain && !task.json && has_screen {
        ending::end_with_the_terminal(watcher.path()).map_err(|error| Failure::new(REFUSED, &error))?;
        screen::watch(watcher, &signals)
    } else {
        plain::watch(watcher, &signals, stay, Form::new(task.json, &signals))
    }
}

/// The next pending question of a run: after `no all` these are answered too.
fn next_of_run(watcher: &Watcher, run: &str) -> Option<u32> {
    let mut questions = watcher.questions();
    questions
        .find(|question| question.request.run == run)
        .map(|question| question.number)
}

impl From<WatchError> for Failure {
    fn from(error: WatchError) -> Self {
        let hint = match &error {
            WatchError::Directory(error) => error.hint(),
            _ => None,
        };
        Failure {
            hint,
            ..Failure::new(REFUSED, &error)
        }
    }
}
