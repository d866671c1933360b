//! The only `unsafe` of Stockade: each function makes one system call and returns `io::Result` or `OwnedFd`.
//!
//! `spawn` and `process` start processes, `confine` drops privileges of the calling one, `wire` carries fixed-size messages
//! between the launcher and the warden, `heap` ends a forked process that allocates memory. The functions marked
//! *child-safe* make only their system call, so they may run between fork and exec: no allocation, no lock, no formatting.

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

/// Converts the result of a libc call that returns -1 and sets `errno` on failure.
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

/// Takes ownership of a descriptor that a safe wrapper returned as a bare number.
pub fn own(number: std::os::fd::RawFd) -> std::os::fd::OwnedFd {
    use std::os::fd::FromRawFd;
    // SAFETY: the callers pass a descriptor that a call just created, without another owner.
    unsafe { std::os::fd::OwnedFd::from_raw_fd(number) }
}

/// A close-on-exec copy of a descriptor with another owner, above the first three. Child-safe.
pub fn duplicate(number: std::os::fd::RawFd) -> io::Result<std::os::fd::OwnedFd> {
    duplicate_above(number, 3)
}

/// The same, with the lowest free number from `lowest` on.
pub fn duplicate_above(number: std::os::fd::RawFd, lowest: std::os::fd::RawFd) -> io::Result<std::os::fd::OwnedFd> {
    // SAFETY: integers only; a number that isn't open is an error answer.
    check(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, lowest) }).map(own)
}

/// The lowest descriptor number that doesn't collide with the warden's own descriptors.
const BEYOND_THE_WARDENS: std::os::fd::RawFd = 4;
