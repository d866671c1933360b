//! Verdicts on names, and on files of a directory of the test's own.

use std::fs;

use super::*;
use crate::policy::{DenialKind, GrantExtent, Policy, Target};
use crate::report::{Flag, FlagGrant, PathGrant};
use crate::supervise::state::run_config::RunConfig;
use crate::supervise::testing::{
    Silent, approvals, asking, denial, directory, grant, guarded_policy, identity, make, notification, pinned, place,
    policy, run_config, worker_fds,
};
use AccessVerdict::{OnBehalf, Refused, Static};

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
    assert_eq!(court.name(Access::READ, "/usr/lib/a"), Static);
    assert_eq!(court.name(Access::READ, "/w/a"), OnBehalf);
}

#[test]
fn each_access_that_is_asked_for_needs_a_grant() {
    let court = Court::new(policy(vec![grant(Access::READ, "/w")]));
    assert_eq!(court.name(Access::READ, "/w/a"), OnBehalf);
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
    assert_eq!(court.name(Access::READ, "/w/closed-not"), OnBehalf);
}

#[test]
fn secrets_are_closed_in_a_granted_tree_and_guarded_names_only_for_writing() {
    let court = guarded(Path::new("/w"));
    for secret in ["/w/.netrc", "/w/.ssh/id", "/w/deep/.aws/credentials"] {
        assert!(is_denied(&court.name(Access::READ, secret)), "{secret}");
    }
    assert!(is_denied(&court.name(Access::WRITE, "/w/.vscode/tasks.json")));
    assert_eq!(court.name(Access::READ, "/w/.vscode/tasks.json"), OnBehalf);
}

#[test]
fn the_scratch_directory_and_the_cache_are_the_runs_own_whatever_is_denied() {
    let mut config = run_config(guarded_policy(Path::new("/w")));
    config.scratch = Some("/w/scratch".into());
    config.cache = Some("/w/cache".into());
    let court = Court::of(config);
    assert_eq!(court.name(Access::WRITING, "/w/scratch/.netrc"), Static);
    assert_eq!(court.name(Access::WRITING, "/w/cache/.netrc"), OnBehalf);
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
    assert_eq!(court.name(Access::READ, "/sys/power/state"), OnBehalf);
    assert_eq!(court.name(Access::READ, "/dev"), OnBehalf);
}

#[test]
fn a_grant_below_dev_opens_what_it_names() {
    let court = Court::new(policy(vec![grant(Access::WRITING, "/dev/dri")]));
    assert_eq!(court.name(Access::WRITE, "/dev/dri/card0"), OnBehalf);
    assert_eq!(court.name(Access::READ, "/dev/sda"), Refused(Reason::NotGranted));
}

#[test]
fn of_processes_the_caller_may_change_a_few_entries_of_its_own_and_read_no_memory_of_others() {
    let court = Court::new(policy(Vec::new()));
    let own = std::process::id();
    assert_eq!(court.name(Access::READ, format!("/proc/{own}/status")), OnBehalf);
    assert_eq!(court.name(Access::WRITE, format!("/proc/{own}/comm")), OnBehalf);
    assert!(never(&court.name(Access::WRITE, format!("/proc/{own}/oom_adj"))).is_some());
    assert_eq!(court.name(Access::READ, format!("/proc/{own}/mem")), OnBehalf);
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
    assert_eq!(ask(opening(Flag::Write, "/x"), None), AccessVerdict::Approved);
    assert_eq!(ask(None, opening(Flag::Write, "/x/a")), AccessVerdict::Approved);
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
        OnBehalf
    );
    assert!(is_denied(&with_answers(
        &court,
        None,
        opening(Flag::WriteGuarded, "/w/.git"),
        "/w/.git/config"
    )));
}

#[test]
fn in_anothers_repository_data_is_open_and_what_git_obeys_is_closed() {
    let court = guarded(Path::new("/w"));
    for closed in [
        "config",
        "hooks/pre-commit",
        "info/attributes",
        "commondir",
        "config.lock",
    ] {
        assert!(
            is_denied(&court.name(Access::WRITE, Path::new("/w/.git").join(closed))),
            "{closed}"
        );
        assert_eq!(
            court.name(Access::READ, Path::new("/w/.git").join(closed)),
            OnBehalf,
            "{closed}"
        );
    }
    for open in ["objects/ab/cdef", "refs/heads/main", "logs/HEAD"] {
        assert_eq!(
            court.name(Access::WRITE, Path::new("/w/.git").join(open)),
            OnBehalf,
            "{open}"
        );
    }
}

#[test]
fn head_and_the_index_of_anothers_repository_are_written_by_a_rename_alone() {
    let (_made, root) = directory();
    let court = guarded(&root);
    make(&root.join(".git"));
    for name in ["HEAD", "index"] {
        let path = root.join(".git").join(name);
        assert_eq!(never(&court.name(Access::WRITE, &path)), Some(RENAMED), "{name}");
        assert_eq!(
            court.place(&path, |judge, place| judge.git_renamed(place)),
            OnBehalf,
            "{name}"
        );
    }
    let shared = root.join(".git/sharedindex.1");
    assert_eq!(court.name(Access::DELETE, &shared), OnBehalf);
    assert_eq!(never(&court.name(Access::WRITE, &shared)), Some(RENAMED));
}

#[test]
fn in_a_repository_that_the_run_made_nothing_of_gits_is_closed() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let git = court.makes(&root.join(".git"));
    for name in ["config", "HEAD", "index"] {
        assert_eq!(court.name(Access::WRITE, git.join(name)), OnBehalf, "{name}");
    }
}

#[test]
fn a_repository_in_the_place_of_anothers_is_guarded_as_that_was() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let git = root.join(".git");
    court.run_policy.made().claim(&git, None);
    court.makes(&git);
    assert!(is_denied(&court.name(Access::WRITE, git.join("config"))));
    assert_eq!(never(&court.name(Access::WRITE, git.join("HEAD"))), Some(RENAMED));
}

#[test]
fn guarded_names_are_open_in_a_directory_of_the_runs_own_and_that_is_noted() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let own = court.makes(&root.join("new"));
    assert!(!court.run_policy.made().uses_own);
    assert_eq!(court.name(Access::WRITE, own.join(".gdbinit")), OnBehalf);
    assert!(court.run_policy.made().uses_own);
    assert!(is_denied(&court.name(Access::WRITE, root.join(".gdbinit"))));
}

#[test]
fn guarded_names_may_be_removed_below_the_top_of_what_the_run_works_in() {
    let (_made, root) = directory();
    let court = guarded(&root);
    make(&root.join("deep"));
    assert_eq!(court.name(Access::DELETE, root.join("deep/.gdbinit")), OnBehalf);
    assert!(is_denied(&court.name(Access::DELETE, root.join(".gdbinit"))));
    assert!(!court.run_policy.made().uses_own);
}

#[test]
fn names_of_a_projects_top_are_open_where_no_project_is() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let deep = root.join("deep");
    make(&deep);
    assert_eq!(court.name(Access::WRITE, deep.join(".mcp.json")), OnBehalf);
    make(&deep.join(".git"));
    assert!(is_denied(&court.name(Access::WRITE, deep.join(".mcp.json"))));
}

#[test]
fn a_directory_whose_repository_the_run_removed_is_a_project_still() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let deep = root.join("deep");
    make(&deep);
    court.run_policy.made().claim(&deep.join(".git"), None);
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
            OnBehalf,
            "{output}"
        );
    }
}

#[test]
fn a_new_repository_is_open_where_none_is_around_it() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let new = court.makes(&root.join("new"));
    assert_eq!(court.new_entry(&new.join(".git")), OnBehalf);
    assert_eq!(court.new_entry(&root.join(".git")), OnBehalf);
}

#[test]
fn a_new_repository_is_closed_in_anothers_directory_below_anothers_repository() {
    let (_made, root) = directory();
    let court = guarded(&root);
    make(&root.join(".git"));
    make(&root.join("old"));
    assert!(is_denied(&court.new_entry(&root.join("old/.git"))));
    let new = court.makes(&root.join("new"));
    assert_eq!(court.new_entry(&new.join(".git")), OnBehalf);
}

#[test]
fn a_new_repository_is_closed_where_another_one_was() {
    let (_made, root) = directory();
    let court = guarded(&root);
    court.run_policy.made().claim(&root.join(".git"), None);
    assert!(is_denied(&court.new_entry(&root.join(".git"))));
}

#[test]
fn no_new_head_or_git_takes_over_a_directory_whose_own_repository_is_gone() {
    let (_made, root) = directory();
    let court = guarded(&root);
    make(&root.join("deep"));
    court.run_policy.made().take(&root.join("deep/.git"));
    for name in [".git", "HEAD"] {
        assert_eq!(never(&court.new_entry(&root.join(name))), Some(TAKES_OVER), "{name}");
    }
    make(&root.join("other/.git"));
    assert_eq!(never(&court.new_entry(&root.join("other/HEAD"))), Some(TAKES_OVER));
    make(&root.join("free"));
    assert_eq!(court.new_entry(&root.join("free/HEAD")), OnBehalf);
}

#[test]
fn the_scratch_directory_and_the_cache_stay_where_they_are() {
    let (_made, root) = directory();
    let mut config = run_config(guarded_policy(&root));
    config.scratch = Some(root.join("scratch"));
    config.cache = Some(root.join("cache"));
    let court = Court::of(config);
    for (name, reason) in [
        ("scratch", "the scratch directory stays where it is"),
        ("cache", "the cache stays where it is"),
    ] {
        let verdict = court.place(&root.join(name), |judge, place| judge.place(Access::DELETE, place));
        assert_eq!(never(&verdict), Some(reason));
    }
}

#[test]
fn an_empty_directory_of_a_guarded_name_may_be_made_and_removed_and_a_secret_one_may_not() {
    let (_made, root) = directory();
    let court = guarded(&root);
    for access in [Access::WRITE, Access::DELETE] {
        let made = |name: &str| court.place(&root.join(name), |judge, place| judge.empty_directory(access, place));
        assert_eq!(made(".vscode"), OnBehalf);
        assert!(is_denied(&made(".ssh")));
    }
}

#[test]
fn the_lock_of_gits_configuration_is_the_runs_where_it_made_it() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let git = root.join(".git");
    make(&git);
    let lock = git.join("config.lock");
    assert_eq!(court.place(&lock, |judge, place| judge.new_git_lock(place)), OnBehalf);
    fs::write(&lock, "").unwrap();
    let write = || court.judge(|judge| judge.object(Access::WRITE, &pinned(&court.fds, &lock)));
    assert!(is_denied(&write()));
    court.run_policy.made().git_locks.insert(identity(&lock), lock.clone());
    assert_eq!(write(), OnBehalf);
    let removed = court.place(&lock, |judge, place| judge.place(Access::DELETE, place));
    assert_eq!(removed, OnBehalf);
}

#[test]
fn an_object_is_judged_by_the_kernels_name_for_it() {
    let (_made, root) = directory();
    let court = guarded(&root);
    fs::write(root.join(".netrc"), "").unwrap();
    std::os::unix::fs::symlink(root.join(".netrc"), root.join("harmless")).unwrap();
    let read = |name: &str| court.judge(|judge| judge.object(Access::READ, &pinned(&court.fds, root.join(name))));
    assert!(is_denied(&read("harmless")));
    fs::write(root.join("a"), "").unwrap();
    assert_eq!(read("a"), OnBehalf);
}

#[test]
fn a_file_without_a_name_is_refused_unless_the_caller_holds_it() {
    let (_made, root) = directory();
    let court = guarded(&root);
    fs::write(root.join("a"), "").unwrap();
    let gone = pinned(&court.fds, root.join("a"));
    fs::remove_file(root.join("a")).unwrap();
    let again = Pinned::new(&court.fds, gone.as_fd().try_clone_to_owned().unwrap()).unwrap();
    let verdict = court.judge(|judge| judge.object(Access::READ, &again));
    assert_eq!(never(&verdict), Some("it has no name any more"));
}

#[test]
fn a_device_needs_a_grant_that_names_it_or_its_directory_below_dev() {
    let read = |granted: &str| {
        let court = Court::new(policy(vec![grant(Access::READ, granted)]));
        court.judge(|judge| judge.object(Access::READ, &pinned(&court.fds, "/dev/null")))
    };
    assert_eq!(read("/"), Refused(Reason::NotGranted));
    assert_eq!(read("/dev/null"), OnBehalf);
}

#[test]
fn the_terminals_that_the_run_was_given_are_its_own() {
    let mut config = run_config(policy(Vec::new()));
    config.terminals = vec!["/dev/null".into()];
    let court = Court::of(config);
    let verdict = court.judge(|judge| judge.object(Access::WRITE, &pinned(&court.fds, "/dev/null")));
    assert_eq!(verdict, Static);
}

#[test]
fn truncating_needs_the_capability_to_delete_except_in_what_is_the_runs_own() {
    let (_made, root) = directory();
    fs::write(root.join("a"), "").unwrap();
    let cut = |scratch: Option<&Path>, capabilities| {
        let mut config = run_config(guarded_policy(&root));
        config.policy.capabilities = capabilities;
        config.scratch = scratch.map(Path::to_path_buf);
        let court = Court::of(config);
        court.judge(|judge| judge.truncation(&pinned(&court.fds, root.join("a"))))
    };
    let without = Capabilities::USUAL - Capabilities::DELETE;
    assert_eq!(cut(None, without), Refused(Reason::Incapable(Capabilities::DELETE)));
    assert_eq!(cut(Some(&root), without), OnBehalf);
    assert_eq!(cut(None, Capabilities::USUAL), OnBehalf);
}

#[test]
fn programs_are_executed_by_a_grant_in_the_cache_and_where_the_scratch_directory_may() {
    let (_made, root) = directory();
    fs::write(root.join("a"), "").unwrap();
    let executes = |change: &dyn Fn(&mut RunConfig)| {
        let mut config = run_config(guarded_policy(&root));
        change(&mut config);
        let court = Court::of(config);
        court.judge(|judge| judge.executes(&pinned(&court.fds, root.join("a"))))
    };
    assert!(!executes(&|_| {}));
    assert!(executes(&|config| config
        .policy
        .grants
        .push(grant(Access::EXECUTE, &root))));
    assert!(executes(&|config| config.cache = Some(root.clone())));
    assert!(!executes(&|config| config.scratch = Some(root.clone())));
    assert!(executes(&|config| {
        config.scratch = Some(root.clone());
        config.scratch_executes = true;
    }));
}

#[test]
fn a_program_that_is_closed_for_reading_is_closed_for_executing() {
    let (_made, root) = directory();
    let court = guarded(&root);
    for name in [".netrc", "a"] {
        fs::write(root.join(name), "").unwrap();
    }
    let closed = |name: &str| court.judge(|judge| judge.closed_program(&pinned(&court.fds, root.join(name))));
    assert!(matches!(closed(".netrc"), Some(Reason::Denied(_))));
    assert_eq!(closed("a"), None);
}

#[test]
fn directories_are_copied_over_the_border_of_the_scratch_directory_and_files_moved() {
    let mut config = run_config(guarded_policy(Path::new("/w")));
    config.scratch = Some("/s".into());
    config.cache = Some("/c".into());
    let court = Court::of(config);
    let plants = |arrival, new: &str| court.judge(|judge| judge.plants_below(arrival, Path::new(new)));
    let is_copied = |verdict| matches!(verdict, Refused(reason) if reason.is_of_devices());
    assert!(is_copied(plants(Arrival::Directory(Path::new("/s/a")), "/w/a")));
    assert!(is_copied(plants(Arrival::Directory(Path::new("/w/a")), "/s/a")));
    assert_eq!(plants(Arrival::Directory(Path::new("/s/a")), "/s/b"), Static);
    assert_eq!(plants(Arrival::File, "/w/a"), Static);
    assert_eq!(plants(Arrival::Link, "/c/.vscode"), Static);
}

#[test]
fn nothing_arrives_where_it_could_not_have_been_made() {
    let court = guarded(Path::new("/w"));
    let plants = |arrival, new: &str| court.judge(|judge| judge.plants_below(arrival, Path::new(new)));
    assert!(is_denied(&plants(Arrival::Directory(Path::new("/w/a")), "/w/.config")));
    assert!(is_denied(&plants(Arrival::Link, "/home/ada/.config")));
    assert_eq!(plants(Arrival::Directory(Path::new("/w/a")), "/w/b"), Static);
}

#[test]
fn a_move_that_would_open_what_is_denied_is_refused() {
    let mut config = run_config(guarded_policy(Path::new("/w")));
    let closed = Target::Path("/w/a/closed".into());
    config
        .policy
        .denials
        .push(denial(closed, Access::all(), DenialKind::Explicit));
    config.scratch = Some("/w/s".into());
    let court = Court::of(config);
    let opens = |old: &str, new: &str| court.judge(|judge| judge.rename_opens(Path::new(old), Path::new(new)));
    assert!(is_denied(&opens("/w/a", "/w/b")));
    assert!(is_denied(&opens("/w/.netrc", "/w/harmless")));
    assert_eq!(opens("/w/c", "/w/d"), Static);
    assert_eq!(opens("/w/s/.netrc", "/w/s/harmless"), Static);
}

#[test]
fn nothing_is_moved_or_linked_over_the_border_of_the_cache() {
    let mut config = run_config(policy(Vec::new()));
    config.cache = Some("/c".into());
    let court = Court::of(config);
    let border = |old: Option<&str>, new: &str| {
        let verdict = court.judge(|judge| judge.cache_border(old.map(Path::new), Path::new(new)));
        never(&verdict).is_some()
    };
    assert!(border(Some("/w/a"), "/c/a"));
    assert!(border(Some("/c/a"), "/w/a"));
    assert!(border(None, "/c/a"));
    assert!(!border(Some("/c/a"), "/c/b"));
    assert!(!border(Some("/w/a"), "/w/b"));
    assert!(!border(None, "/w/a"));
}

#[test]
fn the_mode_of_a_directory_stays_where_something_denied_has_its_place_below() {
    let court = guarded(Path::new("/w"));
    let attributes = |name: &str| court.judge(|judge| judge.directory_attributes(Path::new(name)));
    for above in ["/home", "/home/ada", "/home/ada/.config"] {
        assert!(is_denied(&attributes(above)), "{above}");
    }
    assert_eq!(attributes("/w/a"), Static);
}

#[test]
fn only_plain_files_come_into_anothers_git_directory_from_outside() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let git = root.join(".git");
    make(&git);
    let comes = |old: Option<&Path>, new: PathBuf| court.judge(|judge| judge.entry_in_git(old, &new));
    assert!(is_denied(&comes(None, git.join("refs"))));
    assert!(is_denied(&comes(Some(&root.join("a")), git.join("refs"))));
    assert_eq!(comes(Some(&git.join("a")), git.join("b")), Static);
    assert_eq!(comes(None, git.clone()), Static);
    assert_eq!(comes(None, root.join("a")), Static);
    court.makes(&git);
    assert_eq!(comes(None, git.join("refs")), Static);
}

#[test]
fn a_path_of_gits_is_open_but_for_git_where_nothing_else_denies_it() {
    let court = guarded(Path::new("/w"));
    let is_open = |name: &str| court.judge(|judge| judge.is_open_but_for_git(Access::CHANGE, Path::new(name)));
    assert!(is_open("/w/.git/config"));
    assert!(!is_open("/w/.ssh/.git/config"));
    assert!(!is_open("/x/.git/config"));
}

#[test]
fn the_kernels_file_systems_are_served_from_where_they_belong() {
    let elsewhere = |access, system, name: &str| kernels_elsewhere(access, system, Path::new(name)).is_some();
    assert!(elsewhere(Access::READ, FileSystemKind::Process, "/w/proc/1/mem"));
    assert!(!elsewhere(Access::READ, FileSystemKind::Process, "/proc/1"));
    assert!(elsewhere(Access::WRITE, FileSystemKind::Kernel, "/w/sys/a"));
    assert!(!elsewhere(Access::READ, FileSystemKind::Kernel, "/w/sys/a"));
    assert!(!elsewhere(Access::WRITE, FileSystemKind::Kernel, "/sys/a"));
    assert!(!elsewhere(Access::WRITING, FileSystemKind::Ordinary, "/w/a"));
}

#[test]
fn names_of_the_kernels_special_files_are_known() {
    assert!(is_terminal_multiplexer(Path::new("/dev/ptmx")));
    assert!(is_terminal_multiplexer(Path::new("/dev/pts/ptmx")));
    assert!(!is_terminal_multiplexer(Path::new("/dev/pts/0")));
    assert!(is_shared_memory(Path::new("/dev/shm/a")));
    assert!(!is_shared_memory(Path::new("/dev/shm/a/b")));
    assert!(!is_shared_memory(Path::new("/dev/shm")));
    assert!(is_git_lock(Path::new("/w/.git/config.lock")));
    assert!(!is_git_lock(Path::new("/w/config.lock")));
}
