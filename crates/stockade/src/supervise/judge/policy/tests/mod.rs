//! Verdicts on names, and on files of a directory of the test's own.

mod git;
mod objects;

use std::fs;

use super::*;
use crate::policy::{DenialKind, GrantExtent, Policy, Target};
use crate::report::{Flag, FlagGrant, PathGrant};
use crate::supervise::state::run_config::RunConfig;
use crate::supervise::testing::{
    Silent, approvals, asking, denial, directory, grant, guarded_policy, identity, make, notification, pinned, place,
    policy, run_config, worker_fds,
};
use AccessVerdict::{Allowed, Refused};

/// One run with what its judge needs.
struct Court {
    fds: WorkerFds,
    run_policy: RunPolicy,
    indexes: GitIndexes,
}

impl Court {
    fn new(policy: Policy) -> Court {
        Court::of(run_config(policy))
    }

    fn of(run_config: RunConfig) -> Court {
        Court {
            fds: worker_fds(),
            run_policy: RunPolicy::new(run_config),
            indexes: GitIndexes::default(),
        }
    }

    fn judge<T>(&self, ask: impl FnOnce(&Judge<'_>) -> T) -> T {
        ask(&Judge {
            run_policy: &self.run_policy,
            fds: &self.fds,
            caller: &Caller::new(&self.fds, &notification(1)),
            indexes: &self.indexes,
            opened: None,
        })
    }

    fn name(&self, access: Access, name: impl AsRef<Path>) -> AccessVerdict {
        self.judge(|judge| judge.name(access, name.as_ref()))
    }

    fn place<T>(&self, path: &Path, ask: impl FnOnce(&Judge<'_>, &Place) -> T) -> T {
        self.judge(|judge| ask(judge, &place(&self.fds, path)))
    }

    fn new_entry(&self, path: &Path) -> AccessVerdict {
        self.place(path, |judge, place| judge.new_entry(place))
    }

    /// Records a directory that the run makes.
    fn makes(&self, path: &Path) -> PathBuf {
        let made = make(path);
        self.run_policy.made().directories.insert(made);
        path.to_path_buf()
    }
}

fn guarded(root: &Path) -> Court {
    Court::new(guarded_policy(root))
}

fn never(verdict: &AccessVerdict) -> Option<&str> {
    match verdict {
        Refused(Reason::Never(reason)) => Some(reason),
        _ => None,
    }
}

fn is_denied(verdict: &AccessVerdict) -> bool {
    matches!(verdict, Refused(Reason::Denied(_)))
}

#[test]
fn what_nothing_grants_is_refused() {
    let court = Court::new(policy(Vec::new()));
    for access in [Access::READ, Access::WRITE, Access::DELETE, Access::WRITING] {
        assert_eq!(court.name(access, "/w/a"), Refused(Reason::NotGranted));
    }
}

#[test]
fn chosen_grants_are_served_and_those_of_the_base_left_to_landlock() {
    let mut base = grant(Access::READ, "/usr");
    base.origin = Origin::Base;
    let court = Court::new(policy(vec![base, grant(Access::READ, "/w")]));
    assert_eq!(court.name(Access::READ, "/usr/lib/a"), Allowed(By::Landlock));
    assert_eq!(court.name(Access::READ, "/w/a"), Allowed(By::Supervisor));
}

#[test]
fn each_access_that_is_asked_for_needs_a_grant() {
    let court = Court::new(policy(vec![grant(Access::READ, "/w")]));
    assert_eq!(court.name(Access::READ, "/w/a"), Allowed(By::Supervisor));
    assert_eq!(
        court.name(Access::READ | Access::WRITE, "/w/a"),
        Refused(Reason::NotGranted)
    );
    assert_eq!(court.name(Access::READ, "/wa"), Refused(Reason::NotGranted));
}

#[test]
fn a_missing_capability_is_the_reason_where_nothing_grants_the_access() {
    let mut readers = policy(vec![grant(Access::READ, "/w")]);
    readers.capabilities = Capabilities::READ;
    let court = Court::new(readers);
    assert_eq!(
        court.name(Access::WRITE, "/w/a"),
        Refused(Reason::Incapable(Capabilities::WRITE))
    );
    assert_eq!(
        court.name(Access::DELETE, "/w/a"),
        Refused(Reason::Incapable(Capabilities::DELETE))
    );
    assert_eq!(court.name(Access::READ, "/x"), Refused(Reason::NotGranted));
}

#[test]
fn a_denial_wins_over_every_grant_of_the_same_path() {
    let mut both = policy(vec![
        grant(Access::WRITING, "/w"),
        grant(Access::WRITING, "/w/closed/a"),
    ]);
    let closed = Target::Path("/w/closed".into());
    both.denials.push(denial(closed, Access::all(), DenialKind::Explicit));
    let court = Court::new(both);
    assert!(is_denied(&court.name(Access::READ, "/w/closed/a")));
    assert_eq!(court.name(Access::READ, "/w/closed-not"), Allowed(By::Supervisor));
}

#[test]
fn secrets_are_closed_in_a_granted_tree_and_guarded_names_only_for_writing() {
    let court = guarded(Path::new("/w"));
    for secret in ["/w/.netrc", "/w/.ssh/id", "/w/deep/.aws/credentials"] {
        assert!(is_denied(&court.name(Access::READ, secret)), "{secret}");
    }
    assert!(is_denied(&court.name(Access::WRITE, "/w/.vscode/tasks.json")));
    assert_eq!(
        court.name(Access::READ, "/w/.vscode/tasks.json"),
        Allowed(By::Supervisor)
    );
}

#[test]
fn the_scratch_directory_and_the_cache_are_the_runs_own_whatever_is_denied() {
    let mut config = run_config(guarded_policy(Path::new("/w")));
    config.scratch = Some("/w/scratch".into());
    config.cache = Some("/w/cache".into());
    let court = Court::of(config);
    assert_eq!(court.name(Access::WRITING, "/w/scratch/.netrc"), Allowed(By::Landlock));
    assert_eq!(court.name(Access::WRITING, "/w/cache/.netrc"), Allowed(By::Supervisor));
    assert!(is_denied(&court.name(Access::WRITE, "/w/.netrc")));
}

#[test]
fn a_grant_of_everything_opens_no_device_and_changes_nothing_of_the_kernels() {
    let court = Court::new(policy(vec![grant(Access::all(), "/")]));
    assert_eq!(court.name(Access::READ, "/dev/sda"), Refused(Reason::NotGranted));
    assert_eq!(court.name(Access::READ, "/proc"), Refused(Reason::NotGranted));
    assert_eq!(
        court.name(Access::WRITE, "/sys/power/state"),
        Refused(Reason::NotGranted)
    );
    assert_eq!(
        court.name(Access::WRITE, "/proc/sys/kernel/x"),
        Refused(Reason::NotGranted)
    );
    assert_eq!(court.name(Access::READ, "/sys/power/state"), Allowed(By::Supervisor));
    assert_eq!(court.name(Access::READ, "/dev"), Allowed(By::Supervisor));
}

#[test]
fn a_grant_below_dev_opens_what_it_names() {
    let court = Court::new(policy(vec![grant(Access::WRITING, "/dev/dri")]));
    assert_eq!(court.name(Access::WRITE, "/dev/dri/card0"), Allowed(By::Supervisor));
    assert_eq!(court.name(Access::READ, "/dev/sda"), Refused(Reason::NotGranted));
}

#[test]
fn of_processes_the_caller_may_change_a_few_entries_of_its_own_and_read_no_memory_of_others() {
    let court = Court::new(policy(Vec::new()));
    let own = std::process::id();
    assert_eq!(
        court.name(Access::READ, format!("/proc/{own}/status")),
        Allowed(By::Supervisor)
    );
    assert_eq!(
        court.name(Access::WRITE, format!("/proc/{own}/comm")),
        Allowed(By::Supervisor)
    );
    assert!(never(&court.name(Access::WRITE, format!("/proc/{own}/oom_adj"))).is_some());
    assert_eq!(
        court.name(Access::READ, format!("/proc/{own}/mem")),
        Allowed(By::Supervisor)
    );
    let outside = never(&court.name(Access::READ, "/proc/1/status")).map(str::to_string);
    assert_eq!(outside.as_deref(), Some("the process isn't part of the run"));
}

/// Asks to write with grants of an approver's: one that lasts, and one for the call alone.
fn with_answers(court: &Court, lasting: Option<FlagGrant>, once: Option<FlagGrant>, name: &str) -> AccessVerdict {
    let approvals = approvals(asking(Silent), run_config(policy(Vec::new())));
    if let Some(grant) = lasting {
        approvals.open(&grant);
    }
    let mut for_call = ApprovedGrants::default();
    if let Some(grant) = once {
        for_call.add(&grant, GrantExtent::Subtree, "ada");
    }
    court.judge(|judge| {
        let judge = Judge {
            opened: Some((&approvals, &for_call)),
            ..*judge
        };
        judge.name(Access::WRITE, Path::new(name))
    })
}

fn opening(flag: Flag, path: &str) -> Option<FlagGrant> {
    let path = path.into();
    Some(FlagGrant::Path(PathGrant { flag, path }))
}

#[test]
fn an_answer_opens_what_nothing_grants_for_one_call_or_until_the_run_ends() {
    let court = guarded(Path::new("/w"));
    let ask = |lasting, once| with_answers(&court, lasting, once, "/x/a");
    assert_eq!(ask(None, None), Refused(Reason::NotGranted));
    assert_eq!(
        ask(opening(Flag::Write, "/x"), None),
        AccessVerdict::Allowed(By::Approval)
    );
    assert_eq!(
        ask(None, opening(Flag::Write, "/x/a")),
        AccessVerdict::Allowed(By::Approval)
    );
    assert_eq!(
        ask(opening(Flag::Read, "/x"), opening(Flag::Write, "/y")),
        Refused(Reason::NotGranted)
    );
}

#[test]
fn no_answer_opens_a_secret_or_a_device() {
    let court = guarded(Path::new("/w"));
    let ask = |name: &str| with_answers(&court, opening(Flag::Write, "/"), opening(Flag::Write, name), name);
    assert!(is_denied(&ask("/w/.netrc")));
    assert_eq!(ask("/dev/sda"), Refused(Reason::NotGranted));
}

#[test]
fn only_an_answer_about_guarded_files_opens_one() {
    let court = guarded(Path::new("/w"));
    let name = "/w/.vscode/tasks.json";
    assert!(is_denied(&with_answers(&court, opening(Flag::Write, "/w"), None, name)));
    assert_eq!(
        with_answers(&court, None, opening(Flag::WriteGuarded, name), name),
        Allowed(By::Supervisor)
    );
    assert!(is_denied(&with_answers(
        &court,
        None,
        opening(Flag::WriteGuarded, "/w/.git"),
        "/w/.git/config"
    )));
}

#[test]
fn guarded_names_are_open_in_a_directory_of_the_runs_own_and_that_is_noted() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let own = court.makes(&root.join("new"));
    assert!(!court.run_policy.made().uses_own);
    assert_eq!(court.name(Access::WRITE, own.join(".gdbinit")), Allowed(By::Supervisor));
    assert!(court.run_policy.made().uses_own);
    assert!(is_denied(&court.name(Access::WRITE, root.join(".gdbinit"))));
}

#[test]
fn guarded_names_may_be_removed_below_the_top_of_what_the_run_works_in() {
    let (_made, root) = directory();
    let court = guarded(&root);
    make(&root.join("deep"));
    assert_eq!(
        court.name(Access::DELETE, root.join("deep/.gdbinit")),
        Allowed(By::Supervisor)
    );
    assert!(is_denied(&court.name(Access::DELETE, root.join(".gdbinit"))));
    assert!(!court.run_policy.made().uses_own);
}

#[test]
fn names_of_a_projects_top_are_open_where_no_project_is() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let deep = root.join("deep");
    make(&deep);
    assert_eq!(
        court.name(Access::WRITE, deep.join(".mcp.json")),
        Allowed(By::Supervisor)
    );
    make(&deep.join(".git"));
    assert!(is_denied(&court.name(Access::WRITE, deep.join(".mcp.json"))));
}

#[test]
fn guarded_names_are_open_in_installed_packages_and_build_output() {
    let (_made, root) = directory();
    let court = guarded(&root);
    for output in ["node_modules/a", "target/debug"] {
        make(&root.join(output));
        assert_eq!(
            court.name(Access::WRITE, root.join(output).join(".gdbinit")),
            Allowed(By::Supervisor),
            "{output}"
        );
    }
}
