//! File calls on pinned objects that the safe wrappers lack or can't express without allocating.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{check, check_long};

/// `struct open_how` (openat2(2)).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenHow {
    /// `O_*`.
    pub flags: u64,
    /// The mode of a new file.
    pub mode: u64,
    /// `RESOLVE_*`.
    pub resolve: u64,
}

impl OpenHow {
    /// Opens an existing file with these flags, close-on-exec.
    pub const fn existing(flags: i32) -> OpenHow {
        OpenHow {
            flags: (flags | libc::O_CLOEXEC) as u64,
            mode: 0,
            resolve: 0,
        }
    }
}

/// openat2(2).
pub fn open(base: BorrowedFd<'_>, path: &CStr, how: OpenHow) -> io::Result<OwnedFd> {
    // SAFETY: the path is NUL-terminated and `how` outlives the call with its true size; the answer is a new descriptor.
    let opened = check_long(unsafe {
        libc::syscall(
            libc::SYS_openat2,
            base.as_raw_fd(),
            path.as_ptr(),
            &raw const how,
            size_of::<OpenHow>(),
        )
    })?;
    // SAFETY: the kernel just created it; it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
}

/// Reads a link's text into `buffer` and returns its length. An empty path means that `base` is the link.
pub fn read_link(base: BorrowedFd<'_>, path: &CStr, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes at most `buffer.len()` bytes.
    let got = unsafe {
        libc::readlinkat(
            base.as_raw_fd(),
            path.as_ptr(),
            buffer.as_mut_ptr().cast(),
            buffer.len(),
        )
    };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// The number of unread bytes in a pipe (`FIONREAD`, ioctl_list(2)).
pub fn bytes_in(pipe: BorrowedFd<'_>) -> io::Result<usize> {
    let mut count: libc::c_int = 0;
    // SAFETY: the kernel writes one integer that outlives the call.
    check(unsafe { libc::ioctl(pipe.as_raw_fd(), libc::FIONREAD, &raw mut count) })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Whether the other end of a pipe or socket is open, or that can't be told. A FIFO may get one again.
pub fn has_other_end(end: BorrowedFd<'_>) -> bool {
    // Errors and hang-ups are told without being asked for (poll(2)).
    let mut waiting = [PollFd::new(end, PollFlags::empty())];
    matches!(poll(&mut waiting, PollTimeout::ZERO), Ok(0) | Err(_))
}

/// fstat(2), also of `O_PATH` descriptors.
pub fn status(file: BorrowedFd<'_>) -> io::Result<libc::stat> {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the kernel writes one `stat`; zeroed memory is a valid one should it fail.
    unsafe {
        check(libc::fstat(file.as_raw_fd(), status.as_mut_ptr()))?;
        Ok(status.assume_init())
    }
}

/// statx(2) of an entry, links not followed; an empty name means `parent` itself.
///
/// Not through libc's function: Rust's library refers to it weakly, and in a static binary with whole-program
/// optimisation nothing else links it, so that address 0 would be called.
pub fn entry_status(parent: BorrowedFd<'_>, name: &CStr) -> io::Result<libc::statx> {
    let mut status = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: the kernel writes one `statx`; zeroed memory is a valid one should it fail.
    unsafe {
        check_long(libc::syscall(
            libc::SYS_statx,
            parent.as_raw_fd(),
            name.as_ptr(),
            libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH,
            libc::STATX_BASIC_STATS | libc::STATX_BTIME,
            status.as_mut_ptr(),
        ))?;
        Ok(status.assume_init())
    }
}

/// Calls `act` with the names in a directory and their kinds (`DT_*`), except `.` and `..`, until it breaks
/// (getdents64(2)). Child-safe, if `act` is.
///
/// The C library's readdir(3) allocates and frees 32 KiB for each directory.
pub fn each_entry(directory: BorrowedFd<'_>, mut act: impl FnMut(&[u8], u8) -> ControlFlow<()>) -> io::Result<()> {
    const LENGTH: usize = 16;
    const KIND: usize = 18;
    const NAME: usize = 19;
    let mut buffer = [0_u8; 4096];
    loop {
        // SAFETY: the kernel writes at most the buffer's size into it.
        let got = check_long(unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                directory.as_raw_fd(),
                buffer.as_mut_ptr(),
                buffer.len(),
            )
        });
        let got = match got {
            // A removed directory has no more entries.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(()),
            got => got?,
        };
        let mut entries = buffer.get(..usize::try_from(got).unwrap_or(0)).unwrap_or(&[]);
        if entries.is_empty() {
            return Ok(());
        }
        while let Some(&[low, high, kind]) = entries.get(LENGTH..=KIND) {
            let length = usize::from(u16::from_ne_bytes([low, high])).max(1);
            let name = entries.get(NAME..length.min(entries.len())).unwrap_or(&[]);
            let name = name.split(|byte| *byte == 0).next().unwrap_or(&[]);
            if !matches!(name, b"." | b"..") && act(name, kind).is_break() {
                return Ok(());
            }
            entries = entries.get(length..).unwrap_or(&[]);
        }
    }
}

/// The status flags and access mode of an open file (`F_GETFL`).
pub fn open_flags(file: BorrowedFd<'_>) -> io::Result<i32> {
    // SAFETY: integers only.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) })
}

/// Sets the status flags of an open file (`F_SETFL`).
pub fn set_flags(file: BorrowedFd<'_>, flags: i32) -> io::Result<()> {
    // SAFETY: integers only.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags) }).map(drop)
}

/// Sets the signal sent for an open file's events (`F_SETSIG`); 0 is SIGIO.
pub fn set_signal_of_events(file: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    const F_SETSIG: libc::c_int = 10;
    // SAFETY: integers only.
    check(unsafe { libc::fcntl(file.as_raw_fd(), F_SETSIG, signal) }).map(drop)
}

/// The recipient of the signals for an open file's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// None, or one that has ended.
    None,
    /// A process, or thread.
    Process(i32),
    /// A process group.
    Group(i32),
}

/// Returns the owner of an open file (`F_GETOWN_EX`).
pub fn owner(file: BorrowedFd<'_>) -> io::Result<Owner> {
    const F_GETOWN_EX: libc::c_int = 16;
    const F_OWNER_PGRP: libc::c_int = 2;
    // `struct f_owner_ex`: the kind, then the number.
    let mut owner: [libc::c_int; 2] = [0; 2];
    // SAFETY: the kernel writes one `f_owner_ex`, two integers.
    check(unsafe { libc::fcntl(file.as_raw_fd(), F_GETOWN_EX, owner.as_mut_ptr()) })?;
    Ok(match owner {
        [_, 0] => Owner::None,
        [F_OWNER_PGRP, group] => Owner::Group(group),
        [_, process] => Owner::Process(process),
    })
}

/// The magic number of the file system that an object is on.
pub fn file_system(file: BorrowedFd<'_>) -> io::Result<i64> {
    let mut status = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the kernel writes one `statfs`; zeroed memory is a valid one should it fail.
    unsafe {
        check(libc::fstatfs(file.as_raw_fd(), status.as_mut_ptr()))?;
        Ok(status.assume_init().f_type)
    }
}

/// Gives the calling thread a working directory, root and umask of its own, and a descriptor table too.
pub fn stop_sharing() -> io::Result<()> {
    // SAFETY: integers only. Descriptors keep their numbers; owners elsewhere keep theirs.
    check(unsafe { libc::unshare(libc::CLONE_FS | libc::CLONE_FILES) }).map(drop)
}

/// The same if permitted; returns whether it was. A container's filter may refuse it.
pub fn stop_sharing_if_allowed() -> io::Result<bool> {
    match stop_sharing() {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Like [`stop_sharing`], without the descriptor table.
pub fn stop_sharing_directory() -> io::Result<()> {
    // SAFETY: integers only.
    check(unsafe { libc::unshare(libc::CLONE_FS) }).map(drop)
}

/// Closes all descriptors from 3 on except `kept`, in the calling thread's own table (after [`stop_sharing`]).
pub fn close_all_but(kept: &mut [RawFd]) -> io::Result<()> {
    kept.sort_unstable();
    let mut first = 3;
    for number in kept.iter().copied() {
        if number > first {
            close_range(first, (number - 1) as u32)?;
        }
        first = first.max(number + 1);
    }
    close_range(first, u32::MAX)
}

fn close_range(first: RawFd, last: u32) -> io::Result<()> {
    // SAFETY: the table is this thread's own, and its owner holds nothing else in it.
    check_long(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) }).map(drop)
}

/// Sets the calling thread's umask (after [`stop_sharing`]).
pub fn set_umask(mask: u32) {
    // SAFETY: an integer; never fails.
    unsafe { libc::umask(mask as libc::mode_t) };
}

/// mkdirat(2).
pub fn make_directory(parent: BorrowedFd<'_>, name: &CStr, mode: u32) -> io::Result<()> {
    // SAFETY: the name is NUL-terminated.
    check(unsafe { libc::mkdirat(parent.as_raw_fd(), name.as_ptr(), mode as libc::mode_t) }).map(drop)
}

/// mknodat(2) without devices: the device number is 0.
pub fn make_node(parent: BorrowedFd<'_>, name: &CStr, mode: u32) -> io::Result<()> {
    // SAFETY: the name is NUL-terminated.
    check(unsafe { libc::mknodat(parent.as_raw_fd(), name.as_ptr(), mode as libc::mode_t, 0) }).map(drop)
}

/// symlinkat(2).
pub fn make_symlink(text: &CStr, parent: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    // SAFETY: both strings are NUL-terminated.
    check(unsafe { libc::symlinkat(text.as_ptr(), parent.as_raw_fd(), name.as_ptr()) }).map(drop)
}

/// linkat(2).
pub fn make_link(from: (BorrowedFd<'_>, &CStr), to: (BorrowedFd<'_>, &CStr), flags: libc::c_int) -> io::Result<()> {
    // SAFETY: both names are NUL-terminated.
    check(unsafe {
        libc::linkat(
            from.0.as_raw_fd(),
            from.1.as_ptr(),
            to.0.as_raw_fd(),
            to.1.as_ptr(),
            flags,
        )
    })
    .map(drop)
}

/// unlinkat(2).
pub fn remove(parent: BorrowedFd<'_>, name: &CStr, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the name is NUL-terminated.
    check(unsafe { libc::unlinkat(parent.as_raw_fd(), name.as_ptr(), flags) }).map(drop)
}

/// renameat2(2).
pub fn rename(from: (BorrowedFd<'_>, &CStr), to: (BorrowedFd<'_>, &CStr), flags: u32) -> io::Result<()> {
    // SAFETY: both names are NUL-terminated.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            from.0.as_raw_fd(),
            from.1.as_ptr(),
            to.0.as_raw_fd(),
            to.1.as_ptr(),
            flags,
        )
    })
    .map(drop)
}

/// truncate(2).
pub fn truncate(path: &CStr, length: i64) -> io::Result<()> {
    // SAFETY: the path is NUL-terminated.
    check(unsafe { libc::truncate64(path.as_ptr(), length) }).map(drop)
}

/// chmod(2).
pub fn change_mode(path: &CStr, mode: u32) -> io::Result<()> {
    // SAFETY: the path is NUL-terminated.
    check(unsafe { libc::chmod(path.as_ptr(), mode as libc::mode_t) }).map(drop)
}

/// fchownat(2) on the pinned object itself.
pub fn change_owner(file: BorrowedFd<'_>, owner: u32, group: u32) -> io::Result<()> {
    // SAFETY: an empty path with AT_EMPTY_PATH means the object itself.
    check(unsafe { libc::fchownat(file.as_raw_fd(), c"".as_ptr(), owner, group, libc::AT_EMPTY_PATH) }).map(drop)
}

/// utimensat(2) on the pinned object itself; `None` is now.
pub fn change_times(file: BorrowedFd<'_>, times: Option<[libc::timespec; 2]>) -> io::Result<()> {
    let times = times.as_ref().map_or(std::ptr::null(), |times| times.as_ptr());
    // SAFETY: null, or two `timespec` that outlive the call; an empty path with AT_EMPTY_PATH means the object itself.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_utimensat,
            file.as_raw_fd(),
            c"".as_ptr(),
            times,
            libc::AT_EMPTY_PATH,
        )
    })
    .map(drop)
}

/// faccessat(2): whether the calling user may do this (`R_OK`, `W_OK`, `X_OK`), with effective ids.
pub fn may_access(path: &CStr, mode: libc::c_int) -> io::Result<()> {
    // SAFETY: the path is NUL-terminated.
    check(unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), mode, libc::AT_EACCESS) }).map(drop)
}

/// setxattr(2).
pub fn set_attribute(path: &CStr, name: &CStr, value: &[u8], flags: libc::c_int) -> io::Result<()> {
    // SAFETY: both strings are NUL-terminated; the kernel reads `value.len()` bytes.
    check(unsafe { libc::setxattr(path.as_ptr(), name.as_ptr(), value.as_ptr().cast(), value.len(), flags) }).map(drop)
}

/// removexattr(2).
pub fn remove_attribute(path: &CStr, name: &CStr) -> io::Result<()> {
    // SAFETY: both strings are NUL-terminated.
    check(unsafe { libc::removexattr(path.as_ptr(), name.as_ptr()) }).map(drop)
}

/// getxattr(2); an empty buffer queries the size.
pub fn read_attribute(path: &CStr, name: &CStr, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: both strings are NUL-terminated; the kernel writes at most `buffer.len()` bytes.
    let got = unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// inotify_add_watch(2).
pub fn watch(inotify: BorrowedFd<'_>, path: &CStr, mask: u32) -> io::Result<i32> {
    // SAFETY: the path is NUL-terminated.
    check(unsafe { libc::inotify_add_watch(inotify.as_raw_fd(), path.as_ptr(), mask) })
}

/// memfd_create(2).
pub fn memory_file(name: &CStr, flags: u32) -> io::Result<OwnedFd> {
    // SAFETY: the name is NUL-terminated; the answer is a new descriptor.
    let made = check(unsafe { libc::memfd_create(name.as_ptr(), flags) })?;
    // SAFETY: the kernel just created it; it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

/// Seals a memory file's contents for good.
pub fn seal(file: BorrowedFd<'_>) -> io::Result<()> {
    let seals = libc::F_SEAL_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
    // SAFETY: integers only.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) }).map(drop)
}

/// Seals a memory file against further seals.
pub fn seal_against_sealing(file: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: integers only.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SEAL) }).map(drop)
}

/// The number of the pseudo-terminal of a master.
pub fn terminal_number(master: BorrowedFd<'_>) -> io::Result<u32> {
    let mut number: libc::c_uint = 0;
    // SAFETY: the kernel writes one `unsigned int`.
    check(unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCGPTN, &raw mut number) })?;
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_pipe_without_a_reader_has_no_other_end() {
        let (reading, writing) = nix::unistd::pipe().unwrap();
        assert!(has_other_end(writing.as_fd()));
        drop(reading);
        assert!(!has_other_end(writing.as_fd()));
    }

    #[test]
    fn a_pipe_without_a_writer_has_no_other_end_also_before_it_is_read() {
        let (reading, writing) = nix::unistd::pipe().unwrap();
        nix::unistd::write(&writing, b"x").unwrap();
        assert!(has_other_end(reading.as_fd()));
        drop(writing);
        assert!(!has_other_end(reading.as_fd()));
    }

    #[test]
    fn a_socket_without_a_peer_has_no_other_end() {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(has_other_end(ours.as_fd()));
        drop(theirs);
        assert!(!has_other_end(ours.as_fd()));
    }
}
