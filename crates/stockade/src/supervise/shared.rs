//! What all workers of a run share: the policy, what the run has made, what was refused.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::hash::Hash;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::{Duration, Instant};

use super::approvals::{Approvals, Asking};
use super::hearing::Heard;
use super::nested_runs::Labels;
use super::pinned::Identity;
use super::process_list::ProcessLists;
use super::run_policy::RunPolicy;
use super::submodules::Indexes;
use super::synthetic_files::Script;
use super::system_v::Objects;
use super::terminals::Terminal;
use crate::approve::{Answer, EscalationRequest};
use crate::audit::{Observer, Record, Seen};
use crate::growth::SpaceReserve;
use crate::mutex::lock;
use crate::network::Network;
use crate::plan::Supervision;
use crate::policy::{Mode, Policy};
use crate::report::{Faults, Reason, Refusal, Refusals};

/// Everything about a run that its supervisor has to know.
pub struct RunConfig {
    /// What the run may do.
    pub policy: Policy,
    /// What may be left to the kernel.
    pub supervision: Supervision,
    /// The run's own directory.
    pub scratch: Option<PathBuf>,
    /// What it keeps for later runs of its kind.
    pub cache: Option<PathBuf>,
    /// Whether programs may be started from the scratch directory.
    pub scratch_executes: bool,
    /// The terminals that the run was given.
    pub terminals: Vec<PathBuf>,
    /// Calls of `execve(2)` that the command itself takes.
    pub starts: u32,
    /// The highest soft limit of its user's processes that it had, where the launcher moves that.
    pub most_processes: Option<Arc<AtomicU64>>,
    /// What it leaves free where it writes.
    pub kept: Option<SpaceReserve>,
}

impl RunConfig {
    pub fn is_in_scratch(&self, name: &Path) -> bool {
        self.scratch.as_ref().is_some_and(|scratch| name.starts_with(scratch))
    }

    pub fn is_in_cache(&self, name: &Path) -> bool {
        self.cache.as_ref().is_some_and(|cache| name.starts_with(cache))
    }

    /// Whether a name is in a directory that the run has to itself: no denial holds there.
    pub fn is_private(&self, name: &Path) -> bool {
        self.is_in_scratch(name) || self.is_in_cache(name)
    }

    /// A refusal with its reason: where nothing grants what the run couldn't do anywhere, that.
    pub fn policy_reason(&self, mut refusal: Refusal) -> Refusal {
        let held = self.policy.capabilities;
        if refusal.reason == Reason::NotGranted
            && let Some(capability) = refusal.kind.capability().filter(|needed| !held.contains(*needed))
        {
            refusal.reason = Reason::Incapable(capability);
        }
        if refusal.reason == Reason::NotGranted && refusal.kind.changes() && self.policy.mode == Mode::Manual {
            refusal.reason = Reason::Limited("every change asks in mode `manual`".into());
        }
        refusal
    }
}

/// Who takes part in a run besides those who serve it.
#[derive(Default)]
pub struct Aides {
    /// Who is asked for more.
    pub asking: Option<Asking>,
    /// Who is told what happens, and by which id of the run.
    pub observer: Option<(String, Arc<dyn Observer>)>,
    /// The script that the run is for, as it was read.
    pub script: Option<Script>,
}

/// Shared by the workers, and by the launcher, who reads what was refused.
pub struct Shared {
    /// The run's own policy.
    pub run: RunPolicy,
    /// Those of runs inside it.
    pub nested_runs: Labels,
    /// The directories that are handed over in place of `/proc`.
    pub process_lists: Arc<ProcessLists>,
    /// The resolver and the relay, where hosts are named.
    pub network: Option<Arc<Network>>,
    /// What may be granted while it lives, where somebody can be asked.
    pub approvals: Option<Arc<Approvals>>,
    observer: Option<(String, Arc<dyn Observer>)>,
    /// The script that the run is for, as it was read.
    pub script: Option<Script>,
    /// Processes that have begun to look for hosts, where none is named.
    resolving: Mutex<HashSet<i32>>,
    /// The run's start.
    pub started: Instant,
    refusals: Mutex<Refusals>,
    /// What the run wrote to its standard error.
    heard: Mutex<Heard>,
    /// Mistakes of our own.
    pub faults: Arc<Faults>,
    /// A renaming call holds it alone, all others hold it together: what was judged by its name still has it when it is
    /// acted on.
    pub names: RwLock<()>,
    /// Whether a process of the run has set its umask. Until then all have the one that the run began with.
    pub umasks_differ: AtomicBool,
    /// Workers that wait for a notification.
    pub waiting: AtomicUsize,
    /// Held by the worker that receives the next notification.
    pub turn: Mutex<()>,
    /// Workers in all.
    pub workers: AtomicUsize,
    /// Calls since another was found waiting.
    pub calls_alone: AtomicUsize,
    /// Threads that each wait for one slow call.
    pub slow: AtomicUsize,
    replays: Mutex<HashMap<i32, Replay>>,
    /// Indexes of git's that were read.
    pub indexes: Indexes,
}

/// What the run has made and may use for that reason.
#[derive(Debug, Default)]
pub struct Made {
    /// Unix sockets bound to a path.
    pub sockets: HashSet<Identity>,
    /// Directories: a `.git` among them isn't guarded, nor what would be for its name in one.
    pub directories: HashSet<Identity>,
    /// Locks of a `.git/config`, to be written and removed again.
    pub git_locks: HashMap<Identity, PathBuf>,
    /// Symbolic links.
    pub links: HashSet<Identity>,
    /// Names that directories and links had which the run didn't make, before it moved or removed them, with the first that
    /// had each. What the run makes there instead is guarded as they were. So is what a link in such a place leads to.
    vacated: BTreeMap<PathBuf, Option<Identity>>,
    /// Directories of others that it has moved.
    carried: HashSet<Identity>,
    /// Whether it has written, in a directory of its own, what would be guarded elsewhere.
    pub uses_own: bool,
    /// Files in `/dev/shm`.
    pub shared_memory: HashSet<Identity>,
    /// System V shared memory and semaphores.
    pub system_v: Objects,
    /// The names that they have there, to be removed at the end. Kept for the whole run in the outermost one.
    shared_names: HashMap<PathBuf, Identity>,
    /// Pseudo-terminals.
    pub terminals: HashSet<Terminal>,
    /// Sockets that listen, by the number that the kernel's tables have for them, and where.
    pub listeners: HashMap<u64, SocketAddr>,
    /// Sockets that were bound to loopback and may listen, by number.
    pub bound: HashSet<u64>,
    /// Ports that the kernel chose for it to listen on.
    pub chosen_ports: HashSet<u16>,
}

impl Made {
    /// Things of one kind that are kept in mind; what comes later counts as anybody's.
    pub const MOST: usize = 16_384;
    /// Names that are kept; once there are as many, every name may have been another's.
    const MOST_VACATED: usize = 65_536;
    /// An environment or a repository has many.
    pub const MOST_DIRECTORIES: usize = 262_144;

    /// The names of its files in `/dev/shm`.
    pub fn shared_files(&self) -> Vec<PathBuf> {
        self.shared_names.keys().cloned().collect()
    }

    /// Takes note that something which had this name has it no more.
    pub fn vacate(&mut self, name: &Path, identity: Identity) {
        if !self.has_made(identity) {
            self.claim(name, Some(identity));
        }
    }

    /// Takes note that a directory has another name now.
    pub fn carry(&mut self, identity: Identity) {
        if !self.has_made(identity) {
            Made::keep(&mut self.carried, identity, Made::MOST_VACATED);
        }
    }

    /// Whether a directory, or one that it is in, is another's and was moved.
    pub fn has_carried(&self, directory: &Path) -> bool {
        let is_carried = |above| Identity::at(above).is_none_or(|identity| self.carried.contains(&identity));
        let is_full = self.carried.len() >= Made::MOST_VACATED;
        is_full || !self.carried.is_empty() && directory.ancestors().any(is_carried)
    }

    /// Takes note that a name stands for what the run didn't make.
    pub fn claim(&mut self, name: &Path, identity: Option<Identity>) {
        if self.vacated.len() < Made::MOST_VACATED {
            self.vacated.entry(name.to_path_buf()).or_insert(identity);
        }
    }

    /// Whether the run made this directory or link.
    pub fn has_made(&self, identity: Identity) -> bool {
        self.directories.contains(&identity) || self.links.contains(&identity)
    }

    /// Takes note of a move: what was another's below the old name is so below the new one.
    pub fn move_vacated(&mut self, old: &Path, new: &Path) {
        let below = self.vacated.range(old.to_path_buf()..);
        let below = below.map_while(|(name, had)| Some((new.join(name.strip_prefix(old).ok()?), *had)));
        for (name, had) in below.collect::<Vec<_>>() {
            self.claim(&name, had);
        }
    }

    /// Whether this name, or one above it, was that of something which the run didn't make.
    pub fn was_anothers(&self, name: &Path) -> bool {
        let is_full = self.vacated.len() >= Made::MOST_VACATED;
        is_full || !self.vacated.is_empty() && name.ancestors().any(|above| self.vacated.contains_key(above))
    }

    /// Whether something else than `moved` had this name, or one above or below it, and the run didn't make it.
    pub fn is_anothers(&self, name: &Path, moved: Option<Identity>) -> bool {
        if moved.is_some() && self.vacated.get(name).is_some_and(|had| *had == moved) {
            return false;
        }
        let mut from_here = self.vacated.range(name.to_path_buf()..);
        self.was_anothers(name) || from_here.next().is_some_and(|(below, _)| below.starts_with(name))
    }

    /// Keeps one in mind, where there's room.
    pub fn keep<T: Eq + Hash>(kept: &mut HashSet<T>, made: T, most: usize) {
        if kept.len() < most {
            kept.insert(made);
        }
    }

    /// What is gone isn't kept: its number will mean another object one day.
    pub fn forget(&mut self, identity: Identity) {
        self.sockets.remove(&identity);
        self.directories.remove(&identity);
        self.links.remove(&identity);
        self.git_locks.remove(&identity);
        self.shared_memory.remove(&identity);
    }

    /// Whether one more name in `/dev/shm` is too many.
    pub fn has_all_shared_names(&self) -> bool {
        self.shared_names.len() >= Made::MOST
    }

    /// Takes note of what a name in `/dev/shm` stands for now.
    pub fn look_at_shared_name(&mut self, name: &Path) {
        match Identity::at(name).filter(|identity| self.shared_memory.contains(identity)) {
            Some(identity) => self.shared_names.insert(name.to_path_buf(), identity),
            None => self.shared_names.remove(name),
        };
    }

    /// Removes what the run left in `/dev/shm`, of System V's, and locks that would keep others from writing.
    pub fn clear_shared_memory(&mut self) {
        self.system_v.clear();
        for (identity, name) in self.git_locks.drain() {
            if Identity::at(&name) == Some(identity) {
                let _ = std::fs::remove_file(&name);
            }
        }
        for (name, identity) in self.shared_names.drain() {
            if Identity::at(&name) == Some(identity) {
                let _ = std::fs::remove_file(&name);
            }
        }
    }
}

/// The result of a call whose answer came too late: a signal interrupted the target, which then asks again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// The call's number and registers.
    pub call: (i32, [u64; 6]),
    /// What to answer.
    pub result: Result<i64, i32>,
}

/// How long a look at the tree may not show what was let go.
const SHOWS_AFTER: Duration = Duration::from_millis(20);

/// Counts the processes and threads of a run as they are made.
#[derive(Default)]
pub struct Counter {
    /// When processes were let go that a look at the tree may not show yet.
    expected: Vec<Instant>,
    /// How many may be made before the tree is looked at again.
    free: u64,
}

impl Counter {
    /// Lets one more go without a look, where the last one found much room. What a look misses, because its parent
    /// ends meanwhile, is found by the next, and that comes after half of the room at the latest.
    pub fn knows_room(&mut self) -> bool {
        let knows = self.free > 0;
        if knows {
            self.free -= 1;
            self.expect();
        }
        knows
    }

    fn expect(&mut self) {
        self.expected.retain(|since| since.elapsed() < SHOWS_AFTER);
        self.expected.push(Instant::now());
    }

    /// Lets one more go, if there's room beside those alive and those expected.
    pub fn expect_one_more(&mut self, alive: u64, limit: u64) -> bool {
        self.expected.retain(|since| since.elapsed() < SHOWS_AFTER);
        let taken = alive + self.expected.len() as u64;
        let has_room = taken < limit;
        if has_room {
            self.free = (limit - taken - 1) / 2;
            self.expect();
        }
        has_room
    }
}

impl Shared {
    pub fn new(run_config: RunConfig, network: Option<Arc<Network>>, aides: Aides) -> Shared {
        let faults = network.as_ref().map(|network| Arc::clone(&network.faults));
        Shared {
            run: RunPolicy::new(run_config),
            nested_runs: Labels::default(),
            process_lists: Arc::default(),
            network,
            approvals: aides.asking.map(|asking| Arc::new(Approvals::new(asking))),
            observer: aides.observer,
            script: aides.script,
            resolving: Mutex::default(),
            started: Instant::now(),
            refusals: Mutex::default(),
            heard: Mutex::default(),
            faults: faults.unwrap_or_default(),
            names: RwLock::new(()),
            umasks_differ: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            turn: Mutex::new(()),
            workers: AtomicUsize::new(0),
            calls_alone: AtomicUsize::new(0),
            slow: AtomicUsize::new(0),
            replays: Mutex::default(),
            indexes: Indexes::default(),
        }
    }

    /// What the run made, inner runs included.
    pub fn made(&self) -> MutexGuard<'_, Made> {
        self.run.made()
    }

    pub fn heard(&self) -> MutexGuard<'_, Heard> {
        lock(&self.heard)
    }

    pub fn refusals(&self) -> MutexGuard<'_, Refusals> {
        lock(&self.refusals)
    }

    /// A refusal with the run's own reason.
    pub fn with_reason(&self, refusal: Refusal) -> Refusal {
        self.run.run_config.policy_reason(refusal)
    }

    /// Takes note of a refusal, and tells of the first of its kind.
    pub fn note(&self, refusal: Refusal) {
        let refusal = self.with_reason(refusal);
        if let Reason::Inside { run, reason } = &refusal.reason {
            let reason = (**reason).clone();
            self.nested_runs.note(
                *run,
                Refusal {
                    reason,
                    ..refusal.clone()
                },
            );
        }
        let is_told = self.observer.is_some();
        let seen = self.refusals().note(refusal).filter(|_| is_told).map(Seen::of);
        if let Some(seen) = seen {
            self.tell(|| Record::Denied(seen));
        }
    }

    /// Takes note of what a program only told that it was refused, where nothing is noted of the same thing yet. That is no
    /// event, so the audit trail has none of it.
    pub fn note_told(&self, refusal: Refusal) {
        let refusal = self.with_reason(refusal);
        let mut refusals = self.refusals();
        if !refusals
            .list()
            .iter()
            .any(|counted| counted.first.target == refusal.target)
        {
            refusals.note(refusal);
        }
    }

    /// Tells the observer, if there's one.
    pub fn tell(&self, record: impl FnOnce() -> Record) {
        if let Some((run, observer)) = &self.observer {
            observer.note(run, record());
        }
    }

    /// Whether allowed accesses are told of.
    pub fn tells_all(&self) -> bool {
        self.observer
            .as_ref()
            .is_some_and(|(_, observer)| observer.wants_allowed())
    }

    /// Has a grant kept for later runs; whether somebody does.
    pub fn keep_grant(&self, words: &[OsString], request: &EscalationRequest, answer: &Answer) -> bool {
        let observer = self.observer.as_ref().map(|(_, observer)| observer);
        observer.is_some_and(|observer| observer.keep_grant(words, request, answer))
    }

    /// A process asks where names are found: from now on it sees the run's own hosts file.
    pub fn note_resolving(&self, process: i32) {
        let mut resolving = lock(&self.resolving);
        if resolving.len() < Made::MOST {
            resolving.insert(process);
        }
    }

    pub fn is_resolving(&self, process: i32) -> bool {
        lock(&self.resolving).contains(&process)
    }

    /// Whether no worker waits for the next notification.
    pub fn is_busy(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) == 0
    }

    /// Whether no other worker has a call to answer.
    pub fn is_one_at_work(&self) -> bool {
        self.workers.load(Ordering::Relaxed) <= self.waiting.load(Ordering::Relaxed) + 1
    }

    /// Whether it is worth a system call to see if another call waits. A run that makes one call after the other, as most
    /// do, has one worker and is looked at now and then.
    pub fn is_time_to_look(&self) -> bool {
        const AT_FIRST: usize = 8;
        const THEN_EACH: usize = 16;
        if self.workers.load(Ordering::Relaxed) > 1 {
            return true;
        }
        let calls = self.calls_alone.fetch_add(1, Ordering::Relaxed);
        calls < AT_FIRST || calls.is_multiple_of(THEN_EACH)
    }

    pub fn remember(&self, thread: i32, replay: Replay) {
        let mut replays = lock(&self.replays);
        // Threads that were killed never ask again.
        if replays.len() >= 256 {
            replays.clear();
        }
        replays.insert(thread, replay);
    }

    /// The result of the same call of the same thread, if it was done and never heard.
    pub fn recall(&self, thread: i32, call: (i32, [u64; 6])) -> Option<Result<i64, i32>> {
        let mut replays = lock(&self.replays);
        if replays.is_empty() {
            return None;
        }
        let replay = replays.remove(&thread)?;
        (replay.call == call).then_some(replay.result)
    }
}
