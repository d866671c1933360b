//! The files that git 2.47 wrote in an existing repository, under strace: commit, rebase in all forms, stash, merge and
//! its conflicts, cherry-pick, revert, bisect, fetch, pull, push, tag, notes, gc, repack, worktree, submodules, `am`,
//! and a split index.

use super::*;

/// In `.git`, in `.git/modules/NAME` and in `.git/worktrees/NAME`.
const WRITTEN: &[&str] = &[
    "AUTO_MERGE",
    "AUTO_MERGE.lock",
    "BISECT_ANCESTORS_OK",
    "BISECT_EXPECTED_REV.lock",
    "BISECT_START",
    "CHERRY_PICK_HEAD.lock",
    "COMMIT_EDITMSG",
    "FETCH_HEAD",
    "HEAD",
    "HEAD.lock",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_MSG.lock",
    "MERGE_RR.lock",
    "NOTES_EDITMSG",
    "ORIG_HEAD.lock",
    "REBASE_HEAD.lock",
    "TAG_EDITMSG",
    "gc.pid",
    "gc.pid.lock",
    "index",
    "index.lock",
    "index.stash.16574",
    "index.stash.16574.lock",
    "logs/HEAD",
    "logs/HEAD.lock",
    "logs/refs/heads/x/y",
    "logs/refs/.tmp-renamed-log",
    "next-index-16695.lock",
    "objects/61",
    "objects/61/780798228d17af2d34fce4cfbdf35556832472",
    "objects/61/tmp_obj_Ab3dEf",
    "objects/info/commit-graph",
    "objects/info/commit-graph.lock",
    "objects/info/commit-graphs/graph-61780798228d17af2d34fce4cfbdf35556832472.graph",
    "objects/info/packs",
    "objects/info/packs_arfikJ",
    "objects/maintenance.lock",
    "objects/pack/.tmp-17011-pack-61780798228d17af2d34fce4cfbdf35556832472.idx",
    "objects/pack/multi-pack-index.lock",
    "objects/pack/tmp_pack_Ab3dEf",
    "objects/tmp_objdir-incoming-Ab3dEf/61/780798228d17af2d34fce4cfbdf35556832472",
    "packed-refs.lock",
    "packed-refs.new",
    "rebase-apply",
    "rebase-apply/patch",
    "rebase-merge",
    "rebase-merge/git-rebase-todo.backup",
    "refs/heads/x",
    "refs/heads/x/y.lock",
    "refs/stash",
    "rr-cache",
    "sequencer/todo.lock",
    "shallow.lock",
    "sharedindex.61780798228d17af2d34fce4cfbdf35556832472",
    "sharedindex_Ab3dEf",
];

/// What git and its companions wrote there besides.
const DATA: &[&str] = &[
    ".git-foo",
    "4913",
    "COMMIT_EDITMSG~",
    ".COMMIT_EDITMSG.swp",
    "sedAbCdEf",
    "MERGE_AUTOSTASH",
    "REPLACE_EDITOBJ",
    "git-interpret-trailers-AbCdEf",
    "index.lock.lock",
    "index.lock.1234.lock",
    "index.other",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout.lock",
    "lint-staged_unstaged.patch",
    "lfs/objects/ab/cd/abcd",
    "lost-found/other/61780798228d17af2d34fce4cfbdf35556832472",
    "filter-repo/commit-map",
    "patches/main/p",
    "fsmonitor--daemon.ipc",
    "objects/config",
    "refs/heads/fix/config",
    "logs/refs/heads/hooks",
    "annex/objects/x",
    "refs/remotes/origin/main",
    "logs/refs/remotes/origin/main.lock",
];

/// In all of them: what git executes, or is led elsewhere by. Some under a disguised name.
const GUARDED: &[&str] = &[
    "config",
    "config.lock",
    "config.worktree",
    "Config",
    "config.",
    "config. ",
    "config::$DATA",
    "CONFIG~1.WOR",
    "commondir",
    "hooks",
    "hooks/pre-commit",
    "hooks/refs/heads/x",
    "hooks/index",
    "HOOKS/pre-commit",
    "hoo\u{212a}s/pre-commit",
    "info/attributes",
    "INFO/attributes",
    "info/attri~1",
    "branches/x",
    "remotes/origin",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "objects/INFO/alternates",
    "objects/info/altern~1",
    "refs/.git/hooks/x",
    "refs/.git/x",
    "annex/ssh.config",
    "sl/config",
    "lazygit.yml",
    "glab-cli/config.yml",
];

fn guarded(path: &str) -> bool {
    is_guarded(Path::new(path))
}

const DIRECTORIES: &[&str] = &[
    "/w/.git",
    "/w/.GIT",
    "/.git",
    "/w/.git/modules/a",
    "/w/.git/modules/lib/deep/name",
    "/w/.git/modules/a/modules/b",
    "/w/.git/modules/a/worktrees/x",
    "/w/.git/worktrees/x",
    "/w/.git/worktrees/x/modules/a",
];

#[test]
fn what_git_writes_is_open_in_a_repository_that_was_there_before() {
    for directory in DIRECTORIES {
        for name in WRITTEN.iter().chain(DATA) {
            // In `modules` each name may be the last of a submodule's.
            let path = format!("{directory}/{name}");
            let is_ambiguous =
                directory.contains("modules") && ["config", "hooks"].iter().any(|end| name.ends_with(end));
            assert_eq!(guarded(&path), is_ambiguous, "{path}");
        }
    }
    for path in [
        "/w/.git/info",
        "/w/.git/info/refs",
        "/w/.git/modules/a/info/refs_Ab3dEf",
        "/w/.git/worktrees",
        "/w/.git/worktrees/x",
        "/w/.git/worktrees/x/gitdir",
        "/w/.git/worktrees/x/locked",
        "/w/.git/worktrees/x/refs/bisect/bad",
    ] {
        assert!(!guarded(path), "{path}");
    }
}

#[test]
fn what_git_obeys_is_guarded() {
    for directory in DIRECTORIES {
        // In `modules` a branch of a submodule may have other letters, and any name may be the last of a remote's.
        let is_deep = directory.contains("modules") && !directory.ends_with("modules/a");
        let is_branch = |name: &str| !name.is_ascii() || name.starts_with("branches/") || name.starts_with("remotes/");
        for name in GUARDED.iter().filter(|name| !is_deep || !is_branch(name)) {
            let path = format!("{directory}/{name}");
            assert!(guarded(&path), "{path}");
        }
    }
    for path in [
        "/w/.git",
        "/w/.git.",
        "/w/GIT~1",
        "/w/.git/modules",
        "/w/.git/modules/a",
        "/w/.git/refs",
        "/w/.git/objects",
    ] {
        assert!(guarded(path), "{path}");
    }
}

/// `a/refs` is a name that a submodule may have.
#[test]
fn the_hooks_of_a_submodule_whose_name_ends_like_an_open_directory_are_guarded() {
    for name in [
        "a/refs",
        "a/objects",
        "a/refs/heads",
        "a/logs/x",
        "a/modules",
        "a/worktrees/x",
        "a/x/worktrees",
    ] {
        for file in [
            "hooks/index",
            "hooks/pre-commit",
            "config",
            "Config",
            "info/attributes",
            "objects/info/alternates",
            "commondir",
        ] {
            let path = format!("/w/.git/modules/{name}/{file}");
            assert!(guarded(&path), "{path}");
        }
    }
}

proptest::proptest! {
    /// Whatever the name of a file: closed is what the list names, and nothing else.
    #[test]
    fn any_other_name_is_open(name in "[a-zA-Z0-9_.~ -]{1,12}", below in "(/[a-z]{1,6}){0,3}") {
        let first = spelled(OsStr::new(&name));
        let unlocked = first.strip_suffix(b".lock").unwrap_or(&first).to_vec();
        let known = CLOSED.iter().chain(KEPT).chain(&["modules", "worktrees", ".git", "git~1"]);
        let is_known = known.filter_map(|path| path.split('/').next()).any(|known| unlocked == known.as_bytes());
        let is_short = name.bytes().zip(name.bytes().skip(1)).any(|(one, next)| one == b'~' && next.is_ascii_digit());
        let path = format!("/w/.git/{name}{below}");
        if !is_known && !is_short && !first.is_empty() {
            proptest::prop_assert!(!guarded(&path), "{}", path);
        }
    }

    /// However a closed name is spelled, and whatever lies below.
    #[test]
    fn a_closed_name_is_closed_in_every_spelling(
        index in 0..CLOSED.len(),
        upper in proptest::collection::vec(proptest::bool::ANY, 32),
        end in "[. ]{0,2}(:[a-z]*)?",
        below in "(/[a-z]{1,6}){0,2}",
    ) {
        let letters = CLOSED[index].chars().zip(upper);
        let spelling: String = letters.map(|(letter, upper)| if upper { letter.to_ascii_uppercase() } else { letter }).collect();
        let path = format!("/w/.git/{spelling}{end}{below}");
        proptest::prop_assert!(guarded(&path), "{}", path);
    }
}

/// A run could move what it made elsewhere into the place of a directory that may be empty.
#[test]
fn nothing_moves_to_where_something_is_closed_below() {
    let may_move = |old: &str, new: &str| may_move(Path::new(old), Path::new(new));
    for new in [
        "/w/.git/info",
        "/w/.git/objects/info",
        "/w/.git/worktrees/x",
        "/w/.git/modules/a/info",
        "/w/.git/annex",
        "/w/.git/modules/a/x",
        "/w/.git/refs",
        "/w/.git",
    ] {
        assert!(!may_move("/w/.git/x", new), "{new}");
        assert!(!may_move("/w/x", new), "{new}");
        assert!(!may_move(new, "/w/.git/x"), "{new}");
    }
    assert!(may_move("/w/.git/index.lock", "/w/.git/index"));
    assert!(may_move("/w/.git/x", "/w/.git/rebase-merge/x"));
    assert!(may_move("/w/a", "/w/b"));
}

#[test]
fn what_only_looks_like_git_is_no_git_directory() {
    for path in [
        "/w/.github/workflows/x",
        "/w/x.git/hooks/x",
        "/w/.gitignore",
        "/w/git/config",
        "/w/.git.bak/config",
    ] {
        assert!(!guarded(path), "{path}");
        assert_eq!(git_directory(Path::new(path)), None, "{path}");
    }
}

#[test]
fn the_outermost_git_directory_of_a_path_counts() {
    let directory = |path: &'static str| git_directory(Path::new(path)).and_then(Path::to_str);
    assert_eq!(directory("/w/.git/modules/a/.git/x"), Some("/w/.git"));
    assert_eq!(directory("/w/.git"), Some("/w/.git"));
    assert_eq!(directory("/w/src"), None);
}

#[test]
fn what_is_of_a_linked_work_tree_is_told_from_the_rest() {
    for path in [
        "/w/.git/worktrees/x/gitdir",
        "/w/.git/worktrees/x/commondir",
        "/w/.git/worktrees/x/logs/HEAD",
    ] {
        assert!(is_of_work_tree(Path::new(path)), "{path}");
    }
    for path in [
        "/w/.git/worktrees/x",
        "/w/.git/hooks/x",
        "/w/worktrees/x/y",
        "/w/.git/modules/a/worktrees/x/gitdir",
    ] {
        assert!(!is_of_work_tree(Path::new(path)), "{path}");
    }
    assert!(is_common_directory(Path::new("/w/.git/worktrees/x/commondir")));
    assert!(is_common_directory(Path::new(
        "/w/.git/modules/a/worktrees/x/commondir"
    )));
    assert!(!is_common_directory(Path::new(
        "/w/.git/modules/a/hooks/worktrees/x/commondir"
    )));
    assert!(!is_common_directory(Path::new("/w/.git/commondir")));
}
