//! Pseudo-terminals that a run has made.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd};

use stockade_sys::{confine, file};

/// The other end of a pseudo-terminal. Its number is reused once it is closed; the time at which the kernel made its
/// entry tells the two apart, since no process of a run can change the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PseudoTerminal {
    device: (u32, u32),
    made: (i64, u32),
}

impl PseudoTerminal {
    /// The terminal of an open entry in `/dev/pts`.
    pub fn of(entry: BorrowedFd<'_>) -> Option<PseudoTerminal> {
        let status = file::entry_status(entry, c"").ok()?;
        Some(PseudoTerminal {
            device: (status.stx_rdev_major, status.stx_rdev_minor),
            made: (status.stx_ctime.tv_sec, status.stx_ctime.tv_nsec),
        })
    }

    /// The terminal behind a master that was just opened.
    pub fn behind(master: BorrowedFd<'_>) -> Option<PseudoTerminal> {
        let number = file::terminal_number(master).ok()?;
        let path = CString::new(format!("/dev/pts/{number}")).expect("no NUL");
        PseudoTerminal::of(confine::open_path(&path).ok()?.as_fd())
    }
}
