//! Names that change meanwhile, in directories of the test's own where identities count.

use std::fs;

use super::*;
use crate::supervise::testing::{directory, identity, make};

fn path(name: &str) -> &Path {
    Path::new(name)
}

#[test]
fn a_name_that_another_had_stays_anothers_whatever_comes_there() {
    let (_made, root) = directory();
    let (mut made, old) = (Made::default(), root.join("old"));
    let anothers = make(&old);
    assert!(!made.was_anothers(&old));
    made.vacate(&old, anothers);
    fs::remove_dir(&old).unwrap();
    made.directories.insert(make(&old));
    assert!(made.was_anothers(&old) && made.was_anothers(&old.join("below")));
    assert!(!made.was_anothers(&root) && !made.was_anothers(&root.join("older")));
}

#[test]
fn what_the_run_made_leaves_no_name_behind() {
    let (_made, root) = directory();
    let (mut made, own) = (Made::default(), root.join("own"));
    let made_here = make(&own);
    made.directories.insert(made_here);
    made.vacate(&own, made_here);
    assert!(!made.was_anothers(&own));
    let link = root.join("link");
    std::os::unix::fs::symlink("x", &link).unwrap();
    made.links.insert(identity(&link));
    made.vacate(&link, identity(&link));
    assert!(!made.was_anothers(&link));
}

#[test]
fn the_first_owner_of_a_name_is_the_one_that_counts() {
    let (_made, root) = directory();
    let (first, second) = (make(&root.join("a")), make(&root.join("b")));
    let mut made = Made::default();
    made.claim(path("/w/x"), Some(first));
    made.claim(path("/w/x"), Some(second));
    assert!(!made.is_anothers(path("/w/x"), Some(first)));
    assert!(made.is_anothers(path("/w/x"), Some(second)));
}

#[test]
fn a_directory_may_come_back_to_its_own_name_and_to_no_other() {
    let (_made, root) = directory();
    let moved = make(&root.join("a"));
    let mut made = Made::default();
    made.vacate(path("/w/a"), moved);
    made.vacate(path("/w/b"), make(&root.join("b")));
    assert!(!made.is_anothers(path("/w/a"), Some(moved)));
    assert!(made.is_anothers(path("/w/b"), Some(moved)));
    assert!(made.is_anothers(path("/w/a"), None));
}

#[test]
fn a_name_is_anothers_where_one_above_or_below_it_is() {
    let mut made = Made::default();
    made.claim(path("/w/a/b"), None);
    assert!(made.is_anothers(path("/w/a"), None));
    assert!(made.is_anothers(path("/w/a/b/c"), None));
    assert!(!made.is_anothers(path("/w/a/bc"), None));
    assert!(!made.is_anothers(path("/w/ab"), None));
}

#[test]
fn where_a_directory_moves_the_names_in_it_that_were_anothers_move_too() {
    let mut made = Made::default();
    made.claim(path("/w/a/x"), None);
    made.move_vacated(path("/w/a"), path("/w/b"));
    assert!(made.was_anothers(path("/w/b/x")) && made.was_anothers(path("/w/a/x")));
    assert!(!made.was_anothers(path("/w/b/y")));
}

#[test]
fn a_move_of_a_name_with_the_same_beginning_moves_nothing() {
    let mut made = Made::default();
    made.claim(path("/w/ab/x"), None);
    made.move_vacated(path("/w/a"), path("/w/c"));
    assert!(!made.was_anothers(path("/w/c/x")));
}

#[test]
fn names_that_sort_between_a_directory_and_its_entries_do_not_hide_them() {
    let mut made = Made::default();
    made.claim(path("/w/a-b"), None);
    made.claim(path("/w/a/x"), None);
    assert!(made.is_anothers(path("/w/a"), None));
    made.move_vacated(path("/w/a"), path("/w/c"));
    assert!(made.was_anothers(path("/w/c/x")));
}

#[test]
fn what_was_in_a_directory_that_was_moved_away_may_have_been_anothers() {
    let (_made, root) = directory();
    let (moved, removed) = (make(&root.join("moved")), make(&root.join("removed")));
    let mut made = Made::default();
    made.vacate(path("/w/moved"), moved);
    made.carry(moved);
    made.vacate(path("/w/removed"), removed);
    assert!(made.may_have_been_anothers(path("/w/moved/x")));
    assert!(!made.may_have_been_anothers(path("/w/removed/x")));
    assert!(made.may_have_been_anothers(path("/w/removed")));
}

#[test]
fn a_claim_without_an_object_counts_as_moved() {
    let mut made = Made::default();
    made.claim(path("/w/a"), None);
    assert!(made.may_have_been_anothers(path("/w/a/x")));
    assert!(!made.may_have_been_anothers(path("/w/b/x")));
}

#[test]
fn beyond_the_room_for_names_every_name_was_anothers() {
    let made = Made {
        vacated: (0..Made::MAX_VACATED)
            .map(|number| (number.to_string().into(), None))
            .collect(),
        ..Made::default()
    };
    let free = path("/elsewhere/a");
    assert!(made.was_anothers(free) && made.may_have_been_anothers(free) && made.is_anothers(free, None));
}

#[test]
fn anothers_directory_that_was_moved_is_known_below_its_new_name() {
    let (_made, root) = directory();
    let mut made = Made::default();
    let carried = make(&root.join("a"));
    make(&root.join("a/b"));
    assert!(!made.has_carried(&root.join("a")));
    made.carry(carried);
    assert!(made.has_carried(&root.join("a/b")));
    make(&root.join("c"));
    assert!(!made.has_carried(&root.join("c")));
    assert!(
        made.has_carried(&root.join("missing")),
        "what can't be looked at may be one"
    );
}

#[test]
fn a_directory_of_the_runs_own_is_moved_without_a_note() {
    let (_made, root) = directory();
    let mut made = Made::default();
    let own = make(&root.join("own"));
    made.directories.insert(own);
    made.carry(own);
    assert!(!made.has_carried(&root.join("own")));
}

#[test]
fn a_move_leaves_the_runs_own_where_it_goes_out_of_a_directory_of_its_own() {
    let (_made, root) = directory();
    let (own, other) = (root.join("own"), root.join("other"));
    let mut made = Made::default();
    make(&other);
    assert!(!made.leaves_own(&own.join("a"), &other.join("a")));
    made.directories.insert(make(&own));
    assert!(made.leaves_own(&own.join("a"), &other.join("a")));
    assert!(!made.leaves_own(&own.join("a"), &own.join("b")));
    assert!(!made.leaves_own(&other.join("a"), &root.join("a")));
    made.claim(&own, None);
    assert!(made.leaves_own(&own.join("a"), &own.join("b")));
}

#[test]
fn a_taken_repository_counts_while_its_directory_is_there() {
    let (_made, root) = directory();
    let deep = root.join("a/deep");
    make(&deep);
    let mut made = Made::default();
    made.take(&deep.join(".git"));
    assert!(made.has_taken_from_below(&root) && made.has_taken_from_below(&deep));
    assert!(!made.has_taken_from_below(&root.join("b")));
    assert_eq!(made.taken().collect::<Vec<_>>(), [&deep.join(".git")]);
    fs::remove_dir(&deep).unwrap();
    assert!(!made.has_taken_from_below(&root));
}

#[test]
fn the_repositories_of_a_run_are_told_with_the_directories_around_them() {
    let mut made = Made::default();
    assert!(made.repositories().is_empty());
    made.found(path("/w/a/.git"));
    let told: Vec<_> = made.repositories().into_iter().collect();
    assert_eq!(told, ["/", "/w", "/w/a", "/w/a/.git"].map(Path::new));
}

#[test]
fn an_earlier_runs_repository_and_what_lies_in_it_may_be_replaced() {
    let (_made, root) = directory();
    let git = root.join("a/.git");
    let head = git.join("HEAD");
    let repository = make(&git);
    fs::write(&head, "").unwrap();
    let mut made = Made::default();
    assert!(!made.is_of_earlier(&git, repository));
    made.earlier.insert(repository);
    assert!(made.is_of_earlier(&git, repository));
    assert!(made.is_of_earlier(&head, identity(&head)));
    made.vacate(&git, repository);
    assert!(!made.was_anothers(&git));
}

#[test]
fn another_repository_beside_an_earlier_runs_is_anothers() {
    let (_made, root) = directory();
    let (own, other) = (root.join("a"), root.join("a/b/.git"));
    let mut made = Made::default();
    made.earlier.insert(make(&own));
    let repository = make(&other);
    fs::write(other.join("HEAD"), "").unwrap();
    assert!(!made.is_of_earlier(&other, repository));
    assert!(!made.is_of_earlier(&other.join("HEAD"), identity(&other.join("HEAD"))));
}

#[test]
fn what_is_gone_is_forgotten_since_its_number_will_be_anothers() {
    let (_made, root) = directory();
    let mut made = Made::default();
    let gone = make(&root.join("a"));
    made.directories.insert(gone);
    made.sockets.insert(gone);
    made.git_locks.insert(gone, root.join("a"));
    made.shared_memory.insert(gone);
    made.forget(gone);
    assert!(!made.has_made(gone) && made.sockets.is_empty());
    assert!(made.git_locks.is_empty() && made.shared_memory.is_empty());
}

#[test]
fn no_more_objects_are_kept_than_there_is_room_for() {
    let mut kept = HashSet::new();
    for number in 0..5 {
        Made::keep(&mut kept, number, 3);
    }
    assert_eq!(kept, HashSet::from([0, 1, 2]));
}

#[test]
fn at_the_end_the_runs_shared_memory_and_locks_are_removed_and_no_others() {
    let (_made, root) = directory();
    let mut made = Made::default();
    for name in ["own", "anothers", "lock", "replaced"] {
        fs::write(root.join(name), "").unwrap();
    }
    made.shared_memory.insert(identity(&root.join("own")));
    for name in ["own", "anothers"] {
        made.look_at_shared_name(&root.join(name));
    }
    assert_eq!(made.shared_files(), [root.join("own")]);
    assert!(!made.has_all_shared_names());
    made.git_locks.insert(identity(&root.join("lock")), root.join("lock"));
    made.git_locks.insert(identity(&root), root.join("replaced"));
    made.clear_shared_memory();
    let mut left: Vec<_> = fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["anothers", "replaced"]);
}

#[test]
fn a_shared_name_that_is_gone_is_no_more_the_runs() {
    let (_made, root) = directory();
    let (mut made, name) = (Made::default(), root.join("a"));
    fs::write(&name, "").unwrap();
    made.shared_memory.insert(identity(&name));
    made.look_at_shared_name(&name);
    fs::remove_file(&name).unwrap();
    made.look_at_shared_name(&name);
    assert!(made.shared_files().is_empty());
}
