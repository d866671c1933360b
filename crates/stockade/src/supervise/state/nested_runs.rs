//! Nested runs. Each names the process below which everything is narrowed, and the policy.
//!
//! A process is below a nested run's warden as long as the warden lives, since the warden adopts orphans. The orphans
//! of a killed warden differ from the outer run's processes only by their filters: a filter is never removed, and the
//! nested run has one more than its warden had. So it stays listed, and applies to all that may have been below it.
//!
//! No filter of the run's own may have a listener: its holder could answer `CONTINUE` for its children. So the outer
//! run's supervisor judges the calls of a run inside it, by the policies of all runs on the way up. A warden that says
//! goodbye has ended its tree, and its run is removed; the refusals by its own policy go along its connection, and the
//! outer run's report counts them (`Reason::Inside`) and explains nothing by them.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::run_config::RunConfig;
use super::run_policy::RunPolicy;
use crate::mutex::lock;
use crate::report::{Reason, Refusal, Refusals};
use crate::supervise::call::caller::Caller;
use crate::supervise::call::fds::WorkerFds;
use crate::supervise::call::procfs;
use crate::supervise::call::procfs::Ancestor;

/// Most nested runs at once, whether or not they have sent a request yet.
const MAX: usize = 64;
/// Most levels of nesting.
const MAX_DEPTH: usize = 8;

/// A process id that no process has.
const NO_PROCESS: i32 = -1;

/// One nested run.
pub struct NestedRun {
    number: usize,
    warden: Ancestor,
    /// The number of filters on the warden; processes below it have more.
    filters: u32,
    /// The numbers of the nested runs that the warden itself is in.
    above: Vec<usize>,
    /// The run's policy.
    pub run_policy: RunPolicy,
    /// The start of the run, since the outer run's start.
    begun: Duration,
    /// The refusals by its own policy.
    refusals: Mutex<Refusals>,
    /// The number that the last supervised call of its processes had among all calls.
    last_call: AtomicU64,
}

impl NestedRun {
    /// The number that identifies it.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The reason of a refusal by its own policy.
    pub fn refuses(&self, reason: Reason) -> Reason {
        Reason::Inside {
            run: self.number,
            reason: Box::new(reason),
        }
    }

    /// The start of the run, since the outer run's start.
    pub fn begun(&self) -> Duration {
        self.begun
    }

    /// The number that the last supervised call of its processes had: calls of other runs come after it.
    pub fn last_call(&self) -> u64 {
        self.last_call.load(Ordering::Relaxed)
    }

    /// The refusals by its own policy.
    pub fn refusals(&self) -> MutexGuard<'_, Refusals> {
        lock(&self.refusals)
    }

    /// The process that all of the nested run's processes are below.
    pub fn warden(&self) -> i32 {
        self.warden.process
    }

    fn is_alive(&self, fds: &WorkerFds) -> bool {
        procfs::look(fds, self.warden.process)
            .is_some_and(|found| found.started == self.warden.started && !found.is_exiting)
    }
}

/// The process that asks to have everything below it narrowed, as it was while it waited.
pub struct NestRequest {
    warden: Ancestor,
    filters: u32,
    above: Vec<usize>,
}

impl NestRequest {
    /// Returns `None` if this can't be determined for sure, or if the nesting is too deep already.
    pub fn new(fds: &WorkerFds, caller: &Caller<'_>, nested_runs: &CallerRuns) -> Option<NestRequest> {
        let process = caller.thread_group()?;
        let found = procfs::look(fds, process)?;
        let nest_request = NestRequest {
            warden: Ancestor {
                process,
                started: found.started,
            },
            filters: caller.filters()?,
            above: nested_runs.list.iter().map(|nested_run| nested_run.number).collect(),
        };
        let is_sure = caller.confirm().is_ok() && nested_runs.is_certain;
        (is_sure && nest_request.above.len() < MAX_DEPTH).then_some(nest_request)
    }
}

/// The nested runs of a run.
#[derive(Default)]
pub struct NestedRuns {
    list: Mutex<Vec<Arc<NestedRun>>>,
    /// The number of nested runs: a run without any pays for reading this alone.
    count: AtomicUsize,
    /// The number of connected wardens.
    connected: AtomicUsize,
    numbers: AtomicUsize,
}

impl NestedRuns {
    /// Counts one more connection, if there is room for it.
    pub fn connect(&self) -> bool {
        let has_room = self.connected.fetch_add(1, Ordering::Relaxed) < MAX;
        if !has_room {
            self.disconnect();
        }
        has_room
    }

    /// Counts one connection less.
    pub fn disconnect(&self) {
        self.connected.fetch_sub(1, Ordering::Relaxed);
    }

    /// Narrows everything below the requester from now on. Returns the nested run's number, if there was room for it.
    pub fn add(&self, nest_request: NestRequest, run_config: RunConfig, begun: Duration) -> Option<usize> {
        let mut list = lock(&self.list);
        if list.len() >= MAX {
            return None;
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        list.push(Arc::new(NestedRun {
            number,
            warden: nest_request.warden,
            filters: nest_request.filters,
            above: nest_request.above,
            run_policy: RunPolicy::new(run_config),
            begun,
            refusals: Mutex::new(Refusals::of_inner_run()),
            last_call: AtomicU64::new(0),
        }));
        self.count.store(list.len(), Ordering::SeqCst);
        Some(number)
    }

    /// Removes and returns a nested run, once no process is left below it.
    pub fn remove(&self, number: usize) -> Option<Arc<NestedRun>> {
        let mut list = lock(&self.list);
        let index = list.iter().position(|nested_run| nested_run.number == number)?;
        let nested_run = list.remove(index);
        self.count.store(list.len(), Ordering::SeqCst);
        Some(nested_run)
    }

    /// Records a refusal by a nested run's own policy.
    pub fn note(&self, number: usize, refusal: Refusal, calls: u64) {
        let all = self.all();
        if let Some(nested_run) = all.iter().find(|nested_run| nested_run.number == number) {
            let refusal = nested_run.run_policy.run_config.policy_reason(refusal);
            nested_run.refusals().note(refusal, calls);
        }
    }

    /// All nested runs.
    pub fn all(&self) -> Vec<Arc<NestedRun>> {
        if self.count.load(Ordering::SeqCst) == 0 {
            return Vec::new();
        }
        lock(&self.list).clone()
    }

    /// The nested runs that apply to a caller; all of them if that can't be determined.
    pub fn of(&self, fds: &WorkerFds, caller: &Caller<'_>) -> CallerRuns {
        let all = self.all();
        if all.is_empty() {
            return CallerRuns::none(fds);
        }
        let ancestry = procfs::ancestry(fds, caller.thread).filter(|_| caller.confirm().is_ok());
        match ancestry {
            Some(ancestry) => CallerRuns::new(&all, &ancestry, fds, caller),
            None => CallerRuns {
                list: all,
                top: NO_PROCESS,
                is_certain: false,
            },
        }
    }
}

/// The nested runs that apply to one caller.
#[derive(Clone)]
pub struct CallerRuns {
    /// The nested runs; the outermost needn't be first.
    pub list: Vec<Arc<NestedRun>>,
    /// The process at the top of the subtree that the caller may see and signal.
    pub top: i32,
    /// Whether these are exactly the nested runs that the caller is in.
    pub is_certain: bool,
}

impl CallerRuns {
    /// The number of the innermost nested run, if that is certain.
    pub fn innermost(&self) -> Option<usize> {
        self.list
            .first()
            .filter(|_| self.is_certain)
            .map(|nested_run| nested_run.number)
    }

    /// Notes that the caller made a supervised call, by its number among all calls.
    pub fn note_call(&self, number: u64) {
        for nested_run in &self.list {
            nested_run.last_call.fetch_max(number, Ordering::Relaxed);
        }
    }

    fn none(fds: &WorkerFds) -> CallerRuns {
        CallerRuns {
            list: Vec::new(),
            top: fds.warden,
            is_certain: true,
        }
    }

    fn new(all: &[Arc<NestedRun>], ancestry: &[Ancestor], fds: &WorkerFds, caller: &Caller<'_>) -> CallerRuns {
        let is_above = |nested_run: &&Arc<NestedRun>| ancestry.contains(&nested_run.warden);
        let mut list: Vec<_> = all.iter().filter(is_above).cloned().collect();
        let innermost =
            |nested_run: &Arc<NestedRun>| ancestry.iter().position(|ancestor| *ancestor == nested_run.warden);
        list.sort_by_key(innermost);
        let mut top = list.first().map_or(fds.warden, |nested_run| nested_run.warden());
        let dead = all
            .iter()
            .filter(|nested_run| !is_above(nested_run) && !nested_run.is_alive(fds));
        let mut orphaned = Vec::new();
        for nested_run in dead {
            match nested_run.contained(&list, caller) {
                WasInside::No => {}
                WasInside::Yes => orphaned.push(Arc::clone(nested_run)),
                WasInside::Unknown => {
                    top = NO_PROCESS;
                    orphaned.push(Arc::clone(nested_run));
                }
            }
        }
        list.extend(orphaned);
        CallerRuns {
            list,
            top,
            is_certain: true,
        }
    }
}

/// Whether a caller was below a warden that has ended.
enum WasInside {
    No,
    /// Through a nested run inside that run.
    Yes,
    Unknown,
}

impl NestedRun {
    /// `living`: the nested runs with a living warden that the caller is below. An orphan's new parent was above its
    /// warden already, so a process below another warden was never below this one, unless that warden was.
    fn contained(&self, living: &[Arc<NestedRun>], caller: &Caller<'_>) -> WasInside {
        if living.iter().any(|nested_run| nested_run.above.contains(&self.number)) {
            return WasInside::Yes;
        }
        let is_elsewhere = living.iter().any(|nested_run| !self.above.contains(&nested_run.number));
        let has_more = caller.filters().is_none_or(|filters| filters > self.filters);
        if is_elsewhere || !has_more {
            WasInside::No
        } else {
            WasInside::Unknown
        }
    }
}

#[cfg(test)]
impl NestRequest {
    /// A warden of this process number, with these filters, in the nested runs of these numbers.
    pub fn of(process: i32, filters: u32, above: &[usize]) -> NestRequest {
        NestRequest {
            warden: Ancestor { process, started: 1 },
            filters,
            above: above.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Capabilities;
    use crate::report::Kind;
    use crate::supervise::testing::{notification, policy, refusal, run_config, worker_fds};
    use stockade_sys::notify::Notification;

    /// Process numbers that no process has.
    const GONE: [i32; 3] = [i32::MAX - 3, i32::MAX - 2, i32::MAX - 1];

    fn add(runs: &NestedRuns, request: NestRequest) -> usize {
        runs.add(request, run_config(policy(Vec::new())), Duration::ZERO)
            .expect("there is room")
    }

    /// The runs that apply to a caller below these wardens, the nearest first. It has few filters.
    fn of(runs: &NestedRuns, wardens: &[i32]) -> CallerRuns {
        of_caller(runs, wardens, &notification(1))
    }

    fn of_caller(runs: &NestedRuns, wardens: &[i32], notification: &Notification) -> CallerRuns {
        let fds = worker_fds();
        let ancestor = |process: &i32| Ancestor {
            process: *process,
            started: 1,
        };
        let ancestry: Vec<_> = wardens.iter().map(ancestor).collect();
        let caller = Caller::new(&fds, notification);
        CallerRuns::new(&runs.all(), &ancestry, &fds, &caller)
    }

    fn numbers(runs: &CallerRuns) -> Vec<usize> {
        runs.list.iter().map(|nested_run| nested_run.number()).collect()
    }

    /// A thread whose filters can't be counted, which may have more than any other.
    fn uncounted() -> Notification {
        let mut call = notification(1);
        call.thread = GONE[2];
        call
    }

    /// More filters than any thread of a test has.
    const MANY: u32 = 1000;

    #[test]
    fn a_caller_is_in_the_runs_whose_wardens_it_is_below_the_innermost_first() {
        let runs = NestedRuns::default();
        let outer = add(&runs, NestRequest::of(GONE[0], MANY, &[]));
        let inner = add(&runs, NestRequest::of(GONE[1], MANY, &[outer]));
        let beside = add(&runs, NestRequest::of(GONE[2], MANY, &[]));
        let found = of(&runs, &[GONE[1], GONE[0]]);
        assert_eq!(numbers(&found), [inner, outer]);
        assert_eq!((found.top, found.innermost()), (GONE[1], Some(inner)));
        assert!(found.is_certain && !numbers(&found).contains(&beside));
    }

    #[test]
    fn a_caller_below_no_warden_with_no_more_filters_than_theirs_is_in_no_nested_run() {
        let runs = NestedRuns::default();
        add(&runs, NestRequest::of(GONE[0], MANY, &[]));
        let found = of(&runs, &[]);
        assert!(found.list.is_empty() && found.innermost().is_none());
        assert_eq!(found.top, worker_fds().warden);
    }

    #[test]
    fn the_run_of_a_killed_warden_applies_to_all_that_may_have_been_below_it() {
        let runs = NestedRuns::default();
        let killed = add(&runs, NestRequest::of(GONE[0], MANY, &[]));
        assert!(of(&runs, &[]).list.is_empty());
        let found = of_caller(&runs, &[], &uncounted());
        assert_eq!((numbers(&found), found.top), (vec![killed], NO_PROCESS));
    }

    #[test]
    fn a_killed_wardens_run_still_applies_inside_a_run_that_was_inside_it() {
        let runs = NestedRuns::default();
        let killed = add(&runs, NestRequest::of(GONE[0], MANY, &[]));
        let inner = add(&runs, NestRequest::of(GONE[1], MANY, &[killed]));
        let found = of(&runs, &[GONE[1]]);
        assert_eq!(numbers(&found), [inner, killed]);
        assert_eq!(found.top, GONE[1]);
    }

    #[test]
    fn a_killed_wardens_run_does_not_apply_below_a_living_warden_beside_it() {
        let runs = NestedRuns::default();
        add(&runs, NestRequest::of(GONE[0], 1, &[]));
        let beside = add(&runs, NestRequest::of(GONE[1], 1, &[]));
        assert_eq!(numbers(&of_caller(&runs, &[GONE[1]], &uncounted())), [beside]);
    }

    #[test]
    fn where_the_ancestors_are_unknown_every_nested_run_applies() {
        let runs = NestedRuns::default();
        let number = add(&runs, NestRequest::of(GONE[0], MANY, &[]));
        let fds = worker_fds();
        // No caller of a test is confirmed.
        let found = runs.of(&fds, &Caller::new(&fds, &notification(1)));
        assert_eq!((numbers(&found), found.top), (vec![number], NO_PROCESS));
        assert!(!found.is_certain && found.innermost().is_none());
    }

    #[test]
    fn without_nested_runs_a_caller_is_certainly_in_none() {
        let fds = worker_fds();
        let found = NestedRuns::default().of(&fds, &Caller::new(&fds, &notification(1)));
        assert!(found.is_certain && found.list.is_empty());
        assert_eq!(found.top, fds.warden);
    }

    #[test]
    fn a_run_that_said_goodbye_is_gone_and_its_number_is_not_used_again() {
        let runs = NestedRuns::default();
        let first = add(&runs, NestRequest::of(GONE[0], 1, &[]));
        assert!(runs.remove(first).is_some() && runs.remove(first).is_none());
        assert!(runs.all().is_empty());
        assert_ne!(add(&runs, NestRequest::of(GONE[0], 1, &[])), first);
    }

    #[test]
    fn connections_and_nested_runs_are_limited() {
        let runs = NestedRuns::default();
        assert!((0..MAX).all(|_| runs.connect()) && !runs.connect());
        runs.disconnect();
        assert!(runs.connect());
        for _ in 0..MAX {
            add(&runs, NestRequest::of(GONE[0], 1, &[]));
        }
        let one_more = NestRequest::of(GONE[0], 1, &[]);
        assert!(
            runs.add(one_more, run_config(policy(Vec::new())), Duration::ZERO)
                .is_none()
        );
    }

    #[test]
    fn a_refusal_is_kept_with_its_run_by_the_reason_of_that_runs_policy() {
        let runs = NestedRuns::default();
        let mut config = run_config(policy(Vec::new()));
        config.policy.capabilities = Capabilities::READ;
        let number = runs
            .add(NestRequest::of(GONE[0], 1, &[]), config, Duration::ZERO)
            .unwrap();
        runs.note(number, refusal(Kind::Write, "/w/a"), 3);
        runs.note(number + 1, refusal(Kind::Write, "/w/b"), 4);
        let all = runs.all();
        let refusals = all[0].refusals();
        assert_eq!(refusals.list().len(), 1);
        assert_eq!(refusals.list()[0].first.reason, Reason::Incapable(Capabilities::WRITE));
    }

    #[test]
    fn the_last_call_of_a_nested_run_is_the_highest_number() {
        let runs = NestedRuns::default();
        add(&runs, NestRequest::of(GONE[0], 1, &[]));
        let found = of(&runs, &[GONE[0]]);
        found.note_call(5);
        found.note_call(3);
        assert_eq!(runs.all()[0].last_call(), 5);
    }
}
