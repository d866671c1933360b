//! Repositories as git lays them out, with indexes of a few entries.

use super::*;
use crate::supervise::testing::{directory, make};

const FILE: u32 = 0o100_644;
const SUBMODULE: u32 = 0o160_000;

/// An index of version 2 (gitformat-index(5)).
fn index(entries: &[(u32, &str)]) -> Vec<u8> {
    let count = u32::try_from(entries.len()).unwrap();
    let mut bytes = [&b"DIRC"[..], &2_u32.to_be_bytes(), &count.to_be_bytes()].concat();
    for (mode, path) in entries {
        let start = bytes.len();
        bytes.extend([0; 24]);
        bytes.extend(mode.to_be_bytes());
        bytes.extend([0; 12 + 20]);
        bytes.extend(u16::try_from(path.len()).unwrap().to_be_bytes());
        bytes.extend(path.as_bytes());
        bytes.extend(vec![0; 8 - (bytes.len() - start) % 8]);
    }
    bytes.extend([0; 20]);
    bytes
}

/// A repository in a directory, with this index; returns its `.git`.
fn repository(root: &Path, entries: &[(u32, &str)]) -> PathBuf {
    let git = root.join(".git");
    make(&git);
    fs::write(git.join("config"), "").unwrap();
    fs::write(git.join("index"), index(entries)).unwrap();
    git
}

/// Whether a new index of these entries is taken in place of the other.
fn takes(git: &Path, before: &[(u32, &str)], now: &[(u32, &str)], is_closed: bool) -> bool {
    let file = |entries| {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &index(entries)).unwrap();
        file
    };
    Repository::of_directory(git).takes(&|_| is_closed, Renamed::Index, Some(&mut file(before)), &mut file(now))
}

#[test]
fn an_index_without_a_new_submodule_is_taken() {
    let (_made, root) = directory();
    let git = repository(&root, &[]);
    let old = [(FILE, "a"), (SUBMODULE, "sub")];
    assert!(takes(&git, &[], &[(FILE, "a"), (FILE, "b/c")], true));
    make(&root.join("sub/.git"));
    assert!(takes(&git, &old, &old, true));
}

#[test]
fn a_new_submodule_is_taken_where_no_repository_is() {
    let (_made, root) = directory();
    let git = repository(&root, &[]);
    assert!(takes(&git, &[], &[(SUBMODULE, "sub")], true));
    make(&root.join("sub"));
    assert!(takes(&git, &[], &[(SUBMODULE, "sub")], true));
    make(&root.join("sub/.git"));
    assert!(!takes(&git, &[], &[(SUBMODULE, "sub")], true));
}

#[test]
fn a_submodule_of_the_repositorys_own_modules_is_taken_while_no_run_writes_what_leads_there() {
    let (_made, root) = directory();
    let git = repository(&root, &[]);
    make(&git.join("modules/sub"));
    make(&root.join("sub"));
    fs::write(root.join("sub/.git"), "gitdir: ../.git/modules/sub\n").unwrap();
    let now = [(SUBMODULE, "sub")];
    assert!(!takes(&git, &[], &now, true), "it has no configuration");
    fs::write(git.join("modules/sub/config"), "").unwrap();
    assert!(takes(&git, &[], &now, true));
    assert!(!takes(&git, &[], &now, false));
}

#[test]
fn an_index_that_can_not_be_read_is_not_taken() {
    let (_made, root) = directory();
    let git = repository(&root, &[]);
    let mut odd = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut odd, b"DIRC").unwrap();
    assert!(!Repository::of_directory(&git).takes(&|_| true, Renamed::Index, None, &mut odd));
    fs::write(git.join("config"), "[extensions]\nobjectformat = other\n").unwrap();
    assert!(!takes(&git, &[], &[(FILE, "a")], true));
}

#[test]
fn a_submodule_has_its_place_in_the_index_and_a_file_beside_it_has_none() {
    let (_made, root) = directory();
    let git = repository(&root, &[(FILE, "a"), (SUBMODULE, "deep/sub")]);
    let have = |name: &str| GitIndexes::default().have_place(&git, &root.join(name), |_| true);
    assert!(have("deep/sub") && have("deep"));
    assert!(!have("a") && !have("other"));
    let is_empty = GitIndexes::default().have_place(&git, &root.join("deep"), |_| false);
    assert!(!is_empty, "no repository is at any of them");
}

#[test]
fn without_a_repository_or_an_index_there_is_no_place_and_an_unreadable_one_may_have_any() {
    let (_made, root) = directory();
    let have = || GitIndexes::default().have_place(&root.join(".git"), &root.join("a"), |_| false);
    assert!(!have());
    let git = repository(&root, &[]);
    fs::remove_file(git.join("index")).unwrap();
    assert!(!have());
    fs::write(git.join("index"), "odd").unwrap();
    assert!(have());
}

#[test]
fn a_changed_index_is_read_again() {
    let (_made, root) = directory();
    let git = repository(&root, &[(FILE, "a")]);
    let indexes = GitIndexes::default();
    let have = || indexes.have_place(&git, &root.join("sub"), |_| true);
    assert!(!have());
    fs::write(git.join("index"), index(&[(SUBMODULE, "sub")])).unwrap();
    assert!(have());
}

#[test]
fn a_directory_with_entries_in_the_index_is_tracked() {
    let (_made, root) = directory();
    let git = repository(&root, &[(FILE, "a/b"), (SUBMODULE, "sub")]);
    assert!(has_tracked(&git, &root.join("a")));
    assert!(has_tracked(&git, &root.join("sub/below")));
    assert!(!has_tracked(&git, &root.join("other")));
    assert!(has_tracked(&git, Path::new("/elsewhere")), "which can't be determined");
}

#[test]
fn a_linked_work_tree_shares_the_configuration_of_its_repository() {
    let linked = Repository::of_directory(Path::new("/w/.git/worktrees/a"));
    assert_eq!(linked.common, Path::new("/w/.git"));
    let whole = Repository::of_directory(Path::new("/w/.git"));
    assert_eq!(whole.common, whole.directory);
}

#[test]
fn a_hook_is_known_by_the_directory_that_the_configuration_names() {
    let (_made, root) = directory();
    let git = repository(&root, &[]);
    make(&root.join("tools"));
    let hook = root.join("tools/pre-commit");
    assert!(!is_named_hook(&hook));
    fs::write(git.join("config"), "[core]\nhooksPath = tools\n").unwrap();
    assert!(is_named_hook(&hook));
    assert!(!is_named_hook(&root.join("tools/readme")));
    assert!(!is_named_hook(&root.join("other/pre-commit")));
}
