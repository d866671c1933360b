//! File events that send signals: `F_SETOWN`, `F_SETSIG`, `O_ASYNC`.
//!
//! The signals go to the owner of the open file. An open file that the run shares with its caller may have an owner
//! outside, and a terminal without an owner gets its foreground group as owner when `O_ASYNC` is set. So the supervisor
//! makes these calls on a copy of the descriptor, and only if no owner is outside. `si_fd` is then the copy's number.

use std::os::fd::{AsFd, OwnedFd};

use super::calls;
use crate::report::Kind;
use crate::supervise::call::errno::Errno;
use crate::supervise::call::procfs;
use crate::supervise::handlers::answer::{CallAnswer, Handled};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::judge::may_continue::MayContinue;
use stockade_sys::file::{self, Owner};

/// `fcntl` calls that concern a file's events.
pub fn control(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let value = registers.int(2);
    match registers.int(1) {
        libc::F_SETOWN => own(context, value),
        F_SETSIG => {
            let (file, _) = shared(context)?;
            if ![0, libc::SIGIO].contains(&value) && is_inherited(&file)? {
                let reason = "a process outside that shares the file would get that signal for its events";
                return Err(context.never(&Attempt::on(Kind::Signal, b""), b"standard input or output", reason));
            }
            context.caller().confirm()?;
            file::set_signal_of_events(file.as_fd(), value)?;
            Ok(CallAnswer::Value(0))
        }
        libc::F_SETFL => {
            let file = signalling(context)?;
            context.caller().confirm()?;
            file::set_flags(file.as_fd(), value)?;
            Ok(CallAnswer::Value(0))
        }
        _ => calls::refuse(context),
    }
}

/// From fcntl(2); libc lacks it.
const F_SETSIG: i32 = 10;

/// Whether the file is the launcher's standard input, output or error, or another opening of the same file. The signal
/// number of its events stays set when the run is over, and its owner may be another process then.
fn is_inherited(file: &OwnedFd) -> Handled<bool> {
    let number = |status: libc::stat| (status.st_dev, status.st_ino);
    let own = number(file::status(file.as_fd())?);
    let launchers = [
        std::io::stdin().as_fd(),
        std::io::stdout().as_fd(),
        std::io::stderr().as_fd(),
    ]
    .map(|stream| file::status(stream).map(number));
    Ok(launchers.into_iter().flatten().any(|inherited| inherited == own))
}

/// `ioctl(FIOASYNC)`: sets or clears `O_ASYNC` by an `int` in memory.
pub fn set_asynchronous(context: &NotifyContext<'_>) -> Handled {
    let mut word = [0; 4];
    context.caller().read(context.caller().registers.long(2), &mut word)?;
    let file = signalling(context)?;
    context.caller().confirm()?;
    let flags = file::open_flags(file.as_fd())?;
    let flags = match i32::from_ne_bytes(word) {
        0 => flags & !libc::O_ASYNC,
        _ => flags | libc::O_ASYNC,
    };
    file::set_flags(file.as_fd(), flags)?;
    Ok(CallAnswer::Value(0))
}

/// `F_SETOWN`: the process that a file's events signal. Removing the owner is refused too, since a terminal would then
/// get its foreground group as owner.
fn own(context: &NotifyContext<'_>, owner: i32) -> Handled {
    let process = context.caller().thread_group().ok_or(Errno(libc::ESRCH))?;
    context.caller().confirm()?;
    if owner == process {
        return Ok(CallAnswer::Continue(MayContinue::registers_decided(
            &context.caller().registers,
        )));
    }
    let target = format!("process {owner}");
    let reason = "a file's events may signal the process that asks for them alone";
    Err(context.never(&Attempt::on(Kind::Signal, b""), target.as_bytes(), reason))
}

/// The caller's file for `O_ASYNC`. A device without an owner is refused, since the flag may give it one outside; a
/// device with an owner keeps it, since no run may remove the owner.
fn signalling(context: &NotifyContext<'_>) -> Handled<OwnedFd> {
    let (file, owner) = shared(context)?;
    let is_device = file::status(file.as_fd())?.st_mode & libc::S_IFMT == libc::S_IFCHR;
    if is_device && owner == Owner::None {
        let reason = "events of a terminal would signal its foreground group; F_SETOWN comes first";
        return Err(context.never(&Attempt::on(Kind::Signal, b""), b"terminal", reason));
    }
    Ok(file)
}

/// The caller's file and its owner, which isn't outside the run. After this the run can only make itself the owner:
/// other owners are refused where signals are judged, and elsewhere Landlock's signal scope applies.
fn shared(context: &NotifyContext<'_>) -> Handled<(OwnedFd, Owner)> {
    let file = context.caller().same_file(context.caller().registers.int(0))?;
    let owner = file::owner(file.as_fd())?;
    match owner {
        Owner::None => {}
        Owner::Process(process) if procfs::is_below(context.fds(), context.caller().top, process) => {}
        Owner::Process(process) => {
            return Err(calls::foreign(context, Kind::Signal, &format!("process {process}")));
        }
        Owner::Group(group) => {
            return Err(calls::foreign(context, Kind::Signal, &format!("process group {group}")));
        }
    }
    Ok((file, owner))
}
