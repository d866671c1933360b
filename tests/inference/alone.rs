//! A script of the corpus in a place of its own: a copy of the corpus' tree, and no network but loopback.

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;

use nix::fcntl::{Flock, FlockArg};

use super::label::{Label, corpus};
use crate::common::{Place, skipped};

/// What the scripts see besides `HOME`, as `tests/infer/observe.py` has it.
const VARIABLES: [(&str, &str); 6] = [
    ("TSX_DISABLE_CACHE", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("TERM", "dumb"),
    ("USER", "someone"),
    ("LOGNAME", "someone"),
    ("SHELL", "/bin/sh"),
];

/// Becomes the program behind it, as the same user, where nothing but loopback can be reached.
const ALONE: [&str; 7] = [
    "--user",
    "--map-current-user",
    "--net",
    "--keep-caps",
    "sh",
    "-c",
    "PATH=$PATH:/usr/sbin:/sbin ip link set lo up && exec setpriv --ambient-caps=-all \"$@\"",
];

/// A script that no other test runs meanwhile: it has fixed names below `/tmp`, which are removed with the value.
/// `tests/infer/observe.py` takes the same lock.
pub struct Claimed<'a> {
    pub label: &'a Label,
    _lock: Flock<File>,
}

impl Claimed<'_> {
    pub fn new(label: &Label) -> Claimed<'_> {
        let script = File::open(label.path()).unwrap();
        let lock = Flock::lock(script, FlockArg::LockExclusive).map_err(|(_, error)| error);
        Claimed {
            label,
            _lock: lock.unwrap(),
        }
    }

    /// Removes what a run left.
    fn tidy(&self) {
        let left = self.label.writes.iter();
        for left in left.filter(|path| path.starts_with("/tmp/stockade-corpus-")) {
            let _ = std::fs::remove_dir_all(left);
            let _ = std::fs::remove_file(left);
        }
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        self.tidy();
    }
}

/// Whether what runs the scripts is here. Says what isn't; with `STOCKADE_TEST_ALL=1` that is a failure.
pub fn can_run() -> bool {
    let place = Place::new();
    let here = |program: &str| {
        place
            .command("sh")
            .args(["-c", &format!("command -v {program}")])
            .output()
    };
    let mut missing: Vec<&str> = ["strace", "unshare", "setpriv", "python3", "node", "git", "curl"]
        .into_iter()
        .filter(|program| !here(program).is_ok_and(|output| output.status.success()))
        .collect();
    missing.extend((!tsx().exists()).then_some("tsx"));
    if missing.is_empty()
        && !alone(&place, &["true".into()])
            .status()
            .is_ok_and(|status| status.success())
    {
        missing.push("a network namespace of one's own");
    }
    let all = std::env::var_os("STOCKADE_TEST_ALL").is_some_and(|value| value == "1");
    assert!(
        missing.is_empty() || !all,
        "missing: {}, and STOCKADE_TEST_ALL=1 is set",
        missing.join(", ")
    );
    if !missing.is_empty() {
        skipped(&format!("missing: {}", missing.join(", ")));
    }
    missing.is_empty()
}

/// A fresh copy of the corpus' tree with the script in it, and nothing left of an earlier run.
pub fn place(claimed: &Claimed<'_>) -> Place {
    let label = claimed.label;
    let place = Place::new();
    let tree = corpus().join("root").join(".");
    let copied = Command::new("cp").arg("-r").arg(tree).arg(&place.root).status();
    assert!(copied.is_ok_and(|status| status.success()), "the tree can't be copied");
    std::fs::copy(label.path(), place.path(label.name())).unwrap();
    std::fs::create_dir(state(&place)).unwrap();
    claimed.tidy();
    place
}

/// A command where there is no network but loopback, in the place's root.
pub fn alone(place: &Place, words: &[String]) -> Command {
    let mut command = place.command("unshare");
    let path = format!(
        "/usr/local/bin:/usr/bin:/bin:{}",
        npm().join("node_modules/.bin").display()
    );
    command
        .env("PATH", path)
        .envs(VARIABLES)
        .env("XDG_STATE_HOME", state(place));
    command.args(ALONE).arg("sh").args(words);
    command
}

/// Where Stockade keeps its state, beside the root and the home: scripts see no difference.
pub fn state(place: &Place) -> PathBuf {
    place.root.with_file_name("state")
}

/// What lets Node run TypeScript.
pub fn tsx() -> PathBuf {
    npm().join("node_modules/tsx/dist/loader.mjs")
}

/// Where `tests/setup-programs.sh` puts packages of npm.
fn npm() -> PathBuf {
    let default = || crate::common::checkout().join("target/test-npm");
    std::env::var_os("STOCKADE_TEST_NPM").map_or_else(default, PathBuf::from)
}
