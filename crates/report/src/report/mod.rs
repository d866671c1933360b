//! The report of a run: one JSON document, its field names a promise (`schemas/report.schema.json`).
//!
//! `refusal` holds the supervisor's observations. `judge` derives denials and a suggestion from them:
//! `explanation` tells which may be why a run failed (`naming`, `probe` and the text in `stderr` are its evidence), `grant`
//! finds the minimal grant for one (`host` those of the network), `suggestion` for several together. No I/O except in `sink`. Texts in a report may come from the target:
//! escape them before showing.

mod conclusion;
mod denial;
mod ending;
mod escalation;
mod explanation;
mod fault;
mod grant;
mod host;
mod naming;
mod parse;
mod probe;
mod question;
mod refusal;
mod refused;
mod sink;
mod stderr;
mod suggestion;
#[cfg(test)]
mod tests;
mod text;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::plan::Trace;
pub use crate::policy::Kind;
pub use conclusion::profile_that_allows;
pub use conclusion::{Need, ProfileOrder, RunContext};
pub use denial::{Denial, Explains, RefusingRule};
pub use ending::{Ending, Limit, LimitHit, Usage};
pub use escalation::{Escalated, Escalation};
pub use fault::Faults;
pub use fault::{FaultyPart, InternalFault};
pub use grant::exact as exact_grant;
pub use grant::{Flag, FlagGrant, PathGrant, path_of};
pub use grant::{GrantLimits, is_temporary, least as least_grant};
pub use host::Endpoint;
pub use host::endpoint_of;
pub use naming::names_variable;
pub use parse::ParseError;
pub use question::{Setting, is_quiet, offer, usual_grant};
pub use refusal::{COPIED, Counted, Declined, NO_ADDRESS, Reason, Refusal, Refusals, TOP_STAYS};
pub use sink::{Sink, Written};
pub use stderr::{StderrTail, StderrText};
pub use suggestion::{SuggestedGrant, Suggestion};

/// The version of the document's format.
pub const VERSION: u32 = 1;

/// How a run went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The program ended by itself, whatever its exit code.
    Completed,
    /// It failed, and a denial explains it.
    PermissionDenied,
    /// It ran past its time limit.
    TimeLimit,
    /// It ran past another limit.
    ResourceLimit,
    /// A signal ended it.
    Signalled,
    /// The program never started.
    NotStarted,
}

impl Status {
    const ALL: [Status; 6] = [
        Status::Completed,
        Status::PermissionDenied,
        Status::TimeLimit,
        Status::ResourceLimit,
        Status::Signalled,
        Status::NotStarted,
    ];

    /// The status with this name in reports.
    pub fn of_name(name: &str) -> Option<Status> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Status::Completed => "completed",
            Status::PermissionDenied => "permission_denied",
            Status::TimeLimit => "time_limit",
            Status::ResourceLimit => "resource_limit",
            Status::Signalled => "signalled",
            Status::NotStarted => "not_started",
        }
    }
}

/// The whole document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`VERSION`].
    pub version: u32,
    /// The run's id.
    pub run: String,
    /// The profile's name.
    pub profile: String,
    /// The command and its arguments; bytes that aren't UTF-8 are replaced.
    pub command: Vec<String>,
    /// The run's root; bytes that aren't UTF-8 are replaced in the document.
    #[serde(serialize_with = "text::path")]
    pub root: PathBuf,
    /// How it went.
    pub status: Status,
    /// The program's exit code, if it exited by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it, like `SIGKILL`.
    pub signal: Option<String>,
    /// The limit that ended it.
    pub limit: Option<String>,
    /// Wall-clock milliseconds.
    pub duration_ms: u64,
    /// The mechanisms that enforced the policy.
    pub enforcement: Enforcement,
    /// Names in the run's own home, which is gone with the run, that its user may miss.
    #[serde(default)]
    pub left_in_home: Vec<String>,
    /// The refused accesses, in the order in which they explain a failure.
    pub denials: Vec<Denial>,
    /// Different refusals that didn't fit into `denials`.
    pub denials_dropped: u64,
    /// The minimal grants to add.
    pub suggestion: Option<Suggestion>,
    /// The questions to a person, or to a program that stands for one.
    pub escalation: Option<Escalation>,
    /// Stockade's own faults: panics, each of which failed the operation in progress.
    pub faults: Vec<InternalFault>,
    /// The resources that the tree used.
    pub resources: Resources,
}

/// The mechanisms that enforced the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforcement {
    /// The kernel's Landlock ABI.
    pub landlock_abi: i32,
    /// Whether the supervisor took part.
    pub supervisor: bool,
    /// Who judged opens that only read: with `marked` the kernel alone those that programs mark.
    pub trace: Trace,
    /// The reason why it is `exact`, unless that was requested.
    #[serde(default)]
    pub kept_exact: Option<String>,
    /// The trees where the kernel alone judged marked opens.
    #[serde(default)]
    pub read_natively: Vec<String>,
    /// The reasons why other trees were left to the supervisor.
    #[serde(default)]
    pub read_supervised: Vec<String>,
    /// Closed names that somebody else made in those trees while the run went on: the run could read what is there.
    #[serde(default)]
    pub late_secrets: Vec<String>,
    /// The run's own namespaces.
    pub namespaces: Vec<String>,
    /// The shortfalls that were accepted.
    pub shortfalls: Vec<String>,
    /// How the limits on memory and processes are enforced: `control group`, `sampling`, or
    /// `control group and sampling` if the group counts processes alone.
    pub limits_by: String,
    /// How the limit that ended the run was noticed.
    pub limit_noticed_by: Option<String>,
}

/// The resources that the tree used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Processor time in milliseconds.
    pub cpu_ms: u64,
    /// The largest resident set of one process.
    pub max_rss_bytes: u64,
    /// The most processes seen at once, if they were sampled.
    pub processes: Option<u64>,
    /// Bytes of standard output, if piped.
    pub stdout_bytes: Option<u64>,
    /// Bytes of standard error, if piped.
    pub stderr_bytes: Option<u64>,
    /// Whether output past the limit was dropped.
    pub output_cut: bool,
}

impl Report {
    /// Records how the run ended.
    pub fn ended(&mut self, ending: &Ending) {
        let status = ending.status;
        let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
        self.exit_code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        self.signal = signal.map(signal_name);
        self.limit = ending.limit.map(|hit| hit.limit.name().to_string());
        self.enforcement.limit_noticed_by = ending.limit.map(|hit| hit.by.to_string());
        self.status = match (ending.limit, signal) {
            (Some(hit), _) if hit.limit == Limit::Time => Status::TimeLimit,
            (Some(_), _) => Status::ResourceLimit,
            (None, Some(_)) => Status::Signalled,
            (None, None) => Status::Completed,
        };
        self.duration_ms = milliseconds(ending.duration);
        self.resources = Resources {
            cpu_ms: milliseconds(ending.usage.cpu),
            max_rss_bytes: ending.usage.max_rss,
            processes: ending.usage.processes,
            stdout_bytes: ending.usage.output.map(|bytes| bytes[0]),
            stderr_bytes: ending.usage.output.map(|bytes| bytes[1]),
            output_cut: ending.output_cut,
        };
    }

    /// Records the refusals, after [`Report::ended`]: denials in order, a suggestion, and the status if a denial
    /// explains the failure. Does nothing if nothing was refused.
    pub fn conclude(&mut self, refusals: &Refusals, run_context: &RunContext<'_>) {
        self.denials_dropped = refusals.dropped();
        let concluded = conclusion::conclude(refusals, self, run_context);
        self.denials = concluded.denials;
        self.suggestion = concluded.suggestion;
        if self.explanation().next().is_some() && !self.was_ended_by_fault() {
            self.status = Status::PermissionDenied;
        }
    }

    /// Whether a fault of Stockade's own ended the run, or the loss of its warden.
    pub fn was_ended_by_fault(&self) -> bool {
        let ends = |fault: &InternalFault| matches!(fault.part, FaultyPart::Supervisor | FaultyPart::Warden);
        self.faults.iter().any(ends)
    }

    /// In words, that no denial is known: where no supervisor saw any, there may have been some.
    pub fn without_denials(&self) -> &'static str {
        match self.enforcement.supervisor {
            true => "nothing",
            false => "unknown: no supervisor took part",
        }
    }

    /// The denials that explain the failure, most likely first.
    pub fn explanation(&self) -> impl Iterator<Item = &Denial> {
        self.denials.iter().filter(|denial| denial.explains == Explains::Yes)
    }

    /// The denials that may explain the failure, most likely first, where none is certain to.
    pub fn perhaps(&self) -> impl Iterator<Item = &Denial> {
        self.denials
            .iter()
            .filter(|denial| denial.explains == Explains::Perhaps)
    }

    /// The refused changes of files that stay closed, one for each file. A person is told of them whatever the exit code.
    pub fn closed_files(&self) -> Vec<&Denial> {
        let mut closed: Vec<&Denial> = Vec::new();
        for denial in self.denials.iter().filter(|denial| denial.is_of_closed_file()) {
            if !closed.iter().any(|other| other.target == denial.target) {
                closed.push(denial);
            }
        }
        closed
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// `SIGKILL` and its like; real-time signals by number.
pub fn signal_name(signal: i32) -> String {
    nix::sys::signal::Signal::try_from(signal)
        .map_or_else(|_| format!("SIG{signal}"), |signal| signal.as_str().to_string())
}
