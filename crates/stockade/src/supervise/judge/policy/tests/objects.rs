//! Objects and places, and what moves there.

use super::*;

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
        assert_eq!(made(".vscode"), Allowed(By::Supervisor));
        assert!(is_denied(&made(".ssh")));
    }
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
    assert_eq!(read("a"), Allowed(By::Supervisor));
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
    assert_eq!(read("/dev/null"), Allowed(By::Supervisor));
}

#[test]
fn the_terminals_that_the_run_was_given_are_its_own() {
    let mut config = run_config(policy(Vec::new()));
    config.terminals = vec!["/dev/null".into()];
    let court = Court::of(config);
    let verdict = court.judge(|judge| judge.object(Access::WRITE, &pinned(&court.fds, "/dev/null")));
    assert_eq!(verdict, Allowed(By::Landlock));
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
    assert_eq!(cut(Some(&root), without), Allowed(By::Supervisor));
    assert_eq!(cut(None, Capabilities::USUAL), Allowed(By::Supervisor));
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
    assert_eq!(
        plants(Arrival::Directory(Path::new("/s/a")), "/s/b"),
        Allowed(By::Landlock)
    );
    assert_eq!(plants(Arrival::File, "/w/a"), Allowed(By::Landlock));
    assert_eq!(plants(Arrival::Link, "/c/.vscode"), Allowed(By::Landlock));
}

#[test]
fn nothing_arrives_where_it_could_not_have_been_made() {
    let court = guarded(Path::new("/w"));
    let plants = |arrival, new: &str| court.judge(|judge| judge.plants_below(arrival, Path::new(new)));
    assert!(is_denied(&plants(Arrival::Directory(Path::new("/w/a")), "/w/.config")));
    assert!(is_denied(&plants(Arrival::Link, "/home/ada/.config")));
    assert_eq!(
        plants(Arrival::Directory(Path::new("/w/a")), "/w/b"),
        Allowed(By::Landlock)
    );
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
    assert_eq!(opens("/w/c", "/w/d"), Allowed(By::Landlock));
    assert_eq!(opens("/w/s/.netrc", "/w/s/harmless"), Allowed(By::Landlock));
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
    assert_eq!(attributes("/w/a"), Allowed(By::Landlock));
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
