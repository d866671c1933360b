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
