//! Work trees and clones that one run makes and later ones use and remove.

use super::twins::{Twins, repository};

#[test]
fn a_work_tree_is_added_worked_in_and_removed_over_several_runs() {
    for tree in ["tree", ".claude/worktrees/feature", ".worktrees/a/b"] {
        let twins = Twins::of(&repository());
        twins.same(&format!("git worktree add -q -b side {tree}; git worktree list"));
        twins.same(&format!(
            "cd {tree}; echo x >x; echo more >>a; git add -A; git commit -q -m work; git status"
        ));
        twins.same(&format!(
            "cd {tree}; echo loose >>a; git stash -q; git rebase -q topic; git stash pop -q; git commit -q -a -m rest"
        ));
        twins.same(&format!(
            "git worktree lock {tree}; git worktree unlock {tree}; git merge -q --no-edit side"
        ));
        twins.same(&format!(
            "git worktree remove {tree}; git worktree list; git worktree prune; git branch -d side"
        ));
        twins.same("git status --short; ls -A; ls .git");
    }
}

#[test]
fn a_work_tree_is_deleted_and_pruned_over_several_runs() {
    let twins = Twins::of(&repository());
    twins.same("git worktree add -q -b side tree; echo x >tree/x; git -C tree add x; git -C tree commit -q -m x");
    twins.same("rm -rf tree; ls");
    twins.same("git worktree prune -v; git branch -D side; git worktree list");
}

#[test]
fn a_work_tree_of_the_users_is_moved_and_removed_over_several_runs() {
    let twins = Twins::of(&repository()).prepared("git worktree add -q -b side tree");
    twins.same("cd tree; echo x >x; git add x; git commit -q -m x");
    twins.same("git worktree move tree moved; git -C moved status");
    twins.same("git -C moved log --oneline; git worktree remove moved; git branch -D side; ls");
}

#[test]
fn a_clone_of_an_earlier_run_is_deleted_whole() {
    for (make, delete) in [
        ("git clone -q . clone", "rm -rf clone"),
        ("git clone -q ../remote.git vendor/lib", "rm -rf vendor; ls"),
        ("mkdir -p target; git clone -q . target/fixture", "rm -rf target; ls"),
        (
            "git init -q -b main made; echo x >made/x; git -C made add x",
            "rm -rf made",
        ),
        (
            "git clone -q . clone; git -C clone worktree add -q ../side",
            "rm -rf clone side",
        ),
        (
            "git clone -q . clone",
            "mv clone moved; git -C moved log --oneline; rm -rf moved",
        ),
        (
            "git clone -q . clone",
            "python3 -c 'import shutil; shutil.rmtree(\"clone\")'; ls",
        ),
    ] {
        let twins = Twins::of(&repository());
        twins.same(make);
        twins.same(delete);
        twins.same("git status --short; ls");
    }
}

#[test]
fn a_clone_of_an_earlier_run_is_worked_in() {
    let twins = Twins::of(&repository());
    twins.same("git clone -q ../remote.git clone");
    twins.same("cd clone; echo x >>a; git commit -q -a -m x; git switch -q -c other; git push -q origin other");
    twins.same("cd clone; git fetch -q; git rebase -q origin/main; git stash list; git log --oneline");
    twins.same("rm -rf clone; git clone -q ../remote.git again; rm -rf again");
}

#[test]
fn a_clone_of_the_users_below_the_root_is_deleted_whole() {
    let twins =
        Twins::of(&repository()).prepared("git clone -q ../remote.git vendor/lib; mkdir lib; git clone -q . lib/other");
    twins.same("rm -rf vendor; ls");
    twins.same("rm -rf lib; ls");
}

#[test]
fn a_work_tree_where_an_agent_makes_them_is_written_by_a_run() {
    let twins = Twins::of(&repository()).prepared(
        "mkdir .claude; echo '{}' >.claude/settings.json; git add -A; git commit -q -m settings
git worktree add -q -b side .claude/worktrees/feature",
    );
    twins.same("cd .claude/worktrees/feature; echo x >>a; mkdir new; echo n >new/n; git add -A; git commit -q -m x; git status");
    twins.same("git worktree remove .claude/worktrees/feature; git branch -D side; ls .claude/worktrees || true");
}

#[test]
fn what_earlier_runs_made_is_made_again_at_the_same_place() {
    for (make, remove) in [
        (
            "git worktree add -q -b side tree",
            "git worktree remove tree; git branch -D side",
        ),
        ("git clone -q . clone", "rm -rf clone"),
        ("git clone -q ../remote.git vendor/lib", "rm -rf vendor"),
        ("git init -q -b main target/fixtures/one", "rm -rf target"),
    ] {
        let twins = Twins::of(&repository());
        twins.same(make);
        twins.same(remove);
        twins.same(make);
        twins.same(&format!("{remove}; {make}; git status --short"));
    }
}
