//! `access` and its variants, which answer as an open would, and watches, which show who uses a file.

use super::synthetic;
use std::os::fd::AsFd;

use super::process_list;
use crate::policy::Access;
use crate::report::Kind;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::judge::may_continue::MayContinue;
use crate::supervise::judge::policy::CLOSED;
use crate::supervise::judge::verdict::By;
use crate::supervise::object::resolve::Last;
use crate::supervise::object::subject::Subject;
use stockade_sys::file;

pub fn access(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    answer(
        context,
        &Subject::followed(context.caller(), registers.long(0))?,
        registers.int(1),
    )
}

pub fn faccessat(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let subject = Subject::at(context.caller(), registers.int(0), registers.long(1), 0)?;
    answer(context, &subject, registers.int(2))
}

pub fn faccessat2(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let flags = registers.int(3) & !libc::AT_EACCESS;
    let subject = Subject::at(context.caller(), registers.int(0), registers.long(1), flags)?;
    answer(context, &subject, registers.int(2))
}

fn answer(context: &NotifyContext<'_>, subject: &Subject, mode: i32) -> Handled {
    if mode & !(libc::R_OK | libc::W_OK | libc::X_OK) != 0 {
        return fail(libc::EINVAL);
    }
    if mode & !libc::R_OK == 0 && synthetic::is_served(context, subject) {
        return Ok(CallAnswer::Value(0));
    }
    let known = |bit, kind| mode & bit == 0 || context.has_continued(kind, subject.asked());
    if mode & libc::W_OK == 0 && known(libc::R_OK, Kind::Read) && known(libc::X_OK, Kind::Execute) {
        return Ok(CallAnswer::Continue(MayContinue::access()));
    }
    let object = context.object(subject)?;
    // An access that the kernel refuses anyway isn't a refusal of the policy.
    file::may_access(&object.path(), mode)?;
    if mode & libc::W_OK == 0 && process_list::stands_in_for(context, &object) {
        return Ok(CallAnswer::Value(0));
    }
    let ask = |bit: i32, access: Access, kind: Kind| {
        if mode & bit == 0 {
            return Ok(By::Supervisor);
        }
        let attempt = Attempt::with(kind, subject.asked(), &object);
        context.enforce(context.judge.object(access, &object), &attempt, object.name(), CLOSED)
    };
    if ask(libc::R_OK, Access::READ, Kind::Read)? == By::Landlock
        && matches!(subject, Subject::Path(_, _, Last::Follow))
    {
        context.note_continued(Kind::Read, subject.asked());
    }
    ask(libc::W_OK, Access::WRITE, Kind::Write)?;
    if mode & libc::X_OK != 0
        && !object.is_directory()
        && let Some(reason) = context.judge.refuses_to_execute(&object)
    {
        let attempt = Attempt::with(Kind::Execute, subject.asked(), &object);
        context.note(&attempt, object.name().as_os_str().as_encoded_bytes(), reason);
        return Err(CLOSED.into());
    }
    Ok(CallAnswer::Value(0))
}

/// `inotify_add_watch`, on the target's own inotify instance.
pub fn watch(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let mask = registers.word(2);
    let path = context.caller().path(registers.long(1))?;
    let last = if mask & libc::IN_DONT_FOLLOW != 0 {
        Last::Keep
    } else {
        Last::Follow
    };
    let subject = Subject::Path(libc::AT_FDCWD, path, last);
    let object = context.object(&subject)?;
    let attempt = Attempt::with(Kind::Read, subject.asked(), &object);
    context.enforce(
        context.judge.object(Access::READ, &object),
        &attempt,
        object.name(),
        CLOSED,
    )?;
    let queue = context.caller().same_file(registers.int(0))?;
    context.caller().confirm()?;
    if mask & libc::IN_ONLYDIR != 0 && !object.is_directory() {
        return fail(libc::ENOTDIR);
    }
    // These flags are about the path, which is already resolved; what remains is a magic link to the object.
    let mask = mask & !(libc::IN_DONT_FOLLOW | libc::IN_ONLYDIR);
    let number = file::watch(queue.as_fd(), &object.path(), mask)?;
    Ok(CallAnswer::Value(i64::from(number)))
}
