//! The proofs for `CONTINUE`: the only way to let the kernel make a call.
//!
//! | constructor | why it is safe |
//! |---|---|
//! | [`MayContinue::registers_decided`] | nothing in memory was looked at |
//! | [`MayContinue::open`], [`MayContinue::change`] | Landlock refuses what the policy does, whatever memory holds |
//! | [`MayContinue::execute`] | Landlock alone decides; it can't be narrowed below that |
//! | [`MayContinue::access`] | it tells no more than stat(2), which isn't handed over |
//!
//! Paths of the base that were continued are remembered by their text, and continued again without a look: Landlock
//! judges them in any case, and at worst a refusal goes without a note.

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
            (Reading::Landlock, RegisterAccess::Truncates) => supervision.landlock_abi >= LANDLOCK_TRUNCATE,
            (_, RegisterAccess::Writes) | (Reading::Landlock, RegisterAccess::Reads) => true,
            // Flags in memory may be access mode 3 by then, for which Landlock asks for no right.
            (_, RegisterAccess::Neither | RegisterAccess::Unknown) | (Reading::Supervisor, _) => false,
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
    /// Neither, which is access mode 3 of open(2): Landlock asks for no right then, and the kernel truncates all the same.
    Neither,
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

    const ABIS: std::ops::RangeInclusive<i32> = 1..=7;

    fn at(landlock_abi: i32, reading: Reading) -> Supervision {
        Supervision {
            reading,
            trace: Trace::Exact,
            landlock_abi,
        }
    }

    fn opens(abi: i32, reading: Reading, access: RegisterAccess) -> bool {
        MayContinue::open(at(abi, reading), access).is_some()
    }

    fn changes(abi: i32, reading: Reading, change: Change) -> bool {
        MayContinue::change(at(abi, reading), change).is_some()
    }

    #[test]
    fn flags_in_memory_are_never_continued() {
        for abi in ABIS {
            for reading in [Reading::Landlock, Reading::Supervisor] {
                assert!(!opens(abi, reading, RegisterAccess::Unknown), "{abi}");
            }
        }
    }

    #[test]
    fn truncating_while_reading_is_continued_only_where_landlock_judges_both() {
        for abi in ABIS {
            assert_eq!(
                opens(abi, Reading::Landlock, RegisterAccess::Truncates),
                abi >= 3,
                "{abi}"
            );
            assert!(!opens(abi, Reading::Supervisor, RegisterAccess::Truncates), "{abi}");
        }
    }

    #[test]
    fn reading_is_continued_only_where_landlock_grants_no_more_of_it_than_the_policy() {
        for abi in ABIS {
            assert!(opens(abi, Reading::Landlock, RegisterAccess::Reads), "{abi}");
            assert!(!opens(abi, Reading::Supervisor, RegisterAccess::Reads), "{abi}");
        }
    }

    #[test]
    fn writing_by_the_registers_is_continued_whoever_judges_reading() {
        for abi in ABIS {
            for reading in [Reading::Landlock, Reading::Supervisor] {
                assert!(opens(abi, reading, RegisterAccess::Writes), "{abi} {reading:?}");
            }
        }
    }

    #[test]
    fn an_open_that_landlock_asks_no_right_for_is_never_continued() {
        for abi in ABIS {
            for reading in [Reading::Landlock, Reading::Supervisor] {
                assert!(!opens(abi, reading, RegisterAccess::Neither), "{abi} {reading:?}");
            }
        }
    }

    #[test]
    fn a_change_is_continued_from_the_abi_on_that_handles_it() {
        for abi in 0..=7 {
            for reading in [Reading::Landlock, Reading::Supervisor] {
                assert_eq!(changes(abi, reading, Change::Entry), abi >= 1, "{abi}");
                assert_eq!(changes(abi, reading, Change::Move), abi >= 2, "{abi}");
                assert_eq!(changes(abi, reading, Change::Truncate), abi >= 3, "{abi}");
            }
        }
    }
}
