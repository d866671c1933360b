//! Derives a report's denials from refusals. Pure: all facts about the run are passed in.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use super::Report;
use super::denial::{Denial, Explains};
use super::explanation::{Explanation, Missing, explain};
use super::grant::{self, FlagGrant, GrantLimits, path_of};
use super::host::{self, Endpoint};
use super::refusal::{Counted, Reason, Refusal, Refusals};
use super::stderr::StderrTail;
use super::suggestion::{self, SuggestedGrant, Suggestion};
use crate::policy::Kind;
use crate::policy::{Access, Matcher, NetworkPolicy, Policy, ProtocolCheck};
use crate::profile::Origin;
use stockade_text::mask::looks_secret;

/// Most denials marked as explaining a failure; a suggestion may cover more of the same.
const MAX_EXPLAINING: usize = 4;

/// The facts about a run that its report lacks.
pub struct RunContext<'a> {
    /// The run's policy.
    pub policy: &'a Policy,
    /// The caller's home.
    pub home: Option<&'a Path>,
    /// The end of its standard error.
    pub stderr: &'a StderrTail,
    /// The names of the caller's variables that the run didn't get.
    pub variables: &'a [String],
    /// A program in a directory of the caller's search path that the run's lacks.
    pub program: &'a dyn Fn(&str) -> Option<PathBuf>,
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
pub struct Conclusion {
    pub denials: Vec<Denial>,
    pub suggestion: Option<Suggestion>,
}

/// The facts that an explanation needs.
pub struct FailureFacts<'a> {
    pub run_context: &'a RunContext<'a>,
    pub command: &'a [String],
    /// Whether the run failed in a way that a refusal may have caused.
    pub failed: bool,
}

/// Judges all refusals of a run that has ended.
pub fn conclude(refusals: &Refusals, report: &Report, run_context: &RunContext<'_>) -> Conclusion {
    let list = refusals.list();
    let facts = FailureFacts {
        run_context,
        command: &report.command,
        failed: has_failed(report),
    };
    let explanation = explain(list, &facts);
    let grant_limits = GrantLimits::new(run_context.policy, run_context.home, &report.command);
    let missing = explanation.missing.as_ref().map(|missing| denial_of(missing, report));
    let refused = in_order(list, &explanation)
        .into_iter()
        .map(|(index, explains)| Denial {
            explains,
            usual: explanation.noise.contains(&index),
            ..denial(&list[index], run_context, &grant_limits)
        });
    let denials: Vec<Denial> = missing.into_iter().chain(refused).collect();
    let reasons: Vec<&Refusal> = explanation.reasons.iter().map(|index| &list[*index].first).collect();
    let suggestion = match (denials.first(), reasons.is_empty()) {
        (_, false) => suggest(&reasons, run_context, &grant_limits),
        (Some(first), true) if first.explains == Explains::Yes => first.grant.clone().map(Suggestion::of_flags),
        _ => Suggestion::of_candidates(candidates(&denials)),
    };
    Conclusion { denials, suggestion }
}

/// The refusals with what they explain: first the reason or what may be it, then the others, the latest first, and what
/// programs live with last.
fn in_order(list: &[Counted], explanation: &Explanation) -> Vec<(usize, Explains)> {
    let reasons = explanation.reasons.iter().enumerate();
    let reasons = reasons.map(|(rank, index)| {
        (
            *index,
            if rank < MAX_EXPLAINING {
                Explains::Yes
            } else {
                Explains::No
            },
        )
    });
    let perhaps = explanation.perhaps.iter().map(|index| (*index, Explains::Perhaps));
    let mut order: Vec<(usize, Explains)> = reasons.chain(perhaps).collect();
    let mut others: Vec<usize> = (0..list.len())
        .filter(|index| order.iter().all(|(one, _)| one != index))
        .collect();
    others.sort_by_key(|index| (explanation.noise.contains(index), Reverse(list[*index].last_at)));
    order.extend(others.into_iter().map(|index| (index, Explains::No)));
    order
}

/// What would allow each of those that may be the reason.
fn candidates(denials: &[Denial]) -> Vec<SuggestedGrant> {
    let perhaps = denials.iter().filter(|denial| denial.explains == Explains::Perhaps);
    perhaps
        .map(|denial| SuggestedGrant {
            access: denial.access,
            target: denial.target.clone(),
            flags: denial.grant.clone().unwrap_or_default(),
            profile: denial.profile.clone(),
        })
        .collect()
}

/// A denial for a failure that wasn't refused: the run lacked a variable or program.
fn denial_of(missing: &Missing, report: &Report) -> Denial {
    let (access, target, grant) = match missing {
        // A program's output must not lead a person to hand it a secret.
        Missing::Variable(name) if looks_secret(name.as_ref()) => (Kind::Variable, name.clone(), None),
        Missing::Variable(name) => (Kind::Variable, name.clone(), Some(["--env".into(), name.into()])),
        Missing::Program(path) => {
            let directory = path.parent().unwrap_or(path);
            let target = path.to_string_lossy().into_owned();
            (Kind::Execute, target, Some(["--exec".into(), directory.into()]))
        }
    };
    Denial {
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
        explains: Explains::Yes,
        usual: false,
        grant: grant.map(Into::into),
        profile: None,
    }
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

fn denial(counted: &Counted, run_context: &RunContext<'_>, grant_limits: &GrantLimits<'_>) -> Denial {
    let refusal = &counted.first;
    let profile = need(refusal).and_then(|need| lowest(&[need], run_context));
    Denial {
        grant: grant::least(refusal, grant_limits).map(|grant| grant.words()),
        profile,
        ..Denial::of(counted)
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

fn suggest(reasons: &[&Refusal], run_context: &RunContext<'_>, grant_limits: &GrantLimits<'_>) -> Option<Suggestion> {
    let open: Vec<&Refusal> = reasons
        .iter()
        .copied()
        .filter(|refusal| refusal.reason.is_open())
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
    (!flags.is_empty() || profile.is_some()).then_some(Suggestion {
        flags,
        profile,
        candidates: Vec::new(),
    })
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
