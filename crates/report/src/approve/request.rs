//! The request: data that a person, or a program, can judge (`schemas/escalation.schema.json`).

use serde::{Deserialize, Serialize};

use super::Lifetime;
use crate::policy::Kind;

/// The version of the JSON forms of requests and answers.
pub const VERSION: u32 = 1;

/// A request for more than the profile grants.
///
/// Its texts come from the confined program: code that displays them must escape them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EscalationRequest {
    /// [`VERSION`].
    pub version: u32,
    /// The request's id, unique among all runs.
    pub id: String,
    /// The run's id.
    pub run: String,
    /// The id of the running script or tool, where it is known as one.
    pub capability_id: Option<String>,
    /// The run's profile.
    pub current_profile: String,
    /// The grant asked for.
    pub requested: Requested,
    /// The grant on the answer `wider`; `None` where nothing wider is sensible.
    pub wider: Option<Requested>,
    /// The refusal: `PermissionDenied: read /etc/hosts`.
    pub reason: String,
    /// The evidence.
    #[serde(deserialize_with = "super::object::object")]
    pub evidence: Evidence,
    /// The lifetimes that a yes may choose.
    pub lifetimes: Vec<Lifetime>,
    /// The number of questions about the same directory or host that had a yes in this run.
    #[serde(default)]
    pub granted_beside: usize,
    /// The number of those that had a no.
    #[serde(default)]
    pub refused_beside: usize,
    /// Whether the program waits for the answer. Otherwise it has ended, and a yes starts it once more.
    pub live: bool,
    /// Milliseconds until the refusal.
    pub timeout_ms: u64,
}

impl EscalationRequest {
    /// After this many noes about one directory or host, everything else there is refused without a question.
    pub const NOES: usize = 2;

    /// Whether a no to this question is the last there.
    pub fn ends_by_no(&self) -> bool {
        self.refused_beside + 1 == Self::NOES
    }
}

/// Told after such a no.
pub const NO_MORE: &str = "no more questions come there in this run";

/// The grant asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requested {
    /// Single grants, each as the words of a flag of `stockade run`: `["--read", "/etc/hosts"]`.
    Grants(Vec<Vec<String>>),
    /// Everything that a profile grants. `trusted` is granted only if its name is typed.
    Profile(String),
}

impl Requested {
    /// The profile that is granted only if its name is typed.
    pub const TYPED: &str = "trusted";

    /// Whether a plain yes isn't enough: see [`Requested::TYPED`].
    pub fn must_be_typed(&self) -> bool {
        matches!(self, Requested::Profile(name) if name == Requested::TYPED)
    }
}

/// The circumstances of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The kind of access.
    pub access: Kind,
    /// The target, as the kernel names it.
    pub target: String,
    /// The target as the program named it; empty where it named nothing.
    pub asked: String,
    /// The system call.
    pub syscall: String,
    /// The waiting process.
    pub pid: i32,
    /// The program that this process runs.
    pub program: String,
    /// The run's command.
    pub command: Vec<String>,
    /// The run's root.
    pub root: String,
    /// The agent that the run acts for.
    pub agent: Option<String>,
    /// The reason for the refusal: `nothing grants it`.
    pub why: String,
    /// A warning for the person before a yes: `a program that reaches this socket controls the machine`.
    pub warning: Option<String>,
    /// Milliseconds since the run's start.
    pub at_ms: u64,
}
