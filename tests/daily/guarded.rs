//! Tracked files that editors and agents obey, in git's way: as bare where the run may, else refused before the first change,
//! with a line that names the file and how to open it, whatever git's exit code.

use std::fmt::Write;

use super::table::{Row, as_bare, hold};
use super::twins::{Twins, repository};

/// `FILE` is one thing on `main`, another on `topic`, which has a commit more.
const BRANCHES: &str = "mkdir -p $(dirname FILE); echo '{}' >FILE; git add -f FILE; git commit -q -m 'main has it'; git switch -q topic
mkdir -p $(dirname FILE); echo '{ \"other\": 1 }' >FILE; git add -f FILE; git commit -q -m 'topic has it'; echo after >>topic
git commit -q -a -m after; git switch -q main";

/// Ways to another content of the file, with what the user does before. A stash has its entry before it tidies the tree.
const WAYS: &[(&str, &str)] = &[
    ("", "git switch -q topic"),
    ("", "git checkout -q topic~"),
    ("", "git checkout topic -- FILE a"),
    ("", "git restore --source topic FILE"),
    ("", "git reset -q --hard topic"),
    ("", "git rebase -q -X theirs topic"),
    (
        "echo loose >>FILE; echo loose >>a",
        "git stash -q || { git stash drop -q; exit 1; }",
    ),
    ("echo loose >>FILE; echo loose >>a", "git checkout -q ."),
    ("git reset -q --hard main~", "git merge -q --no-edit -X theirs topic"),
    ("git reset -q --hard main~", "git cherry-pick topic~"),
    ("", "git rm -q -r FILE a"),
    ("", "git mv FILE moved"),
    ("git diff main topic >../root/p.log", "git apply --index p.log"),
    ("", "git worktree add -q tree topic"),
    ("", "rm -r $(dirname FILE)/*; ls"),
];

/// The ways that everybody goes.
const USUAL: &[(&str, &str)] = &[
    ("", "git switch -q topic"),
    ("", "git reset -q --hard topic"),
    (
        "echo loose >>FILE; echo loose >>a",
        "git stash -q || { git stash drop -q; exit 1; }",
    ),
    ("git reset -q --hard main~", "git merge -q --no-edit -X theirs topic"),
];

#[test]
fn each_way_of_git_changes_a_tracked_file_that_an_editor_obeys_whole_or_not_at_all() {
    are_whole(&[".vscode/settings.json"], WAYS);
}

#[test]
fn git_changes_tracked_files_that_editors_obey_whole_or_not_at_all() {
    are_whole(&[".idea/workspace.xml", ".envrc", ".gdbinit"], USUAL);
}

#[test]
fn git_changes_tracked_files_that_agents_obey_whole_or_not_at_all() {
    are_whole(&[".mcp.json", ".claude/settings.json", ".github/hooks/x.json"], USUAL);
}

#[test]
fn git_changes_a_tracked_file_of_secrets_whole_or_not_at_all() {
    are_whole(&[".env.development"], WAYS);
}

/// Each file is changed in each way: as bare, or refused as a whole with a line.
fn are_whole(files: &[&str], ways: &[(&str, &str)]) {
    let template = repository();
    let mut faults = String::new();
    for file in files {
        let twins = Twins::of(&template).prepared(&BRANCHES.replace("FILE", file));
        let ways = ways
            .iter()
            .filter(|(_, command)| !command.starts_with("rm ") || file.contains('/'));
        for (before, command) in ways {
            let [before, command] = [before, command].map(|script| script.replace("FILE", file));
            let twins = twins.again().prepared(&before);
            let tried = twins.run(&command);
            if let Err(fault) = tried.succeeds_bare().and_then(|()| tried.is_whole(&[file])) {
                let _ = write!(faults, "\n== {before}; {command}\n{fault}");
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Where no tool looks for them.
const ELSEWHERE: &[Row] = &[
    as_bare(
        "files for editors in a directory of sources",
        "",
        "mkdir -p src/app/.vscode src/.claude src/.idea; echo '{}' >src/app/.vscode/settings.json; echo x >src/.claude/x; echo '{}' >src/.mcp.json
git add -A; git commit -q -m more; git switch -q topic; git switch -q main; git rm -q -r src; ls",
    ),
    as_bare(
        "files for editors in installed packages and build output",
        "mkdir -p node_modules/x/.vscode vendor/x/.claude target/x/.idea .venv/lib/python3/site-packages/x/.cursor
echo '{}' | tee node_modules/x/.vscode/tasks.json vendor/x/.claude/settings.json target/x/.idea/x .venv/lib/python3/site-packages/x/.cursor/mcp.json",
        "for file in node_modules/x/.vscode/tasks.json vendor/x/.claude/settings.json target/x/.idea/x .venv/lib/python3/site-packages/x/.cursor/mcp.json
do echo other >$file; rm $file; echo again >$file; done; touch node_modules/x/.gdbinit target/x/.exrc; rm -rf node_modules vendor target .venv; ls",
    ),
    as_bare(
        "a directory with files for editors that goes whole",
        "mkdir -p apps/web/.vscode; echo '{}' >apps/web/.vscode/settings.json; git add -A; git commit -q -m app",
        "git rm -q -r apps; git commit -q -m gone; git revert --no-edit HEAD >/dev/null; rm -rf apps; git status --short",
    ),
    as_bare(
        "a nested repository with files for editors that goes whole",
        "git init -q -b main nested; mkdir nested/.vscode; echo '{}' >nested/.vscode/settings.json; git -C nested add -A
git -C nested commit -q -m nested",
        "rm -rf nested; ls",
    ),
];

#[test]
fn files_that_no_tool_obeys_where_they_lie_are_changed_as_bare() {
    hold(ELSEWHERE);
}

#[test]
fn files_that_tools_obey_are_not_written() {
    let template = repository();
    let mut faults = String::new();
    let nested =
        "git init -q -b main nested; git -C nested commit -q --allow-empty -m nested; git worktree add -q -b side tree";
    for path in [
        ".vscode/tasks.json",
        "nested/.vscode/tasks.json",
        "tree/.claude/settings.json",
        ".mcp.json",
        "nested/.mcp.json",
        ".github/hooks/x.json",
        "src/.gdbinit",
        "src/.exrc",
        "src/deep/.pdbrc",
    ] {
        let twins = Twins::of(&template).prepared(&format!("{nested}\nmkdir -p $(dirname {path})"));
        let tried = twins.run(&format!("echo x >{path}"));
        if let Err(fault) = tried.is_refused(&[path, "--write-guarded"]) {
            let _ = write!(faults, "\n== {path}\n{fault}");
        }
    }
    assert!(faults.is_empty(), "{faults}");
}
