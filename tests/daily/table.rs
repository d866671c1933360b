//! A table of commands: each runs bare and confined, from equal copies of one repository, and what both leave is compared.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::common::{Finished, Place, STOCKADE, finish, python};

const TREE: &str = include_str!("../same_as_bare/tree.py");
/// Lines that are shown where two states differ.
const SHOWN: usize = 6;

/// Commits that have the same names in both runs, and no editor that waits for somebody.
const FIXED: &str = "set -e
export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z GIT_CONFIG_NOSYSTEM=1 GIT_EDITOR=false
";
/// What the user has at home.
const SETTINGS: &str = "[user]\n\tname = Ann\n\temail = ann@example.org\n";
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
/// What git says about a repository afterwards, of a user who isn't confined.
const STATE: &str = "exec 2>&1; set +e
git status --porcelain=v2 --branch; git for-each-ref; git log --all --format='%H %T %an %s'; git stash list
git fsck --no-progress --no-dangling; git worktree list --porcelain; git config --local --list; git ls-files -s
git symbolic-ref HEAD; for at in MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD; do git rev-parse -q --verify $at; done; true";
/// Files of git whose content has times and inode numbers.
const LOOSE: &[&str] = &["*.git/*index", "*.git/index.*", "*.git/gc.pid", "*/multi-pack-index"];

/// Files of git whose names depend on such times.
const NAMED_BY_TIMES: &[&str] = &["*.git/sharedindex.*"];

/// A command of everyday.
pub struct Row {
    /// What it is, for the one who reads the failure.
    name: &'static str,
    /// A script that runs unconfined in both copies before.
    before: &'static str,
    command: &'static str,
    ends: Ends,
}

/// How a command ends in a run.
enum Ends {
    /// With the exit code, the output and the repository that it has bare.
    AsBare,
    /// With a line of Stockade's that contains this, and the repository as it was before.
    Refused(&'static str),
    /// Either way: which one is for the policy to say, but nothing between.
    Whole(&'static str),
}

/// A row for a command that ends as bare.
pub const fn as_bare(name: &'static str, before: &'static str, command: &'static str) -> Row {
    Row {
        name,
        before,
        command,
        ends: Ends::AsBare,
    }
}

/// A row for a command that is refused with a line that contains a text.
pub const fn refused(name: &'static str, before: &'static str, command: &'static str, text: &'static str) -> Row {
    Row {
        name,
        before,
        command,
        ends: Ends::Refused(text),
    }
}

/// A row for a command that ends as bare, or else is refused with such a line.
pub const fn whole(name: &'static str, before: &'static str, command: &'static str, text: &'static str) -> Row {
    Row {
        name,
        before,
        command,
        ends: Ends::Whole(text),
    }
}

/// Every row does what it promises. Tells all that don't.
pub fn hold(rows: &[Row]) {
    let template = repository();
    let mut faults = String::new();
    let mut failed = 0;
    for row in rows {
        if let Err(fault) = row.try_on(&template) {
            failed += 1;
            let _ = write!(faults, "\n== {}: `{}`\n{fault}", row.name, row.command);
        }
    }
    assert!(failed == 0, "{failed} of {} rows fail:{faults}", rows.len());
}

/// The repository that all copies come from.
pub fn repository() -> Place {
    let template = Place::new();
    prepare(&template, &format!("{FIXED}{REPOSITORY}"));
    template
}

impl Row {
    fn try_on(&self, template: &Place) -> Result<(), String> {
        let [bare, confined] = [copy(template), copy(template)];
        for place in [&bare, &confined] {
            prepare(place, &format!("{FIXED}{WRITES}{}", self.before));
        }
        let tried = Tried::new(bare, confined, self.command);
        match self.ends {
            Ends::AsBare => tried.succeeds_bare().and_then(|()| tried.is_as_bare()),
            Ends::Refused(text) => tried.is_refused(text),
            Ends::Whole(_) if tried.says_nothing() => tried.is_as_bare(),
            Ends::Whole(text) => tried.is_refused(text),
        }
    }
}

/// A script that ran bare in one place and confined in the other.
pub struct Tried {
    bare: Place,
    confined: Place,
    start: u64,
    /// What each place held before.
    before: [BTreeSet<String>; 2],
    /// Exit code, standard output and standard error of each.
    ended: [[String; 3]; 2],
}

impl Tried {
    pub fn new(bare: Place, confined: Place, script: &str) -> Tried {
        let script = &format!("{FIXED}{script}");
        let start = now();
        let before = [held(&bare, start), held(&confined, start)];
        let ended = [
            told(&run_bare(&bare, script), &bare),
            told(&run_confined(&confined, script), &confined),
        ];
        Tried {
            bare,
            confined,
            start,
            before,
            ended,
        }
    }

    /// What fails bare proves little.
    fn succeeds_bare(&self) -> Result<(), String> {
        match self.ended[0][0] == "0" {
            true => Ok(()),
            false => Err(format!("it fails bare: {:?}\n", self.ended[0])),
        }
    }

    /// The script did the same in both.
    pub fn is_as_bare(&self) -> Result<(), String> {
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
        let [bare, confined] = [&self.bare, &self.confined].map(|place| (entries(place, self.start), state(place)));
        faults.extend(differences(("bare", &bare.0), ("confined", &confined.0)));
        faults.extend(differences(("bare", &bare.1), ("confined", &confined.1)));
        said(&faults)
    }

    /// The script changed something bare; confined it changed nothing, and Stockade said a line that contains the text.
    pub fn is_refused(&self, text: &str) -> Result<(), String> {
        let mut faults = Vec::new();
        let [expected, seen] = &self.ended;
        if expected[0] != "0" || held(&self.bare, self.start) == self.before[0] {
            faults.push(format!("it does nothing bare: {expected:?}"));
        }
        if !ours(&seen[2]).contains(text) {
            faults.push(format!("no line of ours has `{text}`: {seen:?}"));
        }
        let after = held(&self.confined, self.start);
        faults.extend(differences(("before", &self.before[1]), ("after", &after)));
        said(&faults)
    }

    /// Stockade said nothing.
    fn says_nothing(&self) -> bool {
        ours(&self.ended[1][2]).is_empty()
    }
}

/// The end of standard error from Stockade's first line on.
pub fn ours(stderr: &str) -> &str {
    let at = match stderr.starts_with("stockade: ") {
        true => Some(0),
        false => stderr.find("\nstockade: "),
    };
    at.map_or("", |at| &stderr[at..])
}

/// A place with a home and a repository, made before.
pub fn copy(template: &Place) -> Place {
    let place = Place::new();
    place.file("~/.gitconfig", SETTINGS);
    let mut command = Command::new("cp");
    command
        .arg("-a")
        .arg(template.root.parent().unwrap().join("remote.git"));
    command.arg(&template.root).arg(place.root.parent().unwrap());
    assert!(finish(&mut command, b"").status.success(), "the repository is copied");
    prepare(&place, "git status -s");
    place
}

/// Runs a script that isn't confined and succeeds.
pub fn prepare(place: &Place, script: &str) -> String {
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
    finished.stdout()
}

pub fn run_bare(place: &Place, script: &str) -> Finished {
    let mut command = command(place, "sh");
    command.args(["-c", script]);
    finish(&mut command, b"")
}

/// The root is the repository; the remote beside it may be read and written too.
pub fn run_confined(place: &Place, script: &str) -> Finished {
    let remote = place.root.parent().unwrap().join("remote.git");
    let mut command = command(place, STOCKADE.path());
    command
        .args(["run", "--profile", "workspace", "--root"])
        .arg(&place.root);
    if remote.exists() {
        command.arg("--write").arg(remote);
    }
    finish(command.args(["--", "sh", "-c", script]), b"")
}

fn command(place: &Place, program: &str) -> Command {
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

/// What a refused command must leave as it was: the work tree, hooks and what else git obeys, and all that git says.
/// Objects may be left that nothing names.
fn held(place: &Place, start: u64) -> BTreeSet<String> {
    let counts = |line: &String| !line.contains(".git/") || line.contains("/info/") || line.contains("/hooks/");
    let mut held: BTreeSet<_> = entries(place, start).into_iter().filter(counts).collect();
    held.extend(state(place));
    held
}

/// All that is below the root, a line each, from the first time of a test on.
fn entries(place: &Place, start: u64) -> BTreeSet<String> {
    let mut command = command(place, python());
    command.args(["-I", "-c", TREE]).arg(&place.root).arg(start.to_string());
    command.args([LOOSE, NAMED_BY_TIMES].map(|globs| serde_json::to_string(globs).unwrap()));
    let finished = finish(&mut command, b"");
    assert!(finished.status.success(), "the tree is listed: {}", finished.stderr());
    finished.stdout().lines().map(str::to_owned).collect()
}

/// What git says, a line each.
fn state(place: &Place) -> BTreeSet<String> {
    let said = run_bare(place, STATE).stdout();
    normal(&said, place).lines().map(str::to_owned).collect()
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
