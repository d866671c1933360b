//! The rows of the design's table, with their limits and tasks.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::everyday::{self, JOBS, Job};
use super::measure::{Setting, launch};
use super::task::{Task, Timing};
use super::trees;

/// A file of the runtime base with more than 4 kB.
const STATIC_FILE: &str = "/usr/bin/env";
pub const TRUE: &str = "/bin/true";

/// One row of the table.
#[derive(Clone, Copy)]
pub struct Row {
    pub name: &'static str,
    pub what: &'static str,
    /// The most that the ratio may be.
    pub limit: f64,
    pub rounds: usize,
    /// By how much the time is divided.
    pub operations: usize,
    pub measure: Measure,
}

impl Row {
    /// Whether it is about many launches at once.
    pub fn is_at_once(&self) -> bool {
        matches!(self.measure, Measure::Together(at_once, _) if at_once > 1)
    }
}

#[derive(Clone, Copy)]
pub enum Measure {
    /// The same task, bare and confined.
    Alternately(fn(&Setting) -> Result<Task, String>),
    /// So many launches at once, each thread one after the other.
    Together(usize, fn() -> Result<Launcher, String>),
    /// A line of shell in the everyday project.
    Everyday(&'static Job, &'static str),
}

pub type Launcher = Box<dyn Fn() + Sync>;

pub const OPENS: usize = 20_000;
const STATS: usize = 50_000;
const CHANGES: usize = 5_000;
pub const LAUNCHES: usize = 120;

const TABLE: &[Row] = &[
    row("launch", "launch of `/bin/true`, `minimal`", 2.4, 200, 1, |s| {
        Ok(Task::new("--profile minimal", TRUE, &s.place, Timing::Process))
    }),
    row("launch-workspace", "the same, `workspace`", 2.8, 200, 1, |s| {
        let root = tree(trees::plain(&s.place))?;
        Ok(Task::new("--profile workspace", TRUE, &root, Timing::Process))
    }),
    row(
        "open-static",
        "open, read 4 kB, close; static root (`minimal`)",
        4.0,
        7,
        OPENS,
        |s| open(s, "--profile minimal", Path::new(STATIC_FILE)),
    ),
    row(
        "open-supervised",
        "the same; granted root (`workspace`)",
        1.5,
        7,
        OPENS,
        |s| {
            let root = tree(trees::plain(&s.place))?;
            open(s, "--profile workspace", &root.join("file"))
        },
    ),
    row(
        "open-exact",
        "the same, `--trace exact` (`workspace`)",
        21.0,
        7,
        OPENS,
        |s| {
            let root = tree(trees::plain(&s.place))?;
            open(s, "--profile workspace --trace exact", &root.join("file"))
        },
    ),
    row("stat", "stat (`workspace`)", 1.05, 7, STATS, |s| {
        let root = tree(trees::plain(&s.place))?;
        Ok(Task::of_loop(
            "--profile workspace",
            "stat",
            root.join("file"),
            s.count(STATS),
            &root,
        ))
    }),
    row(
        "change",
        "create, write, close, rename, unlink (`workspace`)",
        5.0,
        7,
        CHANGES,
        |s| {
            let root = tree(trees::plain(&s.place))?;
            Ok(Task::of_loop(
                "--profile workspace",
                "change",
                root.join("changed"),
                s.count(CHANGES),
                &root,
            ))
        },
    ),
    row(
        "git",
        "`git status` and `git grep`, 1,600 files (`workspace`)",
        1.6,
        9,
        1,
        |s| git(s, "--profile workspace"),
    ),
    row(
        "git-read",
        "the same, only reading (`minimal --read ./`)",
        2.0,
        9,
        1,
        |s| git(s, "--profile minimal --read ."),
    ),
    row("ls", "`ls -lR` there (`workspace`)", 1.5, 9, 1, |s| {
        in_repository(s, "--profile workspace", "ls -lR >/dev/null")
    }),
    row("ls-exact", "the same, `--trace exact`", 2.4, 9, 1, |s| {
        in_repository(s, "--profile workspace --trace exact", "ls -lR >/dev/null")
    }),
    row("rg-project", "`rg -j2` there (`workspace`)", 1.6, 9, 1, |s| {
        needs("rg")?;
        in_repository(s, "--profile workspace", "rg -j2 needle >/dev/null; true")
    }),
    row("git-exact", "the same, `--trace exact` (`workspace`)", 4.0, 9, 1, |s| {
        git(s, "--profile workspace --trace exact")
    }),
    row(
        "grep",
        "`grep -r` over 200,000 small files (`workspace`)",
        1.3,
        3,
        1,
        |s| search(s, "--profile workspace", "grep -r"),
    ),
    row("grep-exact", "the same, `--trace exact`", 8.0, 3, 1, |s| {
        search(s, "--profile workspace --trace exact", "grep -r")
    }),
    row("rg", "`rg` over the same (`workspace`)", 1.3, 3, 1, |s| {
        search(s, "--profile workspace", "rg")
    }),
    row("rg-exact", "the same, `--trace exact`", 8.0, 3, 1, |s| {
        search(s, "--profile workspace --trace exact", "rg")
    }),
    row("python", "`python3 -c pass` (`minimal`)", 1.2, 31, 1, |s| {
        Ok(Task::new(
            "--profile minimal",
            &format!("{} -c pass", python()?),
            &s.place,
            Timing::Process,
        ))
    }),
    row("make", "`make -j2` of 40 C files (`workspace`)", 1.15, 5, 1, |s| {
        make(s, "--profile workspace")
    }),
    row("make-exact", "the same, `--trace exact`", 1.9, 5, 1, |s| {
        make(s, "--profile workspace --trace exact")
    }),
    row(
        "cargo",
        "`cargo build` of a small crate (`workspace`)",
        1.15,
        7,
        1,
        |s| cargo(s, "--profile workspace"),
    ),
    row("cargo-exact", "the same, `--trace exact`", 1.3, 7, 1, |s| {
        cargo(s, "--profile workspace --trace exact")
    }),
    together(
        "rate",
        "launches a second, 40 at once, by the command (`minimal`)",
        40,
        || {
            Ok(Box::new(|| {
                launch(Command::new(env!("CARGO_BIN_EXE_stockade")).args(["run", "--", TRUE]))
            }))
        },
    ),
    together(
        "rate-library",
        "one sandbox value of the library, again and again",
        1,
        || {
            let sandbox = stockade::Sandbox::profile("minimal").map_err(|error| error.to_string())?;
            Ok(Box::new(move || {
                let outcome = sandbox.command(TRUE).no_input().run();
                assert!(
                    outcome.is_ok_and(|outcome| outcome.success()),
                    "the library's run failed"
                );
            }))
        },
    ),
];

const fn row(
    name: &'static str,
    what: &'static str,
    limit: f64,
    rounds: usize,
    operations: usize,
    task: fn(&Setting) -> Result<Task, String>,
) -> Row {
    Row {
        name,
        what,
        limit,
        rounds,
        operations,
        measure: Measure::Alternately(task),
    }
}

/// All rows, everyday jobs at their end.
pub fn rows() -> impl Iterator<Item = Row> {
    let everyday = |job: &'static Job| {
        let kept = |name, what, limit, flags| Row {
            name,
            what,
            limit,
            rounds: 7,
            operations: 1,
            measure: Measure::Everyday(job, flags),
        };
        [
            kept(job.name, job.what, 1.15, "--profile workspace"),
            kept(
                job.exact,
                "the same, `--trace exact`",
                1.06,
                "--profile workspace --trace exact",
            ),
        ]
    };
    TABLE.iter().copied().chain(JOBS.iter().flat_map(everyday))
}

/// The everyday jobs of the table, with and without `--trace exact`: their medians are one line of the design's table.
pub fn is_everyday(row: &Row) -> bool {
    matches!(row.measure, Measure::Everyday(..)) || row.name.starts_with("make") || row.name.starts_with("cargo")
}

const fn together(
    name: &'static str,
    what: &'static str,
    at_once: usize,
    launcher: fn() -> Result<Launcher, String>,
) -> Row {
    Row {
        name,
        what,
        limit: if at_once > 1 { 1.5 } else { 2.0 },
        rounds: 9,
        operations: LAUNCHES,
        measure: Measure::Together(at_once, launcher),
    }
}

pub fn everyday(setting: &Setting, job: &Job, flags: &str) -> Result<Task, String> {
    for probe in job.needs {
        needs(probe)?;
    }
    let root = once(setting, "everyday", everyday::project)?;
    let mut task = Task::new(flags, "/bin/sh -c", &root, Timing::Process);
    task.words.push(job.line.into());
    Ok(task)
}

fn open(setting: &Setting, flags: &str, path: &Path) -> Result<Task, String> {
    let root = tree(trees::plain(&setting.place))?;
    Ok(Task::of_loop(
        flags,
        "open",
        path.to_path_buf(),
        setting.count(OPENS),
        &root,
    ))
}

fn git(setting: &Setting, flags: &str) -> Result<Task, String> {
    // Without optional locks, since not every profile here may write the index.
    let line = "git --no-optional-locks status --porcelain && git grep --count needle >/dev/null";
    in_repository(setting, flags, line)
}

fn in_repository(setting: &Setting, flags: &str, line: &str) -> Result<Task, String> {
    needs("git")?;
    let root = once(setting, "repository", trees::repository)?;
    let mut task = Task::new(flags, "/bin/sh -c", &root, Timing::Process);
    task.words.push(line.into());
    Ok(task)
}

/// A tree that several rows share.
fn once(setting: &Setting, name: &str, make: fn(&Path) -> std::io::Result<PathBuf>) -> Result<PathBuf, String> {
    let root = setting.place.join(name);
    if root.exists() {
        return Ok(root);
    }
    tree(make(&setting.place))
}

/// Nothing is found, which these programs say by their exit code.
fn search(setting: &Setting, flags: &str, program: &str) -> Result<Task, String> {
    needs(program.split(' ').next().unwrap_or(program))?;
    let root = once(setting, "many", trees::many)?;
    let mut task = Task::new(flags, "/bin/sh -c", &root, Timing::Process);
    task.words.push(format!("{program} needle . ; true").into());
    Ok(task)
}

fn make(setting: &Setting, flags: &str) -> Result<Task, String> {
    needs("make")?;
    needs("cc")?;
    let root = tree(trees::c_program(&setting.place))?;
    Ok(Task::new(flags, "make -j2", &root, Timing::Build))
}

fn cargo(setting: &Setting, flags: &str) -> Result<Task, String> {
    needs("cargo")?;
    let root = tree(trees::rust_crate(&setting.place))?;
    Ok(Task::new(flags, "cargo build --offline --quiet", &root, Timing::Build))
}

pub fn tree(made: std::io::Result<PathBuf>) -> Result<PathBuf, String> {
    made.map_err(|error| format!("its tree couldn't be made: {error}"))
}

/// Whether a program answers: one word is asked for its version.
fn needs(probe: &str) -> Result<(), String> {
    let mut words = probe.split(' ');
    let mut command = Command::new(words.next().unwrap_or(probe));
    command.args(if probe.contains(' ') {
        words.collect()
    } else {
        vec!["--version"]
    });
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(format!("`{probe}` doesn't work here")),
    }
}

/// The interpreter itself: what `PATH` has may be a script of a version manager, which Stockade goes round.
fn python() -> Result<String, String> {
    let asked = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output();
    match asked {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).trim().to_string()),
        _ => Err("`python3` isn't installed".into()),
    }
}
