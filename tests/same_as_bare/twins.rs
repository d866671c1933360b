//! Two equal directories: one for the bare run, one for the confined.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::common::{Finished, Place, STOCKADE, finish, finish_within, python, skipped};

const TREE: &str = include_str!("tree.py");
/// Long enough for a compiler on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(180);
/// Entries that are shown where trees differ.
const SHOWN: usize = 12;
/// When the files that a test starts with were last changed: 2001-02-03 04:05:06 UTC.
const OLD: u64 = 981_173_106;

/// Equal directories with names of equal length, each with an empty home of its own.
pub struct Twins {
    bare: Place,
    confined: Place,
    loose: Vec<String>,
    ignored: Vec<String>,
    path: String,
    any_stderr: bool,
}

impl Twins {
    pub fn new() -> Twins {
        Twins {
            bare: Place::new(),
            confined: Place::new(),
            loose: Vec::new(),
            ignored: Vec::new(),
            path: "/usr/local/bin:/usr/bin:/bin".into(),
            any_stderr: false,
        }
    }

    /// Writes a file into both directories, executable where it starts with `#!`.
    pub fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        for place in [&self.bare, &self.confined] {
            let path = match text.as_ref().starts_with(b"#!") {
                true => place.program(name, &text),
                false => place.file(name, &text),
            };
            let file = fs::File::options().append(true).open(path).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(OLD)).unwrap();
        }
        self
    }

    /// Runs a script in both, unconfined, so that the runs find what it makes.
    pub fn prepared(self, script: &str) -> Self {
        for place in [&self.bare, &self.confined] {
            let finished = finish(self.command(place, "bash").args(["-c", &strict(script)]), b"");
            assert!(finished.status.success(), "`{script}` prepares: {}", told(&finished));
        }
        self
    }

    /// A directory where programs are looked for, before the system's.
    pub fn searching(mut self, directory: &Path) -> Self {
        self.path = format!("{}:{}", directory.display(), self.path);
        self
    }

    /// Files whose content and size depend on the time or on inode numbers: globs of names below the directory.
    pub fn loosely(mut self, globs: &[&str]) -> Self {
        self.loose.extend(globs.iter().map(ToString::to_string));
        self
    }

    /// What isn't compared at all.
    pub fn ignoring(mut self, globs: &[&str]) -> Self {
        self.ignored.extend(globs.iter().map(ToString::to_string));
        self
    }

    /// Standard error tells of time, speed or process ids.
    pub fn any_stderr(mut self) -> Self {
        self.any_stderr = true;
        self
    }

    /// A bash script that ends at its first failure does the same in both. Gives what it printed.
    pub fn same(&self, script: &str) -> String {
        self.same_command(&["bash", "-c", &strict(script)])
    }

    /// The command succeeds bare, and does the same confined. Gives what it printed, with the directory as `HERE`.
    pub fn same_command(&self, command: &[&str]) -> String {
        let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let bare = self.run(self.command(&self.bare, command[0]).args(&command[1..]));
        assert!(bare.status.success(), "bare, {command:?}: {}", told(&bare));
        let mut confined = self.command(&self.confined, STOCKADE.path());
        confined.args(["run", "--profile", "workspace", "--root"]);
        confined.arg(&self.confined.root).arg("--").args(command);
        let confined = self.run(&mut confined);
        let trees = [&self.bare, &self.confined].map(|place| self.tree(place, start));
        let mut faults = self.differences(&bare, &confined);
        faults.extend(
            trees[0]
                .difference(&trees[1])
                .take(SHOWN)
                .map(|line| format!("only bare: {line}")),
        );
        faults.extend(
            trees[1]
                .difference(&trees[0])
                .take(SHOWN)
                .map(|line| format!("only confined: {line}")),
        );
        assert!(
            faults.is_empty(),
            "\n{}\n--- bare\n{}--- confined\n{}",
            faults.join("\n"),
            told(&bare),
            told(&confined)
        );
        normal(&bare.stdout, &self.bare.root)
    }

    fn differences(&self, bare: &Finished, confined: &Finished) -> Vec<String> {
        let code = |finished: &Finished| {
            let status = finished.status;
            status.code().or(status.signal().map(|signal| 128 + signal))
        };
        let mut faults = Vec::new();
        if code(bare) != code(confined) {
            faults.push(format!("exit codes {:?} and {:?}", code(bare), code(confined)));
        }
        if normal(&bare.stdout, &self.bare.root) != normal(&confined.stdout, &self.confined.root) {
            faults.push("stdout differs".into());
        }
        let errors = normal(&bare.stderr, &self.bare.root) != normal(&confined.stderr, &self.confined.root);
        if errors && !self.any_stderr {
            faults.push("stderr differs".into());
        }
        faults
    }

    fn tree(&self, place: &Place, start: u64) -> BTreeSet<String> {
        let mut command = place.command(python());
        command.args(["-I", "-c", TREE]).arg(&place.root).arg(start.to_string());
        command.args([&self.loose, &self.ignored].map(|globs| serde_json::to_string(globs).unwrap()));
        let finished = finish(&mut command, b"");
        assert!(finished.status.success(), "the tree is listed: {}", told(&finished));
        finished.stdout().lines().map(str::to_owned).collect()
    }

    fn run(&self, command: &mut Command) -> Finished {
        finish_within(command, b"", PATIENCE)
    }

    fn command(&self, place: &Place, program: &str) -> Command {
        let mut command = place.command(program);
        command.env("PATH", &self.path).env("TERM", "dumb").env("TZ", "UTC");
        command.env("TMPDIR", &place.home);
        command
    }
}

fn strict(script: &str) -> String {
    format!("set -euo pipefail\n{script}")
}

fn normal(text: &[u8], root: &Path) -> String {
    String::from_utf8_lossy(text).replace(root.to_str().unwrap(), "HERE")
}

fn told(finished: &Finished) -> String {
    format!("{}{}({})\n", finished.stdout(), finished.stderr(), finished.status)
}

/// Whether the programs are all in the usual places or on `PATH`. Says which one isn't; with `STOCKADE_TEST_ALL=1`
/// that is a failure.
pub fn installed(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let is_there = find(program).is_some();
        let all = std::env::var_os("STOCKADE_TEST_ALL").is_some_and(|value| value == "1");
        assert!(
            is_there || !all,
            "{program} isn't installed, and STOCKADE_TEST_ALL=1 is set"
        );
        if !is_there {
            skipped(&format!("{program} isn't installed"));
        }
        is_there
    })
}

/// The directory that has a program: the system's first.
pub fn find(program: &str) -> Option<PathBuf> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    ["/usr/local/bin", "/usr/bin", "/bin"]
        .map(PathBuf::from)
        .into_iter()
        .chain(std::env::split_paths(&own))
        .find(|directory| {
            fs::metadata(directory.join(program)).is_ok_and(|file| file.is_file() && file.permissions().mode() & 1 != 0)
        })
}
