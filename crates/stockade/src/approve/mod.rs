//! Asking a person for more than the profile gives, while the program waits.
//!
//! A [`EscalationRequest`] goes to an [`Approver`], who answers. The caller (the supervisor) decides what is asked, how
//! often, and what a yes opens; an approver only carries the question and the answer. It never decides by itself, and
//! whatever goes wrong in it is a no.

mod answer;
mod command;
mod deadline;
pub mod grammar;
mod object;
pub mod person;
mod question;
mod reply;
mod request;
#[doc(hidden)]
pub mod samples;
pub mod socket;
mod terminal;

use std::path::PathBuf;
use std::time::Duration;

pub use answer::{Answer, Choice, Extent, Lifetime};
pub use command::CommandApprover;
pub use deadline::Deadline;
pub use request::{EscalationRequest, Evidence, Requested, VERSION};
pub use socket::{SocketApprover, Waiting};
pub use terminal::{NoTerminal, Terminal};

/// A run can choose the moment at which its question is withdrawn. A person who was answering it has this long to see that
/// another one stands there; what is typed meanwhile doesn't count.
pub const PAUSE_AFTER_ONE_GONE: Duration = Duration::from_secs(2);

/// What is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unit {
    /// The least single grant.
    #[default]
    Grants,
    /// The lowest profile that would allow it.
    Profile,
}

/// How an approver asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Several questions may be open at once, and the run goes on beside them.
    Beside,
    /// One question at a time, and every process of the run is stopped meanwhile: the question is asked where the run
    /// itself may read and write.
    InPlace,
}

/// Answers questions: a person, or a program that stands for one.
///
/// Nothing that a run can reach may be one.
pub trait Approver: Send + Sync {
    /// Asks, and answers before `deadline` is over. Runs on a thread of Stockade's own on which all signals are blocked.
    /// Who answers later, or panics, has said no.
    fn ask(&self, request: &EscalationRequest, deadline: &Deadline) -> Answer;

    /// How long a question waits, unless the run says otherwise.
    fn usual_time(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// How it asks.
    fn manner(&self) -> Manner {
        Manner::Beside
    }

    /// Files that it executes, by absolute paths: the runs that it is asked about can't change them.
    fn programs(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}
