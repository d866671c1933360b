//! What a run did towards its end, as far as the supervisor saw it: what it wrote, when its calls were judged, and what it
//! got. A program that gets on with other things lives with what it was refused.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::policy::Kind;

/// Where a run wrote a text to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stream {
    /// Standard error, or what a program of the run put in its place.
    Error,
    /// `/dev/null`.
    Nowhere,
}

/// A text that the run wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Since the run's start.
    pub at: Duration,
    /// The process.
    pub process: i32,
    /// Where to.
    pub stream: Stream,
    /// What, with whatever stands for bytes that are no text.
    pub text: String,
}

/// The end of what a run did, as far as the supervisor saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Its texts, in their order.
    pub said: Vec<Said>,
    /// When calls were judged, and of which processes, in their order.
    pub calls: Vec<(Duration, i32)>,
    /// What it was allowed, as far as that shows what it went on with.
    pub got: Vec<Got>,
    /// Processes with their parents.
    pub parents: HashMap<i32, i32>,
}

/// An access that was allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Got {
    /// Since the run's start.
    pub at: Duration,
    /// The process.
    pub process: i32,
    /// Of which kind.
    pub kind: Kind,
    /// To what.
    pub target: Vec<u8>,
    /// Whether for the first time in the run.
    pub is_new: bool,
}

/// Whether an allowed access shows what a run goes on with: it starts a program, or opens something that isn't the system's.
/// What is removed may be cleaned up.
pub fn is_own_work(kind: Kind, target: &[u8]) -> bool {
    const SYSTEMS: [&[u8]; 9] = [
        b"/usr/", b"/lib", b"/bin/", b"/sbin/", b"/etc/", b"/proc/", b"/sys/", b"/dev/", b"/run/",
    ];
    let opens = matches!(kind, Kind::Read | Kind::Write | Kind::Create);
    kind == Kind::Execute || opens && !SYSTEMS.iter().any(|start| target.starts_with(start))
}

impl Timeline {
    /// How many calls were judged between two moments, of the processes that are meant.
    pub fn calls_between(&self, from: Duration, to: Duration, is_meant: impl Fn(i32) -> bool) -> usize {
        let after = self.calls.partition_point(|(at, _)| *at <= from);
        let calls = self.calls[after..].iter().take_while(|(at, _)| *at < to);
        calls.filter(|(_, process)| is_meant(*process)).count()
    }

    /// Whether a process went on with other things between two moments: it got something that it hadn't had before, or
    /// it, or one above it, started another program.
    pub fn goes_on(&self, process: i32, from: Duration, to: Duration) -> bool {
        let after = self.got.partition_point(|got| got.at <= from);
        let mut got = self.got[after..].iter().take_while(|got| got.at < to);
        got.any(|got| match got.kind {
            Kind::Execute => got.process != process && self.is_of_same_family(process, got.process),
            _ => got.process == process && got.is_new && !is_loaded(&got.target),
        })
    }

    /// Whether the parent of `other` is a process or one above it.
    fn is_of_same_family(&self, process: i32, other: i32) -> bool {
        let parent = self.parents.get(&other);
        parent.is_some_and(|parent| self.line_of(process).contains(parent))
    }

    /// Whether a process is one that another one of the run started.
    pub fn is_child(&self, process: i32) -> bool {
        self.parents
            .get(&process)
            .is_some_and(|parent| self.parents.contains_key(parent))
    }

    /// A process and those above it.
    pub fn line_of(&self, process: i32) -> Vec<i32> {
        const DEEPEST: usize = 64;
        std::iter::successors(Some(process), |one| self.parents.get(one).copied())
            .take(DEEPEST)
            .collect()
    }

    /// The names of data files that a process of the run got: what it can be wrong about.
    pub fn names_of_data(&self) -> impl Iterator<Item = &str> {
        let data = self
            .got
            .iter()
            .filter(|got| got.kind == Kind::Read && !is_code(&got.target));
        data.filter_map(|got| std::str::from_utf8(&got.target).ok())
    }
}

/// What a run-time loads or shows at a failure, too, which isn't going on.
fn is_loaded(target: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 5] = [b".py", b".pyc", b".class", b".jar", b".so"];
    const PARTS: [&str; 3] = ["/__pycache__", "/package.json", "/hsperfdata_"];
    let is_part = |part: &str| target.windows(part.len()).any(|window| window == part.as_bytes());
    ENDINGS.iter().any(|ending| target.ends_with(ending)) || PARTS.iter().any(|part| is_part(part))
}

/// What texts name as the place of an error.
fn is_code(target: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 19] = [
        b".js", b".mjs", b".cjs", b".ts", b".java", b".sh", b".bash", b".pl", b".pm", b".rb", b".tcl", b".lua", b".c",
        b".h", b".go", b".rs", b".php", b"akefile", b".mk",
    ];
    is_loaded(target) || ENDINGS.iter().any(|ending| target.ends_with(ending))
}
