//! One policy that applies to a caller: the run's or a nested run's, with what was made under it.
//!
//! It also counts executions: without the capability the first process may call `execve` as often as the command itself
//! takes, and no other process. Everything else is refused, so what memory holds doesn't matter.

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

    /// Objects made under this policy, also in nested runs, that may be used for that reason.
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::policy::{Access, AccessDecision};
    use crate::supervise::testing::{directory, grant, make, policy, run_config};

    fn starting(capabilities: Capabilities, starts: u32) -> RunPolicy {
        let mut config = run_config(policy(Vec::new()));
        config.policy.capabilities = capabilities;
        config.starts = starts;
        RunPolicy::new(config)
    }

    #[test]
    fn with_the_capability_every_process_may_execute_and_is_not_even_looked_at() {
        let run_policy = starting(Capabilities::EXECUTE, 0);
        assert!(run_policy.may_start(|| unreachable!("the process doesn't count")));
    }

    #[test]
    fn without_it_the_first_process_executes_as_often_as_the_command_takes() {
        let run_policy = starting(Capabilities::READ, 2);
        assert!(run_policy.may_start(|| 7));
        assert!(run_policy.may_start(|| 7));
        assert!(!run_policy.may_start(|| 7));
    }

    #[test]
    fn without_it_no_other_process_executes_even_where_the_command_could_once_more() {
        let run_policy = starting(Capabilities::READ, 2);
        assert!(run_policy.may_start(|| 7));
        assert!(!run_policy.may_start(|| 8));
        assert!(run_policy.may_start(|| 7));
    }

    #[test]
    fn paths_that_were_opened_and_executed_are_remembered_apart() {
        let run_policy = starting(Capabilities::USUAL, 1);
        run_policy.continued(Kind::Execute).insert(b"/usr/bin/a".to_vec());
        assert!(run_policy.continued(Kind::Read).is_empty());
        run_policy.continued(Kind::Read).insert(b"/usr/lib/a".to_vec());
        assert_eq!(run_policy.continued(Kind::Execute).len(), 1);
    }

    #[test]
    fn places_that_earlier_runs_took_repositories_from_are_anothers() {
        let (_made, root) = directory();
        make(&root.join("a"));
        let mut config = run_config(policy(Vec::new()));
        config.taken = vec![root.join("a/.git")];
        let run_policy = RunPolicy::new(config);
        assert!(run_policy.made().was_anothers(&root.join("a/.git")));
        assert!(run_policy.made().has_taken_from_below(&root));
    }

    #[test]
    fn the_matcher_decides_by_the_runs_own_policy() {
        let run_policy = RunPolicy::new(run_config(policy(vec![grant(Access::READ, "/w")])));
        let decide = |name: &str| run_policy.matcher().decide(Access::READ, Path::new(name)).is_allowed();
        assert!(decide("/w/a"));
        assert!(!decide("/x"));
        let other = run_policy.matcher().decide(Access::WRITE, Path::new("/w/a"));
        assert_eq!(other, AccessDecision::NotGranted);
    }
}
