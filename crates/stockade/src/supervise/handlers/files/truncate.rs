//! Calls that remove a file's content: `ftruncate` and `fallocate` of a run that may not delete, and the check whether
//! a length would remove some.

use std::os::fd::{AsFd, OwnedFd};

use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::statfs::{HUGETLBFS_MAGIC, TMPFS_MAGIC, fstatfs};

use crate::policy::Capabilities;
use crate::report::Kind;
use crate::supervise::call::errno::Errno;
use crate::supervise::call::registers::Registers;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::judge::may_continue::MayContinue;
use crate::supervise::judge::policy::CLOSED;
use crate::supervise::object::pinned::Pinned;
use crate::supervise::object::subject::Subject;
use stockade_sys::file;
use stockade_sys::limits::limit_of;

/// `ftruncate` of a run that may not delete: it can't cut a file's content. The supervisor makes the call on a copy of
/// the descriptor, since another thread may put another file at its number.
pub fn cut(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let (number, length) = (registers.int(0), registers.long(1) as i64);
    let copy = context.caller().same_file(number)?;
    let object = Pinned::new(context.fds(), copy.try_clone()?)?;
    context.caller().confirm()?;
    if object.is_regular() {
        refuse_to_cut(context, &object, length, b"")?;
        refuse_to_grow(context, length)?;
    }
    nix::unistd::ftruncate(&copy, length).map_err(|errno| Errno(errno as i32))?;
    Ok(CallAnswer::Value(0))
}

/// `fallocate` in the modes that remove a file's content, of a run that may not delete, and of large sizes. The
/// supervisor makes the call on a copy of the descriptor, if that leaves enough space.
pub fn allocate(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let mode = FallocateFlags::from_bits(registers.int(1)).ok_or(Errno(libc::EOPNOTSUPP))?;
    let [offset, length] = [2, 3].map(|index| registers.long(index) as i64);
    if mode.bits() & TAKING_AWAY != 0
        && let Some(reason) = context.judge.incapable(Capabilities::DELETE)
    {
        let object = context.object(&Subject::Descriptor(registers.int(0)))?;
        let target = object.name().as_os_str().as_encoded_bytes();
        context.note(&Attempt::on(Kind::Delete, b""), target, reason);
        return fail(libc::EPERM);
    }
    // If no descriptor can be taken over, programs write instead.
    let file = context
        .caller()
        .same_file(registers.int(0))
        .map_err(|error| match error {
            Errno(libc::EBADF) => error,
            _ => Errno(libc::EOPNOTSUPP),
        })?;
    context.caller().confirm()?;
    let failed = |errno: nix::Error| Errno(errno as i32);
    if is_of_memory(&file).map_err(failed)? {
        return of_memory(length, &context.caller().registers);
    }
    if offset < 0 || length <= 0 {
        return fail(libc::EINVAL);
    }
    let end = offset.saturating_add(length);
    let status = file::status(file.as_fd())?;
    let (held, is_regular) = (status.st_size, status.st_mode & libc::S_IFMT == libc::S_IFREG);
    let grown = match mode {
        _ if mode.contains(FallocateFlags::FALLOC_FL_INSERT_RANGE) => held.saturating_add(length),
        _ if mode.intersects(SAME_SIZE) => held,
        _ => end,
    };
    if grown > held {
        refuse_to_grow(context, grown)?;
        let (own, _) = limit_of(context.caller().process(), libc::RLIMIT_FSIZE)?;
        if grown.unsigned_abs() > own {
            return fail(libc::EFBIG);
        }
    }
    match &context.run().policy().run_config.kept {
        Some(kept) if is_regular && !mode.intersects(TAKING_NO_SPACE) => {
            let go_on = || {
                context
                    .caller()
                    .confirm()
                    .map_err(|Errno(errno)| nix::Error::from_raw(errno))
            };
            kept.allocate(&file, mode, (offset, end), go_on)
        }
        _ => fallocate(&file, mode, offset, length),
    }
    .map_err(failed)?;
    Ok(CallAnswer::Value(0))
}

/// The caller itself allocates memory, so that it is charged for it. Its descriptor may name another file by then, on a
/// disk, so sizes that would be a loss there are refused; programs write then.
fn of_memory(length: i64, registers: &Registers) -> Handled {
    const MAX: i64 = 16 << 20;
    match length <= MAX {
        true => Ok(CallAnswer::Continue(MayContinue::registers_decided(registers))),
        false => fail(libc::EOPNOTSUPP),
    }
}

fn is_of_memory(file: &OwnedFd) -> nix::Result<bool> {
    let kind = fstatfs(file)?.filesystem_type();
    Ok([TMPFS_MAGIC, HUGETLBFS_MAGIC].contains(&kind))
}

/// Modes that don't make a file longer.
const SAME_SIZE: FallocateFlags = FallocateFlags::FALLOC_FL_KEEP_SIZE.union(FallocateFlags::FALLOC_FL_COLLAPSE_RANGE);

/// Modes by which a file takes no more space.
const TAKING_NO_SPACE: FallocateFlags = FallocateFlags::FALLOC_FL_PUNCH_HOLE
    .union(FallocateFlags::FALLOC_FL_COLLAPSE_RANGE)
    .union(FallocateFlags::FALLOC_FL_INSERT_RANGE);

/// `PUNCH_HOLE`, `COLLAPSE_RANGE`, `ZERO_RANGE` and `WRITE_ZEROES` of fallocate(2).
const TAKING_AWAY: i32 = 0x2 | 0x8 | 0x10 | 0x80;

/// Refuses to cut a file's content, if the run may not delete.
pub fn refuse_to_cut(context: &NotifyContext<'_>, object: &Pinned, length: i64, asked: &[u8]) -> Handled<()> {
    if u64::try_from(length).is_ok_and(|length| length >= object.length()) {
        return Ok(());
    }
    let attempt = Attempt::on(Kind::Delete, asked);
    context
        .enforce(context.judge.truncation(object), &attempt, object.name(), CLOSED)
        .map(drop)
}

/// Refuses lengths beyond the target's limit on a file's size, which doesn't apply to this thread.
pub fn refuse_to_grow(context: &NotifyContext<'_>, length: i64) -> Handled<()> {
    let largest = context
        .judge
        .lowest(|run_policy| run_policy.run_config.policy.limits.largest_file());
    match largest {
        Some(largest) if u64::try_from(length).is_ok_and(|length| length > largest) => fail(libc::EFBIG),
        _ => Ok(()),
    }
}
