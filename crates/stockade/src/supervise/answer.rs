//! What the supervisor answers to a call, and the one way to let the kernel make it.

use std::os::fd::OwnedFd;

use super::pinned::{Pinned, Place};
use crate::plan::{Reading, Supervision};
use stockade_sys::notify::OnExecute;

/// An error number for the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

impl From<std::io::Error> for Errno {
    fn from(error: std::io::Error) -> Self {
        Errno(error.raw_os_error().unwrap_or(libc::EIO))
    }
}

/// The answer to one call.
#[derive(Debug)]
pub enum Answer {
    /// This value.
    Value(i64),
    /// A descriptor. Our copy is closed before the answer: while it lives, executing the file meets `ETXTBSY`, a lock
    /// outlives the target's close, and a pipe has no end.
    Descriptor(OwnedFd, OnExecute),
    /// The same, where something else depends on whether the target has room for it.
    Depending(OwnedFd, OnExecute, Box<Effect>),
    /// The kernel makes the call.
    Continue(MayContinue),
    /// Another thread answers.
    Later,
}

/// What an open does to the file, which it mustn't where the target's table is full.
#[derive(Debug)]
pub enum Effect {
    /// Empties this file once the target has the descriptor.
    Truncate(Pinned),
    /// Made this entry, to be removed if the target doesn't get it.
    Made(Place),
}

/// Proof that a call may be continued, whatever the target's memory holds by then. Only this module makes one.
#[derive(Debug)]
pub struct MayContinue(());

impl MayContinue {
    /// The decision looked at the call's registers alone, which can't change.
    pub fn registers_decided(_registers: &Registers) -> Self {
        MayContinue(())
    }

    /// For opens: where Landlock grants no more reading than the policy does, or where the registers ask for write
    /// access, which no supervised tree has in Landlock.
    pub fn open(supervision: Supervision, access: RegisterAccess) -> Option<Self> {
        let judged = match (supervision.reading, access) {
            // Flags in memory may ask for anything by then.
            (Reading::Landlock, RegisterAccess::Truncates | RegisterAccess::Unknown) => {
                supervision.landlock_abi >= LANDLOCK_TRUNCATE
            }
            (_, RegisterAccess::Writes) | (Reading::Landlock, RegisterAccess::Reads) => true,
            (Reading::Supervisor, _) => false,
        };
        judged.then_some(MayContinue(()))
    }

    /// For changes of directories: no supervised tree has any of these rights in Landlock. Moving between directories
    /// is Landlock's from ABI 2 on, truncating from ABI 3 on.
    pub fn change(supervision: Supervision, change: Change) -> Option<Self> {
        let since = match change {
            Change::Entry => 1,
            Change::Move => 2,
            Change::Truncate => LANDLOCK_TRUNCATE,
        };
        (supervision.landlock_abi >= since).then_some(MayContinue(()))
    }

    /// For executing: it can't be narrowed below Landlock, which alone decides.
    pub fn execute() -> Self {
        MayContinue(())
    }
}

const LANDLOCK_TRUNCATE: i32 = 3;

/// What an open asks for, as its registers say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterAccess {
    /// Reading.
    Reads,
    /// Writing, and perhaps reading.
    Writes,
    /// Reading and truncating.
    Truncates,
    /// The flags are in memory.
    Unknown,
}

/// A change that Landlock knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Making or removing an entry.
    Entry,
    /// Renaming or linking between directories.
    Move,
    /// Truncating by path.
    Truncate,
}

/// The registers of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers(pub [u64; 6]);

impl Registers {
    /// An `int` argument: the kernel reads its low half.
    pub fn int(&self, index: usize) -> i32 {
        self.0[index] as i32
    }

    /// An `unsigned int` argument.
    pub fn word(&self, index: usize) -> u32 {
        self.0[index] as u32
    }

    /// A pointer or a 64-bit number.
    pub fn long(&self, index: usize) -> u64 {
        self.0[index]
    }
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
