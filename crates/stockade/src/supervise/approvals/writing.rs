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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approve::{Answer, Approver, Deadline};
    use crate::policy::{Access, DenialKind, Target};
    use crate::supervise::testing::{Silent, asking, denial, policy, refusal};

    struct Person;

    impl Approver for Person {
        fn ask(&self, _: &EscalationRequest, _: &Deadline) -> Answer {
            Answer::no("ada")
        }

        fn may_open_guarded(&self) -> bool {
            true
        }
    }

    fn written(asking: &Asking, refusal: &Refusal) -> Option<EscalationRequest> {
        let policy = policy(Vec::new());
        let offered = offered(asking, &policy, refusal)?;
        Some(request(asking, &policy, refusal, 4, &offered))
    }

    /// A refusal to write a file that a tool obeys.
    fn guarded() -> Refusal {
        let glob = Target::Glob {
            below: "/".into(),
            glob: "**/.gdbinit".into(),
        };
        let mut refusal = refusal(Kind::Write, "/w/.gdbinit");
        refusal.reason = Reason::Denied(Box::new(denial(glob, Access::CHANGE, DenialKind::Guarded)));
        refusal
    }

    fn grants(words: &[&str]) -> Requested {
        Requested::Grants(vec![words.iter().map(ToString::to_string).collect()])
    }

    #[test]
    fn the_request_names_the_flag_that_would_grant_it_and_the_wider_one() {
        let request = written(&asking(Silent), &refusal(Kind::Read, "/w/d/a")).unwrap();
        assert_eq!(request.id, "run-4");
        assert_eq!(request.requested, grants(&["--read", "/w/d/a"]));
        assert_eq!(request.wider, Some(grants(&["--read", "/w/d"])));
        assert_eq!(request.reason, "PermissionDenied: read /w/d/a");
        assert_eq!(request.evidence.why, "nothing grants it");
        assert!(request.live);
    }

    #[test]
    fn nothing_is_asked_about_a_file_that_does_not_exist() {
        let mut missing = refusal(Kind::Read, "/w/d/a");
        missing.exists = false;
        assert!(written(&asking(Silent), &missing).is_none());
    }

    #[test]
    fn a_program_is_not_asked_about_guarded_files_and_a_person_is() {
        assert!(written(&asking(Silent), &guarded()).is_none());
        let request = written(&asking(Person), &guarded()).unwrap();
        assert_eq!(request.requested, grants(&["--write-guarded", "/w/.gdbinit"]));
        assert_eq!(request.wider, None);
        assert!(
            request
                .evidence
                .warning
                .unwrap()
                .starts_with("obeyed without a question")
        );
    }

    #[test]
    fn a_guarded_file_is_never_opened_for_later_runs() {
        let request = written(&asking(Person), &guarded()).unwrap();
        assert_eq!(request.lifetimes, [Lifetime::Once, Lifetime::Session]);
    }

    #[test]
    fn a_guarded_file_is_asked_about_as_a_grant_also_where_profiles_are_the_unit() {
        let mut asking = asking(Person);
        asking.unit = Unit::Profile;
        let request = written(&asking, &guarded()).unwrap();
        assert!(matches!(request.requested, Requested::Grants(_)));
    }

    #[test]
    fn a_profile_is_not_granted_for_one_access() {
        let mut asking = asking(Silent);
        asking.unit = Unit::Profile;
        let request = written(&asking, &refusal(Kind::Write, "/build/a")).unwrap();
        assert_eq!(request.requested, Requested::Profile("build".into()));
        assert_eq!(request.lifetimes, [Lifetime::Session, Lifetime::Always]);
    }

    #[test]
    fn where_no_profile_allows_it_trusted_has_to_be_typed() {
        let mut asking = asking(Silent);
        asking.unit = Unit::Profile;
        let request = written(&asking, &refusal(Kind::Write, "/elsewhere/a")).unwrap();
        assert!(request.requested.must_be_typed());
    }

    #[test]
    fn a_person_is_warned_of_sockets_and_of_whole_directories() {
        let warned = |refusal: &Refusal| written(&asking(Silent), refusal).unwrap().evidence.warning;
        assert!(
            warned(&refusal(Kind::Socket, "/w/d/s"))
                .unwrap()
                .contains("outside the sandbox")
        );
        assert_eq!(warned(&refusal(Kind::Read, "/w/d/a")), None);
        let mut directory = refusal(Kind::Read, "/w/d/a");
        directory.is_directory = true;
        assert!(warned(&directory).unwrap().contains("everything below it"));
    }

    #[test]
    fn a_target_that_is_no_text_is_written_lossily() {
        let mut odd = refusal(Kind::Read, "/w/d/a");
        odd.target = b"/w/d/\xff".to_vec();
        let request = written(&asking(Silent), &odd).unwrap();
        assert_eq!(request.evidence.target, "/w/d/\u{fffd}");
    }
}
