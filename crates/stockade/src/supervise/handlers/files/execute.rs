//! `execve` and `execveat`: Landlock decides; the supervisor only reports what Landlock will refuse. New processes are
//! counted here too, if the run has a limit.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;

use crate::command::shebang::{HEAD_BYTES, Shebang};
use crate::policy::Access;
use crate::report::Kind;
use crate::supervise::call::caller::Alleged;
use crate::supervise::handlers::answer::{CallAnswer, Handled};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::judge::may_continue::MayContinue;
use crate::supervise::judge::policy::CLOSED;
use crate::supervise::judge::verdict::{AccessVerdict, By};
use crate::supervise::object::pinned::Pinned;
use crate::supervise::object::resolve::Last;
use crate::supervise::object::subject::Subject;

pub fn execve(context: &NotifyContext<'_>) -> Handled {
    let subject = Subject::followed(context.caller(), context.caller().registers.long(0))?;
    match context.has_continued(Kind::Execute, subject.asked()) {
        true => start(context, &subject, subject.asked()),
        false => execute(context, &subject),
    }
}

pub fn execveat(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let subject = Subject::at(context.caller(), registers.int(0), registers.long(1), registers.int(4))?;
    execute(context, &subject)
}

fn execute(context: &NotifyContext<'_>, subject: &Subject) -> Handled {
    let object = context.object(subject)?;
    let refused = context
        .judge
        .refuses_to_execute(&object)
        .filter(|_| object.is_regular());
    if let Some(reason) = refused {
        let attempt = Attempt::on(Kind::Execute, subject.asked());
        context.note(&attempt, object.name().as_os_str().as_encoded_bytes(), reason);
        return Err(CLOSED.into());
    }
    let answer = start(context, subject, object.name().as_os_str().as_encoded_bytes())?;
    refuse_interpreter(context, &object)?;
    context.tell_allowed(&Attempt::on(Kind::Execute, subject.asked()), object.name());
    // What lies in the base changes with the machine alone.
    if context.judge.object(Access::READ, &object) == AccessVerdict::Allowed(By::Landlock) {
        context.note_continued(Kind::Execute, subject.asked());
    }
    Ok(answer)
}

/// Lets the caller execute a program that may be executed, unless it may start no more.
fn start(context: &NotifyContext<'_>, subject: &Subject, target: &[u8]) -> Handled {
    match context.judge.refuses_to_start(context.caller()) {
        Some(reason) => {
            context.note(&Attempt::on(Kind::Execute, subject.asked()), target, reason);
            Err(CLOSED.into())
        }
        None => Ok(CallAnswer::Continue(MayContinue::execute())),
    }
}

/// Refuses a program whose interpreter or loader may not be executed; the kernel would refuse it without saying which.
/// A file that changes meanwhile is left to Landlock.
fn refuse_interpreter(context: &NotifyContext<'_>, object: &Pinned) -> Handled<()> {
    let Some(name) = head(object).and_then(|head| interpreter(&head)) else {
        return Ok(());
    };
    let subject = Subject::Path(libc::AT_FDCWD, Alleged::new(name), Last::Follow);
    let Ok(found) = context.object(&subject) else {
        return Ok(());
    };
    match context.judge.refuses_to_execute(&found).filter(|_| found.is_regular()) {
        Some(reason) => {
            let attempt = Attempt::on(Kind::Execute, subject.asked());
            context.note(&attempt, found.name().as_os_str().as_encoded_bytes(), reason);
            Err(CLOSED.into())
        }
        None => Ok(()),
    }
}

/// The first bytes of a program, if it can be read here. Only regular files are opened: others could block for ever.
fn head(object: &Pinned) -> Option<Vec<u8>> {
    const MAX: usize = 4096;
    if !object.is_regular() {
        return None;
    }
    let mut head = vec![0; MAX];
    let path = OsStr::from_bytes(object.path().as_bytes()).to_owned();
    let mut options = File::options();
    let mut file = options.read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let length = file.read(&mut head).ok()?;
    head.truncate(length);
    Some(head)
}

/// The interpreter in a `#!` line (execve(2)), or an ELF file's loader: its first segment of type `PT_INTERP` (elf(5)).
fn interpreter(head: &[u8]) -> Option<CString> {
    const PT_INTERP: u64 = 3;
    if head.starts_with(b"#!") {
        let shebang = Shebang::parse(&head[..head.len().min(HEAD_BYTES)])?;
        return CString::new(shebang.interpreter.into_encoded_bytes()).ok();
    }
    let number = |at: usize, bytes: usize| {
        let field = head.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    // Only 64-bit little-endian files are parsed.
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let place = |segment: u64| usize::try_from(table.checked_add(segment.checked_mul(size)?)?).ok();
    let at = (0..count)
        .filter_map(place)
        .find(|at| number(*at, 4) == Some(PT_INTERP))?;
    let (from, length) = (number(at.checked_add(8)?, 8)?, number(at.checked_add(32)?, 8)?);
    let from = usize::try_from(from).ok()?;
    let name = head.get(from..from.checked_add(usize::try_from(length).ok()?)?)?;
    CString::new(name.strip_suffix(b"\0")?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_is_started_by_is_read_from_its_head() {
        let named = |head: &[u8]| interpreter(head).map(|name| name.into_string().unwrap());
        for (head, name) in [
            (&b"#!/bin/sh\n"[..], Some("/bin/sh")),
            (b"#! /usr/bin/env python3 -I\n", Some("/usr/bin/env")),
            (b"#!tool", Some("tool")),
            (b"#!\n", None),
            (b"#!", None),
            (b"", None),
            (b"\x7fELF\x02\x01", None),
        ] {
            assert_eq!(named(head).as_deref(), name, "{head:?}");
        }
        let own = std::fs::read("/bin/true").unwrap();
        assert!(named(&own[..4096]).is_some_and(|name| name.contains("ld-")));
        let mut odd = own[..4096].to_vec();
        odd[32..40].fill(0xff);
        assert_eq!(named(&odd), None);
    }
}
