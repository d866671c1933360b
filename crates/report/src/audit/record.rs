//! The record types. Their texts may come from the confined program.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::approve::{Answer, EscalationRequest, Lifetime, Requested};
use crate::config::Decision;
use crate::profile::with_origin;
use crate::report::{
    Denial, Explains, FlagGrant, GrantLimits, Kind, Reason, Refusal, RefusingRule, Report, Suggestion, exact_grant,
};

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A run began.
    Started(Started),
    /// A run ended, or didn't start.
    Ended(Ended),
    /// An access was refused, for the first time in this run.
    Denied(Seen),
    /// An access was allowed.
    Allowed(Seen),
    /// An approver was asked.
    Asked(Box<EscalationRequest>),
    /// The approver's answer.
    Answered(Decided),
    /// A grant was made on an answer.
    Granted(Granted),
    /// A stored grant was revoked.
    Revoked(Granted),
    /// A decision before anything ran.
    Judged(Judged),
    /// Records were lost.
    Lost(Lost),
}

impl Record {
    /// Whether the record reports an access that was allowed without asking.
    pub fn allows(&self) -> bool {
        match self {
            Record::Allowed(_) => true,
            Record::Judged(judged) => judged.result == Decision::Allow,
            _ => false,
        }
    }

    /// The kind, as the JSON form names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Record::Started(_) => "started",
            Record::Ended(_) => "ended",
            Record::Denied(_) => "denied",
            Record::Allowed(_) => "allowed",
            Record::Asked(_) => "asked",
            Record::Answered(_) => "answered",
            Record::Granted(_) => "granted",
            Record::Revoked(_) => "revoked",
            Record::Judged(_) => "judged",
            Record::Lost(_) => "lost",
        }
    }
}

/// The start of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The profile.
    pub profile: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The run's root.
    pub root: String,
    /// The agent that the run acts for.
    pub agent: Option<String>,
    /// The flags that grant, deny or pass something, as words.
    pub flags: Vec<String>,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The report's status: `completed`, `permission_denied`, …
    pub status: String,
    /// The program's exit code, if it exited by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// Whether a supervisor saw what was refused.
    #[serde(default = "yes")]
    pub supervisor: bool,
    /// The number of different accesses that were refused.
    pub denials: u64,
    /// Wall-clock milliseconds.
    pub duration_ms: u64,
    /// The denials that explain its failure, or may, likeliest first; and those of closed files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub likely: Vec<Denial>,
    /// What would allow them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Suggestion>,
}

/// An access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The kind of access.
    pub access: Kind,
    /// The target, as the kernel names it.
    pub target: String,
    /// The target as the program named it.
    pub asked: String,
    /// The system call.
    pub syscall: String,
    /// The process.
    pub pid: i32,
    /// The process's program.
    pub program: String,
    /// The rule or grant that decided, with its origin. `None` where nothing grants a refused access, and where the grant of
    /// an allowed one isn't known.
    pub rule: Option<String>,
}

/// An approver's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The request's id.
    pub request: String,
    /// The answer.
    pub answer: Answer,
}

/// A grant made by an answer, or revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// The request's id, or the stored grant's.
    pub request: String,
    /// The grant.
    pub granted: Requested,
    /// Its lifetime.
    pub lifetime: Lifetime,
    /// The person or program that granted or revoked it.
    pub by: String,
}

/// A decision of `stockade check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The agent that asked, where one was named.
    pub agent: Option<String>,
    /// `tool`, `read`, `write`, `delete`, `execute`, `connect`.
    pub action: String,
    /// The tool and its main input, the path, the host.
    pub target: String,
    /// The decision.
    pub result: Decision,
    /// The agent's mode.
    pub mode: Option<String>,
    /// The reason.
    pub reason: String,
    /// The rule that decided.
    pub matched: Option<String>,
}

/// Lost records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// The number of records.
    pub records: u64,
}

impl Seen {
    /// An allowed access, described as its refusal would be, and the grant behind it.
    pub fn allowed(access: &Refusal, rule: Option<String>) -> Seen {
        Seen {
            rule,
            ..Seen::of(access)
        }
    }

    /// A variable or program that the run didn't get, and that its last words name.
    pub fn lacked(denial: &Denial) -> Seen {
        Seen {
            access: denial.access,
            target: denial.target.clone(),
            asked: denial.asked.clone(),
            syscall: denial.syscall.clone(),
            pid: denial.pid,
            program: denial.program.clone(),
            rule: None,
        }
    }

    /// A refused access.
    pub fn of(refusal: &Refusal) -> Seen {
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Seen {
            access: refusal.kind,
            target: lossy(&refusal.target),
            asked: lossy(&refusal.asked),
            syscall: refusal.syscall.to_string(),
            pid: refusal.pid,
            program: lossy(&refusal.program),
            rule: RefusingRule::of(&refusal.reason).map(|rule| with_origin(&rule.text, &rule.origin)),
        }
    }
}

impl Seen {
    /// The flag that would allow exactly this access, where only a grant was missing, whatever was answered to a question.
    /// `None` where a rule refused it, no grant should allow it, or the record doesn't have the whole target.
    pub fn missing_grant(&self, home: Option<&Path>) -> Option<FlagGrant> {
        // Marks of what was masked, cut or replaced.
        let is_whole = |text: &str| !text.contains("***") && !text.ends_with('…') && !text.contains('\u{fffd}');
        if !self.rule.as_deref().is_none_or(is_declined) || !is_whole(&self.target) {
            return None;
        }
        let refusal = Refusal {
            kind: self.access,
            asked: self.asked.clone().into_bytes(),
            target: self.target.clone().into_bytes(),
            exists: true,
            is_directory: false,
            syscall: self.syscall.clone().into(),
            pid: self.pid,
            program: self.program.clone().into_bytes(),
            at: Duration::ZERO,
            reason: Reason::NotGranted,
        };
        exact_grant(&refusal, &GrantLimits::without_policy(home))
    }
}

/// Whether a refusal's rule is an answer, or that none came: see [`RefusingRule::of`].
fn is_declined(rule: &str) -> bool {
    rule.starts_with("refused by ") || rule.ends_with(", from no answer")
}

impl Ended {
    /// Taken from a report.
    pub fn of(report: &Report) -> Ended {
        Ended {
            status: report.status.name().to_string(),
            exit_code: report.exit_code,
            signal: report.signal.clone(),
            supervisor: report.enforcement.supervisor,
            denials: report.denials.len() as u64 + report.denials_dropped,
            duration_ms: report.duration_ms,
            likely: likely(report),
            suggestion: report.suggestion.clone(),
        }
    }
}

/// Older records don't say it: hardly any run is without.
fn yes() -> bool {
    true
}

fn likely(report: &Report) -> Vec<Denial> {
    let is_likely = |denial: &&Denial| denial.explains != Explains::No;
    let closed = report.closed_files();
    let closed = closed.into_iter().filter(|denial| !is_likely(denial));
    report.denials.iter().filter(is_likely).chain(closed).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Declined;

    #[test]
    fn the_missing_grant_is_of_the_access_alone() {
        let seen = |access, target: &str, rule: Option<&str>| Seen {
            access,
            target: target.into(),
            asked: target.into(),
            syscall: "openat".into(),
            pid: 7,
            program: "/usr/bin/git".into(),
            rule: rule.map(String::from),
        };
        let home = Path::new("/home/ada");
        let words = |seen: Seen| seen.missing_grant(Some(home)).map(|grant| grant.words());
        for (access, target, flags) in [
            (Kind::Read, "/srv/x.git/HEAD", ["--read", "/srv/x.git/HEAD"]),
            (
                Kind::Create,
                "/srv/.git/index.lock",
                ["--write", "/srv/.git/index.lock"],
            ),
            (Kind::Execute, "/opt/tool", ["--exec", "/opt/tool"]),
            (Kind::Connect, "example.com:8443", ["--host", "example.com:8443"]),
            (Kind::Listen, "127.0.0.1:8080", ["--listen", "8080"]),
        ] {
            let flags = flags.map(std::ffi::OsString::from).to_vec();
            assert_eq!(words(seen(access, target, None)), Some(flags), "{target}");
        }
        for by in [Some("ada".to_string()), None] {
            let reason = Some("not now".to_string());
            let answer = Declined { by, reason };
            let rule = RefusingRule::of(&Reason::Declined(Box::new(answer))).unwrap();
            let rule = with_origin(&rule.text, &rule.origin);
            let flags = ["--read", "/srv/x"].map(std::ffi::OsString::from).to_vec();
            assert_eq!(words(seen(Kind::Read, "/srv/x", Some(&rule))), Some(flags), "{rule}");
        }
        for (access, target, rule) in [
            (Kind::Read, "/home", None),
            (Kind::Read, "/home/ada", None),
            (Kind::Write, "/etc/passwd", None),
            (Kind::Read, "/srv/token=***", None),
            (Kind::Read, "/srv/\u{fffd}", None),
            (Kind::Read, "/srv/long…", None),
            (Kind::Read, "/srv/.env", Some("secret pattern `**/.env*` (built in)")),
            (Kind::Syscall, "mount", None),
        ] {
            assert_eq!(words(seen(access, target, rule)), None, "{target}");
        }
    }
}
