//! The proofs for `CONTINUE`: the only way to let the kernel make a call.

use crate::plan::{Reading, Supervision};
use crate::supervise::call::registers::Registers;

/// Proof that a call may be continued, whatever the target's memory holds by then. Only this module creates one.
#[derive(Debug)]
pub struct MayContinue(());

impl MayContinue {
    /// For decisions by the call's registers alone, which can't change.
    pub fn registers_decided(_registers: &Registers) -> Self {
        MayContinue(())
    }

    /// For opens: where Landlock grants no more reading than the policy does, or where the registers ask for write
    /// access, which Landlock grants in no supervised tree.
    pub fn open(supervision: Supervision, access: RegisterAccess) -> Option<Self> {
        let judged = match (supervision.reading, access) {
            // Flags in memory may have changed to anything by then.
            (Reading::Landlock, RegisterAccess::Truncates | RegisterAccess::Unknown) => {
                supervision.landlock_abi >= LANDLOCK_TRUNCATE
            }
            (_, RegisterAccess::Writes) | (Reading::Landlock, RegisterAccess::Reads) => true,
            (Reading::Supervisor, _) => false,
        };
        judged.then_some(MayContinue(()))
    }

    /// For changes of directories: Landlock grants none of these rights in a supervised tree. It handles moves between
    /// directories from ABI 2 on, and truncation from ABI 3 on.
    pub fn change(supervision: Supervision, change: Change) -> Option<Self> {
        let since = match change {
            Change::Entry => 1,
            Change::Move => 2,
            Change::Truncate => LANDLOCK_TRUNCATE,
        };
        (supervision.landlock_abi >= since).then_some(MayContinue(()))
    }

    /// For asking whether something may be accessed: it tells no more than stat(2), which isn't mediated.
    pub fn access() -> Self {
        MayContinue(())
    }

    /// For executing: Landlock alone decides, and the supervisor can't narrow it.
    pub fn execute() -> Self {
        MayContinue(())
    }
}

const LANDLOCK_TRUNCATE: i32 = 3;

/// The access that an open asks for, according to its registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterAccess {
    /// Reading.
    Reads,
    /// Writing, and perhaps reading.
    Writes,
    /// Reading and truncating.
    Truncates,
    /// Unknown: the flags are in memory.
    Unknown,
}

/// A change that Landlock handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Making or removing an entry.
    Entry,
    /// Renaming or linking between directories.
    Move,
    /// Truncating by path.
    Truncate,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Trace;

    #[test]
    fn flags_in_memory_are_continued_only_where_landlock_judges_truncating_too() {
        let at = |landlock_abi, reading| Supervision {
            reading,
            trace: Trace::Exact,
            landlock_abi,
        };
        let may = |abi, reading, access| MayContinue::open(at(abi, reading), access).is_some();
        for access in [RegisterAccess::Unknown, RegisterAccess::Truncates] {
            assert!(may(3, Reading::Landlock, access));
            assert!(!may(2, Reading::Landlock, access));
            assert!(!may(7, Reading::Supervisor, access));
        }
        assert!(may(1, Reading::Landlock, RegisterAccess::Reads));
        assert!(!may(7, Reading::Supervisor, RegisterAccess::Reads));
        assert!(may(1, Reading::Supervisor, RegisterAccess::Writes));
    }
}
