//! Guarded files are asked about one by one, where a person answers; and a flag opens one.

use std::fs;

use crate::common::{Place, STOCKADE, Terminal, finish, run};
use crate::escalation::person::{asking, no, once, session};

const WRITE: &str = "open('.vscode/tasks.json', 'w').write('new')";

// promise: guarded.13
#[test]
fn a_guarded_file_is_written_after_a_yes_to_it_and_nothing_beside_it() {
    let code = format!(
        "{WRITE}\n\
         for name in ('.vscode/settings.json', '.mcp.json', '.git/hooks/x', '.git/config', '.env', 'sub/.gdbinit'):\n  \
           try: open(name, 'w'); print('open', name)\n  \
           except PermissionError: pass"
    );
    let asked = asking("workspace", |request| {
        match request.evidence.target.ends_with("tasks.json") {
            true => session(request),
            false => no(request),
        }
    })
    .about_guarded_files()
    .file(".vscode/tasks.json", "old")
    .file(".git/hooks/y", "")
    .file("sub/x", "")
    .python(&code)
    .was_asked(&[
        "--write-guarded @ROOT/.vscode/tasks.json",
        "--write-guarded @ROOT/.vscode/settings.json",
        "--write-guarded @ROOT/.mcp.json",
        "--write-guarded @ROOT/sub/.gdbinit",
    ])
    .prints("");
    assert_eq!(
        fs::read_to_string(asked.place.path(".vscode/tasks.json")).unwrap(),
        "new"
    );
    for request in &asked.requests {
        assert!(request.wider.is_none() && request.lifetimes.len() == 2, "{request:?}");
        let warning = request.evidence.warning.as_deref().unwrap();
        assert!(warning.starts_with("obeyed without a question: "), "{warning}");
    }
}

#[test]
fn a_yes_once_is_for_one_access() {
    let code = format!("{WRITE}\ntry: {WRITE}\nexcept PermissionError: print('asked again')");
    let asked = asking("workspace", |request| match request.id.ends_with("-1") {
        true => once(request),
        false => no(request),
    });
    asked
        .about_guarded_files()
        .file(".vscode/tasks.json", "old")
        .python(&code)
        .prints("asked again\n");
}

#[test]
fn a_profile_that_may_not_write_the_file_gets_it_by_the_same_yes() {
    let asked = asking("readonly", session)
        .about_guarded_files()
        .file(".vscode/tasks.json", "old")
        .python(WRITE)
        .was_asked(&["--write-guarded @ROOT/.vscode/tasks.json"])
        .prints("");
    assert_eq!(
        fs::read_to_string(asked.place.path(".vscode/tasks.json")).unwrap(),
        "new"
    );
}

#[test]
fn a_program_is_not_asked_about_guarded_files() {
    let code = format!("try: {WRITE}\nexcept PermissionError: print('refused')");
    asking("workspace", session)
        .file(".vscode/tasks.json", "old")
        .python(&code)
        .was_asked(&[])
        .prints("refused\n");
}

#[test]
fn a_person_at_the_terminal_opens_a_guarded_file() {
    let begun = run()
        .profile("workspace")
        .flags(["--ask", "terminal"])
        .file(".vscode/tasks.json", "old")
        .python(WRITE);
    let terminal = Terminal::new()
        .awaits("refused: guarded pattern `**/.vscode`, obeyed by VS Code")
        .awaits("careful: obeyed without a question: tasks, settings")
        .awaits("would grant: --write-guarded ")
        .awaits(" s)? ")
        .types("y\n")
        .ends_within(20);
    assert_eq!(terminal.plays(&begun), 0);
    assert_eq!(
        fs::read_to_string(begun.place.path(".vscode/tasks.json")).unwrap(),
        "new"
    );
}

// promise: guarded.13
#[test]
fn a_flag_opens_a_guarded_file_and_what_a_directory_holds() {
    for (flag, path, is_open) in [
        (".vscode/tasks.json", ".vscode/tasks.json", true),
        (".vscode", ".vscode/new.json", true),
        (".vscode/tasks.json", ".vscode/settings.json", false),
        (".vscode", ".mcp.json", false),
        (".githooks", ".githooks/pre-commit", true),
        (".githooks/pre-commit", ".githooks/pre-commit", true),
        (".githooks/pre-commit", ".githooks/pre-push", false),
    ] {
        let ran = run()
            .profile("workspace")
            .flags(["--ask", "never", "--write-guarded", flag])
            .file(".git/HEAD", "ref: refs/heads/main\n")
            .file(".git/config", "[core]\n\thooksPath = .githooks\n")
            .file(".vscode/tasks.json", "old")
            .file(".githooks/pre-commit", "old")
            .bash(&format!("echo new >{path}"))
            .any_status()
            .any_stderr()
            .ends();
        let is_new = fs::read_to_string(ran.place.path(path)).is_ok_and(|text| text == "new\n");
        assert_eq!(
            is_new,
            is_open,
            "--write-guarded {flag}: {path}\n{}",
            ran.finished.stderr()
        );
    }
}

// promise: guarded.14
#[test]
fn no_flag_opens_secrets_or_what_git_obeys() {
    let place = Place::new();
    place.file(".git/hooks/pre-commit", "old");
    place.file(".env", "old");
    for (path, says) in [
        (".git/hooks/pre-commit", "`--write-guarded` doesn't open `"),
        (".env", "grants nothing: `**/.env` is a secret"),
    ] {
        let mut command = place.command(STOCKADE);
        let words = [
            "run",
            "--ask",
            "never",
            "--profile",
            "workspace",
            "--write-guarded",
            path,
        ];
        command
            .args(words)
            .args(["--", "sh", "-c", &format!("echo new >{path}")]);
        let finished = finish(&mut command, b"");
        assert!(
            !finished.status.success() && finished.stderr().contains(says),
            "{}",
            finished.stderr()
        );
        assert_eq!(fs::read_to_string(place.path(path)).unwrap(), "old");
    }
}

/// Nothing is refused in silence.
#[test]
fn a_run_that_ends_well_says_which_guarded_files_it_was_refused() {
    let ran = run()
        .profile("workspace")
        .flags(["--ask", "never"])
        .file(".vscode/tasks.json", "old")
        .bash(
            "echo new >.vscode/tasks.json || true; echo new >.git/config || true; mkdir .claude; echo x >.env || true",
        )
        .any_stdout()
        .any_stderr()
        .file(".git/HEAD", "")
        .ends();
    let told = ran.finished.stderr();
    for part in [
        "/.vscode/tasks.json` (guarded pattern `**/.vscode`, obeyed by VS Code)",
        "/.git/config` (git's configuration",
        "/.env`\n  (secret pattern `**/.env`",
        "hint: once: `--write-guarded ",
        "`[secrets] open`",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
