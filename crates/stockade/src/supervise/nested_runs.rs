//! Runs inside the run. Each has a label: the process below which everything is narrowed, and to what.
//!
//! A process is below an inner warden as long as that lives, since the warden collects its orphans. One that was killed
//! leaves orphans that nothing tells from the outer run's processes but their filters: a filter is never taken off, and
//! the inner run has one more than its warden had. So its label stays, and applies to whatever may have been below it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::caller::Caller;
use super::procfs::{self, Ancestor};
use super::run_policy::RunPolicy;
use super::shared::RunConfig;
use super::worker_fds::WorkerFds;
use crate::mutex::lock;
use crate::report::{Reason, Refusal, Refusals};

/// Inner runs at once, whether or not they have asked for anything yet.
const MOST: usize = 64;
/// Inner runs one inside the other.
const DEEPEST: usize = 8;

/// In the place of a process id: of no process.
const NOBODY: i32 = -1;

/// One inner run.
pub struct NestedRun {
    number: usize,
    warden: Ancestor,
    /// Filters on the warden; what is below has more.
    filters: u32,
    /// The labels that the warden itself is under.
    above: Vec<usize>,
    /// What the run may do.
    pub run_policy: RunPolicy,
    /// When it began, since the outer run's start.
    begun: Duration,
    /// What it was refused by its own policy.
    refusals: Mutex<Refusals>,
}

impl NestedRun {
    /// What tells it from others.
    pub fn number(&self) -> usize {
        self.number
    }

    /// A reason of its own policy's.
    pub fn refuses(&self, reason: Reason) -> Reason {
        Reason::Inside {
            run: self.number,
            reason: Box::new(reason),
        }
    }

    /// When it began, since the outer run's start.
    pub fn begun(&self) -> Duration {
        self.begun
    }

    /// What it was refused by its own policy.
    pub fn refusals(&self) -> MutexGuard<'_, Refusals> {
        lock(&self.refusals)
    }

    /// The process that everything of the inner run is below.
    pub fn warden(&self) -> i32 {
        self.warden.process
    }

    fn is_alive(&self, worker_fds: &WorkerFds) -> bool {
        procfs::look(worker_fds, self.warden.process)
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
    /// `None` where it can't be told for sure, or is too deep already.
    pub fn new(worker_fds: &WorkerFds, caller: &Caller<'_>, nested_runs: &Applying) -> Option<NestRequest> {
        let process = caller.thread_group()?;
        let found = procfs::look(worker_fds, process)?;
        let nest_request = NestRequest {
            warden: Ancestor {
                process,
                started: found.started,
            },
            filters: caller.filters()?,
            above: nested_runs.list.iter().map(|nested_run| nested_run.number).collect(),
        };
        let is_sure = caller.confirm().is_ok() && nested_runs.is_certain;
        (is_sure && nest_request.above.len() < DEEPEST).then_some(nest_request)
    }
}

/// The labels of a run.
#[derive(Default)]
pub struct Labels {
    list: Mutex<Vec<Arc<NestedRun>>>,
    /// How many there are: a run without inner ones pays for nothing else.
    count: AtomicUsize,
    /// Inner wardens that are connected.
    connected: AtomicUsize,
    numbers: AtomicUsize,
}

impl Labels {
    /// Takes a place among the connected ones, if there is one.
    pub fn connect(&self) -> bool {
        let has_room = self.connected.fetch_add(1, Ordering::Relaxed) < MOST;
        if !has_room {
            self.disconnect();
        }
        has_room
    }

    /// Gives the place back.
    pub fn disconnect(&self) {
        self.connected.fetch_sub(1, Ordering::Relaxed);
    }

    /// Narrows everything below the nest request from now on; the label's number, if there was room for one more.
    pub fn add(&self, nest_request: NestRequest, run_config: RunConfig, begun: Duration) -> Option<usize> {
        let mut list = lock(&self.list);
        if list.len() >= MOST {
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
        }));
        self.count.store(list.len(), Ordering::SeqCst);
        Some(number)
    }

    /// Once no process is left below; the label.
    pub fn remove(&self, number: usize) -> Option<Arc<NestedRun>> {
        let mut list = lock(&self.list);
        let index = list.iter().position(|nested_run| nested_run.number == number)?;
        let nested_run = list.remove(index);
        self.count.store(list.len(), Ordering::SeqCst);
        Some(nested_run)
    }

    /// Takes note of what an inner run's own policy refused.
    pub fn note(&self, number: usize, refusal: Refusal) {
        let all = self.all();
        if let Some(nested_run) = all.iter().find(|nested_run| nested_run.number == number) {
            let refusal = nested_run.run_policy.run_config.policy_reason(refusal);
            nested_run.refusals().note(refusal);
        }
    }

    /// All of them.
    pub fn all(&self) -> Vec<Arc<NestedRun>> {
        if self.count.load(Ordering::SeqCst) == 0 {
            return Vec::new();
        }
        lock(&self.list).clone()
    }

    /// Those that apply to a caller; all where it can't be told.
    pub fn of(&self, worker_fds: &WorkerFds, caller: &Caller<'_>) -> Applying {
        let all = self.all();
        if all.is_empty() {
            return Applying::none(worker_fds);
        }
        let ancestry = procfs::ancestry(worker_fds, caller.thread).filter(|_| caller.confirm().is_ok());
        match ancestry {
            Some(ancestry) => Applying::new(&all, &ancestry, worker_fds, caller),
            None => Applying {
                list: all,
                top: NOBODY,
                is_certain: false,
            },
        }
    }
}

/// The labels that apply to one caller.
#[derive(Clone)]
pub struct Applying {
    /// The outermost needn't be first.
    pub list: Vec<Arc<NestedRun>>,
    /// The process below which everything is that the caller may see and signal.
    pub top: i32,
    /// Whether these are exactly the labels of the caller.
    pub is_certain: bool,
}

impl Applying {
    /// The number of the innermost label, where it is sure which those are.
    pub fn innermost(&self) -> Option<usize> {
        self.list
            .first()
            .filter(|_| self.is_certain)
            .map(|nested_run| nested_run.number)
    }

    fn none(worker_fds: &WorkerFds) -> Applying {
        Applying {
            list: Vec::new(),
            top: worker_fds.warden,
            is_certain: true,
        }
    }

    fn new(all: &[Arc<NestedRun>], ancestry: &[Ancestor], worker_fds: &WorkerFds, caller: &Caller<'_>) -> Applying {
        let is_above = |nested_run: &&Arc<NestedRun>| ancestry.contains(&nested_run.warden);
        let mut list: Vec<_> = all.iter().filter(is_above).cloned().collect();
        let innermost =
            |nested_run: &Arc<NestedRun>| ancestry.iter().position(|ancestor| *ancestor == nested_run.warden);
        list.sort_by_key(innermost);
        let mut top = list.first().map_or(worker_fds.warden, |nested_run| nested_run.warden());
        let dead = all
            .iter()
            .filter(|nested_run| !is_above(nested_run) && !nested_run.is_alive(worker_fds));
        let mut orphaned = Vec::new();
        for nested_run in dead {
            match nested_run.may_have_held(&list, caller) {
                Held::No => {}
                Held::Surely => orphaned.push(Arc::clone(nested_run)),
                Held::Perhaps => {
                    top = NOBODY;
                    orphaned.push(Arc::clone(nested_run));
                }
            }
        }
        list.extend(orphaned);
        Applying {
            list,
            top,
            is_certain: true,
        }
    }
}

/// Whether a caller was below a warden that has ended.
enum Held {
    No,
    /// By way of an inner run in its run.
    Surely,
    Perhaps,
}

impl NestedRun {
    /// `living`: the labels of inner wardens that the caller is below. An orphan goes to a process that was above its
    /// inner warden already, so a process below another one was never below this, unless that was.
    fn may_have_held(&self, living: &[Arc<NestedRun>], caller: &Caller<'_>) -> Held {
        if living.iter().any(|nested_run| nested_run.above.contains(&self.number)) {
            return Held::Surely;
        }
        let is_elsewhere = living.iter().any(|nested_run| !self.above.contains(&nested_run.number));
        let has_more = caller.filters().is_none_or(|filters| filters > self.filters);
        if is_elsewhere || !has_more {
            Held::No
        } else {
            Held::Perhaps
        }
    }
}
