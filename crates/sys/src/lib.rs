//! The only `unsafe` of Stockade: one system call a function, `io::Result` and `OwnedFd` out.
//!
//! `spawn` and `process` start processes, `confine` takes powers away from the calling one, `wire` carries fixed-size
//! messages between the launcher and the warden, `heap` ends a forked process that asks for memory. The functions marked *child-safe* do nothing but their
//! system call, so they may run between fork and exec: no allocation, no lock, no formatting.

pub mod children;
pub mod confine;
pub mod diagnosis;
pub mod file;
pub mod heap;
pub mod limits;
pub mod notify;
pub mod other;
pub mod outer;
pub mod process;
pub mod random;
pub mod signals;
pub mod socket;
pub mod spawn;
pub mod system_v;
pub mod terminal;
pub mod title;
pub mod wire;

use std::io;

/// The result of a libc call that answers -1 and `errno` on failure.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// The same for the raw `syscall` function.
fn check_long(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Takes over a descriptor that a safe wrapper answered as a bare number.
pub fn own(number: std::os::fd::RawFd) -> std::os::fd::OwnedFd {
    use std::os::fd::FromRawFd;
    // SAFETY: the callers pass what a call just made, without another owner.
    unsafe { std::os::fd::OwnedFd::from_raw_fd(number) }
}

/// A close-on-exec copy of a descriptor that somebody else owns, above the first three. Child-safe.
pub fn duplicate(number: std::os::fd::RawFd) -> io::Result<std::os::fd::OwnedFd> {
    duplicate_above(number, 3)
}

/// The same, as a number from `lowest` on.
pub fn duplicate_above(number: std::os::fd::RawFd, lowest: std::os::fd::RawFd) -> io::Result<std::os::fd::OwnedFd> {
    // SAFETY: integers only; a number that isn't open is an error answer.
    check(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, lowest) }).map(own)
}

/// The lowest number of descriptors that lie out of the way of the warden's own ones.
const BEYOND_THE_WARDENS: std::os::fd::RawFd = 4;
