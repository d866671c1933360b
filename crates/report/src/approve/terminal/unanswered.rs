//! The reasons that a terminal gives no answer.

use std::io;

/// The reason that no question can be asked at a terminal.
#[derive(Debug, thiserror::Error)]
pub enum NoTerminal {
    /// There is no terminal.
    #[error("can't ask at a terminal: `/dev/tty` can't be opened")]
    None(#[source] io::Error),
    /// Another process group is in the foreground.
    #[error("can't ask at the terminal: Stockade is in the background")]
    Background,
    /// Its mode isn't canonical.
    #[error("can't ask at the terminal: it is in raw mode")]
    Raw,
}

impl NoTerminal {
    /// The remedy.
    pub fn hint(&self) -> &'static str {
        match self {
            NoTerminal::None(_) => "start it from a terminal, or choose another approver with `--ask`",
            NoTerminal::Background => "start it in the foreground, or choose another approver with `--ask`",
            NoTerminal::Raw => "start it where no program draws on the screen, or choose another approver with `--ask`",
        }
    }
}

/// The reason that a question had no answer. Each is a no.
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
    /// The end of the prompt, where one is open.
    pub fn ending(&self) -> Option<&'static str> {
        match self {
            Unanswered::Late => Some("stockade: no answer: refused"),
            Unanswered::Withdrawn => Some("stockade: the answer isn't needed any more: refused"),
            Unanswered::WentOn => Some("stockade: the program went on while the question was open: refused"),
            // Not reported: the prompt isn't open, or the message wouldn't be seen.
            Unanswered::Raw | Unanswered::Background | Unanswered::TooLong | Unanswered::Gone => None,
        }
    }
}
