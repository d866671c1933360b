//! What a batch is: how many jobs run at once, what makes their sandboxes, what ends it, and how far it is.

use std::path::PathBuf;

use stockade::Sandbox;
use stockade_sys::signals::SignalSet;

use crate::job::{Job, JobError};
use crate::stop::Stop;

/// Makes the sandbox of each job. It decides which profile and root a job may have, and how much of it is made once.
pub trait Sandboxes: Sync {
    /// The sandbox of a job, whose time limit is narrowed afterwards.
    ///
    /// # Errors
    /// The job asks for more than it may have, or there is no such profile or root.
    fn sandbox(&self, job: &Job) -> Result<JobSandbox, JobError>;
}

/// The sandbox of one job.
#[derive(Debug, Clone)]
pub struct JobSandbox {
    /// The sandbox.
    pub sandbox: Sandbox,
    /// The real path that its root was found to have, if the job names one: another job may have put a link there since.
    pub root: Option<PathBuf>,
}

/// How a batch runs.
pub struct Batch<'a> {
    /// The number of jobs that run at once.
    pub jobs_at_once: usize,
    /// The most bytes of each stream that a result holds.
    pub kept_output: usize,
    /// Makes the sandboxes.
    pub sandboxes: &'a dyn Sandboxes,
    /// Ends it early.
    pub stop: &'a Stop,
    /// The signals that programs start with blocked.
    pub mask: SignalSet,
    /// Is told of progress.
    pub told: &'a (dyn Fn(Tally) + Sync),
    /// Is told, in a line each, what a job went without of the user's own settings.
    pub goes_without: &'a (dyn Fn(&str) + Sync),
}

/// How far a batch is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// The results that are written, those of an earlier batch among them.
    pub done: u64,
    /// Those among them that are errors.
    pub unanswered: u64,
}
