//! The sandboxes of a batch's jobs: made once for each profile and root, and within what the flags allow. What the flags name
//! is read once, at the start, and no job may change it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::REFUSED;
use super::super::acting::{Acting, LOWEST};
use super::super::args::{Batch, Run};
use super::super::ledger::Ledger;
use super::super::message::Failure;
use super::super::{asking, run};
use super::files::Files;
use stockade::Sandbox;
use stockade_batch::{Job, JobError, JobSandbox};
use stockade_policy::profile::{is_within, visible};
use stockade_report::approve::Approver;

/// The most sandboxes that are kept: jobs may have as many roots as there are jobs.
const MAX_KEPT: usize = 256;

/// The profile that jobs get only where a person names it.
const TRUSTED: &str = "trusted";

/// A job's profile and root, where it names them.
type Key = (Option<String>, Option<PathBuf>);

/// Makes the sandboxes of jobs.
pub struct Sandboxes<'a> {
    run: &'a Run,
    acting: Acting,
    /// The profiles that the flags name for jobs, as they were at the start.
    allowed: HashMap<&'a str, Acting>,
    approver: Option<Arc<dyn Approver>>,
    /// As the flag names it for the first sandbox, the real path from then on.
    root: PathBuf,
    files: Files,
    /// Where jobs write, under whatever profile: what lies there is another party's as well.
    written: Vec<PathBuf>,
    made: Mutex<Made>,
}

struct Made {
    ledger: Ledger,
    sandboxes: HashMap<Key, Sandbox>,
}

impl<'a> Sandboxes<'a> {
    /// Of a batch that reads and writes these files.
    ///
    /// # Errors
    /// The flags contradict each other or the configuration; no profile is called so; the root isn't there.
    pub fn of(task: &'a Batch, files: Files) -> Result<Self, Failure> {
        let run = &task.run;
        let ledger = Ledger::open(run)?;
        let acting = Acting::of(run)?.resolved()?;
        if let Some(named) = &run.profile {
            refuse_hidden_trust(named, &acting)?;
        }
        let mut sandboxes = Sandboxes {
            run,
            allowed: allowed(task, &acting)?,
            acting,
            approver: asking::approver(run)?,
            root: run.root.clone().unwrap_or_default(),
            files,
            written: Vec::new(),
            made: Mutex::new(Made {
                ledger,
                sandboxes: HashMap::new(),
            }),
        };
        // What is wrong with the flags is wrong with every job.
        let (first, others) = {
            let made = sandboxes.made.lock().unwrap_or_else(PoisonError::into_inner);
            let make = |profile: Option<&str>| sandboxes.make(&(profile.map(str::to_owned), None), &made.ledger);
            let first = make(None)?;
            let others = sandboxes.allowed.keys().map(|name| make(Some(name)));
            (first, others.collect::<Result<Vec<_>, _>>()?)
        };
        sandboxes.root = first.real_root()?;
        sandboxes.acting.refuse_other_root(&first)?;
        let all = others.iter().chain([&first]);
        sandboxes.written = all.flat_map(Sandbox::trees_of_runs).collect();
        Ok(sandboxes)
    }

    /// Writes the remaining records.
    pub fn close(&self) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).ledger.close();
    }

    fn make(&self, (profile, root): &Key, ledger: &Ledger) -> Result<Sandbox, Failure> {
        let mut run = self.run.clone();
        run.root = root.clone().or(run.root.map(|_| self.root.clone()));
        let made = |acting: &Acting| run::sandbox(&run, acting, (self.approver.as_ref(), ledger), (&[], None));
        let sandbox = match profile.as_deref().map(|name| (name, self.allowed.get(name))) {
            None => made(&self.acting),
            Some((_, Some(acting))) => made(acting),
            // A shipped one, which has no file.
            Some((name, None)) => made(&self.acting.under(name)),
        }?;
        let named = std::iter::once(&self.acting).chain(self.allowed.values());
        let sandbox = named.filter_map(Acting::loaded).fold(sandbox, Sandbox::guard_as);
        let sandbox = self.files.guarded_in(sandbox);
        Ok(sandbox.foreign_commands(self.written.iter().cloned()))
    }

    /// A job's profile: one within the batch's, or one that the user named for jobs, by the same word or by its name.
    fn profile(&self, job: &Job) -> Result<Option<String>, JobError> {
        let Some(named) = &job.profile else { return Ok(None) };
        let own = &self.acting.profile;
        if named == LOWEST || is_within(named, own) || self.allowed.contains_key(named.as_str()) {
            return Ok(Some(named.clone()).filter(|named| named != own));
        }
        let is_called = |acting: &Acting| {
            let sandbox = acting.loaded();
            sandbox.is_some_and(|sandbox| sandbox.loaded_profile().name == *named)
        };
        if is_called(&self.acting) {
            return Ok(None);
        }
        let mut called = self.allowed.iter().filter(|(_, acting)| is_called(acting));
        // Of two with one name neither is meant.
        if let (Some((word, _)), None) = (called.next(), called.next()) {
            return Ok(Some((*word).to_owned()));
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

/// The profiles of `--allow-profile`, loaded.
fn allowed<'a>(task: &'a Batch, acting: &Acting) -> Result<HashMap<&'a str, Acting>, Failure> {
    let load = |named: &'a String| {
        let acting = acting.under(named).resolved()?;
        refuse_hidden_trust(named, &acting)?;
        Ok((named.as_str(), acting))
    };
    task.allow_profile.iter().map(load).collect()
}

/// Refuses a profile that extends `trusted` under another name: a person gives that one by its own.
fn refuse_hidden_trust(named: &str, acting: &Acting) -> Result<(), Failure> {
    let extends = |sandbox: &Sandbox| sandbox.loaded_profile().extends(TRUSTED);
    match acting.loaded().is_some_and(extends) {
        true => Err(Failure::text(
            REFUSED,
            format!(
                "the profile `{}` extends `{TRUSTED}`, which a batch takes by its own name alone",
                visible(named)
            ),
        )
        .hint("let it extend a narrower one, `workspace` for example")),
        false => Ok(()),
    }
}

impl stockade_batch::Sandboxes for Sandboxes<'_> {
    fn sandbox(&self, job: &Job) -> Result<JobSandbox, JobError> {
        let named = self.root(job)?;
        // A job may have led the name of any root elsewhere since.
        let root = Some(named.as_ref().unwrap_or(&self.root).clone());
        let key = (self.profile(job)?, named);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sandbox) = made.sandboxes.get(&key) {
            let sandbox = sandbox.clone();
            return Ok(JobSandbox { sandbox, root });
        }
        let sandbox = self.make(&key, &made.ledger).map_err(|failure| JobError {
            message: failure.message,
            hint: failure.hint,
        })?;
        if made.sandboxes.len() >= MAX_KEPT {
            made.sandboxes.clear();
        }
        made.sandboxes.insert(key, sandbox.clone());
        Ok(JobSandbox { sandbox, root })
    }
}
