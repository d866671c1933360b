//! A run's actions towards its end, as far as the supervisor saw them: the texts it wrote, when its calls were judged,
//! and what it was allowed. A program that goes on with other work copes with its refusals.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::policy::Kind;

/// The stream that a run wrote a text to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stream {
    /// Standard error, or the file that a program of the run put in its place.
    Error,
    /// `/dev/null`.
    Nowhere,
}

/// A text that the run wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Time since the run's start.
    pub at: Duration,
    /// The process.
    pub process: i32,
    /// The stream.
    pub stream: Stream,
    /// The text, with replacements for bytes that aren't UTF-8.
    pub text: String,
}

/// The end of a run's actions, as far as the supervisor saw them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Its texts, in order.
    pub said: Vec<Said>,
    /// When calls were judged, and of which processes, in order.
    pub calls: Vec<(Duration, i32)>,
    /// Its allowed accesses, as far as they show what it went on with.
    pub got: Vec<Got>,
    /// Processes with their parents.
    pub parents: HashMap<i32, i32>,
}

/// An access that was allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Got {
    /// Time since the run's start.
    pub at: Duration,
    /// The process.
    pub process: i32,
    /// The kind of access.
    pub kind: Kind,
    /// The target.
    pub target: Vec<u8>,
    /// Whether it was the first time in the run.
    pub is_new: bool,
}

/// Whether an allowed access shows that a run goes on: it starts a program, or opens something that isn't the system's.
/// A removal may be clean-up.
pub fn is_own_work(kind: Kind, target: &[u8]) -> bool {
    const SYSTEMS: [&[u8]; 9] = [
        b"/usr/", b"/lib", b"/bin/", b"/sbin/", b"/etc/", b"/proc/", b"/sys/", b"/dev/", b"/run/",
    ];
    let opens = matches!(kind, Kind::Read | Kind::Write | Kind::Create);
    kind == Kind::Execute || opens && !SYSTEMS.iter().any(|start| target.starts_with(start))
}

impl Timeline {
    /// The number of calls judged between two moments, of the processes that `is_meant` accepts.
    pub fn calls_between(&self, from: Duration, to: Duration, is_meant: impl Fn(i32) -> bool) -> usize {
        let after = self.calls.partition_point(|(at, _)| *at <= from);
        let calls = self.calls[after..].iter().take_while(|(at, _)| *at < to);
        calls.filter(|(_, process)| is_meant(*process)).count()
    }

    /// Whether a process went on with other work between two moments: it got access to something new, or it, or an
    /// ancestor, started another program.
    pub fn goes_on(&self, process: i32, from: Duration, to: Duration) -> bool {
        let after = self.got.partition_point(|got| got.at <= from);
        let mut got = self.got[after..].iter().take_while(|got| got.at < to);
        got.any(|got| match got.kind {
            Kind::Execute => got.process != process && self.is_of_same_family(process, got.process),
            _ => got.process == process && got.is_new && !is_loaded(&got.target),
        })
    }

    /// Whether the parent of `other` is the process or an ancestor of it.
    fn is_of_same_family(&self, process: i32, other: i32) -> bool {
        let parent = self.parents.get(&other);
        parent.is_some_and(|parent| self.line_of(process).contains(parent))
    }

    /// Whether another process of the run started a process.
    pub fn is_child(&self, process: i32) -> bool {
        self.parents
            .get(&process)
            .is_some_and(|parent| self.parents.contains_key(parent))
    }

    /// A process and its ancestors.
    pub fn line_of(&self, process: i32) -> Vec<i32> {
        const DEEPEST: usize = 64;
        std::iter::successors(Some(process), |one| self.parents.get(one).copied())
            .take(DEEPEST)
            .collect()
    }

    /// The names of data files that a process of the run could open: files that it can report errors about.
    pub fn names_of_data(&self) -> impl Iterator<Item = &str> {
        let data = self
            .got
            .iter()
            .filter(|got| got.kind == Kind::Read && !is_code(&got.target));
        data.filter_map(|got| std::str::from_utf8(&got.target).ok())
    }
}

/// Files that a run-time also loads or shows at a failure, which isn't going on.
fn is_loaded(target: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 5] = [b".py", b".pyc", b".class", b".jar", b".so"];
    const PARTS: [&str; 3] = ["/__pycache__", "/package.json", "/hsperfdata_"];
    let is_part = |part: &str| target.windows(part.len()).any(|window| window == part.as_bytes());
    ENDINGS.iter().any(|ending| target.ends_with(ending)) || PARTS.iter().any(|part| is_part(part))
}

/// Files that texts name as the position of an error.
fn is_code(target: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 19] = [
        b".js", b".mjs", b".cjs", b".ts", b".java", b".sh", b".bash", b".pl", b".pm", b".rb", b".tcl", b".lua", b".c",
        b".h", b".go", b".rs", b".php", b"akefile", b".mk",
    ];
    is_loaded(target) || ENDINGS.iter().any(|ending| target.ends_with(ending))
}
