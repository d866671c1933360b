//! The sandboxes of a batch's jobs: made once for each profile and root, and within what the flags allow.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::REFUSED;
use super::super::acting::{Acting, LOWEST};
use super::super::args::{Batch, Run};
use super::super::ledger::Ledger;
use super::super::message::Failure;
use super::super::{asking, run};
use stockade::Sandbox;
use stockade::approve::Approver;
use stockade::profile::is_within;
use stockade_batch::{Job, JobError, JobSandbox};

/// The most sandboxes that are kept: jobs may have as many roots as there are jobs.
const MOST_KEPT: usize = 256;

/// A job's profile and root, where it names them.
type Key = (Option<String>, Option<PathBuf>);

/// Makes the sandboxes of jobs.
pub struct Sandboxes<'a> {
    run: &'a Run,
    allowed: &'a [String],
    acting: Acting,
    approver: Option<Arc<dyn Approver>>,
    root: PathBuf,
    /// The files of the batch that no job may change, and what names them.
    guarded: Vec<(PathBuf, &'static str)>,
    made: Mutex<Made>,
}

struct Made {
    ledger: Ledger,
    sandboxes: HashMap<Key, Sandbox>,
}

impl<'a> Sandboxes<'a> {
    /// Of a batch with these jobs and this file of results.
    ///
    /// # Errors
    /// The flags contradict each other or the configuration; no profile is called so; the root isn't there.
    pub fn of(task: &'a Batch, jobs: &Path, output: Option<PathBuf>) -> Result<Self, Failure> {
        let run = &task.run;
        let ledger = Ledger::open(run)?;
        let root = run.root.as_deref().unwrap_or(Path::new("."));
        let root = std::fs::canonicalize(root)
            .map_err(|error| Failure::text(REFUSED, format!("the root `{}` can't be used: {error}", root.display())))?;
        let jobs = (jobs != "-").then(|| std::fs::canonicalize(jobs)).transpose();
        let jobs = jobs.map_err(|error| Failure::new(REFUSED, &error))?;
        let output = output.map(|path| (path, "--output"));
        let sandboxes = Sandboxes {
            run,
            allowed: &task.allow_profile,
            acting: Acting::of(run)?,
            approver: asking::approver(run)?,
            root,
            guarded: output
                .into_iter()
                .chain(jobs.map(|path| (path, "the file of jobs")))
                .collect(),
            made: Mutex::new(Made {
                ledger,
                sandboxes: HashMap::new(),
            }),
        };
        // What is wrong with the flags is wrong with every job.
        let first = sandboxes.make(
            &(None, None),
            &sandboxes.made.lock().unwrap_or_else(PoisonError::into_inner).ledger,
        )?;
        first.policy_of_any_command()?;
        for profile in &task.allow_profile {
            Sandbox::profile(profile)?;
        }
        Ok(sandboxes)
    }

    /// Writes the remaining records.
    pub fn close(&self) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).ledger.close();
    }

    fn make(&self, (profile, root): &Key, ledger: &Ledger) -> Result<Sandbox, Failure> {
        let acting = self.acting.under(profile.as_ref().unwrap_or(&self.acting.profile));
        let mut run = self.run.clone();
        run.root = root.clone().or(run.root);
        let sandbox = run::sandbox(&run, &acting, (self.approver.as_ref(), ledger), (&[], None))?;
        let guarded = self.guarded.iter();
        Ok(guarded.fold(sandbox, |sandbox, (path, name)| sandbox.guard(path, name)))
    }

    /// A job's profile: one within the batch's, or one that the user named for jobs.
    fn profile(&self, job: &Job) -> Result<Option<String>, JobError> {
        let Some(named) = &job.profile else { return Ok(None) };
        let own = &self.acting.profile;
        if named == LOWEST || is_within(named, own) || self.allowed.contains(named) {
            return Ok(Some(named.clone()).filter(|named| named != own));
        }
        Err(
            JobError::new(format!("`profile` `{named}` isn't within the batch's, `{own}`"))
                .hint("`--allow-profile` lets jobs name it"),
        )
    }

    /// A job's root: the batch's, or a directory in it.
    fn root(&self, job: &Job) -> Result<Option<PathBuf>, JobError> {
        let Some(named) = &job.root else { return Ok(None) };
        let said = || format!("`root` `{}`", named.display());
        let root = std::fs::canonicalize(self.root.join(named))
            .map_err(|error| JobError::new(format!("{} can't be used: {error}", said())))?;
        match root.starts_with(&self.root) {
            true => Ok(Some(root)),
            false => Err(
                JobError::new(format!("{} isn't in the batch's, `{}`", said(), self.root.display()))
                    .hint("start the batch with a `--root` that holds the roots of all jobs"),
            ),
        }
    }
}

impl stockade_batch::Sandboxes for Sandboxes<'_> {
    fn sandbox(&self, job: &Job) -> Result<JobSandbox, JobError> {
        let root = self.root(job)?;
        let key = (self.profile(job)?, root.clone());
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sandbox) = made.sandboxes.get(&key) {
            let sandbox = sandbox.clone();
            return Ok(JobSandbox { sandbox, root });
        }
        let sandbox = self.make(&key, &made.ledger).map_err(|failure| JobError {
            message: failure.message,
            hint: failure.hint,
        })?;
        if made.sandboxes.len() >= MOST_KEPT {
            made.sandboxes.clear();
        }
        made.sandboxes.insert(key, sandbox.clone());
        Ok(JobSandbox { sandbox, root })
    }
}
