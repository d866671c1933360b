//! `readlink` and `readlinkat`, which Landlock doesn't cover. Other objects get the usual error: `stat` tells as much.

use std::ffi::{CString, OsStr};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::answer::{CallAnswer, Errno};
use super::caller::Alleged;
use super::judge::{AccessVerdict, CLOSED};
use super::metadata::Subject;
use super::notify_context::NotifyContext;
use super::pinned::{FileSystemKind, Pinned};
use super::refuse::RefusedAttempt;
use super::resolve::{Last, MOST_LINKS, PathRequest};
use crate::policy::Access;
use crate::report::Kind;
use stockade_sys::file::{self, OpenHow};

#[cfg(target_arch = "x86_64")]
pub fn readlink(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    read(context, libc::AT_FDCWD, 0)
}

pub fn readlinkat(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    read(context, context.caller().registers.int(0), 1)
}

/// Reads a link. The path, the buffer and its size are in registers from `first` on.
fn read(context: &NotifyContext<'_>, directory: i32, first: usize) -> Result<CallAnswer, Errno> {
    let (caller, registers) = (context.caller(), context.caller().registers);
    let size = usize::try_from(registers.int(first + 2)).unwrap_or(0);
    if size == 0 {
        return Err(Errno(libc::EINVAL));
    }
    let path = caller.path(registers.long(first))?;
    if let Some(errno) = at_once(context, &path) {
        return Err(errno);
    }
    let no_link = if path.bytes().is_empty() {
        libc::ENOENT
    } else {
        libc::EINVAL
    };
    let subject = Subject::PathOrDescriptor(directory, path, Last::Keep);
    let link = subject.object(context)?;
    if !link.is_symlink() {
        return Err(Errno(no_link));
    }
    if !link.has_name() {
        return Err(Errno(libc::ENOENT));
    }
    let text = text(context, &link)?;
    let attempt = RefusedAttempt::with(Kind::Read, subject.asked(), &link);
    context.enforce(verdict(context, &link, &text), &attempt, link.name(), CLOSED)?;
    let text = &text[..text.len().min(size)];
    caller.confirm()?;
    caller.write(registers.long(first + 1), text)?;
    Ok(CallAnswer::Value(text.len() as i64))
}

/// The error of a path without links that leads to a directory or to nothing: compilers ask for each directory above
/// each file that they include. Only on the root's own mount: on procfs a name may mean another object for the caller.
fn at_once(context: &NotifyContext<'_>, path: &Alleged) -> Option<Errno> {
    if !path.bytes().starts_with(b"/") {
        return None;
    }
    let how = OpenHow {
        flags: (libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC) as u64,
        mode: 0,
        resolve: libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_NO_MAGICLINKS | libc::RESOLVE_NO_XDEV,
    };
    match file::open(context.worker_fds().root.as_fd(), path.text(), how) {
        Ok(_) => Some(Errno(libc::EINVAL)),
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Some(Errno(libc::ENOENT)),
        Err(_) => None,
    }
}

/// The text of a link as the caller would read it: `/proc/self` and `/proc/thread-self` would name the supervisor.
pub fn text(context: &NotifyContext<'_>, link: &Pinned) -> Result<Vec<u8>, Errno> {
    if link.file_system() == FileSystemKind::Process {
        let caller = context.caller();
        match link.name().as_os_str().as_bytes() {
            b"/proc/self" => return Ok(caller.process().to_string().into_bytes()),
            b"/proc/thread-self" => return Ok(format!("{}/task/{}", caller.process(), caller.thread).into_bytes()),
            _ => {}
        }
    }
    let mut buffer = [0; 4096];
    let length = file::read_link(link.as_fd(), c"", &mut buffer)?;
    Ok(buffer[..length].to_vec())
}

fn verdict(context: &NotifyContext<'_>, link: &Pinned, text: &[u8]) -> AccessVerdict {
    match context.judge.object(Access::READ, link) {
        AccessVerdict::Refused(_) => context.judge.link_text(link, &steps(context, link, text)),
        verdict => verdict,
    }
}

/// The objects that a link with this text leads to, one link after the other, as far as they exist.
fn steps(context: &NotifyContext<'_>, link: &Pinned, text: &[u8]) -> Vec<Pinned> {
    let next = |link: &Path, text: &[u8]| {
        let path = link.parent()?.join(OsStr::from_bytes(text));
        let path = Alleged::new(CString::new(path.into_os_string().into_encoded_bytes()).ok()?);
        let request = PathRequest::new(context.worker_fds(), context.caller(), libc::AT_FDCWD, &path);
        request.object(Last::Keep).ok()
    };
    let mut steps: Vec<Pinned> = next(link.name(), text).into_iter().collect();
    while let Some(last) = steps.last().filter(|last| last.is_symlink())
        && steps.len() < MOST_LINKS
        && let Ok(text) = self::text(context, last)
        && let Some(step) = next(last.name(), &text)
    {
        steps.push(step);
    }
    steps
}
