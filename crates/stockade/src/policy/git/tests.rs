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

/// In all of them: files that git executes, or that redirect it. Some under a disguised name.
const GUARDED: &[&str] = &[
    "config",
    "config.lock",
    "config.worktree",
    "commondir",
    "gitdir",
    "hooks",
    "hooks/pre-commit",
    "hooks/refs/heads/x",
    "HOOKS/pre-commit",
    "info",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "branches/x",
    "remotes/origin",
    "objects",
    "objects/info",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "objects/INFO/alternates",
    "Index",
    "refs/.git/hooks/x",
    "lfs/x",
    "fsmonitor--daemon.ipc",
    "",
];

fn guarded(path: &str) -> bool {
    is_guarded(Path::new(path))
}

#[test]
fn everyday_commands_may_write_in_a_repository_that_was_there_before() {
    for directory in [
        "/w/.git",
        "/.git",
        "/w/.git/modules/a",
        "/w/.git/modules/lib/deep/name",
        "/w/.git/modules/a/modules/b",
        "/w/.git/modules/a/worktrees/x",
        "/w/.git/worktrees/x",
        "/w/.git/worktrees/x/modules/a",
    ] {
        for name in WRITTEN {
            assert!(!guarded(&format!("{directory}/{name}")), "{directory}/{name}");
        }
    }
    for path in [
        "/w/.git/info/refs",
        "/w/.git/modules/a/info/refs_Ab3dEf",
        "/w/.git/worktrees",
        "/w/.git/worktrees/x",
    ] {
        assert!(!guarded(path), "{path}");
    }
}

#[test]
fn whatever_git_trusts_is_guarded() {
    for directory in [
        "/w/.git",
        "/w/.GIT",
        "/w/.git/modules/a",
        "/w/.git/modules/lib/deep/name",
        "/w/.git/modules/a/modules/b",
        "/w/.git/worktrees/x/modules/a",
    ] {
        for name in GUARDED {
            let path = format!("{directory}/{name}");
            assert!(guarded(path.trim_end_matches('/')), "{path}");
        }
    }
    for name in GUARDED.iter().filter(|name| !name.is_empty()) {
        assert!(guarded(&format!("/w/.git/worktrees/x/{name}")), "{name}");
    }
    assert!(guarded("/w/.git/modules"));
}

/// `a/refs` is a name that a submodule may have.
#[test]
fn the_hooks_of_a_submodule_whose_name_ends_like_an_open_directory_are_guarded() {
    for name in [
        "a/refs",
        "a/objects",
        "a/refs/heads",
        "a/logs/x",
        "a/rebase-merge",
        "a/modules",
        "a/worktrees/x",
    ] {
        for file in [
            "hooks/index",
            "hooks/pre-commit",
            "config",
            "Config",
            "info/attributes",
            "commondir",
        ] {
            let path = format!("/w/.git/modules/{name}/{file}");
            assert!(guarded(&path), "{path}");
        }
    }
    // Elsewhere a branch may have such a name.
    assert!(!guarded("/w/.git/refs/heads/fix/config"));
    assert!(!guarded("/w/.git/logs/refs/heads/hooks"));
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
        assert!(!is_in_git_directory(Path::new(path)), "{path}");
    }
    assert!(is_in_git_directory(Path::new("/w/.git/refs/heads/x")));
}

#[test]
fn the_directories_of_a_path_begin_with_the_first_git() {
    let names = |path: &str| -> Vec<String> {
        let directories = git_directories(Path::new(path));
        directories.iter().map(|path| path.display().to_string()).collect()
    };
    assert_eq!(
        names("/w/.git/modules/a/hooks/x"),
        [
            "/w/.git",
            "/w/.git/modules",
            "/w/.git/modules/a",
            "/w/.git/modules/a/hooks"
        ]
    );
    assert_eq!(names("/w/.git/config"), ["/w/.git"]);
    assert_eq!(names("/w/.git"), ["/w/.git"]);
    assert_eq!(names("/w/src"), Vec::<String>::new());
}

/// An escape otherwise: delete the empty `objects/info`, create it anew, and own its content.
#[test]
fn no_guarded_file_lies_in_a_directory_that_the_run_may_make_anew() {
    for name in GUARDED.iter().filter(|name| !name.is_empty()) {
        let path = format!("/w/.git/{name}");
        for directory in git_directories(Path::new(&path))
            .iter()
            .filter(|path| !path.ends_with("refs"))
        {
            assert!(is_guarded(directory), "{path} in {}", directory.display());
        }
    }
}
