//! Git, in a repository that was there before and in one of the run's own.

use super::twins::{Twins, installed};

/// Commits that have the same names in both runs.
const FIXED: &str = "export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.org GIT_COMMITTER_NAME=Ann
export GIT_COMMITTER_EMAIL=ann@example.org GIT_AUTHOR_DATE=2020-01-01T00:00:00Z
export GIT_COMMITTER_DATE=2020-01-01T00:00:00Z GIT_CONFIG_NOSYSTEM=1
";
const REPOSITORY: &str = "git init -q -b main .; mkdir sub; echo one >a; echo b >sub/b; ln -s a link
echo '#!/bin/sh' >tool; chmod +x tool; git add -A; git commit -q -m first
";

/// The index holds times and inode numbers.
fn twins() -> Twins {
    Twins::new().loosely(&["*index", "*.git/worktrees/*/index"])
}

/// An agent's usual place: a repository that somebody else made.
fn in_a_repository(script: &str) -> String {
    let twins = twins().prepared(&format!("{FIXED}{REPOSITORY}"));
    twins.same(&format!("{FIXED}{script}"))
}

#[test]
fn git_initialises_commits_and_collects_garbage() {
    if installed(&["git"]) {
        let script = "git status; git ls-files -s; git config user.color blue; git config --list --local
            for n in 1 2 3 4 5; do echo $n >>a; git commit -q -a -m $n; done; git log --format='%H %s %an'
            git fsck --no-progress; git gc -q; git count-objects; git prune; git reflog; cat a";
        twins().same(&format!("{FIXED}{REPOSITORY}{script}"));
    }
}

#[test]
fn git_commits_branches_and_greps_where_it_was_before() {
    if installed(&["git"]) {
        in_a_repository(
            "echo new >new; mkdir d; echo q >d/q; echo changed >>a; git add -A; git commit -q -m second
            git branch topic; git checkout -q topic; git rm -q a; git mv tool d/tool; git commit -q -m removed
            git diff main --stat; git checkout -q main; git status; git grep -n e; git tag v1; git describe --tags
            git log --all --oneline --graph; git blame a; git show --stat; git branch -D topic 2>/dev/null",
        );
    }
}

#[test]
fn git_rebases_merges_and_cherry_picks() {
    if installed(&["git"]) {
        in_a_repository(
            "git checkout -q -b topic; for n in 1 2 3; do echo $n >topic$n; git add -A; git commit -q -m t$n; done
            git checkout -q main; echo m >m; git add -A; git commit -q -m m; git checkout -q topic
            git rebase -q main; git checkout -q -b other HEAD~1; git cherry-pick topic >/dev/null; git checkout -q main
            git merge -q --no-ff -m merged topic; echo conflict >a; git commit -q -am a1; git checkout -q HEAD~1 2>&1
            echo other >a; git commit -q -am a2; git rebase main >/dev/null 2>&1 || git rebase --abort
            GIT_SEQUENCE_EDITOR='sed -i 1d' git rebase -q -i HEAD~1 2>&1 || true; git log --all --oneline | sort
            git status --short; ls",
        );
    }
}

#[test]
fn git_stashes_resets_and_applies() {
    if installed(&["git"]) {
        in_a_repository(
            "echo two >>a; echo untracked >u; git stash -q -u; git status --short; ls; git stash list; git stash pop -q
            git diff >../root/patch; git checkout -q -- a; git apply patch; git diff; git reset -q --hard
            git clean -q -f -d; git archive HEAD | tar t; git bundle create -q all.bundle --all; git status --short",
        );
    }
}

#[test]
fn git_adds_and_removes_worktrees() {
    if installed(&["git"]) {
        in_a_repository(
            "git worktree add -q -b side tree; cd tree; echo side >side; git add side; git commit -q -m side
            git status; cd ..; git worktree list --porcelain; git merge -q side; git worktree add -q --detach other HEAD~1
            git worktree remove --force other; git worktree prune; git log --oneline; ls",
        );
    }
}

#[test]
fn git_clones_fetches_and_pushes_locally() {
    if installed(&["git"]) {
        in_a_repository(
            "git clone -q . clone; git clone -q --bare . bare.git; git clone -q bare.git work; cd work; echo d >d
            git add d; git commit -q -m pushed; git push -q origin HEAD; cd ../clone; git remote add bare ../bare.git
            git fetch -q bare; git merge -q --ff-only bare/main; git log --oneline; git status -sb; cat d",
        );
    }
}
