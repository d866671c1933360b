//! Repositories, and what git obeys in them.

use super::*;

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
            Allowed(By::Supervisor),
            "{closed}"
        );
    }
    for open in ["objects/ab/cdef", "refs/heads/main", "logs/HEAD"] {
        assert_eq!(
            court.name(Access::WRITE, Path::new("/w/.git").join(open)),
            Allowed(By::Supervisor),
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
            Allowed(By::Supervisor),
            "{name}"
        );
    }
    let shared = root.join(".git/sharedindex.1");
    assert_eq!(court.name(Access::DELETE, &shared), Allowed(By::Supervisor));
    assert_eq!(never(&court.name(Access::WRITE, &shared)), Some(RENAMED));
}

#[test]
fn in_a_repository_that_the_run_made_nothing_of_gits_is_closed() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let git = court.makes(&root.join(".git"));
    for name in ["config", "HEAD", "index"] {
        assert_eq!(
            court.name(Access::WRITE, git.join(name)),
            Allowed(By::Supervisor),
            "{name}"
        );
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
fn a_directory_whose_repository_the_run_removed_is_a_project_still() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let deep = root.join("deep");
    make(&deep);
    court.run_policy.made().claim(&deep.join(".git"), None);
    assert!(is_denied(&court.name(Access::WRITE, deep.join(".mcp.json"))));
}

#[test]
fn a_new_repository_is_open_where_none_is_around_it() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let new = court.makes(&root.join("new"));
    assert_eq!(court.new_entry(&new.join(".git")), Allowed(By::Supervisor));
    assert_eq!(court.new_entry(&root.join(".git")), Allowed(By::Supervisor));
}

#[test]
fn a_new_repository_is_closed_in_anothers_directory_below_anothers_repository() {
    let (_made, root) = directory();
    let court = guarded(&root);
    make(&root.join(".git"));
    make(&root.join("old"));
    assert!(is_denied(&court.new_entry(&root.join("old/.git"))));
    let new = court.makes(&root.join("new"));
    assert_eq!(court.new_entry(&new.join(".git")), Allowed(By::Supervisor));
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
    assert_eq!(court.new_entry(&root.join("free/HEAD")), Allowed(By::Supervisor));
}

#[test]
fn the_lock_of_gits_configuration_is_the_runs_where_it_made_it() {
    let (_made, root) = directory();
    let court = guarded(&root);
    let git = root.join(".git");
    make(&git);
    let lock = git.join("config.lock");
    assert_eq!(
        court.place(&lock, |judge, place| judge.new_git_lock(place)),
        Allowed(By::Supervisor)
    );
    fs::write(&lock, "").unwrap();
    let write = || court.judge(|judge| judge.object(Access::WRITE, &pinned(&court.fds, &lock)));
    assert!(is_denied(&write()));
    court.run_policy.made().git_locks.insert(identity(&lock), lock.clone());
    assert_eq!(write(), Allowed(By::Supervisor));
    let removed = court.place(&lock, |judge, place| judge.place(Access::DELETE, place));
    assert_eq!(removed, Allowed(By::Supervisor));
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
    assert_eq!(comes(Some(&git.join("a")), git.join("b")), Allowed(By::Landlock));
    assert_eq!(comes(None, git.clone()), Allowed(By::Landlock));
    assert_eq!(comes(None, root.join("a")), Allowed(By::Landlock));
    court.makes(&git);
    assert_eq!(comes(None, git.join("refs")), Allowed(By::Landlock));
}

#[test]
fn a_path_of_gits_is_open_but_for_git_where_nothing_else_denies_it() {
    let court = guarded(Path::new("/w"));
    let is_open = |name: &str| court.judge(|judge| judge.is_open_but_for_git(Access::CHANGE, Path::new(name)));
    assert!(is_open("/w/.git/config"));
    assert!(!is_open("/w/.ssh/.git/config"));
    assert!(!is_open("/x/.git/config"));
}
