//! What was asked while the run lived.

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::approve::{Answer, Requested};

/// All that was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Escalation {
    /// Each question with its answer, in the order of the answers.
    pub requests: Vec<Escalated>,
    /// Why nothing more was asked, where that was so.
    pub ended: Option<String>,
}

/// One question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Escalated {
    /// The request's id.
    pub id: String,
    /// The kind of access.
    pub access: Kind,
    /// What it was to, as the kernel names it.
    pub target: String,
    /// What was offered.
    pub requested: Requested,
    /// What was said, and by whom.
    #[serde(flatten)]
    pub answer: Answer,
    /// What was granted for it.
    pub granted: Option<Requested>,
    /// Milliseconds that the program waited.
    pub waited_ms: u64,
}
