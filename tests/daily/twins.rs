//! Equal copies of a directory: scripts run bare in one and confined in the other, and what both leave is compared.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use super::running::{command, prepare, run_bare, run_confined, state, told};
use crate::common::{Place, finish, python};

const TREE: &str = include_str!("../same_as_bare/tree.py");
/// Lines that are shown where two states differ.
const SHOWN: usize = 6;

/// Commits that have the same names in both runs, and no editor that waits for somebody.
const FIXED: &str = "set -e
export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z GIT_CONFIG_NOSYSTEM=1 GIT_EDITOR=false
";
/// For the scripts that prepare: writes a program from standard input.
const WRITES: &str = "program() { cat >\"$1\"; chmod +x \"$1\"; }\nhook() { program .git/hooks/$1; }\n";
/// The user's repository: two branches that have parted, a tag, a remote beside it.
const REPOSITORY: &str = "git init -q -b main .; git config pack.threads 1; git config gc.autoDetach false; git config advice.detachedHead false
mkdir src; echo one >a; echo b >src/b; seq 1 30 >src/lines; ln -s a link
echo '#!/bin/sh' >tool; chmod +x tool; printf '*.log\\nbuild/\\n' >.gitignore
git add -A; git commit -q -m first; echo two >>a; git commit -q -a -m second; git tag v1
git init -q -b main --bare ../remote.git; git remote add origin ../remote.git; git push -q -u origin main
git switch -q -c topic; echo topic >topic; git add topic; git commit -q -m 'topic one'; echo more >>topic
git commit -q -a -m 'topic two'; git switch -q main; echo third >>src/b; git commit -q -a -m third
";
/// Files of git whose content has times and inode numbers.
const LOOSE: &[&str] = &[
    "*.git/*index",
    "*.git/foo",
    "*.git/index.*",
    "*.git/gc.pid",
    "*/multi-pack-index",
];

/// Files of git whose names depend on such times.
const NAMED_BY_TIMES: &[&str] = &["*.git/sharedindex.*"];

/// Two equal places. What lies beside their roots may be written by the run too, but for the home.
pub struct Twins {
    bare: Place,
    confined: Place,
    loose: Vec<&'static str>,
    ignored: Vec<&'static str>,
}

/// The repository that all copies come from.
pub fn repository() -> Place {
    let template = Place::new();
    prepare(&template, &format!("{FIXED}{REPOSITORY}"));
    template
}

impl Twins {
    /// Copies of a place with its home, its root and what is beside them.
    pub fn of(template: &Place) -> Twins {
        let [bare, confined] = [(); 2].map(|()| {
            let place = Place::new();
            let mut command = Command::new("cp");
            command
                .arg("-a")
                .arg(template.root.parent().unwrap().join("."))
                .arg(place.root.parent().unwrap());
            assert!(finish(&mut command, b"").status.success(), "the place is copied");
            place
        });
        Twins {
            bare,
            confined,
            loose: LOOSE.to_vec(),
            ignored: NAMED_BY_TIMES.to_vec(),
        }
        .prepared("git status -s || true")
    }

    /// Copies of these, as long as no run has touched them.
    pub fn again(&self) -> Twins {
        Twins::of(&self.bare)
    }

    /// Runs a script in both, unconfined.
    pub fn prepared(self, script: &str) -> Self {
        for place in [&self.bare, &self.confined] {
            prepare(place, &format!("{FIXED}{WRITES}{script}"));
        }
        self
    }

    /// What isn't compared: content that depends on the time, globs of names below the root.
    pub fn loosely(mut self, globs: &[&'static str]) -> Self {
        self.loose.extend(globs);
        self
    }

    /// What isn't compared at all.
    pub fn ignoring(mut self, globs: &[&'static str]) -> Self {
        self.ignored.extend(globs);
        self
    }

    /// Runs a script in both, bare in one and confined in the other.
    pub fn run(&self, script: &str) -> Tried<'_> {
        let start = now();
        let before = [&self.bare, &self.confined].map(|place| self.held(place, start));
        Tried {
            before,
            ..self.run_unseen(script)
        }
    }

    /// The same, without a look at what was there before.
    fn run_unseen(&self, script: &str) -> Tried<'_> {
        let script = format!("{FIXED}{script}");
        let start = now();
        let ended = [
            told(&run_bare(&self.bare, &script), &self.bare),
            told(&run_confined(&self.confined, &script), &self.confined),
        ];
        Tried {
            twins: self,
            start,
            before: [(); 2].map(|()| BTreeSet::new()),
            ended,
        }
    }

    /// A script that succeeds bare does the same in both. Gives what it printed.
    pub fn same(&self, script: &str) -> String {
        let tried = self.run_unseen(script);
        let same = tried.succeeds_bare().and_then(|()| tried.is_as_bare());
        same.unwrap_or_else(|fault| panic!("`{script}`\n{fault}"));
        tried.ended[0][1].clone()
    }

    /// What a refused command must leave as it was: the work tree, hooks and what else git obeys, and all that git says.
    /// Objects may be left that nothing names.
    fn held(&self, place: &Place, start: u64) -> BTreeSet<String> {
        let counts = |line: &String| !line.contains(".git/") || line.contains("/info/") || line.contains("/hooks/");
        let mut held: BTreeSet<_> = self.entries(place, start).into_iter().filter(counts).collect();
        held.extend(state(place));
        held
    }

    /// All that is below the root, a line each, from the first time of a test on.
    fn entries(&self, place: &Place, start: u64) -> BTreeSet<String> {
        let mut command = command(place, python());
        command.args(["-I", "-c", TREE]).arg(&place.root).arg(start.to_string());
        command.args([&self.loose, &self.ignored].map(|globs| serde_json::to_string(globs).unwrap()));
        let finished = finish(&mut command, b"");
        assert!(finished.status.success(), "the tree is listed: {}", finished.stderr());
        finished.stdout().lines().map(str::to_owned).collect()
    }
}

/// A script that ran bare in one place and confined in the other.
pub struct Tried<'t> {
    twins: &'t Twins,
    start: u64,
    /// What each place held before.
    before: [BTreeSet<String>; 2],
    /// Exit code, standard output and standard error of each.
    ended: [[String; 3]; 2],
}

impl Tried<'_> {
    /// What fails bare proves little.
    pub fn succeeds_bare(&self) -> Result<(), String> {
        match self.ended[0][0] == "0" {
            true => Ok(()),
            false => Err(format!("it fails bare: {:?}\n", self.ended[0])),
        }
    }

    /// The script did the same in both.
    pub fn is_as_bare(&self) -> Result<(), String> {
        let mut faults = self.told_apart();
        let twins = self.twins;
        let [bare, confined] =
            [&twins.bare, &twins.confined].map(|place| (twins.entries(place, self.start), state(place)));
        faults.extend(differences(("bare", &bare.0), ("confined", &confined.0)));
        faults.extend(differences(("bare", &bare.1), ("confined", &confined.1)));
        said(&faults)
    }

    /// The script said the same in both and ended alike, whatever times it wrote into files.
    pub fn says_as_bare(&self) -> Result<(), String> {
        said(&self.told_apart())
    }

    fn told_apart(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let [expected, seen] = &self.ended;
        for (what, index) in [("exit codes", 0), ("stdout", 1), ("stderr", 2)] {
            if expected[index] != seen[index] {
                faults.push(format!(
                    "{what}: bare `{}`, confined `{}`",
                    expected[index], seen[index]
                ));
            }
        }
        faults
    }

    /// The script changed something bare; confined it changed nothing, and Stockade's lines contain the texts.
    pub fn is_refused(&self, texts: &[&str]) -> Result<(), String> {
        let mut faults = Vec::new();
        let [expected, seen] = &self.ended;
        if expected[0] != "0" || self.twins.held(&self.twins.bare, self.start) == self.before[0] {
            faults.push(format!("it does nothing bare: {expected:?}"));
        }
        let lines = ours(&seen[2]);
        for text in texts.iter().filter(|text| !lines.contains(**text)) {
            faults.push(format!("no line of ours has `{text}`: {seen:?}"));
        }
        let mut after = self.twins.held(&self.twins.confined, self.start);
        // Git may have made a directory on the way; what is in one has a line of its own.
        after.retain(|line| !line.contains(" directory ") || self.before[1].contains(line));
        faults.extend(differences(("before", &self.before[1]), ("after", &after)));
        said(&faults)
    }

    /// The script printed the same in both, and Stockade's lines contain the texts.
    pub fn ends_with_lines(&self, texts: &[&str]) -> Result<(), String> {
        let [expected, seen] = &self.ended;
        let lines = ours(&seen[2]);
        let missing = texts.iter().filter(|text| !lines.contains(**text));
        let mut faults: Vec<String> = missing
            .map(|text| format!("no line of ours has `{text}`: {seen:?}"))
            .collect();
        if expected[..2] != seen[..2] {
            faults.push(format!("bare {expected:?}, confined {seen:?}"));
        }
        said(&faults)
    }

    /// It is as bare, or refused with lines that contain the texts: never something between.
    pub fn is_whole(&self, texts: &[&str]) -> Result<(), String> {
        match ours(&self.ended[1][2]) {
            "" => self.is_as_bare(),
            _ => self.is_refused(texts),
        }
    }
}

/// The end of standard error from Stockade's first line on.
fn ours(stderr: &str) -> &str {
    let at = match stderr.starts_with("stockade: ") {
        true => Some(0),
        false => stderr.find("\nstockade: "),
    };
    at.map_or("", |at| &stderr[at..])
}

fn differences(one: (&str, &BTreeSet<String>), other: (&str, &BTreeSet<String>)) -> Vec<String> {
    let only = |name: &str, here: &BTreeSet<String>, there: &BTreeSet<String>| -> Vec<String> {
        let lines = here.difference(there).take(SHOWN);
        lines.map(|line| format!("only {name}: {line}")).collect()
    };
    let mut faults = only(one.0, one.1, other.1);
    faults.extend(only(other.0, other.1, one.1));
    faults
}

fn said(faults: &[String]) -> Result<(), String> {
    match faults.is_empty() {
        true => Ok(()),
        false => Err(format!("{}\n", faults.join("\n"))),
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}
