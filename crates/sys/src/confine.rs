//! Dropping privileges of the calling process: Landlock, seccomp, Linux capabilities, descriptors, limits.
//!
//! Everything here but [`landlock_abi`] and [`seccomp_action_available`] is child-safe.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::limits::{limit_of, set_limit_of};
use super::{check, check_long};

/// One instruction, laid out as the kernel's `struct sock_filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    /// The opcode.
    pub code: u16,
    /// How many instructions to skip when the comparison holds.
    pub jt: u8,
    /// How many instructions to skip when it doesn't.
    pub jf: u8,
    /// The operand.
    pub k: u32,
}
/// Landlock's `LANDLOCK_CREATE_RULESET_VERSION` and `_ERRATA` (linux/landlock.h).
const LANDLOCK_VERSION: u32 = 1;
const LANDLOCK_ERRATA: u32 = 2;
const LANDLOCK_RULE_PATH_BENEATH: u32 = 1;

/// `struct landlock_path_beneath_attr`; packed in the kernel's header, 12 bytes.
#[repr(C, packed)]
struct PathBeneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// The Landlock ABI of this kernel; an error where Landlock is missing (`ENOSYS`) or off (`EOPNOTSUPP`).
pub fn landlock_abi() -> io::Result<i32> {
    landlock_query(LANDLOCK_VERSION)
}

/// The bit set of Landlock's fixed errata (from Linux 6.15; `EINVAL` before).
pub fn landlock_errata() -> io::Result<i32> {
    landlock_query(LANDLOCK_ERRATA)
}

fn landlock_query(flag: u32) -> io::Result<i32> {
    // SAFETY: with these flags the kernel expects a null attribute of size 0; nothing is written.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            flag,
        )
    };
    check_long(answer).map(|abi| abi as i32)
}

/// Adds "everything beneath `directory`" to a ruleset. The rights must be among the handled ones.
pub fn landlock_add_path(ruleset: BorrowedFd<'_>, directory: BorrowedFd<'_>, rights: u64) -> io::Result<()> {
    let rule = PathBeneath {
        allowed_access: rights,
        parent_fd: directory.as_raw_fd(),
    };
    // SAFETY: `rule` outlives the call and has the kernel's layout; both descriptors are open (borrowed).
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            LANDLOCK_RULE_PATH_BENEATH,
            &raw const rule,
            0_u32,
        )
    };
    check_long(answer).map(drop)
}

/// Adds the calling process's own `/proc` directory to a ruleset: each new process has its own.
pub fn grant_own_proc(ruleset: RawFd, rights: u64) -> io::Result<()> {
    let own = open_path(c"/proc/self")?;
    // SAFETY: the launcher keeps the ruleset open until the target has started.
    let ruleset = unsafe { BorrowedFd::borrow_raw(ruleset) };
    landlock_add_path(ruleset, own.as_fd(), rights)
}

/// Enforces a ruleset on the calling thread and everything it starts later. Needs `no_new_privs`.
pub fn landlock_restrict_self(ruleset: RawFd) -> io::Result<()> {
    // SAFETY: takes two integers; a bad descriptor is an error answer.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0_u32) };
    check_long(answer).map(drop)
}

/// Installs a seccomp filter on the calling thread and everything it starts later. Needs `no_new_privs`.
pub fn install_filter(program: &[Instruction]) -> io::Result<()> {
    set_filter(program, 0).map(drop)
}

/// The same with `SECCOMP_FILTER_FLAG_*`; returns the listener's number if one is requested.
pub(super) fn set_filter(program: &[Instruction], flags: libc::c_ulong) -> io::Result<libc::c_long> {
    let Ok(len) = u16::try_from(program.len()) else {
        return Err(io::Error::from_raw_os_error(libc::E2BIG));
    };
    let header = libc::sock_fprog {
        len,
        filter: program.as_ptr().cast::<libc::sock_filter>().cast_mut(),
    };
    // SAFETY: `Instruction` is `repr(C)` with the layout of `sock_filter`, `len` instructions follow the
    // pointer, and the kernel only reads and copies them.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const header,
        )
    })
}

/// Whether the kernel knows a seccomp action (`SECCOMP_GET_ACTION_AVAIL`).
pub fn seccomp_action_available(action: u32) -> bool {
    const SECCOMP_GET_ACTION_AVAIL: u32 = 2;
    // SAFETY: the kernel reads one `u32` that outlives the call.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0_u32, &raw const action) };
    answer == 0
}

/// Keeps programs started from here from gaining privileges by set-user-ID bits or file capabilities.
pub fn no_new_privs() -> io::Result<()> {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1)
}

/// Sets the signal that the calling process gets when the thread that forked it ends.
pub fn parent_death_signal(signal: libc::c_int) -> io::Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, signal as libc::c_ulong)
}

/// Makes the calling process the parent of orphans below it, in place of init.
pub fn become_subreaper() -> io::Result<()> {
    prctl(libc::PR_SET_CHILD_SUBREAPER, 1)
}

fn prctl(option: libc::c_int, value: libc::c_ulong) -> io::Result<()> {
    let none: libc::c_ulong = 0;
    // SAFETY: the options used here take integers only.
    check(unsafe { libc::prctl(option, value, none, none, none) }).map(drop)
}

/// Empties the effective, permitted, inheritable, ambient and bounding sets of the calling thread.
///
/// The `caps` crate allocates here, so it can't be used between fork and exec. The order is that of capabilities(7):
/// the bounding set first, since dropping from it needs `CAP_SETPCAP`.
pub fn drop_capabilities(holds_any: bool) -> io::Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    const MAX_POSSIBLE: libc::c_ulong = 63;
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    if holds_any {
        for capability in 0..=MAX_POSSIBLE {
            match prctl(libc::PR_CAPBSET_DROP, capability) {
                Ok(()) => {}
                // EINVAL: past the last capability that this kernel knows.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => break,
                // Without CAP_SETPCAP the bounding set stays; no_new_privs makes it unreachable.
                Err(error) if error.raw_os_error() == Some(libc::EPERM) => break,
                Err(error) => return Err(error),
            }
        }
    }
    let none: libc::c_ulong = 0;
    // SAFETY: integers only; clears the ambient set.
    check(unsafe {
        libc::prctl(
            libc::PR_CAP_AMBIENT,
            libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong,
            none,
            none,
            none,
        )
    })?;
    let header = Header {
        version: VERSION_3,
        pid: 0,
    };
    let empty = [0_u32; 6];
    // SAFETY: version 3 takes two records of three `u32`, which `empty` holds; nothing is written.
    check_long(unsafe { libc::syscall(libc::SYS_capset, &raw const header, empty.as_ptr()) }).map(drop)
}

/// Sets one resource limit, soft and hard. A hard limit that is already lower is kept.
pub fn limit_resource(resource: u32, soft: u64, hard: u64) -> io::Result<()> {
    let (_, current) = limit_of(0, resource)?;
    let hard = hard.min(current);
    set_limit_of(0, resource, (soft.min(hard), hard))
}

/// Closes every descriptor from `first` on.
pub fn close_from(first: libc::c_uint) -> io::Result<()> {
    // SAFETY: the callers are processes that this program created and that hold no Rust owner of these descriptors
    // which would use them afterwards: the target just before exec, the warden after it reported the target's start.
    check_long(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0_u32) }).map(drop)
}

/// Closes one descriptor by number.
pub fn close(descriptor: RawFd) {
    // SAFETY: as for `close_from`; a closed number is an ignored error.
    unsafe { libc::close(descriptor) };
}

/// Makes `to` a copy of `from`, without close-on-exec also where the two are the same.
pub fn place_descriptor(from: RawFd, to: RawFd) -> io::Result<()> {
    if from == to {
        // SAFETY: integers only.
        return check(unsafe { libc::fcntl(from, libc::F_SETFD, 0) }).map(drop);
    }
    // SAFETY: integers only; the process is about to exec and owns its table.
    check(unsafe { libc::dup2(from, to) }).map(drop)
}

/// Changes to a directory that is already open.
pub fn change_directory(directory: RawFd) -> io::Result<()> {
    // SAFETY: an integer only.
    check(unsafe { libc::fchdir(directory) }).map(drop)
}

/// Opens a path without following a final magic link's rights: `O_PATH`, close-on-exec.
pub fn open_path(path: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: the path is NUL-terminated.
    let descriptor = check(unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) })?;
    // SAFETY: open answered a new descriptor, without another owner.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Writes a few bytes to a descriptor that stays with its owner.
pub fn write_all(descriptor: RawFd, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the kernel reads `bytes.len()` bytes.
    let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
    if written < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
