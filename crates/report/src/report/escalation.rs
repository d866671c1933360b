//! The questions asked during a run.

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::approve::{Answer, Requested};

/// All questions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Escalation {
    /// Each question with its answer, in the order of the answers.
    pub requests: Vec<Escalated>,
    /// Why no more questions were asked, if that was so.
    pub ended: Option<String>,
}

/// One question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Escalated {
    /// The request's id.
    pub id: String,
    /// The kind of access.
    pub access: Kind,
    /// The target, as the kernel names it.
    pub target: String,
    /// The offered grant.
    pub requested: Requested,
    /// The answer, and its author.
    #[serde(flatten)]
    pub answer: Answer,
    /// The grant given for it.
    pub granted: Option<Requested>,
    /// Milliseconds that the program waited.
    pub waited_ms: u64,
}
