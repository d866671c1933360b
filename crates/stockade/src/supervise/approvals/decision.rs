//! Turns an answer into a grant. An answer that doesn't fit the question counts as a no.

use std::sync::RwLock;

use super::approved_grants::ApprovedGrants;
use super::asking::Asking;
use super::writing::{Offered, What, words};
use crate::approve::{self, Answer, Choice, EscalationRequest, Lifetime, Requested};
use crate::mutex::write_lock;
use crate::policy::{self, Policy};
use crate::report::{Declined, Flag, FlagGrant, PathGrant, Refusal, path_of};
use crate::supervise::state::journal::Journal;

/// The outcome of an answer.
pub enum AnswerEffect {
    Yes(Box<Granting>),
    No(Declined),
}

/// A grant or profile and how long it lasts.
pub struct Granting {
    lifetime: Lifetime,
    subject: GrantSubject,
}

enum GrantSubject {
    Grant(FlagGrant),
    Profile(String, Box<Policy>),
}

/// Checks an answer against its question.
pub fn decide(asking: &Asking, request: &EscalationRequest, offered: &Offered, answer: &Answer) -> AnswerEffect {
    let (lifetime, extent) = match &answer.choice {
        Choice::Yes { lifetime, extent } => (*lifetime, extent),
        Choice::No { .. } => {
            return AnswerEffect::No(Declined {
                by: Some(answer.by.clone()),
                reason: answer.reason.clone(),
            });
        }
        Choice::Silence => {
            return AnswerEffect::No(Declined {
                by: None,
                reason: answer.reason.clone(),
            });
        }
    };
    let subject = match extent {
        approve::Extent::Requested => match &offered.what {
            What::Grant(grant) => Some(GrantSubject::Grant(grant.clone())),
            // `trusted` is granted only if the approver typed its name.
            What::Profile(name) if name != Requested::TYPED => profile(asking, name),
            What::Profile(_) => None,
        },
        approve::Extent::Wider => offered.wider.clone().map(GrantSubject::Grant),
        // Another profile might not even allow what was asked for, and the question would come again and again.
        approve::Extent::Profile(name) => match &offered.what {
            What::Profile(requested) if name == requested || name == Requested::TYPED => profile(asking, name),
            What::Profile(_) | What::Grant(_) => None,
        },
    };
    match subject {
        Some(subject) if request.lifetimes.contains(&lifetime) => AnswerEffect::Yes(Box::new(Granting {
            lifetime: lasting(lifetime, &subject, extent),
            subject,
        })),
        _ => AnswerEffect::No(Declined {
            by: Some("Stockade".into()),
            reason: Some(format!("the answer of {} doesn't fit the question", answer.by)),
        }),
    }
}

fn profile(asking: &Asking, name: &str) -> Option<GrantSubject> {
    let policy = asking.profiles.policy(name)?;
    Some(GrantSubject::Profile(name.to_string(), Box::new(policy)))
}

/// A wider grant or a profile lasts for the session at least: one access needs nothing wider.
fn lasting(lifetime: Lifetime, subject: &GrantSubject, extent: &approve::Extent) -> Lifetime {
    let is_wide = *extent == approve::Extent::Wider || matches!(subject, GrantSubject::Profile(..));
    if is_wide && lifetime == Lifetime::Once {
        Lifetime::Session
    } else {
        lifetime
    }
}

/// A yes to a file doesn't extend to a directory that the run puts in its place.
fn extent(grant: &FlagGrant, refusal: Option<&Refusal>) -> policy::GrantExtent {
    let is_file = |refusal: &Refusal| !refusal.is_directory && !matches!(&*refusal.syscall, "mkdir" | "mkdirat");
    let is_itself = |refusal: &Refusal| match grant {
        FlagGrant::Path(PathGrant { path, .. }) => path_of(&refusal.target) == Some(path),
        FlagGrant::Host(_) | FlagGrant::Listen(_) => false,
    };
    match refusal {
        Some(refusal) if is_itself(refusal) && is_file(refusal) => policy::GrantExtent::Single,
        _ => policy::GrantExtent::Subtree,
    }
}

impl Granting {
    /// Whether the grant outlasts the call.
    pub fn lasts(&self) -> bool {
        self.lifetime != Lifetime::Once
    }

    /// Adds a lasting grant, and stores it if it is for always. Returns the lifetime that was achieved.
    pub fn open(
        &self,
        opened: &RwLock<ApprovedGrants>,
        journal: &Journal,
        (request, refusal): (&EscalationRequest, Option<&Refusal>),
        answer: &Answer,
    ) -> Lifetime {
        if self.lasts() {
            let mut opened = write_lock(opened);
            match &self.subject {
                GrantSubject::Grant(grant) => opened.add(grant, extent(grant, refusal), &answer.by),
                GrantSubject::Profile(_, policy) => opened.add_profile(policy),
            }
        }
        if self.lifetime != Lifetime::Always {
            return self.lifetime;
        }
        let kept = match &self.subject {
            GrantSubject::Grant(grant) => journal.keep_grant(&grant.words(), request, answer),
            GrantSubject::Profile(name, _) => journal.keep_grant(&["--profile".into(), name.into()], request, answer),
        };
        if kept { Lifetime::Always } else { Lifetime::Session }
    }

    /// Adds, for one call, exactly what it asked for.
    pub fn for_one(&self, refusal: &Refusal, once: &mut ApprovedGrants, by: &str) {
        if self.lasts() {
            return;
        }
        let GrantSubject::Grant(grant) = &self.subject else {
            return;
        };
        match (grant, path_of(&refusal.target)) {
            (FlagGrant::Path(PathGrant { flag, .. }), Some(path)) if *flag != Flag::Socket => {
                let exact = FlagGrant::Path(PathGrant {
                    flag: *flag,
                    path: path.to_path_buf(),
                });
                once.add(&exact, policy::GrantExtent::Single, by);
            }
            _ => once.add(grant, policy::GrantExtent::Single, by),
        }
    }

    /// The grant as data for records and reports.
    pub fn requested(&self) -> Requested {
        match &self.subject {
            GrantSubject::Grant(grant) => Requested::Grants(vec![words(grant)]),
            GrantSubject::Profile(name, _) => Requested::Profile(name.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::approve::{Extent, Unit};
    use crate::policy::Access;
    use crate::report::Kind;
    use crate::supervise::approvals::writing;
    use crate::supervise::testing::{Silent, asking, journal, policy, refusal, run_config};

    /// A question with its offer.
    struct Asked {
        asking: Asking,
        refusal: Refusal,
        offered: Offered,
        request: EscalationRequest,
    }

    impl Asked {
        fn about(unit: Unit, kind: Kind, target: &str) -> Asked {
            let mut asking = asking(Silent);
            asking.unit = unit;
            let (policy, refusal) = (policy(Vec::new()), refusal(kind, target));
            let offered = writing::offered(&asking, &policy, &refusal).unwrap();
            let request = writing::request(&asking, &policy, &refusal, 1, &offered);
            Asked {
                asking,
                refusal,
                offered,
                request,
            }
        }

        fn decide(&self, answer: &Answer) -> AnswerEffect {
            decide(&self.asking, &self.request, &self.offered, answer)
        }

        fn granting(&self, answer: &Answer) -> Option<Granting> {
            match self.decide(answer) {
                AnswerEffect::Yes(granting) => Some(*granting),
                AnswerEffect::No(_) => None,
            }
        }

        /// The grants that last, and those of the call, after a yes.
        fn open(&self, answer: &Answer) -> (ApprovedGrants, ApprovedGrants, Lifetime) {
            let granting = self.granting(answer).expect("a yes");
            let lasting = RwLock::default();
            let journal = journal(run_config(policy(Vec::new())));
            let lifetime = granting.open(&lasting, &journal, (&self.request, Some(&self.refusal)), answer);
            let mut once = ApprovedGrants::default();
            granting.for_one(&self.refusal, &mut once, &answer.by);
            (lasting.into_inner().unwrap(), once, lifetime)
        }
    }

    fn yes(lifetime: Lifetime, extent: Extent) -> Answer {
        Answer {
            choice: Choice::Yes { lifetime, extent },
            ..Answer::no("ada")
        }
    }

    fn reads(grants: &ApprovedGrants, path: &str) -> bool {
        grants.path(Access::READ, Path::new(path))
    }

    #[test]
    fn a_yes_for_once_lasts_for_the_call_alone() {
        let asked = Asked::about(Unit::Grants, Kind::Read, "/w/d/a");
        let (lasting, once, lifetime) = asked.open(&yes(Lifetime::Once, Extent::Requested));
        assert_eq!(lifetime, Lifetime::Once);
        assert!(reads(&once, "/w/d/a") && !reads(&once, "/w/d/a/b") && !reads(&once, "/w/d/b"));
        assert!(!reads(&lasting, "/w/d/a"));
    }

    #[test]
    fn a_yes_for_the_session_gives_the_call_nothing_of_its_own() {
        let asked = Asked::about(Unit::Grants, Kind::Read, "/w/d/a");
        let (lasting, once, _) = asked.open(&yes(Lifetime::Session, Extent::Requested));
        assert!(reads(&lasting, "/w/d/a") && !reads(&once, "/w/d/a"));
    }

    #[test]
    fn a_yes_to_a_file_opens_no_directory_that_takes_its_place() {
        let mut asked = Asked::about(Unit::Grants, Kind::Read, "/w/d/a");
        let open = |asked: &Asked| asked.open(&yes(Lifetime::Session, Extent::Requested)).0;
        assert!(!reads(&open(&asked), "/w/d/a/b"));
        asked.refusal.is_directory = true;
        assert!(reads(&open(&asked), "/w/d/a/b"));
        asked.refusal.is_directory = false;
        asked.refusal.syscall = "mkdir".into();
        assert!(reads(&open(&asked), "/w/d/a/b"));
    }

    #[test]
    fn a_wider_yes_opens_what_was_offered_and_lasts_for_the_session_at_least() {
        let asked = Asked::about(Unit::Grants, Kind::Read, "/w/d/a");
        let answer = yes(Lifetime::Once, Extent::Wider);
        assert!(asked.granting(&answer).unwrap().lasts());
        let (lasting, _, lifetime) = asked.open(&answer);
        assert_eq!(lifetime, Lifetime::Session);
        assert!(reads(&lasting, "/w/d/b") && !reads(&lasting, "/w/e"));
    }

    #[test]
    fn a_wider_yes_where_nothing_wider_was_offered_is_a_no() {
        let asked = Asked::about(Unit::Grants, Kind::Read, "/etc/hosts");
        assert!(asked.offered.wider.is_none());
        assert!(asked.granting(&yes(Lifetime::Session, Extent::Wider)).is_none());
    }

    #[test]
    fn a_lifetime_that_was_not_offered_is_a_no_that_tells_whose_answer_it_was() {
        let mut asked = Asked::about(Unit::Grants, Kind::Read, "/w/d/a");
        asked.request.lifetimes = vec![Lifetime::Once];
        let AnswerEffect::No(declined) = asked.decide(&yes(Lifetime::Session, Extent::Requested)) else {
            panic!("it was a yes");
        };
        assert_eq!(declined.by.as_deref(), Some("Stockade"));
        assert!(declined.reason.unwrap().contains("ada"));
    }

    #[test]
    fn no_profile_answers_a_question_about_a_grant() {
        let asked = Asked::about(Unit::Grants, Kind::Read, "/w/d/a");
        for name in ["build", "trusted"] {
            let answer = yes(Lifetime::Session, Extent::Profile(name.into()));
            assert!(asked.granting(&answer).is_none(), "{name}");
        }
    }

    #[test]
    fn a_question_about_a_profile_is_answered_by_that_profile_or_by_trusted_typed() {
        let asked = Asked::about(Unit::Profile, Kind::Write, "/build/a");
        let granted = |extent| {
            asked
                .granting(&yes(Lifetime::Session, extent))
                .map(|one| one.requested())
        };
        let profile = |name: &str| Some(Requested::Profile(name.into()));
        assert_eq!(granted(Extent::Requested), profile("build"));
        assert_eq!(granted(Extent::Profile("build".into())), profile("build"));
        assert_eq!(granted(Extent::Profile("trusted".into())), profile("trusted"));
        assert_eq!(granted(Extent::Profile("other".into())), None);
        assert_eq!(granted(Extent::Wider), None);
    }

    #[test]
    fn trusted_is_granted_only_where_its_name_was_typed() {
        let asked = Asked::about(Unit::Profile, Kind::Write, "/elsewhere/a");
        assert!(asked.request.requested.must_be_typed());
        assert!(asked.granting(&yes(Lifetime::Session, Extent::Requested)).is_none());
        let typed = yes(Lifetime::Session, Extent::Profile("trusted".into()));
        assert!(asked.granting(&typed).is_some());
    }

    #[test]
    fn a_profile_opens_its_grants_until_the_run_ends() {
        let asked = Asked::about(Unit::Profile, Kind::Write, "/build/a");
        let (lasting, once, _) = asked.open(&yes(Lifetime::Session, Extent::Requested));
        assert!(lasting.path(Access::WRITE, Path::new("/build/b")));
        assert!(!once.path(Access::WRITE, Path::new("/build/a")));
    }

    #[test]
    fn always_lasts_for_the_session_where_no_observer_keeps_it() {
        let asked = Asked::about(Unit::Grants, Kind::Read, "/w/d/a");
        let (lasting, _, lifetime) = asked.open(&yes(Lifetime::Always, Extent::Requested));
        assert_eq!(lifetime, Lifetime::Session);
        assert!(reads(&lasting, "/w/d/a"));
    }

    #[test]
    fn a_no_has_its_author_and_silence_has_none() {
        let asked = Asked::about(Unit::Grants, Kind::Read, "/w/d/a");
        let declined = |answer: &Answer| match asked.decide(answer) {
            AnswerEffect::No(declined) => (declined.by, declined.reason),
            AnswerEffect::Yes(_) => panic!("it was a yes"),
        };
        let no = declined(&Answer::no("ada").because("not now"));
        assert_eq!(no, (Some("ada".into()), Some("not now".into())));
        assert_eq!(declined(&Answer::silence("late")), (None, Some("late".into())));
    }

    #[test]
    fn a_host_for_one_call_is_granted_as_it_was_offered() {
        let asked = Asked::about(Unit::Grants, Kind::Connect, "api.example.com:443");
        let (_, once, _) = asked.open(&yes(Lifetime::Once, Extent::Requested));
        assert!(
            once.name(&crate::profile::Name::parse("api.example.com").unwrap(), 443)
                .is_some()
        );
    }
}
