//! Mode, owner and times. Landlock covers none of them, so the supervisor changes them on the pinned object.

use std::os::fd::AsFd;

use super::answer::{CallAnswer, Errno};
use super::caller::Alleged;
use super::judge::{AccessVerdict, Judge};
use super::memory::{PermissionChange, refuse_to_make_executable};
use super::notify_context::NotifyContext;
use super::open::refuse_set_user_id;
use super::pinned::Pinned;
use super::refuse::RefusedAttempt;
use super::resolve::{Last, PathRequest};
use crate::policy::Access;
use crate::report::Kind;
use stockade_sys::file;

/// The errno of a refused metadata change, as for another user's file.
const NOT_YOURS: Errno = Errno(libc::EPERM);

/// The way in which a call names its object.
pub enum Subject {
    /// A path; says whether a final link is followed.
    Path(i32, Alleged, Last),
    /// A path, or the descriptor if the path is empty.
    PathOrDescriptor(i32, Alleged, Last),
    /// A descriptor.
    Descriptor(i32),
}

impl Subject {
    pub fn followed(context: &NotifyContext<'_>, address: u64) -> Result<Subject, Errno> {
        Ok(Subject::Path(
            libc::AT_FDCWD,
            context.caller().path(address)?,
            Last::Follow,
        ))
    }

    pub fn kept(context: &NotifyContext<'_>, address: u64) -> Result<Subject, Errno> {
        Ok(Subject::Path(
            libc::AT_FDCWD,
            context.caller().path(address)?,
            Last::Keep,
        ))
    }

    pub fn at(context: &NotifyContext<'_>, directory: i32, address: u64, flags: i32) -> Result<Subject, Errno> {
        if flags & !(libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) != 0 {
            return Err(Errno(libc::EINVAL));
        }
        let last = if flags & libc::AT_SYMLINK_NOFOLLOW != 0 {
            Last::Keep
        } else {
            Last::Follow
        };
        // From Linux 6.11 on a null path counts as an empty one.
        if flags & libc::AT_EMPTY_PATH != 0 && address == 0 {
            return Ok(Subject::PathOrDescriptor(directory, Alleged::empty(), last));
        }
        let path = context.caller().path(address)?;
        Ok(if flags & libc::AT_EMPTY_PATH != 0 {
            Subject::PathOrDescriptor(directory, path, last)
        } else {
            Subject::Path(directory, path, last)
        })
    }

    /// Whether the run sees a synthetic file in this one's place.
    pub fn is_served(&self, context: &NotifyContext<'_>) -> bool {
        match self {
            Subject::Path(_, path, _) => super::synthetic_files::names(context, path).is_some(),
            Subject::PathOrDescriptor(..) | Subject::Descriptor(_) => false,
        }
    }

    pub fn asked(&self) -> &[u8] {
        match self {
            Subject::Path(_, path, _) | Subject::PathOrDescriptor(_, path, _) => path.bytes(),
            Subject::Descriptor(_) => b"",
        }
    }

    pub fn object(&self, context: &NotifyContext<'_>) -> Result<Pinned, Errno> {
        let (worker_fds, caller) = (context.worker_fds(), context.caller());
        let object = match self {
            Subject::Path(directory, path, last) => {
                PathRequest::new(worker_fds, caller, *directory, path).object(*last)
            }
            Subject::PathOrDescriptor(directory, path, last) => {
                PathRequest::new(worker_fds, caller, *directory, path).object_or_descriptor(*last)
            }
            Subject::Descriptor(number) => Pinned::through(worker_fds, caller.descriptor(*number)?, *number),
        }?;
        caller.confirm()?;
        Ok(object)
    }

    /// The object, if the run may write it. Never a device, whose mode is the machine's.
    pub fn writable(&self, context: &NotifyContext<'_>) -> Result<Pinned, Errno> {
        self.changeable(context, |judge, object| judge.object(Access::WRITE, object))
    }

    fn changeable(
        &self,
        context: &NotifyContext<'_>,
        ask: impl Fn(&Judge<'_>, &Pinned) -> AccessVerdict,
    ) -> Result<Pinned, Errno> {
        let object = self.object(context)?;
        let attempt = RefusedAttempt::with(Kind::Metadata, self.asked(), &object);
        if object.is_device() || !object.has_name() && !object.is_regular() {
            let target = object.name().as_os_str().as_encoded_bytes();
            return Err(context.never(&attempt, target, "devices and pipes keep their attributes"));
        }
        let verdict = context.judge.all(|judge| ask(judge, &object));
        context.enforce(verdict, &attempt, object.name(), NOT_YOURS)?;
        Ok(object)
    }
}

/// The object, if the run may write it and decide who uses it. Directories above paths denied by name stay as they are:
/// without its own configuration Stockade would enforce less, and others could put theirs there.
pub fn shareable(context: &NotifyContext<'_>, subject: &Subject) -> Result<Pinned, Errno> {
    kept(context, subject, subject.writable(context)?)
}

fn kept(context: &NotifyContext<'_>, subject: &Subject, object: Pinned) -> Result<Pinned, Errno> {
    if object.is_directory() && object.has_name() {
        let attempt = RefusedAttempt::with(Kind::Metadata, subject.asked(), &object);
        context.enforce(context.judge.keeping(object.name()), &attempt, object.name(), NOT_YOURS)?;
    }
    Ok(object)
}

pub fn chmod(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    change_mode(
        context,
        &Subject::followed(context, registers.long(0))?,
        registers.word(1),
    )
}

pub fn fchmod(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    change_mode(context, &Subject::Descriptor(registers.int(0)), registers.word(1))
}

pub fn fchmodat(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    let subject = Subject::at(context, registers.int(0), registers.long(1), 0)?;
    change_mode(context, &subject, registers.word(2))
}

pub fn fchmodat2(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    let subject = Subject::at(context, registers.int(0), registers.long(1), registers.int(3))?;
    change_mode(context, &subject, registers.word(2))
}

fn change_mode(context: &NotifyContext<'_>, subject: &Subject, mode: u32) -> Result<CallAnswer, Errno> {
    // A file that its owner can read stays the same to git.
    let object = match mode & libc::S_IRUSR {
        0 => subject.writable(context)?,
        _ => subject.changeable(context, |judge, object| judge.attributes(object))?,
    };
    let object = kept(context, subject, object)?;
    if object.is_symlink() {
        return Err(Errno(libc::EOPNOTSUPP));
    }
    if !object.is_directory() {
        refuse_set_user_id(context, mode, object.name().as_os_str().as_encoded_bytes())?;
        refuse_to_make_executable(context, &object, PermissionChange::Mode(mode))?;
    }
    file::change_mode(&object.path(), mode & 0o7777)?;
    Ok(CallAnswer::Value(0))
}

pub fn chown(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    change_owner(context, &Subject::followed(context, registers.long(0))?, 1)
}

pub fn lchown(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    change_owner(context, &Subject::kept(context, registers.long(0))?, 1)
}

pub fn fchown(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    change_owner(context, &Subject::Descriptor(registers.int(0)), 1)
}

pub fn fchownat(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    let subject = Subject::at(context, registers.int(0), registers.long(1), registers.int(4))?;
    change_owner(context, &subject, 2)
}

fn change_owner(context: &NotifyContext<'_>, subject: &Subject, first: usize) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    let object = shareable(context, subject)?;
    file::change_owner(object.as_fd(), registers.word(first), registers.word(first + 1))?;
    Ok(CallAnswer::Value(0))
}

type Times = Option<[libc::timespec; 2]>;

pub fn utime(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    let times = read_pair(context, registers.long(1), |words: [i64; 2]| {
        Ok(words.map(|seconds| timespec(seconds, 0)))
    })?;
    change_times(context, &Subject::followed(context, registers.long(0))?, times)
}

pub fn utimes(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    let times = read_microseconds(context, registers.long(1))?;
    change_times(context, &Subject::followed(context, registers.long(0))?, times)
}

pub fn futimesat(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    let times = read_microseconds(context, registers.long(2))?;
    let subject = match registers.long(1) {
        0 => Subject::Descriptor(registers.int(0)),
        path => Subject::at(context, registers.int(0), path, 0)?,
    };
    change_times(context, &subject, times)
}

pub fn utimensat(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    let times = read_pair(context, registers.long(2), |words: [i64; 4]| {
        Ok([timespec(words[0], words[1]), timespec(words[2], words[3])])
    })?;
    let subject = match registers.long(1) {
        0 if registers.int(3) & !libc::AT_EMPTY_PATH == 0 => Subject::Descriptor(registers.int(0)),
        0 => return Err(Errno(libc::EINVAL)),
        path => Subject::at(context, registers.int(0), path, registers.int(3))?,
    };
    change_times(context, &subject, times)
}

fn read_microseconds(context: &NotifyContext<'_>, address: u64) -> Result<Times, Errno> {
    read_pair(context, address, |words: [i64; 4]| {
        if [words[1], words[3]]
            .iter()
            .any(|micros| !(0..1_000_000).contains(micros))
        {
            return Err(Errno(libc::EINVAL));
        }
        Ok([timespec(words[0], words[1] * 1000), timespec(words[2], words[3] * 1000)])
    })
}

/// Reads the two times at an address; `None` means "now".
fn read_pair<const N: usize>(
    context: &NotifyContext<'_>,
    address: u64,
    convert: impl FnOnce([i64; N]) -> Result<[libc::timespec; 2], Errno>,
) -> Result<Times, Errno> {
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

fn change_times(context: &NotifyContext<'_>, subject: &Subject, times: Times) -> Result<CallAnswer, Errno> {
    let object = subject.changeable(context, |judge, object| judge.attributes(object))?;
    file::change_times(object.as_fd(), times)?;
    Ok(CallAnswer::Value(0))
}

/// `file_setattr`, which is refused: immutable, append-only and similar flags are the machine's.
pub fn file_setattr(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let attempt = RefusedAttempt::on(Kind::Metadata, b"");
    Err(context.never(&attempt, b"file_setattr", "no run changes file attributes"))
}
