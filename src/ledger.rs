//! The run's lasting records and the grants from earlier answers: the audit trail, and grants for always.
//!
//! Failures of either never weaken a run's confinement. Unreadable files grant nothing, and a failed write is reported once.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use super::REFUSED;
use super::args::Run;
use super::ask::Ask;
use super::events::{Events, Observers};
use super::message::{Failure, note};
use stockade::Sandbox;
use stockade::internal::Surroundings;
use stockade_policy::config::{Configuration, ConfigurationError};
use stockade_policy::profile::visible;
use stockade_report::audit::{Observer, Record};
use stockade_store::{AuditWriter, GrantStore, Key, Level, StoredGrant};
use stockade_text::quote::command_line;

/// The directory of the reports that an agent's hook reads, in the state directory.
pub const HOOK_REPORTS: &str = "hook";

/// The store for the runs of one call.
pub struct Ledger {
    surroundings: Surroundings,
    writer: RefCell<Option<AuditWriter>>,
    events: Option<Arc<Events>>,
    level: Level,
}

impl Ledger {
    /// Whether the trail keeps what is refused.
    pub fn keeps_refusals(&self) -> bool {
        self.level != Level::Off && self.surroundings.state.is_some()
    }

    /// Whether a report is one that the agent's hook reads, and removes then.
    pub fn is_of_hook(&self, report: &OsStr) -> bool {
        let state = self.surroundings.state.as_deref();
        state.is_some_and(|state| Path::new(report).starts_with(state.join(HOOK_REPORTS)))
    }

    /// Opens the store for recording.
    ///
    /// # Errors
    /// The user's configuration has faults.
    pub fn open(run: &Run) -> Result<Ledger, Failure> {
        let usual = if run.agent.is_some() {
            Level::All
        } else {
            Level::Denials
        };
        let events = run.events.as_deref().map(Events::open).transpose()?;
        Ok(Ledger {
            events,
            ..Self::at(run.audit.unwrap_or(usual))?
        })
    }

    /// Opens the store at a level.
    ///
    /// # Errors
    /// The user's configuration has faults.
    pub fn at(level: Level) -> Result<Ledger, Failure> {
        let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
        let configuration = configuration(&surroundings)?;
        let writer = AuditWriter::start(surroundings.state.as_deref(), level, configuration.on_violation);
        Ok(Ledger {
            surroundings,
            writer: RefCell::new(Some(writer)),
            events: None,
            level,
        })
    }

    /// Adds the grants stored for always for such runs, and an observer, to the sandbox.
    pub fn with_grants(&self, sandbox: Sandbox, run: &Run, profile: &str) -> Result<Sandbox, Failure> {
        let key = Key {
            project: sandbox.project()?,
            profile: profile_key(profile),
            agent: run.agent.clone(),
            script: run.script.as_ref().map(|script| script.hash.clone()),
        };
        let mut sandbox = with_stored(sandbox, &key, self.surroundings.state.as_deref());
        if let Some(writer) = &*self.writer.borrow() {
            if self.surroundings.state.is_some() && run.ask != Ask::Never {
                writer.keep_grants(key);
            }
            let observers = Observers::new(writer.observer(), self.events.clone());
            sandbox = sandbox.observer(Arc::new(observers));
        }
        Ok(sandbox)
    }

    /// The observer that records the run.
    pub fn observer(&self) -> Option<Arc<dyn Observer>> {
        self.writer.borrow().as_ref().map(AuditWriter::observer)
    }

    /// Records events of a run after its end.
    pub fn note(&self, run: &str, records: Vec<Record>) {
        if let Some(writer) = &*self.writer.borrow() {
            let observer = writer.observer();
            records.into_iter().for_each(|record| observer.note(run, record));
        }
    }

    /// Writes the remaining records.
    pub fn close(&self) {
        if let Some(events) = &self.events {
            events.close();
        }
        let Some(writer) = self.writer.borrow_mut().take() else {
            return;
        };
        if let Err(error) = writer.finish() {
            let failure = Failure::new(REFUSED, &error);
            note(&failure.message);
        }
    }
}

/// The sandbox with the grants that are stored for always for such runs.
pub fn with_stored(mut sandbox: Sandbox, key: &Key, state: Option<&Path>) -> Sandbox {
    for grant in stored(key, state) {
        let by = format!("grant {}, by {}", grant.id, grant.grant.by);
        sandbox = match sandbox.clone().approved(&grant.grant.given.words(), &by) {
            Some(sandbox) => sandbox,
            None => {
                let words = command_line(&grant.grant.given.words());
                note(&format!(
                    "the stored grant {} (`{words}`) isn't used, since its path leads elsewhere by now: \
                     remove it with `stockade grant remove {}`",
                    grant.id, grant.id
                ));
                sandbox
            }
        };
    }
    sandbox
}

fn stored(key: &Key, state: Option<&Path>) -> Vec<StoredGrant> {
    let found = state.map_or(Ok(None), GrantStore::open_existing);
    let found = found.and_then(|store| store.map_or(Ok(Vec::new()), |mut store| store.matching(key)));
    found.unwrap_or_else(|error| {
        note(&format!("can't use stored grants: {}", visible(&error.to_string())));
        Vec::new()
    })
}

/// The user's configuration. An unreadable one, as in a nested run, reports no violations.
fn configuration(surroundings: &Surroundings) -> Result<Configuration, Failure> {
    let directory = surroundings.configuration.as_deref();
    if let Some(configuration) = Configuration::load_if_open(directory, Some(stockade_judge::is_match))? {
        return Ok(configuration);
    }
    let path = directory.unwrap_or(Path::new("")).to_string_lossy();
    note(&format!(
        "`{}/config.toml` can't be read here, so `on_violation` isn't run",
        visible(&path)
    ));
    Ok(Configuration::default())
}

/// A profile by name, or by its file.
pub(super) fn profile_key(name_or_file: &str) -> OsString {
    if name_or_file.contains('/') {
        let file = Path::new(name_or_file);
        return std::fs::canonicalize(file)
            .unwrap_or_else(|_| file.to_path_buf())
            .into();
    }
    name_or_file.into()
}

impl From<ConfigurationError> for Failure {
    fn from(error: ConfigurationError) -> Self {
        Failure {
            hint: error.hint().map(String::from),
            ..Failure::new(REFUSED, &error)
        }
    }
}
