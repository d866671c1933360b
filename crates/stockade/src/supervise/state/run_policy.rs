//! One policy that applies to a caller: the run's or a nested run's, with what was made under it.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, OnceLock};

use super::made::Made;
use super::run_config::RunConfig;
use crate::mutex::lock;
use crate::policy::{Capabilities, Closed, Matcher};
use crate::report::Kind;
use crate::supervise::state::fork_counter::ForkCounter;

/// A run configuration and the state that belongs to it alone.
pub struct RunPolicy {
    /// The run's configuration.
    pub run_config: RunConfig,
    closed: OnceLock<Closed>,
    made: Mutex<Made>,
    opened: Mutex<HashSet<Vec<u8>>>,
    executed: Mutex<HashSet<Vec<u8>>>,
    /// The count of forks; they are counted one at a time.
    pub forking: Mutex<ForkCounter>,
    starting: Mutex<Starting>,
}

/// The process that started the command, and the number of programs that it executed.
#[derive(Default)]
struct Starting {
    process: Option<i32>,
    calls: u32,
}

impl RunPolicy {
    pub fn new(run_config: RunConfig) -> RunPolicy {
        let mut made = Made::default();
        for repository in &run_config.taken {
            made.claim(repository, None);
            made.take(repository);
        }
        made.earlier = run_config.earlier.iter().copied().collect();
        RunPolicy {
            run_config,
            closed: OnceLock::new(),
            made: Mutex::new(made),
            opened: Mutex::default(),
            executed: Mutex::default(),
            forking: Mutex::default(),
            starting: Mutex::default(),
        }
    }

    /// Whether a process may execute another program: with EXECUTE always, without it only as part of the command's own
    /// start, which the first process does.
    pub fn may_start(&self, process: impl Fn() -> i32) -> bool {
        if self.run_config.policy.capabilities.contains(Capabilities::EXECUTE) {
            return true;
        }
        let (process, mut starting) = (process(), lock(&self.starting));
        if *starting.process.get_or_insert(process) != process || starting.calls >= self.run_config.starts {
            return false;
        }
        starting.calls += 1;
        true
    }

    /// The policy's matcher. The globs are compiled when the first path is judged.
    pub fn matcher(&self) -> Matcher<'_> {
        let policy = &self.run_config.policy;
        Matcher::with(policy, self.closed.get_or_init(|| Closed::compile(policy)))
    }

    /// SystemVObjects made under this policy, also in nested runs, that may be used for that reason.
    pub fn made(&self) -> MutexGuard<'_, Made> {
        lock(&self.made)
    }

    /// Absolute paths of the base whose uses of this kind were continued.
    pub fn continued(&self, kind: Kind) -> MutexGuard<'_, HashSet<Vec<u8>>> {
        lock(match kind {
            Kind::Execute => &self.executed,
            _ => &self.opened,
        })
    }
}
