//! How a report judges refusals: which explain a failure, in which order, and which grants it suggests.

mod hosts;
mod programs;
mod promises;
mod refusals;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use super::*;
use crate::command::ResolvedCommand;
use crate::policy::{self, Additions, Circumstances, DenialKind, Entry, NetworkPolicy, Policy, Target};
use crate::profile::Catalog;

const HOME: &str = "/home/ada";
/// The run's first process; every other one is its child.
const FIRST: i32 = 4711;
const ROOT: &str = "/home/ada/project";

/// A run with refusals. By default it fails with exit code 1.
struct Run {
    report: Report,
    policy: Policy,
    refusals: Refusals,
    stderr: Vec<StderrText>,
    calls: u64,
    process: i32,
    program: &'static str,
}

fn run(command: &[&str]) -> Run {
    let argv: Vec<_> = command.iter().map(Into::into).collect();
    let mut report = Report::refused("readonly", &argv, Path::new(ROOT));
    report.status = Status::Completed;
    report.exit_code = Some(1);
    Run {
        report,
        policy: resolved("readonly", command[0]),
        refusals: Refusals::default(),
        stderr: Vec::new(),
        calls: 0,
        process: FIRST,
        program: "/usr/bin/python3.12",
    }
}

/// A shipped profile for a run of `/usr/bin/COMMAND` in [`ROOT`].
fn resolved(profile: &str, command: &str) -> Policy {
    policy::resolve(
        &Catalog::new(None).load(profile).unwrap(),
        &Circumstances {
            root: Path::new(ROOT),
            home: Some(Path::new(HOME)),
            environment: &[],
            command: &ResolvedCommand {
                program: Path::new("/usr/bin").join(command),
                argv: Vec::new(),
                executables: vec![Path::new("/usr/bin").join(command)],
                starts: 1,
                installation: Vec::new(),
                entrypoints: Vec::new(),
                variables: Vec::new(),
                left_out: None,
                search_path: Vec::new(),
            },
            entries: &[Entry {
                place: PathBuf::from(HOME),
                at: PathBuf::new(),
            }],
            opened: &[],
            closed: &[],
            own: &[PathBuf::from("/home/ada/.local/state/stockade")],
            programs: &[],
            models: &[],
            memory: None,
            additions: &Additions::NONE,
        },
    )
}

/// A refusal of something that exists and that nothing grants.
pub(super) fn refusal(kind: Kind, target: impl AsRef<[u8]>) -> Refusal {
    Refusal {
        kind,
        asked: target.as_ref().to_vec(),
        target: target.as_ref().to_vec(),
        exists: kind != Kind::Create,
        is_directory: false,
        syscall: if kind == Kind::Syscall {
            "io_uring_setup".into()
        } else {
            "openat".into()
        },
        pid: FIRST,
        program: b"/usr/bin/python3.12".to_vec(),
        at: Duration::ZERO,
        reason: Reason::NotGranted,
    }
}

fn secret(glob: &str) -> Reason {
    Reason::Denied(Box::new(policy::DenialRule {
        target: Target::Glob {
            below: PathBuf::from("/"),
            glob: glob.to_string(),
        },
        access: policy::Access::READ | policy::Access::WRITE,
        kind: DenialKind::SecretPattern,
        origin: crate::profile::Origin::BuiltIn,
    }))
}

impl Run {
    fn profile(mut self, name: &str) -> Self {
        self.policy = resolved(name, "python3.12");
        self.report.profile = name.to_string();
        self
    }

    fn exits(mut self, code: i32) -> Self {
        self.report.exit_code = Some(code);
        self
    }

    fn signalled(mut self, signal: &str) -> Self {
        self.report.exit_code = None;
        self.report.signal = Some(signal.to_string());
        self.report.status = Status::Signalled;
        self
    }

    /// The following events belong to this process.
    fn of(mut self, process: i32) -> Self {
        self.process = process;
        self
    }

    /// The program writes a text.
    fn says(self, text: &str) -> Self {
        self.writes(text, false)
    }

    /// The program writes a text to `/dev/null`.
    fn discards(self, text: &str) -> Self {
        self.writes(text, true)
    }

    fn writes(mut self, text: &str, is_discarded: bool) -> Self {
        self.calls += 1;
        self.stderr.push(StderrText {
            process: self.process,
            is_discarded,
            calls: self.calls,
            text: text.to_string(),
        });
        self
    }

    /// The program tells that it fails for a file or host.
    fn fails_on(self, target: &str) -> Self {
        self.says(&format!("cannot open '{target}': Permission denied\n"))
    }

    /// The program goes on with other work.
    fn goes_on(mut self) -> Self {
        self.calls += 50;
        self
    }

    /// The program of the next refusals.
    fn by(mut self, program: &'static str) -> Self {
        self.program = program;
        self
    }

    fn refused(mut self, mut refusal: Refusal) -> Self {
        self.calls += 1;
        refusal.at = Duration::from_micros(self.calls);
        refusal.pid = self.process;
        refusal.program = self.program.into();
        self.refusals.note(refusal, self.calls);
        self
    }

    fn tries(self, kind: Kind, target: &str) -> Self {
        self.refused(refusal(kind, target))
    }

    fn lists(self, target: &str) -> Self {
        self.refused(Refusal {
            is_directory: true,
            ..refusal(Kind::Read, target)
        })
    }

    /// Looks for a missing file.
    fn misses(self, target: &str) -> Self {
        self.refused(Refusal {
            exists: false,
            ..refusal(Kind::Read, target)
        })
    }

    fn judged(self) -> Report {
        self.judged_without(&[], &|_| None)
    }

    /// Without these variables and programs of the caller's.
    fn judged_without(mut self, variables: &[String], program: &dyn Fn(&str) -> Option<PathBuf>) -> Report {
        self.report.conclude(
            &self.refusals,
            &RunContext {
                policy: &self.policy,
                home: Some(Path::new(HOME)),
                stderr: &StderrTail {
                    texts: self.stderr,
                    calls: self.calls,
                },
                variables,
                program,
                order: &Resolved,
            },
        );
        self.report
    }
}

/// The shipped profiles, by their grants alone.
struct Resolved;

static LADDER: LazyLock<[Policy; 6]> = LazyLock::new(|| {
    let names = [
        "minimal",
        "readonly",
        "filesystem",
        "workspace",
        "network-api",
        "mcp-standard",
    ];
    names.map(|name| resolved(name, "python3.12"))
});

impl ProfileOrder for Resolved {
    fn lowest(&self, needs: &[Need<'_>]) -> Option<&'static str> {
        let lowest = LADDER
            .iter()
            .find(|policy| needs.iter().all(|need| allows(policy, need)));
        lowest.map(|policy| policy.profile.as_str())
    }
}

fn allows(policy: &Policy, need: &Need<'_>) -> bool {
    let mut grants = policy.grants.iter();
    match need {
        Need::Path(access, path) => grants.any(|grant| grant.access.contains(*access) && grant.covers(path)),
        Need::Hosts(reach) => **reach == NetworkPolicy::Nothing || policy.reach == NetworkPolicy::Everything,
        Need::Endpoint(endpoint, speech) => endpoint.is_open_in(&policy.reach, *speech),
        Need::Listen(_) => policy.reach == NetworkPolicy::Everything,
    }
}

fn explaining(report: &Report) -> Vec<&str> {
    report.explanation().map(|denial| denial.target.as_str()).collect()
}

fn perhaps(report: &Report) -> Vec<&str> {
    report.perhaps().map(|denial| denial.target.as_str()).collect()
}

fn flags(report: &Report) -> String {
    let suggestion = report.suggestion.as_ref().expect("there is a suggestion");
    let words: Vec<_> = suggestion.flags.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
