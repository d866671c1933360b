//! The outcome of a run.

use std::ffi::OsString;
use std::path::PathBuf;

use super::reads::Native;
use crate::plan::{Ability, Grouped, KeptExact, Plan, Trace};
use crate::policy::Policy;
use crate::report::{Denial, Enforcement, Report, Status};
use stockade_text::visible::fit::shortened;

/// The outcome of a run that started.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    report: Report,
    wait_status: i32,
}

/// The outcome of a run, with its output.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The outcome.
    pub outcome: Outcome,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl Outcome {
    pub(super) fn new(report: Report, wait_status: i32) -> Self {
        Outcome { report, wait_status }
    }

    /// How the run went.
    pub fn status(&self) -> Status {
        self.report.status
    }

    /// Whether the program ended by itself with exit code 0.
    pub fn success(&self) -> bool {
        self.report.status == Status::Completed && self.report.exit_code == Some(0)
    }

    /// The refused accesses, in the order in which they explain a failure; only a supervisor sees them.
    pub fn denials(&self) -> &[Denial] {
        &self.report.denials
    }

    /// The whole report.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The exit code by `stockade run`'s convention: the program's own, 128+n for a signal, 124 past the time limit,
    /// 125 if a fault of Stockade's own ended the run.
    pub fn exit_code(&self) -> u8 {
        const TIME_LIMIT: u8 = 124;
        const SIGNALLED: i32 = 128;
        const FAILED: u8 = 125;
        if self.report.was_ended_by_fault() {
            return FAILED;
        }
        if self.report.status == Status::TimeLimit {
            return TIME_LIMIT;
        }
        let code = if self.report.status == Status::ResourceLimit && !libc::WIFSIGNALED(self.wait_status) {
            // The program exited at the moment when it was being killed.
            SIGNALLED + libc::SIGKILL
        } else if libc::WIFSIGNALED(self.wait_status) {
            SIGNALLED + libc::WTERMSIG(self.wait_status)
        } else {
            libc::WEXITSTATUS(self.wait_status)
        };
        u8::try_from(code).unwrap_or(u8::MAX)
    }
}

/// The report before the start.
pub(super) fn begin(policy: &Policy, plan: &Plan, argv: &[OsString], ability: Ability) -> Report {
    let mut report = Report::refused(&policy.profile, argv, &policy.root);
    report.enforcement.landlock_abi = ability.landlock_abi;
    report.enforcement.supervisor = plan.supervision.is_some();
    report.enforcement.trace = plan.supervision.map_or(Trace::Exact, |supervision| supervision.trace);
    report.enforcement.shortfalls = plan
        .shortfalls
        .iter()
        .map(|missing| missing.shortfall.to_string())
        .collect();
    match plan.control_group {
        Grouped::Nothing => {}
        Grouped::Processes => report.enforcement.limits_by = "control group and sampling".into(),
        Grouped::All => report.enforcement.limits_by = "control group".into(),
    }
    report
}

/// Tells who judges which reads. Returns the trees where what others make is read.
pub(super) fn tell_of_reads(enforcement: &mut Enforcement, native: Option<Result<Native, KeptExact>>) -> Vec<PathBuf> {
    match native {
        None => Vec::new(),
        Some(Err(kept)) => {
            enforcement.kept_exact = Some(told(&kept));
            Vec::new()
        }
        Some(Ok(native)) => {
            let shown = |path: PathBuf| path.display().to_string();
            enforcement.read_natively = native.trees.into_iter().map(shown).collect();
            enforcement.read_supervised = native.left.iter().map(|(_, kept)| told(kept)).collect();
            native.open
        }
    }
}

/// A reason; the path in it may be as long as a run's trees are deep.
fn told(kept: &KeptExact) -> String {
    const MAX_COLUMNS: usize = 1024;
    shortened(&kept.to_string(), MAX_COLUMNS)
}
