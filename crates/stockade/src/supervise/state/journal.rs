//! The journal: what the run was refused, what failed in the supervisor, and who is told.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::nested_runs::NestedRuns;
use super::run_policy::RunPolicy;
use crate::approve::{Answer, EscalationRequest};
use crate::audit::{Observer, Record, Refused, Seen};
use crate::mutex::lock;
use crate::report::{Faults, Reason, Refusal, Refusals};

/// An observer, and what it is told of the run.
pub struct RunObserver {
    /// The run's id.
    pub run: String,
    /// The observer.
    pub observer: Arc<dyn Observer>,
    /// The run's command.
    pub command: Vec<String>,
    /// The caller's home.
    pub home: Option<PathBuf>,
}

/// What happened in one run.
pub struct Journal {
    /// The run's own policy.
    pub policy: RunPolicy,
    /// The nested runs, which have refusals of their own.
    pub nested_runs: NestedRuns,
    observer: Option<RunObserver>,
    /// The run's start.
    pub started: Instant,
    refusals: Mutex<Refusals>,
    /// How many calls were handed over.
    handled_calls: AtomicU64,
    /// Faults of the supervisor itself.
    pub faults: Arc<Faults>,
}

impl Journal {
    /// An empty journal.
    pub fn new(policy: RunPolicy, observer: Option<RunObserver>, faults: Arc<Faults>) -> Journal {
        Journal {
            policy,
            nested_runs: NestedRuns::default(),
            observer,
            started: Instant::now(),
            refusals: Mutex::default(),
            handled_calls: AtomicU64::new(0),
            faults,
        }
    }

    pub fn count_call(&self) {
        self.handled_calls.fetch_add(1, Ordering::Relaxed);
    }

    pub fn handled_calls(&self) -> u64 {
        self.handled_calls.load(Ordering::Relaxed)
    }

    pub fn refusals(&self) -> MutexGuard<'_, Refusals> {
        lock(&self.refusals)
    }

    /// Replaces the reason of a refusal by the one behind it in the run's own policy.
    pub fn with_reason(&self, refusal: Refusal) -> Refusal {
        self.policy.run_config.policy_reason(refusal)
    }

    /// Records a refusal, and reports the first of its kind.
    pub fn note(&self, refusal: Refusal) {
        let refusal = self.with_reason(refusal);
        let calls = self.handled_calls();
        if let Reason::Inside { run, reason } = &refusal.reason {
            let reason = (**reason).clone();
            self.nested_runs.note(
                *run,
                Refusal {
                    reason,
                    ..refusal.clone()
                },
                calls,
            );
        }
        let is_told = self.observer.is_some();
        self.tell_refused(&refusal);
        let seen = self.refusals().note(refusal, calls).filter(|_| is_told).map(Seen::of);
        if let Some(seen) = seen {
            self.tell(|| Record::Denied(seen));
        }
    }

    /// Reports a record to the observer, if there is one.
    pub fn tell(&self, record: impl FnOnce() -> Record) {
        if let Some(telling) = &self.observer {
            telling.observer.note(&telling.run, record());
        }
    }

    /// Reports a refusal to an observer that wants each.
    fn tell_refused(&self, refusal: &Refusal) {
        if let Some(telling) = self
            .observer
            .as_ref()
            .filter(|telling| telling.observer.wants_refused())
        {
            let policy = &self.policy.run_config.policy;
            let refused = Refused::of(refusal, policy, telling.home.as_deref(), &telling.command);
            telling.observer.refused(&telling.run, &refused);
        }
    }

    /// Whether allowed accesses are reported.
    pub fn tells_all(&self) -> bool {
        self.observer
            .as_ref()
            .is_some_and(|telling| telling.observer.wants_allowed())
    }

    /// Has the observer keep a grant for later runs; returns whether it did.
    pub fn keep_grant(&self, words: &[OsString], request: &EscalationRequest, answer: &Answer) -> bool {
        let observer = self.observer.as_ref().map(|telling| &telling.observer);
        observer.is_some_and(|observer| observer.keep_grant(words, request, answer))
    }
}
