//! The signals that end a batch. Nothing reads them while it runs, so that each thread sees that one has arrived.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use stockade_sys::signals::{SignalSet, is_ignored, next_signal};

/// Blocked signals, and the descriptor on which they arrive.
pub struct Signals {
    descriptor: OwnedFd,
    before: SignalSet,
}

impl Signals {
    /// Blocks those that end a batch, except the ones that the caller ignores, as nohup(1) does. The stop keys of a terminal
    /// are blocked too: a stopped process keeps no limits of its runs.
    pub fn take() -> io::Result<Signals> {
        const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];
        const STOPPING: [i32; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
        let ending: Vec<i32> = ENDING.into_iter().filter(|signal| !is_ignored(*signal)).collect();
        let all: Vec<i32> = ending.iter().copied().chain(STOPPING).collect();
        Ok(Signals {
            before: SignalSet::of(&all).block()?,
            descriptor: SignalSet::of(&ending).descriptor(true)?,
        })
    }

    /// The descriptor, readable once a signal has arrived.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// The mask before, with which programs start.
    pub fn before(&self) -> SignalSet {
        self.before
    }

    /// The signal that arrived, if one did.
    pub fn arrived(&self) -> Option<i32> {
        next_signal(self.descriptor.as_raw_fd()).map(|arrived| arrived.signal)
    }
}
