//! Derives a report's denials from refusals. Pure: all facts about the run are passed in.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::Report;
use super::course::Timeline;
use super::denial::Denial;
use super::grant::{self, FlagGrant, GrantLimits, path_of};
use super::host::{self, Endpoint};
use super::likelihood::{Weighed, weigh};
use super::refusal::{Reason, Refusal, Refusals};
use super::suggestion::{self, Suggestion};
use super::timeline::{Cause, Withheld};
use crate::policy::Kind;
use crate::policy::{Access, Matcher, NetworkPolicy, Policy, ProtocolCheck};
use crate::profile::Origin;
use stockade_text::mask::looks_secret;

/// Most denials marked as explaining a failure; a suggestion may cover more of the same.
const MOST_EXPLAINING: usize = 4;

/// The facts about a run that its report lacks.
pub struct RunContext<'a> {
    /// The run's policy.
    pub policy: &'a Policy,
    /// The caller's home.
    pub home: Option<&'a Path>,
    /// The texts and calls towards the run's end.
    pub timeline: &'a Timeline,
    /// Parts of the caller's environment that the run didn't get.
    pub withheld: &'a dyn Withheld,
    /// The shipped profiles.
    pub order: &'a dyn ProfileOrder,
}

/// An access that a profile may allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need<'a> {
    /// An access to a path that no denial closes.
    Path(Access, &'a Path),
    /// All of these hosts.
    Hosts(&'a NetworkPolicy),
    /// A host, with the protocol check.
    Endpoint(Endpoint, ProtocolCheck),
    /// Listening on a port of the loopback interface.
    Listen(u16),
}

/// The shipped profiles, resolved for one run.
pub trait ProfileOrder {
    /// The lowest profile that would allow all of these; never `trusted`.
    fn lowest(&self, needs: &[Need<'_>]) -> Option<&'static str>;
}

/// The result.
pub struct Judgement {
    pub denials: Vec<Denial>,
    pub suggestion: Option<Suggestion>,
    /// Whether a refusal may be the cause, and the evidence doesn't tell which.
    pub unsure: bool,
}

/// The facts that `likelihood` needs.
pub struct LikelihoodFacts<'a> {
    pub run_context: &'a RunContext<'a>,
    pub command: &'a [String],
    pub duration: Duration,
    /// Whether the run failed in a way that a refusal may have caused.
    pub failed: bool,
    /// The signal that ended it.
    pub signal: Option<&'a str>,
}

/// Judges all refusals of a run that has ended.
pub fn judge(refusals: &Refusals, report: &Report, run_context: &RunContext<'_>) -> Judgement {
    let facts = LikelihoodFacts {
        run_context,
        command: &report.command,
        duration: Duration::from_millis(report.duration_ms),
        failed: has_failed(report),
        signal: report.signal.as_deref(),
    };
    let (weighed, cause) = weigh(refusals.list(), &facts);
    let grant_limits = GrantLimits::new(run_context.policy, run_context.home, &report.command);
    let refused = weighed
        .iter()
        .enumerate()
        .map(|(rank, weighed)| denial(weighed, rank, run_context, &grant_limits));
    let withheld = withheld(&cause, report);
    let suggestion = match &withheld {
        None => suggest(&weighed, run_context, &grant_limits),
        Some(denial) => denial.grant.clone().map(|flags| Suggestion { flags, profile: None }),
    };
    Judgement {
        denials: withheld.iter().cloned().chain(refused).collect(),
        suggestion,
        unsure: cause == Cause::Unsure,
    }
}

/// A denial for a failure that wasn't refused: the run lacked a variable or program.
fn withheld(cause: &Cause, report: &Report) -> Option<Denial> {
    let (access, target, grant): (Kind, String, Option<[OsString; 2]>) = match cause {
        Cause::Refusals(_) | Cause::Unsure => return None,
        // A program's output must not lead a person to hand it a secret.
        Cause::Variable(name) if looks_secret(name.as_ref()) => (Kind::Variable, name.clone(), None),
        Cause::Variable(name) => (Kind::Variable, name.clone(), Some(["--env".into(), name.into()])),
        Cause::Program(path) => {
            let directory = path.parent().unwrap_or(path);
            let target = path.to_string_lossy().into_owned();
            (Kind::Execute, target, Some(["--exec".into(), directory.into()]))
        }
    };
    Some(Denial {
        access,
        asked: target.clone(),
        target,
        syscall: "execve".into(),
        pid: 0,
        program: report.command.first().cloned().unwrap_or_default(),
        count: 1,
        at_ms: 0,
        rule: None,
        capability: None,
        explains: true,
        grant: grant.map(Into::into),
        profile: None,
    })
}

/// A limit isn't a refusal, and neither is a user who ends the run, by a signal or by a key that a shell passes on.
fn has_failed(report: &Report) -> bool {
    const FATAL: [&str; 7] = ["SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGSYS", "SIGTRAP"];
    const ENDED: [i32; 6] = [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGKILL,
        libc::SIGPIPE,
        libc::SIGTERM,
    ];
    const SIGNALLED: i32 = 128;
    if report.limit.is_some() {
        return false;
    }
    match (&report.signal, report.exit_code) {
        (Some(signal), _) => FATAL.contains(&signal.as_str()),
        (None, Some(code)) => code != 0 && !ENDED.contains(&(code - SIGNALLED)),
        (None, None) => false,
    }
}

fn denial(weighed: &Weighed<'_>, rank: usize, run_context: &RunContext<'_>, grant_limits: &GrantLimits<'_>) -> Denial {
    let refusal = &weighed.counted.first;
    let profile = need(refusal).and_then(|need| lowest(&[need], run_context));
    Denial {
        explains: weighed.explains && rank < MOST_EXPLAINING,
        grant: grant::least(refusal, grant_limits).map(|grant| grant.words()),
        profile,
        ..Denial::of(weighed.counted)
    }
}

/// The access that a profile would have to allow; `None` if none can.
fn need(refusal: &Refusal) -> Option<Need<'_>> {
    if !refusal.reason.is_open() {
        return None;
    }
    let speech = match refusal.reason {
        Reason::Limited(_) => ProtocolCheck::Anything,
        _ => ProtocolCheck::Checked,
    };
    match refusal.kind {
        Kind::Connect | Kind::Resolve => Some(match host::endpoint_of(refusal) {
            Some(endpoint) => Need::Endpoint(endpoint, speech),
            None => Need::Hosts(&NetworkPolicy::Everything),
        }),
        Kind::Listen => host::listen_port(refusal).map(Need::Listen),
        kind => Some(Need::Path(access(kind)?, path_of(&refusal.target)?)),
    }
}

fn access(kind: Kind) -> Option<Access> {
    match kind {
        Kind::Read => Some(Access::READ),
        Kind::Write | Kind::Create | Kind::Delete | Kind::Metadata => Some(Access::WRITE),
        Kind::Execute => Some(Access::EXECUTE),
        _ => None,
    }
}

fn suggest(
    weighed: &[Weighed<'_>],
    run_context: &RunContext<'_>,
    grant_limits: &GrantLimits<'_>,
) -> Option<Suggestion> {
    let open: Vec<&Refusal> = weighed
        .iter()
        .filter(|weighed| weighed.explains && weighed.counted.first.reason.is_open())
        .map(|weighed| &weighed.counted.first)
        .collect();
    if open.is_empty() {
        return None;
    }
    let profile = profile_for(&open, run_context);
    let wanted: Vec<(Kind, FlagGrant)> = open
        .iter()
        .filter_map(|refusal| Some((refusal.kind, grant::least(refusal, grant_limits)?)))
        .collect();
    let grants = suggestion::fold(wanted, grant_limits, &Matcher::new(run_context.policy));
    let flags = suggestion::flags(&grants, profile.is_some());
    (!flags.is_empty() || profile.is_some()).then_some(Suggestion { flags, profile })
}

/// The lowest profile that allows the refused accesses and everything that the run's own profile grants: a run that
/// succeeds here must not fail there.
fn profile_for(open: &[&Refusal], run_context: &RunContext<'_>) -> Option<String> {
    let is_profiles = |origin: &Origin| matches!(origin, Origin::Shipped { .. } | Origin::File { .. });
    // No shipped profile grants a socket.
    if run_context
        .policy
        .sockets
        .iter()
        .any(|socket| is_profiles(&socket.origin))
    {
        return None;
    }
    let needs: Option<Vec<Need<'_>>> = open.iter().map(|refusal| need(refusal)).collect();
    let mut needs = needs?;
    needs.push(Need::Hosts(&run_context.policy.reach));
    needs.extend(run_context.policy.listen.iter().map(|grant| Need::Listen(grant.port)));
    for grant in &run_context.policy.grants {
        if is_profiles(&grant.origin) {
            needs.extend(grant.access.iter().map(|access| Need::Path(access, &grant.path)));
        }
    }
    lowest(&needs, run_context)
}

/// The lowest profile that allows the refused access and everything that the run's own profile grants; never `trusted`.
pub fn profile_that_allows(refusal: &Refusal, run_context: &RunContext<'_>) -> Option<String> {
    profile_for(&[refusal], run_context)
}

/// The run's own profile is excluded: it refused this.
fn lowest(needs: &[Need<'_>], run_context: &RunContext<'_>) -> Option<String> {
    let found = run_context.order.lowest(needs)?;
    (found != run_context.policy.profile).then(|| found.to_string())
}
