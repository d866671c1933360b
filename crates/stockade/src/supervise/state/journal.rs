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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::policy::Capabilities;
    use crate::report::Kind;
    use crate::supervise::state::nested_runs::NestRequest;
    use crate::supervise::testing::{journal, policy, refusal, run_config};

    /// Keeps what it is told.
    #[derive(Default)]
    struct Listener {
        wants_all: bool,
        records: Mutex<Vec<(String, Record)>>,
        refused: Mutex<Vec<String>>,
    }

    impl Observer for Listener {
        fn note(&self, run: &str, record: Record) {
            lock(&self.records).push((run.to_string(), record));
        }

        fn refused(&self, _: &str, refused: &Refused) {
            lock(&self.refused).push(refused.seen.target.clone());
        }

        fn wants_refused(&self) -> bool {
            self.wants_all
        }

        fn wants_allowed(&self) -> bool {
            self.wants_all
        }
    }

    fn observed(wants_all: bool) -> (Journal, Arc<Listener>) {
        let listener = Arc::new(Listener {
            wants_all,
            ..Listener::default()
        });
        let observer = RunObserver {
            run: "run".into(),
            observer: Arc::clone(&listener) as Arc<dyn Observer>,
            command: vec!["true".into()],
            home: None,
        };
        let policy = RunPolicy::new(run_config(policy(Vec::new())));
        (Journal::new(policy, Some(observer), Arc::default()), listener)
    }

    #[test]
    fn the_first_refusal_of_a_kind_is_told_and_all_are_counted() {
        let (journal, listener) = observed(false);
        for _ in 0..3 {
            journal.note(refusal(Kind::Read, "/x/a"));
        }
        journal.note(refusal(Kind::Read, "/x/b"));
        let records = lock(&listener.records);
        assert_eq!(records.len(), 2);
        assert!(
            records
                .iter()
                .all(|(run, record)| run == "run" && matches!(record, Record::Denied(_)))
        );
        assert_eq!(journal.refusals().list()[0].count, 3);
        assert!(lock(&listener.refused).is_empty() && !journal.tells_all());
    }

    #[test]
    fn an_observer_that_wants_each_refusal_gets_each() {
        let (journal, listener) = observed(true);
        for _ in 0..3 {
            journal.note(refusal(Kind::Read, "/x/a"));
        }
        assert_eq!(*lock(&listener.refused), ["/x/a"; 3]);
        assert!(journal.tells_all());
    }

    #[test]
    fn a_refusal_is_kept_with_the_reason_behind_it_and_the_calls_before_it() {
        let mut config = run_config(policy(Vec::new()));
        config.policy.capabilities = Capabilities::READ;
        let journal = journal(config);
        journal.count_call();
        journal.count_call();
        journal.note(refusal(Kind::Write, "/w/a"));
        let refusals = journal.refusals();
        assert_eq!(refusals.list()[0].first.reason, Reason::Incapable(Capabilities::WRITE));
        assert_eq!(refusals.list()[0].last_calls, 2);
    }

    #[test]
    fn a_nested_runs_own_refusal_is_counted_here_and_explained_there() {
        let journal = journal(run_config(policy(Vec::new())));
        let request = NestRequest::of(1, 1, &[]);
        let number = journal
            .nested_runs
            .add(request, run_config(policy(Vec::new())), Duration::ZERO);
        let nested_run = journal.nested_runs.all().remove(0);
        let mut refused = refusal(Kind::Write, "/w/a");
        refused.reason = nested_run.refuses(Reason::NotGranted);
        journal.note(refused);
        assert_eq!(nested_run.refusals().list()[0].first.reason, Reason::NotGranted);
        let refusals = journal.refusals();
        assert!(matches!(&refusals.list()[0].first.reason, Reason::Inside { run, .. } if Some(*run) == number));
    }

    #[test]
    fn without_an_observer_no_record_is_written() {
        let journal = journal(run_config(policy(Vec::new())));
        journal.tell(|| unreachable!("there is none"));
        assert!(!journal.tells_all());
    }
}
