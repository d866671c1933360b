//! Why a terminal gave no answer.

use std::io;

/// Why no question can be asked at a terminal.
#[derive(Debug, thiserror::Error)]
pub enum NoTerminal {
    /// There is none.
    #[error("can't ask at a terminal: `/dev/tty` can't be opened")]
    None(#[source] io::Error),
    /// It is somebody else's turn.
    #[error("can't ask at the terminal: Stockade is in the background")]
    Background,
    /// Keys don't make lines in it.
    #[error("can't ask at the terminal: it is in raw mode")]
    Raw,
}

impl NoTerminal {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            NoTerminal::None(_) => "start it from a terminal, or choose another approver with `--ask`",
            NoTerminal::Background => "start it in the foreground, or choose another approver with `--ask`",
            NoTerminal::Raw => "start it where no program draws on the screen, or choose another approver with `--ask`",
        }
    }
}

/// Why a question had no answer. Each is a no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    #[error("the terminal is in raw mode, so nothing can be asked there")]
    Raw,
    #[error("Stockade is in the background, so nothing can be asked at the terminal")]
    Background,
    #[error("what would be granted is too long to be shown on this terminal")]
    TooLong,
    #[error("the terminal is gone")]
    Gone,
    #[error("no answer in time")]
    Late,
    #[error("the answer isn't needed any more")]
    Withdrawn,
    #[error("the run went on while the question was open")]
    WentOn,
}

impl Unanswered {
    /// What the prompt ends with, where one is open.
    pub fn ending(&self) -> Option<&'static str> {
        match self {
            Unanswered::Late => Some("stockade: no answer: refused"),
            Unanswered::Withdrawn => Some("stockade: the answer isn't needed any more: refused"),
            Unanswered::WentOn => Some("stockade: the program went on while the question was open: refused"),
            // What was there is said nowhere: the prompt isn't open, or it wouldn't be seen.
            Unanswered::Raw | Unanswered::Background | Unanswered::TooLong | Unanswered::Gone => None,
        }
    }
}
