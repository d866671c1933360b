//! State that all workers of a run share: the policy, the objects that the run has made, the refusals.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::hash::Hash;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::{Duration, Instant};

use super::approvals::{Approvals, Asking};
use super::nested_runs::Labels;
use super::pinned::Identity;
use super::process_list::ProcessLists;
use super::run_policy::RunPolicy;
use super::stderr_log::StderrLog;
use super::submodules::Indexes;
use super::synthetic_files::Script;
use super::system_v::Objects;
use super::terminals::PseudoTerminal;
use crate::approve::{Answer, EscalationRequest};
use crate::audit::{Observer, Record, Refused, Seen};
use crate::growth::SpaceReserve;
use crate::mutex::lock;
use crate::network::RunNetwork;
use crate::plan::Supervision;
use crate::policy::{Mode, Policy};
use crate::real_path::REPOSITORIES;
use crate::report::{Faults, Reason, Refusal, Refusals};

/// The configuration of a run, as its supervisor needs it.
pub struct RunConfig {
    /// The run's policy.
    pub policy: Policy,
    /// The checks that may be left to the kernel.
    pub supervision: Supervision,
    /// Chosen trees where Landlock reads all that is there.
    pub native: Vec<PathBuf>,
    /// The run's own scratch directory.
    pub scratch: Option<PathBuf>,
    /// The directory that it keeps for later runs of its kind.
    pub cache: Option<PathBuf>,
    /// Whether programs may be started from the scratch directory.
    pub scratch_executes: bool,
    /// The terminals that the run was given.
    pub terminals: Vec<PathBuf>,
    /// The number of `execve(2)` calls that the command itself takes.
    pub starts: u32,
    /// The highest soft limit on its user's processes that the run has had, if the launcher adjusts the limit.
    pub most_processes: Option<Arc<AtomicU64>>,
    /// The space that the run leaves free where it writes.
    pub kept: Option<SpaceReserve>,
    /// Places of repositories that earlier runs removed.
    pub taken: Vec<PathBuf>,
    /// Repositories that earlier runs made, and the directories that they are in.
    pub earlier: Vec<Identity>,
}

impl RunConfig {
    pub fn is_in_scratch(&self, name: &Path) -> bool {
        self.scratch.as_ref().is_some_and(|scratch| name.starts_with(scratch))
    }

    /// Whether Landlock lets the run read what lies there. The tree itself is another object once it was replaced.
    pub fn is_read_natively(&self, name: &Path) -> bool {
        self.native.iter().any(|tree| name != tree && name.starts_with(tree))
    }

    /// Whether it lies in a tree that was looked through before the start, or is one.
    pub fn was_looked_through(&self, name: &Path) -> bool {
        self.native.iter().any(|tree| name.starts_with(tree))
    }

    pub fn is_in_cache(&self, name: &Path) -> bool {
        self.cache.as_ref().is_some_and(|cache| name.starts_with(cache))
    }

    /// Whether a name is in a directory that the run has to itself: no denial applies there.
    pub fn is_private(&self, name: &Path) -> bool {
        self.is_in_scratch(name) || self.is_in_cache(name)
    }

    /// Replaces a missing grant, as the reason of a refusal, by a missing capability or the mode `manual` behind it.
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

/// The parties to a run besides its supervisor.
#[derive(Default)]
pub struct Aides {
    /// The approver, if the run has one.
    pub asking: Option<Asking>,
    /// The observer that events are reported to.
    pub observer: Option<Telling>,
    /// The script that the run is for, as it was read.
    pub script: Option<Script>,
}

/// An observer, and what it is told of the run.
pub struct Telling {
    /// The run's id.
    pub run: String,
    /// The observer.
    pub observer: Arc<dyn Observer>,
    /// The run's command.
    pub command: Vec<String>,
    /// The caller's home.
    pub home: Option<PathBuf>,
}

/// Shared by the workers and by the launcher, which reads the refusals.
pub struct Shared {
    /// The run's own policy.
    pub run: RunPolicy,
    /// The nested runs.
    pub nested_runs: Labels,
    /// The process lists, which are opened in place of `/proc`.
    pub process_lists: Arc<ProcessLists>,
    /// The resolver and the relay, if the policy names hosts.
    pub network: Option<Arc<RunNetwork>>,
    /// The approvals, if the run has an approver.
    pub approvals: Option<Arc<Approvals>>,
    observer: Option<Telling>,
    /// The script that the run is for, as it was read.
    pub script: Option<Script>,
    /// Processes that have begun to look up hosts, if none is named.
    resolving: Mutex<HashSet<i32>>,
    /// The run's start.
    pub started: Instant,
    refusals: Mutex<Refusals>,
    /// The text that the run wrote to its standard error.
    stderr_log: Mutex<StderrLog>,
    /// How many calls were handed over.
    handled_calls: AtomicU64,
    /// Faults of the supervisor itself.
    pub faults: Arc<Faults>,
    /// A renaming call takes it exclusively, all others share it: an object judged by its name still has the name when
    /// it is acted on.
    pub names: RwLock<()>,
    /// Whether a process of the run has set its umask. Until then all have the one that the run started with.
    pub umasks_differ: AtomicBool,
    /// The number of workers that wait for a notification.
    pub waiting: AtomicUsize,
    /// Held by the worker that receives the next notification.
    pub turn: Mutex<()>,
    /// The number of workers.
    pub workers: AtomicUsize,
    /// The number of calls since another one was found waiting.
    pub calls_alone: AtomicUsize,
    /// The number of threads that each wait for one slow call.
    pub slow: AtomicUsize,
    replays: Mutex<HashMap<i32, Replay>>,
    /// Git indexes that were read.
    pub indexes: Indexes,
}

/// Objects that the run has made and may use for that reason.
#[derive(Debug, Default)]
pub struct Made {
    /// Unix sockets bound to a path.
    pub sockets: HashSet<Identity>,
    /// Directories: a `.git` among them isn't guarded, nor is an entry in one that would be guarded for its name.
    pub directories: HashSet<Identity>,
    /// Locks of a `.git/config`, which the run may write and remove again.
    pub git_locks: HashMap<Identity, PathBuf>,
    /// Symbolic links.
    pub links: HashSet<Identity>,
    /// Names that directories and links of others had before the run moved or removed them, each with its first object.
    /// What the run makes there instead is guarded as they were. So is the target of a link at such a place.
    vacated: BTreeMap<PathBuf, Option<Identity>>,
    /// Git directories of others, and those of other version control, of which the run has removed what makes them one.
    taken: BTreeSet<PathBuf>,
    /// Repositories that the run made, where it did.
    repositories: BTreeSet<PathBuf>,
    /// Those of earlier runs, and the directories that they are in: this run's own only in that it may replace them.
    pub earlier: HashSet<Identity>,
    /// Directories of others that the run has moved.
    carried: HashSet<Identity>,
    /// Whether the run has written, in a directory of its own, what would be guarded elsewhere.
    pub uses_own: bool,
    /// Files in `/dev/shm`.
    pub shared_memory: HashSet<Identity>,
    /// System V shared memory and semaphores.
    pub system_v: Objects,
    /// The names of these files, to be removed at the end. Kept for the whole run in the outermost one.
    shared_names: HashMap<PathBuf, Identity>,
    /// Pseudo-terminals.
    pub terminals: HashSet<PseudoTerminal>,
    /// Listening sockets and their addresses, by the number that the kernel's tables have for them.
    pub listeners: HashMap<u64, SocketAddr>,
    /// Sockets that were bound to loopback and may listen, by number.
    pub bound: HashSet<u64>,
    /// Ports that the kernel chose for the run to listen on.
    pub chosen_ports: HashSet<u16>,
}

impl Made {
    /// Most objects of one kind that are recorded; later ones count as anybody's.
    pub const MOST: usize = 16_384;
    /// Most names that are recorded; beyond that every name may have been another's.
    const MOST_VACATED: usize = 65_536;
    /// Most directories that are recorded: an environment or a repository has many.
    pub const MOST_DIRECTORIES: usize = 262_144;

    /// The names of the run's files in `/dev/shm`.
    pub fn shared_files(&self) -> Vec<PathBuf> {
        self.shared_names.keys().cloned().collect()
    }

    /// Records that an object lost this name, unless the run made it.
    pub fn vacate(&mut self, name: &Path, identity: Identity) {
        if !self.has_made(identity) && !self.is_of_earlier(name, identity) {
            self.claim(name, Some(identity));
        }
    }

    /// Whether an object is a repository of an earlier run's, or in one or beside one, and in no other repository.
    pub fn is_of_earlier(&self, name: &Path, identity: Identity) -> bool {
        if self.earlier.is_empty() {
            return false;
        }
        let is_earlier = |above: &Path| Identity::at(above).is_some_and(|identity| self.earlier.contains(&identity));
        let is_repository = |above: &Path| {
            REPOSITORIES
                .iter()
                .any(|one| above.file_name() == Some(OsStr::new(one)))
        };
        let mut above = name.ancestors().skip(1);
        self.earlier.contains(&identity)
            || !is_repository(name)
                && above
                    .find(|above| is_earlier(above) || is_repository(above))
                    .is_some_and(is_earlier)
    }

    /// Records a repository that the run made.
    pub fn found(&mut self, repository: &Path) {
        if self.repositories.len() < Made::MOST {
            self.repositories.insert(repository.to_path_buf());
        }
    }

    /// The repositories that the run made and that may be there still, and the directories that they are in.
    pub fn repositories(&self) -> BTreeSet<&Path> {
        const MOST: usize = 1024;
        let repositories = self.repositories.iter().take(MOST);
        repositories.flat_map(|repository| repository.ancestors()).collect()
    }

    /// Records that a repository of others, or a part of one, is gone from this place.
    pub fn take(&mut self, repository: &Path) {
        if self.taken.len() < Made::MOST {
            self.taken.insert(repository.to_path_buf());
        }
    }

    /// The places of those repositories.
    pub fn taken(&self) -> impl Iterator<Item = &PathBuf> {
        self.taken.iter()
    }

    /// Whether a directory whose repository was taken is still there, below this one or here.
    pub fn has_taken_from_below(&self, directory: &Path) -> bool {
        let mut below = self.taken.iter().filter_map(|repository| repository.parent());
        below.any(|below| below.starts_with(directory) && below.is_dir())
    }

    /// Records that a directory has another name now, unless the run made it.
    pub fn carry(&mut self, identity: Identity) {
        if !self.has_made(identity) {
            Made::keep(&mut self.carried, identity, Made::MOST_VACATED);
        }
    }

    /// Whether a directory, or one above it, is another's and was moved.
    pub fn has_carried(&self, directory: &Path) -> bool {
        let is_carried = |above| Identity::at(above).is_none_or(|identity| self.carried.contains(&identity));
        let is_full = self.carried.len() >= Made::MOST_VACATED;
        is_full || !self.carried.is_empty() && directory.ancestors().any(is_carried)
    }

    /// Records that a name belongs to something that the run didn't make.
    pub fn claim(&mut self, name: &Path, identity: Option<Identity>) {
        if self.vacated.len() < Made::MOST_VACATED {
            self.vacated.entry(name.to_path_buf()).or_insert(identity);
        }
    }

    /// Whether the run made this directory or link.
    pub fn has_made(&self, identity: Identity) -> bool {
        self.directories.contains(&identity) || self.links.contains(&identity)
    }

    /// Whether a move leaves a directory of the run's own, and leads to one that isn't.
    pub fn leaves_own(&self, old: &Path, new: &Path) -> bool {
        let is_own = |above: &Path| Identity::at(above).is_some_and(|identity| self.has_made(identity));
        let is_in_own = |name: &Path| {
            name.parent()
                .is_some_and(|above| is_own(above) && !self.was_anothers(above))
        };
        !self.directories.is_empty() && old.ancestors().skip(1).any(is_own) && !is_in_own(new)
    }

    /// Records a move: names below the old one that were another's are so below the new one.
    pub fn move_vacated(&mut self, old: &Path, new: &Path) {
        let below = self.vacated.range(old.to_path_buf()..);
        let below = below.map_while(|(name, had)| Some((new.join(name.strip_prefix(old).ok()?), *had)));
        for (name, had) in below.collect::<Vec<_>>() {
            self.claim(&name, had);
        }
    }

    /// Whether this name, or one above it, was that of something that the run didn't make.
    pub fn was_anothers(&self, name: &Path) -> bool {
        let is_full = self.vacated.len() >= Made::MOST_VACATED;
        is_full || !self.vacated.is_empty() && name.ancestors().any(|above| self.vacated.contains_key(above))
    }

    /// Whether a name was that of something that the run didn't make, or may have been inside of what was moved away. What
    /// was removed was empty by then, and what was in it had been recorded by itself.
    pub fn may_have_been_anothers(&self, name: &Path) -> bool {
        let is_moved = |had: &Option<Identity>| had.is_none_or(|had| self.carried.contains(&had));
        let mut above = name.ancestors().skip(1);
        self.vacated.len() >= Made::MOST_VACATED
            || !self.vacated.is_empty()
                && (self.vacated.contains_key(name) || above.any(|above| self.vacated.get(above).is_some_and(is_moved)))
    }

    /// Whether something other than `moved`, which the run didn't make, had this name, or one above or below it.
    pub fn is_anothers(&self, name: &Path, moved: Option<Identity>) -> bool {
        if moved.is_some() && self.vacated.get(name).is_some_and(|had| *had == moved) {
            return false;
        }
        let mut from_here = self.vacated.range(name.to_path_buf()..);
        self.was_anothers(name) || from_here.next().is_some_and(|(below, _)| below.starts_with(name))
    }

    /// Records an object, if there is room.
    pub fn keep<T: Eq + Hash>(kept: &mut HashSet<T>, made: T, most: usize) {
        if kept.len() < most {
            kept.insert(made);
        }
    }

    /// Forgets an object that is gone: its number will mean another object one day.
    pub fn forget(&mut self, identity: Identity) {
        self.sockets.remove(&identity);
        self.directories.remove(&identity);
        self.links.remove(&identity);
        self.git_locks.remove(&identity);
        self.shared_memory.remove(&identity);
    }

    /// Whether one more name in `/dev/shm` would be too many.
    pub fn has_all_shared_names(&self) -> bool {
        self.shared_names.len() >= Made::MOST
    }

    /// Records which object a name in `/dev/shm` has now.
    pub fn look_at_shared_name(&mut self, name: &Path) {
        match Identity::at(name).filter(|identity| self.shared_memory.contains(identity)) {
            Some(identity) => self.shared_names.insert(name.to_path_buf(), identity),
            None => self.shared_names.remove(name),
        };
    }

    /// Removes what the run left in `/dev/shm` and of System V objects, and locks that would keep others from writing.
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

/// The result of a call whose answer came too late: a signal interrupted the target, which then repeats the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// The call's number and registers.
    pub call: (i32, [u64; 6]),
    /// The result to answer with.
    pub result: Result<i64, i32>,
}

/// How long a count of the tree may miss a process that was allowed.
const SHOWS_AFTER: Duration = Duration::from_millis(20);

/// Counts the processes and threads of a run as they are made.
#[derive(Default)]
pub struct Counter {
    /// The times at which processes were allowed that a count of the tree may miss.
    expected: Vec<Instant>,
    /// The number of processes that may be made before the tree is counted again.
    free: u64,
}

impl Counter {
    /// Allows one more without a count, if the last one found much room. A process that a count misses, because its
    /// parent ends meanwhile, is found by the next one, which comes after half of the room at the latest.
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

    /// Allows one more, if there is room besides those alive and those expected.
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
    pub fn new(run_config: RunConfig, network: Option<Arc<RunNetwork>>, aides: Aides) -> Shared {
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
            stderr_log: Mutex::default(),
            handled_calls: AtomicU64::new(0),
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

    /// Objects that the run made, nested runs included.
    pub fn made(&self) -> MutexGuard<'_, Made> {
        self.run.made()
    }

    pub fn stderr_log(&self) -> MutexGuard<'_, StderrLog> {
        lock(&self.stderr_log)
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
        self.run.run_config.policy_reason(refusal)
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
            let policy = &self.run.run_config.policy;
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

    /// Records that a process looks up hosts: from now on it sees the run's own hosts file.
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

    /// Whether checking for another waiting call is worth a system call. A run that makes one call after the other, as
    /// most do, has one worker and is checked now and then.
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
        // Threads that were killed never repeat their call.
        if replays.len() >= 256 {
            replays.clear();
        }
        replays.insert(thread, replay);
    }

    /// The result of the same call of the same thread, if it was done and the answer was never received.
    pub fn recall(&self, thread: i32, call: (i32, [u64; 6])) -> Option<Result<i64, i32>> {
        let mut replays = lock(&self.replays);
        if replays.is_empty() {
            return None;
        }
        let replay = replays.remove(&thread)?;
        (replay.call == call).then_some(replay.result)
    }
}
