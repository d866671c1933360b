//! Seccomp user notification (seccomp_unotify(2)): installing a filter with a listener, and the listener's ioctls.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::check;
use super::confine::set_filter;
use crate::confine::Instruction;

const NEW_LISTENER: libc::c_ulong = 1 << 3;
/// Linux 5.19: a target whose notification was received waits until it is answered; only a fatal signal ends the wait.
const WAIT_KILLABLE_RECV: libc::c_ulong = 1 << 5;

const IOCTL_RECEIVE: libc::c_ulong = 0xc050_2100;
const IOCTL_SEND: libc::c_ulong = 0xc018_2101;
const IOCTL_ID_VALID: libc::c_ulong = 0x4008_2102;
const IOCTL_ADD_DESCRIPTOR: libc::c_ulong = 0x4018_2103;
const IOCTL_SET_FLAGS: libc::c_ulong = 0x4008_2104;

const FLAG_CONTINUE: u32 = 1;
const ADD_AT_NUMBER: u32 = 1;
const SYNC_WAKE_UP: u64 = 1;

/// `struct seccomp_notif` with its `struct seccomp_data`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Notification {
    /// Identifies this notification until it is answered.
    pub id: u64,
    /// The thread that waits.
    pub thread: i32,
    flags: u32,
    /// The call's number.
    pub number: i32,
    architecture: u32,
    instruction: u64,
    /// The call's registers.
    pub arguments: [u64; 6],
}

/// `struct seccomp_notif_resp`.
#[repr(C)]
struct Response {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// `struct seccomp_notif_addfd`.
#[repr(C)]
struct AddDescriptor {
    id: u64,
    flags: u32,
    source: u32,
    new: u32,
    new_flags: u32,
}

/// Installs a filter on the calling thread and everything it starts later; returns its listener. Needs `no_new_privs`.
///
/// Child-safe.
pub fn install_filter(program: &[Instruction]) -> io::Result<OwnedFd> {
    match install(program, NEW_LISTENER | WAIT_KILLABLE_RECV) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => install(program, NEW_LISTENER),
        other => other,
    }
}

fn install(program: &[Instruction], flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let listener = set_filter(program, flags)? as RawFd;
    // SAFETY: the kernel just created the descriptor; it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

/// Whether a filter with a listener could be installed from here: the kernel knows the action, and no filter of an
/// outer run refuses it. Installs nothing: the kernel notices the missing program only after checking the flags.
pub fn is_available() -> bool {
    takes_flags(NEW_LISTENER)
}

/// Whether a received call waits until it is answered, whatever signals come (`SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`).
pub fn waits_killably() -> bool {
    takes_flags(NEW_LISTENER | WAIT_KILLABLE_RECV)
}

fn takes_flags(flags: libc::c_ulong) -> bool {
    let nothing = std::ptr::null::<libc::sock_fprog>();
    // SAFETY: a null program returns EFAULT before anything else happens.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, nothing) };
    answer < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
}

/// Whether [`receive`] returns when the run ends (Linux 6.11). Before, only polling does.
pub fn receiving_ends() -> bool {
    const SINCE: (u32, u32) = (6, 11);
    let release = nix::sys::utsname::uname();
    release.is_ok_and(|name| version(&name.release().to_string_lossy()).is_some_and(|version| version >= SINCE))
}

/// The first two numbers of a kernel release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|character: char| !character.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Makes the kernel wake the other side on the same processor (Linux 6.6): answers take a fraction of the time. Older
/// kernels refuse, and are only slower.
pub fn wake_synchronously(listener: BorrowedFd<'_>) {
    // SAFETY: an integer argument; an unknown request is an error answer.
    unsafe { libc::ioctl(listener.as_raw_fd(), IOCTL_SET_FLAGS as _, SYNC_WAKE_UP) };
}

/// Waits for the next notification. `ENOENT`: the calling thread was killed meanwhile, or no process is left.
pub fn receive(listener: BorrowedFd<'_>) -> io::Result<Notification> {
    // The kernel requires zeroes.
    let mut notification = Notification::default();
    // SAFETY: the kernel writes one `seccomp_notif` of the size that the request encodes, which is this struct's.
    check(unsafe { libc::ioctl(listener.as_raw_fd(), IOCTL_RECEIVE as _, &raw mut notification) })?;
    Ok(notification)
}

/// Whether the thread still waits for the answer. Until then its id isn't reused.
pub fn is_waiting(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the kernel reads one `u64` that outlives the call.
    unsafe { libc::ioctl(listener.as_raw_fd(), IOCTL_ID_VALID as _, &raw const id) == 0 }
}

/// Answers with a value, or with an error number if that isn't 0.
pub fn answer(listener: BorrowedFd<'_>, id: u64, value: i64, errno: i32) -> io::Result<()> {
    respond(
        listener,
        &Response {
            id,
            value,
            error: -errno,
            flags: 0,
        },
    )
}

/// Lets the kernel make the call with whatever the target's memory contains by then.
pub fn let_continue(listener: BorrowedFd<'_>, id: u64) -> io::Result<()> {
    respond(
        listener,
        &Response {
            id,
            value: 0,
            error: 0,
            flags: FLAG_CONTINUE,
        },
    )
}

fn respond(listener: BorrowedFd<'_>, response: &Response) -> io::Result<()> {
    // SAFETY: the kernel reads one `seccomp_notif_resp` that outlives the call.
    check(unsafe { libc::ioctl(listener.as_raw_fd(), IOCTL_SEND as _, response) }).map(drop)
}

/// Whether the target closes an injected descriptor when it executes a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExecute {
    /// `O_CLOEXEC`.
    Close,
    /// Inherited.
    Keep,
}

impl OnExecute {
    fn flag(self) -> u32 {
        match self {
            OnExecute::Close => libc::O_CLOEXEC as u32,
            OnExecute::Keep => 0,
        }
    }
}

/// Installs a copy of a descriptor in the target and returns its number there. The call is answered separately.
pub fn inject(listener: BorrowedFd<'_>, id: u64, descriptor: BorrowedFd<'_>, on_execute: OnExecute) -> io::Result<i32> {
    add(listener, id, descriptor, (0, 0), on_execute)
}

/// Replaces one of the target's descriptors by a copy of this one, close-on-exec. The call is answered separately.
pub fn replace(listener: BorrowedFd<'_>, id: u64, descriptor: BorrowedFd<'_>, number: i32) -> io::Result<()> {
    let number = u32::try_from(number).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
    add(listener, id, descriptor, (ADD_AT_NUMBER, number), OnExecute::Close).map(drop)
}

fn add(
    listener: BorrowedFd<'_>,
    id: u64,
    descriptor: BorrowedFd<'_>,
    (flags, new): (u32, u32),
    on_execute: OnExecute,
) -> io::Result<i32> {
    let request = AddDescriptor {
        id,
        flags,
        source: descriptor.as_raw_fd() as u32,
        new,
        new_flags: on_execute.flag(),
    };
    loop {
        // SAFETY: the kernel reads one `seccomp_notif_addfd` that outlives the call; the descriptor is borrowed.
        let answer = unsafe { libc::ioctl(listener.as_raw_fd(), IOCTL_ADD_DESCRIPTOR as _, &raw const request) };
        match check(answer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_begins_with_two_numbers() {
        assert_eq!(version("6.1.0-56-cloud-amd64"), Some((6, 1)));
        assert_eq!(version("6.11-rc2"), Some((6, 11)));
        assert_eq!(version("unknown"), None);
        assert!(version("5.15.0") < version("6.11"));
    }
}
