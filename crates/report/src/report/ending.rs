//! How a run ended.

use std::time::Duration;

/// A limit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Wall-clock time.
    Time,
    /// Processor time.
    Cpu,
    /// Memory.
    Memory,
    /// Processes.
    Processes,
    /// Bytes of one file.
    FileSize,
    /// Growth of the written trees.
    Disk,
    /// Bytes of output.
    Output,
}

impl Limit {
    /// The name that flags, profiles and reports use.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Time => "time",
            Limit::Cpu => "cpu",
            Limit::Memory => "memory",
            Limit::Processes => "processes",
            Limit::FileSize => "file-size",
            Limit::Disk => "disk",
            Limit::Output => "output",
        }
    }
}

/// A limit that ended a run, with its enforcer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitHit {
    /// The limit.
    pub limit: Limit,
    /// How it is enforced: `timer`, `sampling`, `control group`, `rlimit` or `count`.
    pub by: &'static str,
}

/// The resources that a tree used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time.
    pub cpu: Duration,
    /// The largest resident set of one process, in bytes.
    pub max_rss: u64,
    /// The most processes seen at once; `None` if nothing sampled them.
    pub processes: Option<u64>,
    /// Bytes of standard output and error, if piped.
    pub output: Option<[u64; 2]>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// The program's status in wait(2)'s encoding.
    pub status: i32,
    /// The limit that ended it.
    pub limit: Option<LimitHit>,
    /// The resources it used.
    pub usage: Usage,
    /// Time from the start to the end of the tree.
    pub duration: Duration,
    /// Whether output past the limit was dropped.
    pub output_cut: bool,
}
