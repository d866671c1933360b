//! What a supervisor finds at the terminal, and what comes of it.

use serde::{Deserialize, Serialize};

use super::request;
use crate::approve::{Answer, EscalationRequest};

/// What the supervisor finds, and does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Scene {
    pub request: EscalationRequest,
    pub patience_ms: u64,
    /// When the answer isn't needed any more.
    pub withdrawn_after_ms: Option<u64>,
    /// What the program has written to the terminal.
    pub left: String,
    /// How the program has set the terminal.
    pub mode: Mode,
    /// Who is in the foreground.
    pub foreground: Foreground,
    pub term: String,
    /// Whether `NO_COLOR` is set.
    pub is_colourless: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    Ordinary,
    /// Keys one by one.
    Raw,
    /// Lines, but nothing else as usual.
    Strange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Foreground {
    Stockade,
    /// A group of the run's.
    Run,
    /// A group of somebody else's.
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

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub answer: Answer,
    pub is_mode_as_before: bool,
    pub is_foreground_as_before: bool,
    /// Whether the other processes at the terminal, in the foreground group and beside it, live.
    pub do_others_live: bool,
}
