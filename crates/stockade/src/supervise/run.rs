//! All of one run, as its workers share it: the journal, the approvals, the network, the caches, the lock of names.
//!
//! A verdict is about a name, and the run may rename. So a call is resolved, judged and done under the lock
//! [`Run::rename_lock`]: renames hold it alone, all others together. What the run has made is known by device, inode and time
//! of birth, since an inode's number is used again; a pseudo-terminal by the time at which its entry was made.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use super::approvals::{Approvals, Asking};
use super::call::threads::SlowCalls;
use super::object::process_lists::ProcessLists;
use super::state::git_indexes::GitIndexes;
use super::state::journal::{Journal, RunObserver};
use super::state::made::Made;
use super::state::replays::Replays;
use super::state::run_config::RunConfig;
use super::state::run_policy::RunPolicy;
use super::state::script::Script;
use super::state::socket_store::SocketStore;
use super::state::stderr_log::StderrLog;
use crate::mutex::lock;
use crate::network::RunNetwork;

/// Those who take part in a run beside its supervisor.
#[derive(Default)]
pub struct RunServices {
    /// The approver, if the run has one.
    pub asking: Option<Asking>,
    /// The observer that events are reported to.
    pub observer: Option<RunObserver>,
    /// The script that the run is for, as it was read.
    pub script: Option<Script>,
}

/// All of one run. The launcher has it too, and reads the refusals.
pub struct Run {
    /// The policy, the nested runs, and what happened.
    pub journal: Arc<Journal>,
    /// The approvals, if the run has an approver.
    pub approvals: Option<Arc<Approvals>>,
    /// The resolver and the relay, if the policy names hosts.
    pub network: Option<Arc<RunNetwork>>,
    /// The script that the run is for, as it was read.
    pub script: Option<Script>,
    /// Processes that have begun to look up hosts, if none is named.
    resolving: Mutex<HashSet<i32>>,
    /// The text that the run wrote to its standard error.
    stderr_log: Mutex<StderrLog>,
    /// A renaming call takes it exclusively, all others share it: an object judged by its name still has the name when
    /// it is acted on.
    pub rename_lock: RwLock<()>,
    /// Whether a process of the run has set its umask. Until then all have the one that the run started with.
    pub umasks_differ: AtomicBool,
    /// The calls that each have a thread of their own.
    pub slow: Arc<SlowCalls>,
    /// Results whose answers came too late.
    pub replays: Replays,
    /// Git indexes that were read.
    pub indexes: GitIndexes,
    /// The process lists, which are opened in place of `/proc`.
    pub process_lists: ProcessLists,
    /// The sockets that were made for the run, if its own can't be taken.
    pub sockets: SocketStore,
}

impl Run {
    /// A run that hasn't begun.
    pub fn new(run_config: RunConfig, network: Option<Arc<RunNetwork>>, services: RunServices) -> Run {
        let faults = network.as_ref().map(|network| Arc::clone(&network.faults));
        let slow = SlowCalls::new(run_config.policy.limits.processes);
        let policy = RunPolicy::new(run_config);
        let journal = Arc::new(Journal::new(policy, services.observer, faults.unwrap_or_default()));
        let approvals = |asking| Arc::new(Approvals::new(asking, Arc::clone(&journal)));
        Run {
            approvals: services.asking.map(approvals),
            journal,
            network,
            script: services.script,
            resolving: Mutex::default(),
            stderr_log: Mutex::default(),
            rename_lock: RwLock::new(()),
            umasks_differ: AtomicBool::new(false),
            slow,
            replays: Replays::default(),
            indexes: GitIndexes::default(),
            process_lists: ProcessLists::default(),
            sockets: SocketStore::default(),
        }
    }

    /// The run's own policy.
    pub fn policy(&self) -> &RunPolicy {
        &self.journal.policy
    }

    /// Objects that the run made, nested runs included.
    pub fn made(&self) -> MutexGuard<'_, Made> {
        self.policy().made()
    }

    pub fn stderr_log(&self) -> MutexGuard<'_, StderrLog> {
        lock(&self.stderr_log)
    }

    /// Records that a process looks up hosts: from now on it sees the run's own hosts file.
    pub fn note_resolving(&self, process: i32) {
        let mut resolving = lock(&self.resolving);
        if resolving.len() < Made::MAX {
            resolving.insert(process);
        }
    }

    pub fn is_resolving(&self, process: i32) -> bool {
        lock(&self.resolving).contains(&process)
    }
}
