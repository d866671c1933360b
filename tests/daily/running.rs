//! Scripts that run in a place, bare or confined, and what git says of it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

use crate::common::{Finished, Place, STOCKADE, finish_within};

/// What the user has at home.
const SETTINGS: &str = "[user]\n\tname = Ann\n\temail = ann@example.org\n";
/// What git says about a repository afterwards, of a user who isn't confined.
const STATE: &str = "exec 2>&1; set +e
git status --porcelain=v2 --branch; git for-each-ref; git log --all --format='%H %T %an %s'; git stash list
git fsck --no-progress --no-dangling; git worktree list --porcelain; git config --local --list; git ls-files -s
git symbolic-ref HEAD; for at in MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD; do git rev-parse -q --verify $at; done; true";
/// Long enough for a package manager on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs a script that isn't confined and succeeds.
pub fn prepare(place: &Place, script: &str) {
    if !place.path("~/.gitconfig").exists() {
        place.file("~/.gitconfig", SETTINGS);
    }
    let finished = run_bare(place, script);
    assert!(
        finished.status.success(),
        "`{script}` prepares: {}{}",
        finished.stdout(),
        finished.stderr()
    );
}

pub fn run_bare(place: &Place, script: &str) -> Finished {
    let mut command = command(place, "sh");
    command.args(["-c", script]);
    finish_within(&mut command, b"", PATIENCE)
}

/// The root is the repository; what lies beside it may be written too, but for the home.
pub fn run_confined(place: &Place, script: &str) -> Finished {
    let mut command = command(place, STOCKADE.path());
    command
        .args(["run", "--profile", "workspace", "--root"])
        .arg(&place.root);
    for beside in fs::read_dir(place.root.parent().unwrap()).unwrap() {
        let path = beside.unwrap().path();
        if path != place.root && path != place.home {
            command.arg("--write").arg(path);
        }
    }
    finish_within(command.args(["--", "sh", "-c", script]), b"", PATIENCE)
}

pub fn command(place: &Place, program: &str) -> Command {
    let mut command = place.command(program);
    command.env("TERM", "dumb").env("TZ", "UTC");
    command
}

/// Exit code, standard output and standard error, without the place's name.
pub fn told(finished: &Finished, place: &Place) -> [String; 3] {
    let status = finished.status;
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    [
        code.unwrap_or_default().to_string(),
        normal(&finished.stdout(), place),
        normal(&finished.stderr(), place),
    ]
}

fn normal(text: &str, place: &Place) -> String {
    text.replace(place.root.parent().unwrap().to_str().unwrap(), "HERE")
}

/// What git says, a line each.
pub fn state(place: &Place) -> BTreeSet<String> {
    let said = run_bare(place, STATE).stdout();
    normal(&said, place).lines().map(str::to_owned).collect()
}
