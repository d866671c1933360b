//! The little that the launcher asks of a terminal.

use std::os::fd::RawFd;

/// Whether a descriptor is a terminal.
pub fn is_terminal(descriptor: RawFd) -> bool {
    // SAFETY: an integer only.
    unsafe { libc::isatty(descriptor) == 1 }
}
