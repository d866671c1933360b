//! The decision on an access.

use crate::report::Reason;

/// The decision on an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessVerdict {
    /// Allowed.
    Allowed(By),
    /// Not allowed.
    Refused(Reason),
}

/// The ring that grants an allowed access, the kernel's first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// Landlock grants it too.
    Landlock,
    /// The supervisor alone: it acts on behalf of the target.
    Supervisor,
    /// An approval: the supervisor acts on behalf of the target.
    Approval,
}

impl AccessVerdict {
    pub fn is_refused(&self) -> bool {
        matches!(self, AccessVerdict::Refused(_))
    }

    /// Whether the access is refused and no grant would help.
    pub fn is_closed(&self) -> bool {
        matches!(self, AccessVerdict::Refused(reason) if !reason.is_open())
    }

    /// Combines two verdicts: both must allow, and Landlock must grant both for it to grant the whole.
    pub fn and(self, other: AccessVerdict) -> AccessVerdict {
        match (self, other) {
            (AccessVerdict::Refused(reason), _) | (_, AccessVerdict::Refused(reason)) => AccessVerdict::Refused(reason),
            (AccessVerdict::Allowed(one), AccessVerdict::Allowed(other)) => AccessVerdict::Allowed(one.max(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AccessVerdict::{Allowed, Refused};
    use super::*;
    use crate::policy::{Access, Capabilities, DenialKind, Target};
    use crate::supervise::testing::denial;

    #[test]
    fn one_refusal_refuses_whatever_the_other_policy_says() {
        for other in [Allowed(By::Landlock), Allowed(By::Supervisor), Allowed(By::Approval)] {
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
        assert_eq!(Allowed(By::Landlock).and(Allowed(By::Landlock)), Allowed(By::Landlock));
        assert_eq!(
            Allowed(By::Landlock).and(Allowed(By::Supervisor)),
            Allowed(By::Supervisor)
        );
        assert_eq!(
            Allowed(By::Supervisor).and(Allowed(By::Landlock)),
            Allowed(By::Supervisor)
        );
        assert_eq!(
            Allowed(By::Supervisor).and(Allowed(By::Supervisor)),
            Allowed(By::Supervisor)
        );
    }

    #[test]
    fn what_relies_on_an_answer_for_one_policy_relies_on_it_for_both() {
        for other in [Allowed(By::Landlock), Allowed(By::Supervisor), Allowed(By::Approval)] {
            assert_eq!(Allowed(By::Approval).and(other.clone()), Allowed(By::Approval));
            assert_eq!(other.and(Allowed(By::Approval)), Allowed(By::Approval));
        }
    }

    #[test]
    fn an_access_is_closed_where_no_grant_would_help() {
        let denial = denial(Target::GitDirectories, Access::CHANGE, DenialKind::Guarded);
        assert!(Refused(Reason::Denied(Box::new(denial))).is_closed());
        assert!(Refused(Reason::Never("never".into())).is_closed());
        assert!(!Refused(Reason::NotGranted).is_closed());
        assert!(!Allowed(By::Approval).is_closed() && !Allowed(By::Approval).is_refused());
    }
}
