//! The end of what a run wrote to its standard error.

use serde::{Deserialize, Serialize};

/// A text that the run wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StderrText {
    /// The process.
    pub process: i32,
    /// Whether it went to `/dev/null`.
    pub is_discarded: bool,
    /// The number of calls that were handed over before.
    pub calls: u64,
    /// The text, with replacements for bytes that aren't UTF-8.
    pub text: String,
}

/// The end of what it wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StderrTail {
    /// In order.
    pub texts: Vec<StderrText>,
    /// The number of calls that were handed over in the whole run.
    pub calls: u64,
}
