//! A run with others inside it: each has a policy of its own.

use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::plan::Reading;
use crate::policy::{Capabilities, Policy};
use crate::supervise::run::RunServices;
use crate::supervise::state::nested_runs::NestRequest;
use crate::supervise::state::run_config::RunConfig;
use crate::supervise::testing::{
    directory, grant, guarded_policy, make, notification, pinned, place, policy, run_config, worker_fds,
};

/// A run, and the nested runs that its caller is in, the innermost first.
struct Nest {
    run: Arc<Run>,
    callers: CallerRuns,
    fds: WorkerFds,
}

impl Nest {
    fn new(outer: RunConfig, inner: Vec<RunConfig>) -> Nest {
        let run = Arc::new(Run::new(outer, None, RunServices::default()));
        for (process, config) in (1..).zip(inner) {
            let request = NestRequest::of(process, 1, &[]);
            run.journal.nested_runs.add(request, config, Duration::ZERO).unwrap();
        }
        let callers = CallerRuns {
            list: run.journal.nested_runs.all(),
            top: 1,
            is_certain: true,
        };
        Nest {
            run,
            callers,
            fds: worker_fds(),
        }
    }

    fn of(outer: Policy, inner: Policy) -> Nest {
        Nest::new(run_config(outer), vec![run_config(inner)])
    }

    fn ask<T>(&self, ask: impl FnOnce(&PolicyStack<'_>) -> T) -> T {
        ask(&PolicyStack {
            run: &self.run,
            fds: &self.fds,
            caller: &Caller::new(&self.fds, &notification(1)),
            nested_runs: &self.callers,
            call_grants: &CallGrants::default(),
        })
    }

    fn name(&self, access: Access, name: &str) -> AccessVerdict {
        self.ask(|judge| judge.name(access, Path::new(name)))
    }
}

fn reads(path: &str) -> Policy {
    policy(vec![grant(Access::READ, path)])
}

/// A refusal by the first nested run's policy.
fn inside(verdict: &AccessVerdict) -> Option<&Reason> {
    match verdict {
        AccessVerdict::Refused(Reason::Inside { run: 0, reason }) => Some(reason),
        _ => None,
    }
}

#[test]
fn a_nested_run_has_what_both_policies_grant() {
    let nest = Nest::of(reads("/w"), reads("/w/a"));
    assert_eq!(
        nest.name(Access::READ, "/w/a/b"),
        AccessVerdict::Allowed(By::Supervisor)
    );
    assert_eq!(inside(&nest.name(Access::READ, "/w/b")), Some(&Reason::NotGranted));
}

#[test]
fn what_the_outer_policy_refuses_no_nested_run_gets() {
    let nest = Nest::of(reads("/w"), policy(vec![grant(Access::all(), "/")]));
    assert_eq!(
        nest.name(Access::READ, "/x"),
        AccessVerdict::Refused(Reason::NotGranted)
    );
    assert_eq!(
        nest.name(Access::WRITE, "/w/a"),
        AccessVerdict::Refused(Reason::NotGranted)
    );
}

#[test]
fn a_call_is_left_to_the_kernel_only_where_every_policy_has_the_proof() {
    let mut old = run_config(reads("/w"));
    old.supervision.landlock_abi = 1;
    let mut supervised = run_config(reads("/w"));
    supervised.supervision.reading = Reading::Supervisor;
    let both = |inner| Nest::new(run_config(reads("/w")), vec![inner]);
    let nest = both(old);
    assert!(nest.ask(|judge| judge.may_change(Change::Entry)).is_some());
    assert!(nest.ask(|judge| judge.may_change(Change::Move)).is_none());
    let nest = both(supervised);
    assert!(nest.ask(|judge| judge.may_open(RegisterAccess::Writes)).is_some());
    assert!(nest.ask(|judge| judge.may_open(RegisterAccess::Reads)).is_none());
    assert!(
        both(run_config(reads("/w")))
            .ask(|judge| judge.may_open(RegisterAccess::Reads))
            .is_some()
    );
}

#[test]
fn a_capability_is_missing_where_one_policy_lacks_it_and_the_outer_one_is_told() {
    let with = |capabilities| Policy {
        capabilities,
        ..policy(Vec::new())
    };
    let missing = Reason::Incapable(Capabilities::NET);
    let lacking = Capabilities::USUAL - Capabilities::NET;
    let nest = Nest::of(with(lacking), with(lacking));
    assert_eq!(
        nest.ask(|judge| judge.incapable(Capabilities::NET)),
        Some(missing.clone())
    );
    let nest = Nest::of(with(Capabilities::USUAL), with(lacking));
    let reason = nest.ask(|judge| judge.incapable(Capabilities::NET)).unwrap();
    assert_eq!(inside(&AccessVerdict::Refused(reason)), Some(&missing));
    let nest = Nest::of(with(Capabilities::USUAL), with(Capabilities::USUAL));
    assert_eq!(nest.ask(|judge| judge.incapable(Capabilities::NET)), None);
}

#[test]
fn without_the_capability_to_execute_one_program_starts_in_each_run() {
    let without = Policy {
        capabilities: Capabilities::READ,
        ..policy(Vec::new())
    };
    let nest = Nest::of(policy(Vec::new()), without);
    let starts = || nest.ask(|judge| judge.refuses_to_start(judge.caller)).is_none();
    assert!(starts());
    assert!(!starts());
}

#[test]
fn what_the_caller_makes_is_the_runs_and_that_of_those_around_it() {
    let (_made, root) = directory();
    let nest = Nest::of(policy(Vec::new()), policy(Vec::new()));
    let made = make(&root);
    nest.ask(|judge| {
        assert!(!judge.made(|made_here| made_here.has_made(made)));
        judge.note_made(|list| _ = list.directories.insert(made));
        assert!(judge.made(|made_here| made_here.has_made(made)));
        judge.forget(made);
        assert!(!judge.made(|made_here| made_here.has_made(made)));
    });
}

#[test]
fn what_only_the_outer_run_made_is_anothers_for_the_nested_one() {
    let (_made, root) = directory();
    let nest = Nest::of(policy(Vec::new()), policy(Vec::new()));
    let made = make(&root);
    nest.run.made().directories.insert(made);
    assert!(!nest.ask(|judge| judge.made(|made_here| made_here.has_made(made))));
}

#[test]
fn a_name_that_one_run_vacates_was_anothers_for_all() {
    let (_made, root) = directory();
    let nest = Nest::of(policy(Vec::new()), policy(Vec::new()));
    let (old, new) = (root.join("old"), root.join("new"));
    let moved = make(&old);
    std::fs::rename(&old, &new).unwrap();
    nest.ask(|judge| {
        judge.vacate(&old, moved, Some(&new));
        let of_all = judge.policies().all(|run_policy| {
            let made = run_policy.made();
            made.was_anothers(&old) && made.has_carried(&new)
        });
        assert!(of_all);
    });
}

#[test]
fn a_repository_is_taken_unless_the_run_made_it_where_no_other_was() {
    let (_made, root) = directory();
    let nest = Nest::of(policy(Vec::new()), policy(Vec::new()));
    let (own, anothers) = (root.join("own/.git"), root.join("anothers/.git"));
    let made = make(&own);
    nest.run.made().directories.insert(made);
    let other = make(&anothers);
    nest.ask(|judge| {
        judge.note_taken(&own, made);
        judge.note_taken(&anothers, other);
    });
    let taken: Vec<PathBuf> = nest.run.made().taken().cloned().collect();
    assert_eq!(taken, std::slice::from_ref(&anothers));
    // The nested run made neither.
    assert_eq!(nest.callers.list[0].run_policy.made().taken().count(), 2);
}

#[test]
fn a_file_is_closed_as_gits_where_every_policy_would_grant_it_otherwise() {
    let (_made, root) = directory();
    make(&root.join(".git"));
    let config = root.join(".git/config");
    let is_closed = |inner| {
        let nest = Nest::of(guarded_policy(&root), inner);
        nest.ask(|judge| judge.is_closed_as_git_file(&place(&nest.fds, &config)))
    };
    assert!(is_closed(guarded_policy(&root)));
    assert!(!is_closed(policy(Vec::new())));
}

#[test]
fn a_name_is_closed_to_all_where_no_run_at_all_has_it() {
    let nest = Nest::new(
        run_config(reads("/w")),
        vec![run_config(reads("/x")), run_config(reads("/y"))],
    );
    let is_closed = |name: &str| nest.ask(|judge| judge.is_closed_to_all(Access::READ, Path::new(name)));
    assert!(is_closed("/z/a"));
    for open in ["/w/a", "/x/a", "/y/a"] {
        assert!(!is_closed(open), "{open}");
    }
}

#[test]
fn a_program_needs_a_grant_of_every_policy_and_no_denial() {
    let (_made, root) = directory();
    for name in ["a", ".netrc"] {
        std::fs::write(root.join(name), "").unwrap();
    }
    let executing = || Policy {
        grants: vec![grant(Access::READ | Access::EXECUTE, &root)],
        ..guarded_policy(&root)
    };
    let nest = Nest::of(executing(), executing());
    let refused =
        |nest: &Nest, name: &str| nest.ask(|judge| judge.refuses_to_execute(&pinned(&nest.fds, root.join(name))));
    assert_eq!(refused(&nest, "a"), None);
    assert!(matches!(refused(&nest, ".netrc"), Some(Reason::Denied(_))));
    let nest = Nest::of(executing(), guarded_policy(&root));
    assert!(matches!(refused(&nest, "a"), Some(Reason::Inside { .. })));
}

#[test]
fn a_nested_runs_policy_remembers_paths_only_where_it_is_certain_which_one_that_is() {
    let mut nest = Nest::of(policy(Vec::new()), policy(Vec::new()));
    nest.ask(|judge| {
        let innermost = judge.innermost().unwrap();
        assert!(std::ptr::eq(innermost, &judge.nested_runs.list[0].run_policy));
        assert!(!judge.is_in_no_inner_run());
    });
    nest.callers.is_certain = false;
    nest.ask(|judge| assert!(judge.innermost().is_none() && !judge.is_in_no_inner_run()));
    nest.callers.list.clear();
    nest.callers.is_certain = true;
    nest.ask(|judge| {
        assert!(std::ptr::eq(judge.innermost().unwrap(), judge.run.policy()));
        assert!(judge.is_in_no_inner_run());
    });
}

#[test]
fn of_a_limit_the_lowest_counts_and_none_where_there_is_none() {
    let limited = |most| {
        let mut policy = policy(Vec::new());
        policy.limits.processes = most;
        policy
    };
    let lowest = |outer, inner| {
        let nest = Nest::of(limited(outer), limited(inner));
        nest.ask(|judge| judge.lowest(|run_policy| run_policy.run_config.policy.limits.processes))
    };
    assert_eq!(lowest(Some(9), Some(4)), Some(4));
    assert_eq!(lowest(Some(3), None), Some(3));
    assert_eq!(lowest(None, None), None);
}

#[test]
fn the_process_list_replaces_proc_unless_a_policy_denies_it() {
    let mut denying = policy(Vec::new());
    let target = crate::policy::Target::Path("/proc".into());
    let kind = crate::policy::DenialKind::Explicit;
    denying
        .denials
        .push(crate::supervise::testing::denial(target, Access::all(), kind));
    let lists = |inner| {
        let nest = Nest::of(policy(Vec::new()), inner);
        nest.ask(|judge| judge.lists_processes(&pinned(&nest.fds, "/proc")))
    };
    assert!(lists(policy(Vec::new())));
    assert!(!lists(denying));
}
