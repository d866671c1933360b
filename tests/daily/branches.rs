//! Branches and tags, and moving between them.

use super::table::{Row, as_bare, hold};

const MOVES: &[Row] = &[
    as_bare(
        "switch",
        "",
        "git switch topic; ls; git switch -; git switch -c new; git switch --detach v1; git switch main",
    ),
    as_bare(
        "switch with loose changes",
        "echo loose >>a",
        "git switch topic; git status --short; git switch main",
    ),
    as_bare(
        "switch that would lose changes",
        "echo loose >>src/b",
        "git switch topic || git switch -m topic; git diff; git checkout -f main",
    ),
    as_bare(
        "switch --orphan",
        "",
        "git switch -q --orphan empty; ls; echo x >x; git add x; git commit -q -m x; git switch -q main",
    ),
    as_bare(
        "checkout",
        "",
        "git checkout topic; git checkout -b new main; git checkout v1; git checkout -q -; git checkout topic -- topic",
    ),
    as_bare(
        "checkout with a hook",
        "hook post-checkout <<'H'\n#!/bin/sh\necho \"$@\" >>.git/moved; git status --short\nH",
        "git checkout -q topic; git checkout -q main; cat .git/moved",
    ),
    as_bare(
        "checkout -p",
        "sed -i '1s/.*/first/' src/lines",
        "echo y | git checkout -p; git status --short",
    ),
    as_bare(
        "checkout of a file, and of a conflict's side",
        "rm a; echo x >>src/b",
        "git checkout a src/b; git checkout v1 -- src; git status --short",
    ),
    as_bare(
        "restore",
        "rm a; echo x >>src/b; git add src/b",
        "git restore a; git restore --staged src/b; git status --short; git restore --source v1 --staged --worktree src",
    ),
    as_bare(
        "branch -m",
        "",
        "git branch -m topic other; git branch -m renamed; git branch -vv",
    ),
    as_bare(
        "branch -m of one that follows a remote",
        "git push -q -u origin topic",
        "git branch -m topic other; git branch -vv",
    ),
    as_bare(
        "branch -d and -D",
        "git branch gone v1",
        "git branch -d gone; git branch -d topic || git branch -D topic; git branch",
    ),
    as_bare(
        "branch -d of one that follows a remote",
        "git push -q -u origin topic",
        "git branch -D topic; git branch -a; git config --get-regexp 'branch.topic.*' || true",
    ),
    as_bare(
        "branch with a directory's name",
        "git pack-refs --all",
        "git branch a/b/c; git branch -m a/b/c a/d; git branch -d a/d; git branch a",
    ),
    as_bare(
        "branch -c and -f",
        "",
        "git branch -c topic copy; git branch -f copy main; git branch --set-upstream-to=main topic; git branch -vv",
    ),
    as_bare(
        "tags",
        "",
        "git tag v2; git tag -d v1; git tag -f v2 HEAD~; git tag -l -n; git describe --tags; git name-rev HEAD",
    ),
    as_bare(
        "update-ref and symbolic-ref",
        "",
        "git update-ref refs/heads/made v1; git symbolic-ref refs/heads/alias refs/heads/made; git update-ref -d refs/heads/topic; git symbolic-ref HEAD refs/heads/made; git status --short || true",
    ),
    as_bare(
        "reading",
        "",
        "git log --graph --all --stat; git show; git diff v1; git blame a; git shortlog HEAD; git grep -n e; git describe --tags; git ls-tree -r HEAD; git range-diff v1 main topic",
    ),
    as_bare(
        "clean",
        "echo x >x.log; mkdir -p build/deep new; echo o >build/deep/o; echo n >new/n",
        "git clean -n -d; git clean -fdx; ls",
    ),
];

#[test]
fn moving_between_branches_ends_as_bare() {
    hold(MOVES);
}
