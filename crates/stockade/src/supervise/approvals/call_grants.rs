//! The grants of a single call.

use super::approved_grants::ApprovedGrants;
use super::keys::QuestionKey;

/// What one call may do beyond the policy, and on which thread it is handled.
#[derive(Debug, Clone, Default)]
pub struct CallGrants {
    /// Granted for this call alone.
    pub once: ApprovedGrants,
    /// The questions already answered for this call.
    pub answered: Vec<QuestionKey>,
    /// The kind of thread that handles the call.
    pub site: CallSite,
}

/// The kind of thread that handles a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallSite {
    /// A worker, in the workers' Landlock domain.
    #[default]
    Worker,
    /// A thread that hasn't entered a Landlock domain yet and has only read so far.
    Unconfined,
    /// A thread confined to the workers' domain widened by the approved grants.
    Confined,
}

impl CallGrants {
    /// The same, for a call that is handled again on a worker.
    pub fn on_a_worker(self) -> CallGrants {
        CallGrants {
            site: CallSite::Worker,
            ..self
        }
    }
}
