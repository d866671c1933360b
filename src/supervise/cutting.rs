//! What takes away what a file holds: `ftruncate` and `fallocate` of a run that may not delete, and the question whether
//! a length would.

use nix::fcntl::{FallocateFlags, fallocate};

use super::answer::{Answer, Errno};
use super::desk::Desk;
use super::judge::CLOSED;
use super::metadata::Subject;
use super::pinned::Pinned;
use super::refuse::Attempt;
use crate::policy::Capabilities;
use crate::report::Kind;

/// `ftruncate`, of a run that may not delete: what a file holds isn't cut away. It is done on a copy of the very
/// descriptor, since another thread may put another file at its number.
pub fn cut(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let registers = desk.caller().registers;
    let (number, length) = (registers.int(0), registers.long(1) as i64);
    let copy = desk.caller().same_file(number)?;
    let object = Pinned::new(desk.station(), copy.try_clone()?)?;
    desk.caller().confirm()?;
    if object.is_regular() {
        refuse_to_cut(desk, &object, length, b"")?;
        refuse_to_grow(desk, length)?;
    }
    nix::unistd::ftruncate(&copy, length).map_err(|errno| Errno(errno as i32))?;
    Ok(Answer::Value(0))
}

/// `fallocate` in the modes that take away what a file holds, of a run that may not delete, and of much. It is done on a copy of the
/// very descriptor, where that leaves enough.
pub fn allocate(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let registers = desk.caller().registers;
    let mode = FallocateFlags::from_bits(registers.int(1)).ok_or(Errno(libc::EOPNOTSUPP))?;
    let [offset, length] = [2, 3].map(|index| registers.long(index) as i64);
    if mode.bits() & TAKING_AWAY != 0
        && let Some(reason) = desk.judge.incapable(Capabilities::DELETE)
    {
        let object = Subject::Descriptor(registers.int(0)).object(desk)?;
        let target = object.name().as_os_str().as_encoded_bytes();
        desk.note(&Attempt::on(Kind::Delete, b""), target, reason);
        return Err(Errno(libc::EPERM));
    }
    // Where no descriptor can be taken over, programs write.
    let file = desk.caller().same_file(registers.int(0)).map_err(|error| match error {
        Errno(libc::EBADF) => error,
        _ => Errno(libc::EOPNOTSUPP),
    })?;
    desk.caller().confirm()?;
    if !mode.contains(FallocateFlags::FALLOC_FL_KEEP_SIZE) {
        refuse_to_grow(desk, offset.saturating_add(length))?;
    }
    match &desk.shared().run.brief.kept {
        Some(kept) => kept.allocate(&file, mode, offset, length),
        None => fallocate(&file, mode, offset, length),
    }
    .map_err(|errno| Errno(errno as i32))?;
    Ok(Answer::Value(0))
}

/// `PUNCH_HOLE`, `COLLAPSE_RANGE`, `ZERO_RANGE` and `WRITE_ZEROES` of fallocate(2).
const TAKING_AWAY: i32 = 0x2 | 0x8 | 0x10 | 0x80;

/// That a file keeps what it holds, where the run may not delete.
pub fn refuse_to_cut(desk: &Desk<'_>, object: &Pinned, length: i64, asked: &[u8]) -> Result<(), Errno> {
    if length >= object.length() {
        return Ok(());
    }
    let attempt = Attempt::on(Kind::Delete, asked);
    desk.enforce(desk.judge.cutting(object), &attempt, object.name(), CLOSED)
        .map(drop)
}

/// The limit on a file's size is the target's, and this thread has none.
pub fn refuse_to_grow(desk: &Desk<'_>, length: i64) -> Result<(), Errno> {
    let largest = desk.judge.lowest(|realm| realm.brief.policy.limits.largest_file());
    match largest {
        Some(largest) if u64::try_from(length).is_ok_and(|length| length > largest) => Err(Errno(libc::EFBIG)),
        _ => Ok(()),
    }
}
