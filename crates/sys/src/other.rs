//! Another process's memory and descriptors, as the supervisor reads them. What they say is an allegation.

use std::cmp::Ordering;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::check_long;

/// Reads from another thread's memory: as many bytes as are mapped from `address` on, at most `buffer.len()`.
///
/// The caller must check afterwards that the thread still waits, or the id may have meant another one.
pub fn read_memory(thread: i32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: buffer.len(),
    };
    // SAFETY: the kernel writes at most `buffer.len()` bytes into `buffer`; the remote address is checked by the kernel.
    let got = unsafe { libc::process_vm_readv(thread, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Writes to another thread's memory; returns a short count if not all of it is mapped and writable.
pub fn write_memory(thread: i32, address: u64, bytes: &[u8]) -> io::Result<usize> {
    let local = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: bytes.len(),
    };
    // SAFETY: the kernel reads `bytes.len()` bytes; the remote address is checked by the kernel.
    let put = unsafe { libc::process_vm_writev(thread, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(put).map_err(|_| io::Error::last_os_error())
}

/// Copies another process's descriptor: the same open file description (pidfd_getfd(2)).
pub fn take_descriptor(process: BorrowedFd<'_>, number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: integers only; the answer is a new descriptor.
    let copy = check_long(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0_u32) })?;
    // SAFETY: the kernel just created it; it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(copy as RawFd) })
}

/// Whether [`take_descriptor`] works here. An unopened number is told apart from a refusal.
pub fn takes_descriptors() -> bool {
    // SAFETY: no arguments; always succeeds.
    let own = unsafe { libc::getpid() };
    let taken = process_descriptor(own).and_then(|process| take_descriptor(process.as_fd(), -1));
    taken.is_err_and(|error| error.raw_os_error() == Some(libc::EBADF))
}

/// Opens a pidfd of a process, by its thread group id (pidfd_open(2)).
pub fn process_descriptor(process: i32) -> io::Result<OwnedFd> {
    // SAFETY: integers only; the answer is a new descriptor.
    let descriptor = check_long(unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0_u32) })?;
    // SAFETY: the kernel just created it; it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) })
}

/// Opens a pidfd of one thread (Linux 6.9): it leads to the thread's own descriptor table, if unshared.
pub fn thread_descriptor(thread: i32) -> io::Result<OwnedFd> {
    // SAFETY: integers only; the answer is a new descriptor. PIDFD_THREAD is O_EXCL.
    let descriptor = check_long(unsafe { libc::syscall(libc::SYS_pidfd_open, thread, libc::O_EXCL) })?;
    // SAFETY: the kernel just created it; it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) })
}

/// Compares two threads' descriptor tables in the kernel's order (kcmp(2)): equal if they share one.
pub fn compare_descriptor_tables(one: i32, other: i32) -> io::Result<Ordering> {
    const KCMP_FILES: libc::c_int = 2;
    // SAFETY: integers only.
    let order = check_long(unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_FILES, 0_u64, 0_u64) })?;
    Ok(match order {
        0 => Ordering::Equal,
        1 => Ordering::Less,
        _ => Ordering::Greater,
    })
}

/// A signal's `siginfo_t`, as its sender wrote it.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct SignalInfo(pub [u8; 128]);

impl SignalInfo {
    /// The bytes of `si_signo`, which the kernel requires to be the signal's number.
    const NUMBER: std::ops::Range<usize> = 0..4;

    /// The same with this signal's number.
    pub fn of(mut self, signal: i32) -> Self {
        self.0[Self::NUMBER].copy_from_slice(&signal.to_ne_bytes());
        self
    }
}

/// Sends a signal to the process of a [`process_descriptor`], never to a later process with its id; `ESRCH` once it was
/// collected. Signal 0 only checks.
pub fn signal_process(process: BorrowedFd<'_>, signal: i32, info: Option<&SignalInfo>) -> io::Result<()> {
    let info = info.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the kernel reads one `siginfo_t` of 128 bytes, which outlives the call, or nothing.
    check_long(unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), signal, info, 0_u32) })
        .map(drop)
}
