//! Mode, owner and times. Landlock covers none of them, so the supervisor changes them on the pinned object.
//!
//! Reading stays with the kernel (`readlink`, `getxattr`, `listxattr` and their families): it tells as much as `stat`,
//! and compilers ask so of every directory above every file.

use crate::supervise::object::subject::Subject;
use std::os::fd::AsFd;

use super::memory::{PermissionChange, refuse_to_make_executable};
use crate::report::Kind;
use crate::supervise::call::errno::Errno;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::checks::refuse_set_user_id;
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::object::pinned::Pinned;
use stockade_sys::file;

/// The errno of a refused metadata change, as for another user's file.
const NOT_YOURS: Errno = Errno(libc::EPERM);

/// The object, if the run may write it and decide who uses it. Directories above paths denied by name stay as they are:
/// without its own configuration Stockade would enforce less, and others could put theirs there.
pub fn shareable(context: &NotifyContext<'_>, subject: &Subject) -> Handled<Pinned> {
    kept(context, subject, context.writable(subject)?)
}

fn kept(context: &NotifyContext<'_>, subject: &Subject, object: Pinned) -> Handled<Pinned> {
    if object.is_directory() && object.has_name() {
        let attempt = Attempt::with(Kind::Metadata, subject.asked(), &object);
        context.enforce(
            context.judge.directory_attributes(object.name()),
            &attempt,
            object.name(),
            NOT_YOURS,
        )?;
    }
    Ok(object)
}

pub fn chmod(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    change_mode(
        context,
        &Subject::followed(context.caller(), registers.long(0))?,
        registers.word(1),
    )
}

pub fn fchmod(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    change_mode(context, &Subject::Descriptor(registers.int(0)), registers.word(1))
}

pub fn fchmodat(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let subject = Subject::at(context.caller(), registers.int(0), registers.long(1), 0)?;
    change_mode(context, &subject, registers.word(2))
}

pub fn fchmodat2(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let subject = Subject::at(context.caller(), registers.int(0), registers.long(1), registers.int(3))?;
    change_mode(context, &subject, registers.word(2))
}

fn change_mode(context: &NotifyContext<'_>, subject: &Subject, mode: u32) -> Handled {
    // A file that its owner can read stays the same to git.
    let object = match mode & libc::S_IRUSR {
        0 => context.writable(subject)?,
        _ => context.changeable(subject, |judge, object| judge.attributes(object))?,
    };
    let object = kept(context, subject, object)?;
    if object.is_symlink() {
        return fail(libc::EOPNOTSUPP);
    }
    if !object.is_directory() {
        refuse_set_user_id(context, mode, object.name().as_os_str().as_encoded_bytes())?;
        refuse_to_make_executable(context, &object, PermissionChange::Mode(mode))?;
    }
    file::change_mode(&object.path(), mode & 0o7777)?;
    Ok(CallAnswer::Value(0))
}

pub fn chown(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    change_owner(context, &Subject::followed(context.caller(), registers.long(0))?, 1)
}

pub fn lchown(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    change_owner(context, &Subject::kept(context.caller(), registers.long(0))?, 1)
}

pub fn fchown(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    change_owner(context, &Subject::Descriptor(registers.int(0)), 1)
}

pub fn fchownat(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let subject = Subject::at(context.caller(), registers.int(0), registers.long(1), registers.int(4))?;
    change_owner(context, &subject, 2)
}

fn change_owner(context: &NotifyContext<'_>, subject: &Subject, first: usize) -> Handled {
    let registers = context.caller().registers;
    let object = shareable(context, subject)?;
    file::change_owner(object.as_fd(), registers.word(first), registers.word(first + 1))?;
    Ok(CallAnswer::Value(0))
}

type Times = Option<[libc::timespec; 2]>;

pub fn utime(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let times = read_pair(context, registers.long(1), |words: [i64; 2]| {
        Ok(words.map(|seconds| timespec(seconds, 0)))
    })?;
    change_times(context, &Subject::followed(context.caller(), registers.long(0))?, times)
}

pub fn utimes(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let times = read_microseconds(context, registers.long(1))?;
    change_times(context, &Subject::followed(context.caller(), registers.long(0))?, times)
}

pub fn futimesat(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let times = read_microseconds(context, registers.long(2))?;
    let subject = match registers.long(1) {
        0 => Subject::Descriptor(registers.int(0)),
        path => Subject::at(context.caller(), registers.int(0), path, 0)?,
    };
    change_times(context, &subject, times)
}

pub fn utimensat(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let times = read_pair(context, registers.long(2), |words: [i64; 4]| {
        Ok([timespec(words[0], words[1]), timespec(words[2], words[3])])
    })?;
    let subject = match registers.long(1) {
        0 if registers.int(3) & !libc::AT_EMPTY_PATH == 0 => Subject::Descriptor(registers.int(0)),
        0 => return fail(libc::EINVAL),
        path => Subject::at(context.caller(), registers.int(0), path, registers.int(3))?,
    };
    change_times(context, &subject, times)
}

fn read_microseconds(context: &NotifyContext<'_>, address: u64) -> Handled<Times> {
    read_pair(context, address, |words: [i64; 4]| {
        if [words[1], words[3]]
            .iter()
            .any(|micros| !(0..1_000_000).contains(micros))
        {
            return fail(libc::EINVAL);
        }
        Ok([timespec(words[0], words[1] * 1000), timespec(words[2], words[3] * 1000)])
    })
}

/// Reads the two times at an address; `None` means "now".
fn read_pair<const N: usize>(
    context: &NotifyContext<'_>,
    address: u64,
    convert: impl FnOnce([i64; N]) -> Handled<[libc::timespec; 2]>,
) -> Handled<Times> {
    if address == 0 {
        return Ok(None);
    }
    let mut bytes = vec![0_u8; N * 8];
    context.caller().read(address, &mut bytes)?;
    let words = std::array::from_fn(|index| {
        i64::from_ne_bytes(bytes[index * 8..index * 8 + 8].try_into().expect("eight bytes"))
    });
    convert(words).map(Some)
}

fn timespec(seconds: i64, nanoseconds: i64) -> libc::timespec {
    libc::timespec {
        tv_sec: seconds,
        tv_nsec: nanoseconds,
    }
}

fn change_times(context: &NotifyContext<'_>, subject: &Subject, times: Times) -> Handled {
    let object = context.changeable(subject, |judge, object| judge.attributes(object))?;
    file::change_times(object.as_fd(), times)?;
    Ok(CallAnswer::Value(0))
}

/// `file_setattr`, which is refused: immutable, append-only and similar flags are the machine's.
pub fn file_setattr(context: &NotifyContext<'_>) -> Handled {
    let attempt = Attempt::on(Kind::Metadata, b"");
    Err(context.never(&attempt, b"file_setattr", "no run changes file attributes"))
}
