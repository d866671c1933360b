//! How a report judges refusals: which explain a failure, in which order, and which grants it suggests.

mod course;
mod hosts;
mod programs;
mod promises;
mod refusals;

use std::collections::HashMap;
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

/// A run with refusals. By default it fails with exit code 1 after 100 ms.
struct Run {
    report: Report,
    policy: Policy,
    refusals: Refusals,
    said: Vec<Said>,
    calls: Vec<(Duration, i32)>,
    got: Vec<Got>,
    process: i32,
    clock: Duration,
    program: &'static str,
}

fn run(command: &[&str]) -> Run {
    let argv: Vec<_> = command.iter().map(Into::into).collect();
    let mut report = Report::refused("readonly", &argv, Path::new(ROOT));
    report.status = Status::Completed;
    report.exit_code = Some(1);
    report.duration_ms = 100;
    Run {
        report,
        policy: resolved("readonly", command[0]),
        refusals: Refusals::default(),
        said: Vec::new(),
        calls: Vec::new(),
        got: Vec::new(),
        process: FIRST,
        clock: Duration::from_millis(10),
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

    fn lasts(mut self, milliseconds: u64) -> Self {
        self.report.duration_ms = milliseconds;
        self
    }

    fn prints(mut self, text: &str) -> Self {
        self.said.push(Said {
            at: self.clock.max(Duration::from_millis(99)),
            process: FIRST,
            stream: Stream::Error,
            text: text.to_string(),
        });
        self
    }

    /// The following events belong to this process.
    fn of(mut self, process: i32) -> Self {
        self.process = process;
        self
    }

    /// The program writes a text, and may go on.
    fn says(mut self, text: &str) -> Self {
        self.clock += Duration::from_micros(50);
        self.said.push(Said {
            at: self.clock,
            process: self.process,
            stream: Stream::Error,
            text: text.to_string(),
        });
        self.clock += Duration::from_micros(50);
        self
    }

    /// The program is allowed an access.
    fn gets(mut self, kind: Kind, target: &str) -> Self {
        self.clock += Duration::from_micros(50);
        self.calls.push((self.clock, self.process));
        self.got.push(Got {
            at: self.clock,
            process: self.process,
            kind,
            target: target.as_bytes().to_vec(),
            is_new: !self.got.iter().any(|got| got.target == target.as_bytes()),
        });
        self
    }

    /// The program goes on with other work.
    fn goes_on(mut self) -> Self {
        for _ in 0..50 {
            self.clock += Duration::from_micros(50);
            self.calls.push((self.clock, self.process));
        }
        self
    }

    /// The program of the next refusals.
    fn by(mut self, program: &'static str) -> Self {
        self.program = program;
        self
    }

    fn refused(mut self, mut refusal: Refusal) -> Self {
        refusal.at = self.clock;
        refusal.pid = if refusal.pid == FIRST {
            self.process
        } else {
            refusal.pid
        };
        refusal.program = self.program.into();
        self.clock += Duration::from_micros(50);
        self.refusals.note(refusal);
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
        self.judged_without(&Nothing)
    }

    fn judged_without(mut self, withheld: &dyn Withheld) -> Report {
        self.report.judge(
            &self.refusals,
            &RunContext {
                policy: &self.policy,
                home: Some(Path::new(HOME)),
                timeline: &Timeline {
                    said: self.said.clone(),
                    calls: self.calls.clone(),
                    got: self.got.clone(),
                    parents: HashMap::from([(FIRST, 1), (FIRST + 1, FIRST), (FIRST + 2, FIRST)]),
                },
                withheld,
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

fn flags(report: &Report) -> String {
    let suggestion = report.suggestion.as_ref().expect("there is a suggestion");
    let words: Vec<_> = suggestion.flags.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
