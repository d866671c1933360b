//! The decision on an access.

use crate::report::Reason;

/// The decision on an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessVerdict {
    /// Allowed, and Landlock grants it too.
    Static,
    /// Allowed: the supervisor acts on behalf of the target.
    OnBehalf,
    /// Allowed on behalf of the target because of an approval.
    Approved,
    /// Not allowed.
    Refused(Reason),
}

impl AccessVerdict {
    pub fn is_refused(&self) -> bool {
        matches!(self, AccessVerdict::Refused(_))
    }

    /// Whether the access is refused and no grant would help.
    pub fn is_closed(&self) -> bool {
        matches!(self, AccessVerdict::Refused(reason) if !reason.is_open())
    }

    /// Combines two verdicts: both must allow; the result is static only if both are.
    pub fn and(self, other: AccessVerdict) -> AccessVerdict {
        match (self, other) {
            (AccessVerdict::Refused(reason), _) | (_, AccessVerdict::Refused(reason)) => AccessVerdict::Refused(reason),
            (AccessVerdict::Approved, _) | (_, AccessVerdict::Approved) => AccessVerdict::Approved,
            (AccessVerdict::Static, AccessVerdict::Static) => AccessVerdict::Static,
            _ => AccessVerdict::OnBehalf,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AccessVerdict::{Approved, OnBehalf, Refused, Static};
    use super::*;
    use crate::policy::{Access, Capabilities, DenialKind, Target};
    use crate::supervise::testing::denial;

    #[test]
    fn one_refusal_refuses_whatever_the_other_policy_says() {
        for other in [Static, OnBehalf, Approved] {
            assert_eq!(
                Refused(Reason::NotGranted).and(other.clone()),
                Refused(Reason::NotGranted)
            );
            assert_eq!(other.and(Refused(Reason::NotGranted)), Refused(Reason::NotGranted));
        }
    }

    #[test]
    fn of_two_refusals_the_first_is_told() {
        let incapable = || Refused(Reason::Incapable(Capabilities::WRITE));
        assert_eq!(incapable().and(Refused(Reason::NotGranted)), incapable());
        assert_eq!(
            Refused(Reason::NotGranted).and(incapable()),
            Refused(Reason::NotGranted)
        );
    }

    #[test]
    fn landlock_decides_alone_only_where_both_policies_leave_it_to_landlock() {
        assert_eq!(Static.and(Static), Static);
        assert_eq!(Static.and(OnBehalf), OnBehalf);
        assert_eq!(OnBehalf.and(Static), OnBehalf);
        assert_eq!(OnBehalf.and(OnBehalf), OnBehalf);
    }

    #[test]
    fn what_relies_on_an_answer_for_one_policy_relies_on_it_for_both() {
        for other in [Static, OnBehalf, Approved] {
            assert_eq!(Approved.and(other.clone()), Approved);
            assert_eq!(other.and(Approved), Approved);
        }
    }

    #[test]
    fn an_access_is_closed_where_no_grant_would_help() {
        let denial = denial(Target::GitDirectories, Access::CHANGE, DenialKind::Guarded);
        assert!(Refused(Reason::Denied(Box::new(denial))).is_closed());
        assert!(Refused(Reason::Never("never".into())).is_closed());
        assert!(!Refused(Reason::NotGranted).is_closed());
        assert!(!Approved.is_closed() && !Approved.is_refused());
    }
}
