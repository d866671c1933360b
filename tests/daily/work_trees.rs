//! Linked work trees, submodules and sparse checkouts that were there before.

use super::refused::MODULE;
use super::table::{Row, as_bare, hold, whole};

const TREE: &str = "git worktree add -q -b side tree; echo x >tree/x; git -C tree add x; git -C tree commit -q -m side";

const TREES: &[Row] = &[
    as_bare(
        "worktree list",
        TREE,
        "git worktree list; git -C tree log --oneline; git -C tree status",
    ),
    as_bare(
        "worktree add",
        "",
        "git worktree add tree topic; cd tree; echo x >x; git add x; git commit -q -m x; git worktree list",
    ),
    as_bare(
        "commit in a work tree that was there before",
        TREE,
        "cd tree; echo y >>x; git commit -q -a -m y; git stash list; git log --oneline",
    ),
    as_bare(
        "rebase in a work tree that was there before",
        TREE,
        "cd tree; git rebase topic; git stash; git log --oneline",
    ),
    as_bare(
        "worktree lock and unlock",
        TREE,
        "git worktree lock --reason mine tree; git worktree list --porcelain; git worktree remove tree || git worktree unlock tree",
    ),
    as_bare(
        "worktree move",
        TREE,
        "git worktree move tree moved; git -C moved status; git worktree list",
    ),
    as_bare(
        "worktree remove",
        TREE,
        "git worktree remove tree; git worktree list; ls; git branch -D side",
    ),
    as_bare(
        "worktree remove --force",
        "git worktree add -q -b side tree; echo x >tree/x",
        "git worktree remove tree || git worktree remove --force tree; ls",
    ),
    as_bare(
        "worktree prune",
        "git worktree add -q -b side tree; rm -rf tree",
        "git worktree prune -v; git worktree list; git branch -d side",
    ),
    as_bare(
        "worktree repair",
        "git worktree add -q -b side tree; mv tree moved",
        "git worktree repair moved; git -C moved status",
    ),
    as_bare(
        "work trees from add to remove",
        "",
        "git worktree add -q one; git worktree add -q --detach two; git -C one commit -q --allow-empty -m one; git worktree remove one; git worktree remove two; git worktree list",
    ),
];

/// The submodule has moved on, and the index hasn't.
const MOVED: &str = "git init -q -b main ../lib; git -C ../lib commit -q --allow-empty -m lib; git -c protocol.file.allow=always submodule -q add ../lib lib
git commit -q -m 'with a submodule'; git -C lib commit -q --allow-empty -m next; rm -rf ../lib";

const OTHERS: &[Row] = &[
    as_bare(
        "submodule status",
        MODULE,
        "git submodule status; git submodule foreach git log --oneline; git status; git submodule summary",
    ),
    as_bare(
        "commit in a submodule that was there before",
        MODULE,
        "cd lib; echo m >>l; git commit -q -a -m more; cd ..; git commit -q -a -m moved; git submodule status",
    ),
    whole(
        "submodule update",
        MOVED,
        "git submodule update",
        &[".git/modules/lib/config"],
    ),
    as_bare(
        "switch over a submodule",
        MODULE,
        "git switch -q topic; git switch -q main; git status",
    ),
    as_bare(
        "sparse-checkout add to one that is set up",
        "mkdir more; echo m >more/m; git add more; git commit -q -m more; git sparse-checkout set src",
        "git sparse-checkout list; git sparse-checkout add more; git sparse-checkout list; ls; git sparse-checkout reapply; git status",
    ),
    as_bare(
        "sparse-checkout set in one that is set up",
        "mkdir more; echo m >more/m; git add more; git commit -q -m more; git sparse-checkout set src",
        "git sparse-checkout set more; ls; git switch -q topic; ls; git status",
    ),
    as_bare(
        "a second init",
        "",
        "git init; git init -q .; git status; git config core.filemode",
    ),
    as_bare(
        "a clone beside the sources",
        "",
        "git clone -q . clone; cd clone; git log --oneline; echo x >>a; git commit -q -a -m x; git push -q origin HEAD:cloned",
    ),
    as_bare(
        "a repository of the run's own, below",
        "",
        "git init -q target/fixture; cd target/fixture; echo x >x; git add x; git commit -q -m x; git config alias.l log; git l --oneline; cd ../..; rm -rf target; git status --short",
    ),
];

#[test]
fn work_trees_end_as_bare() {
    hold(TREES);
}

#[test]
fn submodules_and_sparse_checkouts_end_as_bare() {
    hold(OTHERS);
}
