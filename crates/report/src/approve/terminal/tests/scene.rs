//! The run context that a supervisor finds at the terminal, and its outcome.

use serde::{Deserialize, Serialize};

use super::request;
use crate::approve::{Answer, EscalationRequest};

/// The state that the supervisor finds, and its parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Scene {
    pub request: EscalationRequest,
    pub patience_ms: u64,
    /// The time after which the answer is no longer needed.
    pub withdrawn_after_ms: Option<u64>,
    /// The program's output left on the terminal.
    pub left: String,
    /// The mode in which the program left the terminal.
    pub mode: Mode,
    /// The foreground process group.
    pub foreground: Foreground,
    pub term: String,
    /// Whether `NO_COLOR` is set.
    pub is_colourless: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    Ordinary,
    /// Single keys.
    Raw,
    /// Lines, with all other settings unusual.
    Strange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Foreground {
    Stockade,
    /// A group of the run.
    Run,
    /// A group of another program.
    Stranger,
    /// A group that has ended.
    None,
}

impl Scene {
    pub fn new() -> Scene {
        Scene {
            request: request(),
            patience_ms: 20_000,
            withdrawn_after_ms: None,
            left: String::new(),
            mode: Mode::Ordinary,
            foreground: Foreground::Stockade,
            term: "dumb".into(),
            is_colourless: false,
        }
    }
}

/// The outcome.
#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub answer: Answer,
    pub is_mode_as_before: bool,
    pub is_foreground_as_before: bool,
    /// Whether the other processes at the terminal, in the foreground group and beside it, are alive.
    pub do_others_live: bool,
}
