//! The question: data that a person, or a program, can judge (`schemas/escalation.schema.json`).

use serde::{Deserialize, Serialize};

use super::Lifetime;
use crate::policy::Kind;

/// The version of the JSON forms of requests and answers.
pub const VERSION: u32 = 1;

/// A request for more than the profile gives.
///
/// Texts in it come from the confined program: what shows them escapes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EscalationRequest {
    /// [`VERSION`].
    pub version: u32,
    /// The request's id, unique among all runs.
    pub id: String,
    /// The run's id.
    pub run: String,
    /// The id of the script or tool that runs, where it is known as one.
    pub capability_id: Option<String>,
    /// The profile that the run has.
    pub current_profile: String,
    /// What would be granted.
    pub requested: Requested,
    /// What would be granted on the answer `wider`; `None` where nothing wider is sensible.
    pub wider: Option<Requested>,
    /// The refusal: `PermissionDenied: read /etc/hosts`.
    pub reason: String,
    /// What happened.
    #[serde(deserialize_with = "super::object::object")]
    pub evidence: Evidence,
    /// How long a grant may last, where the answer is yes.
    pub lifetimes: Vec<Lifetime>,
    /// How many questions about the same directory or host had a yes in this run.
    #[serde(default)]
    pub granted_beside: usize,
    /// Whether the program waits for the answer. Otherwise it has ended, and a yes starts it once more.
    pub live: bool,
    /// Milliseconds until it is refused.
    pub timeout_ms: u64,
}

/// What would be granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requested {
    /// Single grants, each as the words of a flag of `stockade run`: `["--read", "/etc/hosts"]`.
    Grants(Vec<Vec<String>>),
    /// All that a profile grants. `trusted` is only granted to who types its name.
    Profile(String),
}

impl Requested {
    /// The profile that is only granted to who types its name.
    pub const TYPED: &str = "trusted";

    /// Whether a plain yes isn't enough: see [`Requested::TYPED`].
    pub fn must_be_typed(&self) -> bool {
        matches!(self, Requested::Profile(name) if name == Requested::TYPED)
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The kind of access.
    pub access: Kind,
    /// What it is to, as the kernel names it.
    pub target: String,
    /// The same as the program named it; empty where it named nothing.
    pub asked: String,
    /// The system call.
    pub syscall: String,
    /// The process that waits.
    pub pid: i32,
    /// The program that it runs.
    pub program: String,
    /// The run's command.
    pub command: Vec<String>,
    /// The run's root.
    pub root: String,
    /// The agent that the run acts for.
    pub agent: Option<String>,
    /// Why it was refused: `nothing grants it`.
    pub why: String,
    /// What a person should know before a yes: `a program that reaches this socket controls the machine`.
    pub warning: Option<String>,
    /// Milliseconds since the run's start.
    pub at_ms: u64,
}
