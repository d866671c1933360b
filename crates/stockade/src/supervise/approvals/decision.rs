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
