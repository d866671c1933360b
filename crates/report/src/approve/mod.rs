//! Asks a person for more than the profile grants, while the program waits.
//!
//! An [`EscalationRequest`] goes to an [`Approver`], which answers. The caller (the supervisor) decides what is asked,
//! how often, and what a yes opens; an approver only transports the question and the answer. It never decides by
//! itself, and any failure in it is a no.

mod answer;
mod command;
mod deadline;
mod descriptor;
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
pub use descriptor::{DescriptorApprover, DescriptorError};
pub use request::{EscalationRequest, Evidence, NO_MORE, Requested, VERSION};
pub use socket::{SocketApprover, Waiting};
pub use terminal::{NoTerminal, Terminal};

/// A run can choose the moment at which its question is withdrawn. A person who was answering it has this long to notice
/// that another one has replaced it; anything typed meanwhile is ignored.
pub const PAUSE_AFTER_ONE_GONE: Duration = Duration::from_secs(2);

/// The kind of grant that is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unit {
    /// The narrowest single grant.
    #[default]
    Grants,
    /// The lowest profile that would allow the access.
    Profile,
}

/// The way an approver asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Several questions may be open at once, and the run goes on meanwhile.
    Beside,
    /// One question at a time, with every process of the run stopped: the question is asked where the run itself may
    /// read and write.
    InPlace,
}

/// Answers questions: a person, or a program on their behalf.
///
/// A run must not be able to reach it.
pub trait Approver: Send + Sync {
    /// Asks, and answers before `deadline`. Runs on a thread of Stockade's own on which all signals are blocked.
    /// A late answer or a panic is a no.
    fn ask(&self, request: &EscalationRequest, deadline: &Deadline) -> Answer;

    /// The default time for a question.
    fn usual_time(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// The way it asks.
    fn manner(&self) -> Manner {
        Manner::Beside
    }

    /// Whether the number of questions is limited, and a no counts for later accesses like it: a person is to be asked little.
    /// An approver that decides each access by itself says `false`, and limits its own questions.
    fn is_limited(&self) -> bool {
        true
    }

    /// Whether a person answers, who may open a guarded file for a run. A program may not.
    fn may_open_guarded(&self) -> bool {
        false
    }

    /// The files that it executes, as absolute paths: the runs that it is asked about can't change them.
    fn programs(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}
