//! Git under `workspace`.

use super::support::{Pair, find, installed};

const IDENTITY: &str = "[user]\n\tname = Ann Example\n\temail = ann@example.org\n";

/// What every script starts with: commits that have the same names in both runs.
const FIXED: &str = "set -e
export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z
";

/// The user's name and e-mail aren't in what the run may read; they come along as variables.
fn pair() -> Pair {
    let pair = Pair::new().with_home();
    pair.home_file(".gitconfig", IDENTITY);
    pair
}

fn same(pair: &Pair, script: &str) -> String {
    let script = format!("{FIXED}{script}");
    pair.succeeds(&["workspace"], &["bash", "-c", &script]).stdout
}

const REPOSITORY: &str =
    "git init -q -b main repository; cd repository; mkdir sub; echo one >a; echo b >sub/b; ln -s a link
git add -A; git commit -q -m first; ";

#[test]
fn git_makes_a_repository_and_commits_under_workspace() {
    if !installed(&["git", "bash"]) {
        return;
    }
    let pair = pair();
    let log = same(
        &pair,
        &format!("{REPOSITORY} git status; git ls-files -s; git fsck; git log --format='%H %s %an %ae'"),
    );
    assert!(log.contains("first Ann Example ann@example.org"), "{log}");
}

#[test]
fn git_remembers_remotes_branches_and_the_author_and_nothing_that_it_would_execute() {
    if !installed(&["git", "bash"]) {
        return;
    }
    let pair = pair();
    let other = "git init -q --bare ../up.git; git remote add up ../up.git";
    pair.prepare(&["bash", "-c", &format!("{FIXED}{REPOSITORY}\ncd ../repository; {other}")]);
    let script = "cd repository; git checkout -q -b pushed; git push -q -u up pushed; git status -sb; git checkout -q -; git remote add origin https://example.com/a.git; git remote add fork git@example.com:me/a.git
        git remote set-url origin ssh://git@example.com/b.git; git remote -v
        git checkout -q -b topic/1; git branch --set-upstream-to=main; git branch -m topic/2; git update-ref refs/remotes/origin/main HEAD
        git checkout -q --track -b third origin/main
        git config user.name 'Ann O. Example'; git config user.email a@example.org; git status -sb; cat .git/config; ls .git";
    same(&pair, script);
    let refused = "set -e; cd repository; cp .git/config before
        for setting in core.sshCommand core.hooksPath alias.x remote.origin.uploadpack include.path; do ! git config $setting x; done
        ! git remote add evil 'ext::sh -c x'; ! git remote add path ../x; ! git remote remove fork; cmp before .git/config; test ! -e .git/config.lock";
    let ended = pair.run_confined("workspace", &["bash", "-c", refused]);
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let refused = pair.run_confined("workspace", &["git", "-C", "repository", "config", "alias.x", "!sh"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("(git's configuration, but for remotes"), "{said}");
}

#[test]
fn every_git_on_the_machine_starts_under_workspace() {
    for git in ["git", "/usr/bin/git", "/usr/local/bin/git"] {
        if find(git).is_some() {
            pair().succeeds(&["workspace"], &[git, "init", "-q", "."]);
            pair().same(&["workspace", "filesystem"], &[git, "status", "--short"]);
        }
    }
}

#[test]
fn git_clones_a_local_repository_under_workspace() {
    if installed(&["git", "bash"]) {
        let script = "cd ..; git clone -q repository clone; git clone -q --no-local repository copy
            cd clone; git log --oneline; git status; git remote; git fetch; cat a; git -C ../copy log --oneline";
        same(&pair(), &format!("{REPOSITORY}{script}"));
    }
}

#[test]
fn git_diffs_stashes_rebases_and_merges_under_workspace() {
    if installed(&["git", "bash"]) {
        let script = "echo two >>a; git diff; git status --short; git stash -q; git status --short; git stash pop -q
            git commit -q -a -m second; git checkout -q -b topic HEAD~1; echo c >c; git add c; git commit -q -m topic
            git rebase -q main; git log --oneline --graph; git checkout -q main; git merge -q topic; git mv a sub/a
            git commit -q -m move; git show --stat; git tag v1; git grep -n two; git gc -q; git reset -q --hard HEAD~1
            git branch -a; git worktree add -q ../tree topic; git archive HEAD | tar t; git blame a";
        same(&pair(), &format!("{REPOSITORY}{script}"));
    }
}

#[test]
fn git_pushes_to_a_local_repository_under_workspace() {
    if installed(&["git", "bash"]) {
        let script = "cd ..; git clone -q --bare repository bare.git; git clone -q bare.git work; cd work; echo d >d
            git add d; git commit -q -m pushed; git push -q origin HEAD; git --git-dir ../bare.git log --oneline";
        same(&pair(), &format!("{REPOSITORY}{script}"));
    }
}

#[test]
fn git_clones_and_tar_unpacks_what_holds_settings_of_editors_and_agents() {
    if !installed(&["git", "bash", "tar"]) {
        return;
    }
    let pair = pair();
    for file in [
        ".vscode/tasks.json",
        ".cursor/rules/a.mdc",
        ".claude/settings.json",
        ".mcp.json",
        "src/.gdbinit",
    ] {
        pair.file(&format!("project/{file}"), "{}\n");
    }
    let script = "tar -C project -cf packed.tar .; mkdir unpacked; tar -C unpacked -xf packed.tar
        git init -q -b main unpacked; cd unpacked; git add -A; git commit -q -m first; cd ..
        git clone -q unpacked clone; cd clone; git ls-files; find . -path ./.git -prune -o -type f -print | sort
        git rm -q -r .vscode; git commit -q -m second; git switch -q -c old HEAD~; ls -A";
    let said = same(&pair, script);
    assert!(said.contains("./.vscode/tasks.json"), "{said}");
}

#[test]
fn git_commits_in_a_repository_that_was_there_before_under_workspace() {
    if !installed(&["git", "bash"]) {
        return;
    }
    let pair = pair();
    pair.prepare(&["bash", "-c", &format!("{FIXED}{REPOSITORY}")]);
    let script = "cd repository; echo new >new; mkdir new-directory; echo q >new-directory/q; echo changed >>a
        git add -A; git commit -q -m second; git log --oneline; git checkout -q -b other; git rm -q a
        git commit -q -m removed; git diff main --stat; git checkout -q main; git status; ls";
    same(&pair, script);
}
