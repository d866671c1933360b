//! Merges, and what comes from a remote beside the repository.

use super::table::{Row, as_bare, hold};

/// Another user's clone has pushed.
const PUSHED: &str = "git clone -q ../remote.git ../clone; cd ../clone; echo theirs >theirs; git add theirs
git commit -q -m theirs; git tag -a -m tagged theirs; git push -q --tags origin HEAD:main HEAD:side
rm -rf ../clone; cd ../root
";

const MERGES: &[Row] = &[
    as_bare("merge", "", "git merge --no-edit topic; git log --oneline --graph"),
    as_bare("merge --ff-only", "git switch -q -c behind v1", "git merge --ff-only topic; git log --oneline"),
    as_bare("merge --squash", "", "git merge --squash topic; git status; git commit -q --no-edit; git log -1"),
    as_bare("merge -s ours and of two", "git branch other v1~", "git merge -q -s ours -m x topic; git merge -q -m y topic other"),
    as_bare("merge --no-commit, aborted", "", "git merge --no-commit topic; git merge --abort; git status"),
    as_bare("merge --autostash", "echo loose >>a", "git merge --no-edit --autostash topic; git diff"),
    as_bare(
        "merge --autostash with a conflict, aborted",
        "git switch -q topic; echo other >>src/b; git commit -q -a -m other; git switch -q main; echo loose >>a",
        "git merge --autostash topic || git diff; git merge --abort; git diff",
    ),
    as_bare(
        "merge with a conflict, resolved",
        "git switch -q topic; echo other >>src/b; git commit -q -a -m other; git switch -q main",
        "git merge topic || git diff; git checkout --theirs src/b; git add src/b; GIT_EDITOR=: git merge --continue; git log --oneline",
    ),
    as_bare(
        "merge with a conflict, resolved as before",
        "git config rerere.enabled true; git switch -q topic; echo other >>src/b; git commit -q -a -m other; git switch -q main",
        "git merge topic || echo both >src/b; git rerere diff; git commit -q -a -m merged; git reset -q --hard HEAD~
git merge topic || cat src/b; git rerere status; git rerere forget src/b; git rerere gc; git reset -q --merge",
    ),
    as_bare(
        "mergetool",
        "git config merge.tool mine; git config mergetool.mine.cmd 'cat $LOCAL $REMOTE >$MERGED'; git config mergetool.mine.trustExitCode true
git switch -q topic; echo other >>src/b; git commit -q -a -m other; git switch -q main",
        "git merge topic || git mergetool -y; git status --short; git commit -q -m merged",
    ),
    as_bare("merge with a hook", "hook post-merge <<'H'\n#!/bin/sh\necho $1 >.git/merged\nH", "git merge -q --no-edit topic; cat .git/merged"),
];

/// The branches have parted.
const REMOTES: &[Row] = &[
    as_bare(
        "fetch",
        PUSHED,
        "git fetch; git branch -a -vv; git log --oneline --all; cat .git/FETCH_HEAD",
    ),
    as_bare(
        "fetch --prune",
        "git push -q origin topic; git --git-dir ../remote.git branch -q -D topic",
        "git fetch --prune; git branch -a",
    ),
    as_bare(
        "pull",
        PUSHED,
        "git pull --no-rebase --no-edit; git log --oneline --graph",
    ),
    as_bare(
        "pull --autostash",
        PUSHED,
        "echo loose >>a; git pull --no-rebase --no-edit --autostash; git diff",
    ),
    as_bare(
        "pull --rebase --autostash",
        PUSHED,
        "echo loose >>a; git pull --rebase --autostash; git diff; git log --oneline",
    ),
    as_bare(
        "push",
        "",
        "git push; git push origin topic v1; git ls-remote; git status -sb",
    ),
    as_bare(
        "push -u",
        "git switch -q topic",
        "git push -u origin topic; git status -sb; git config branch.topic.merge",
    ),
    as_bare(
        "push --delete",
        "git push -q origin topic",
        "git push origin --delete topic; git branch -a",
    ),
    as_bare(
        "push --force-with-lease",
        "git push -q; git commit -q --amend -m other",
        "git push --force-with-lease; git status -sb",
    ),
    as_bare(
        "remote",
        "",
        "git remote -v; git remote show origin; git remote prune origin; git remote update",
    ),
];

#[test]
fn merges_end_as_bare() {
    hold(MERGES);
}

#[test]
fn fetching_pulling_and_pushing_end_as_bare() {
    hold(REMOTES);
}
