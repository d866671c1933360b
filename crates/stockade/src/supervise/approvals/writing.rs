//! The question as data: the offered grants and the request for the approver.

use super::asking::Asking;
use crate::approve::{EscalationRequest, Evidence, Lifetime, Requested, Unit, VERSION};
use crate::policy::Policy;
use crate::report::{self, Flag, FlagGrant, Kind, PathGrant, Reason, Refusal, RefusingRule, Setting};

/// The grants offered for a yes.
pub struct Offered {
    /// The requested grant or profile.
    pub what: What,
    /// The grant that the answer `wider` gives.
    pub wider: Option<FlagGrant>,
}

/// A requested grant or profile.
pub enum What {
    Grant(FlagGrant),
    Profile(String),
}

/// The offer for a refused access; `None` if nothing sensible would allow it.
pub fn offered(asking: &Asking, policy: &Policy, refusal: &Refusal) -> Option<Offered> {
    let setting = Setting {
        policy,
        home: asking.home.as_deref(),
        command: &asking.command,
        opens_guarded: asking.approver.may_open_guarded(),
    };
    let offer = report::offer(refusal, &setting)?;
    let (what, wider) = match asking.unit {
        // No profile opens it.
        _ if opens_guarded(&offer.exact) => (What::Grant(offer.exact), None),
        Unit::Grants => (What::Grant(offer.exact), offer.wider),
        Unit::Profile => {
            let lowest = asking.profiles.lowest(refusal);
            (What::Profile(lowest.unwrap_or_else(|| Requested::TYPED.into())), None)
        }
    };
    Some(Offered { what, wider })
}

/// Builds the request for the approver.
pub fn request(
    asking: &Asking,
    policy: &Policy,
    refusal: &Refusal,
    number: usize,
    offered: &Offered,
) -> EscalationRequest {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    EscalationRequest {
        version: VERSION,
        id: format!("{}-{number}", asking.run),
        run: asking.run.clone(),
        capability_id: asking.script.clone(),
        current_profile: policy.profile.clone(),
        requested: match &offered.what {
            What::Grant(grant) => Requested::Grants(vec![words(grant)]),
            What::Profile(name) => Requested::Profile(name.clone()),
        },
        wider: offered
            .wider
            .as_ref()
            .map(|grant| Requested::Grants(vec![words(grant)])),
        reason: format!("PermissionDenied: {} {}", refusal.kind.name(), lossy(&refusal.target)),
        evidence: Evidence {
            access: refusal.kind,
            target: lossy(&refusal.target),
            asked: lossy(&refusal.asked),
            syscall: refusal.syscall.to_string(),
            pid: refusal.pid,
            program: lossy(&refusal.program),
            command: asking.command.clone(),
            root: policy.root.to_string_lossy().into_owned(),
            agent: asking.agent.clone(),
            why: match &refusal.reason {
                Reason::Limited(why) if refusal.kind.changes() => why.to_string(),
                Reason::Denied(_) => RefusingRule::of(&refusal.reason).map_or_else(String::new, |rule| rule.text),
                _ => "nothing grants it".into(),
            },
            warning: warning(refusal),
            at_ms: u64::try_from(refusal.at.as_millis()).unwrap_or(u64::MAX),
        },
        lifetimes: match offered.what {
            // A later run asks again about a guarded file.
            What::Grant(ref grant) => {
                let lasting = asking.lifetimes.iter().copied();
                lasting
                    .filter(|lifetime| *lifetime != Lifetime::Always || !opens_guarded(grant))
                    .collect()
            }
            // A profile isn't granted for one access.
            What::Profile(_) => {
                let lasting = asking.lifetimes.iter().copied();
                lasting.filter(|lifetime| *lifetime != Lifetime::Once).collect()
            }
        },
        granted_beside: 0,
        refused_beside: 0,
        live: true,
        timeout_ms: u64::try_from(asking.timeout.as_millis()).unwrap_or(u64::MAX),
    }
}

fn opens_guarded(grant: &FlagGrant) -> bool {
    matches!(
        grant,
        FlagGrant::Path(PathGrant {
            flag: Flag::WriteGuarded,
            ..
        })
    )
}

/// The words of a grant's flag, as text.
pub fn words(grant: &FlagGrant) -> Vec<String> {
    let words = grant.words();
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// A warning that a person should see before a yes.
fn warning(refusal: &Refusal) -> Option<String> {
    match refusal.kind {
        Kind::Socket => Some("whatever listens on this socket acts with your powers, outside the sandbox".into()),
        _ if let Reason::Denied(denial) = &refusal.reason => {
            let line = denial.openable_line()?;
            Some(format!("obeyed without a question: {}", line.holds()))
        }
        Kind::Read if refusal.is_directory => Some("a yes to a directory is one to everything below it".into()),
        _ => None,
    }
}
