//! The approver, and the facts that questions need.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::approve::{Approver, Lifetime, Unit};
use crate::policy::Policy;
use crate::report::Refusal;

/// The approver and the facts that questions need.
pub struct Asking {
    /// The approver.
    pub approver: Arc<dyn Approver>,
    /// How long one question may stay open.
    pub timeout: Duration,
    /// The unit of a question: a grant or a profile.
    pub unit: Unit,
    /// The lifetimes that a grant may have.
    pub lifetimes: Vec<Lifetime>,
    /// The run's id.
    pub run: String,
    /// The run's command.
    pub command: Vec<String>,
    /// The caller's home.
    pub home: Option<PathBuf>,
    /// The agent that the run acts for.
    pub agent: Option<String>,
    /// The hash of the script, if the run is started for a script.
    pub script: Option<String>,
    /// The shipped profiles, for [`Unit::Profile`].
    pub profiles: Box<dyn Profiles>,
}

/// The shipped profiles, resolved for a run.
pub trait Profiles: Send + Sync {
    /// The lowest profile that allows this access and all that the run has; never `trusted`.
    fn lowest(&self, refusal: &Refusal) -> Option<String>;
    /// The policy that a profile would grant here.
    fn policy(&self, name: &str) -> Option<Policy>;
}
