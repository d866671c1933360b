//! Opens the process list in place of `/proc`.
//!
//! The file system tells what is `/proc`, not the name: a second mount of procfs is closed. Its listing would show the
//! machine's processes, and the filter can't hand over `getdents64` of one directory alone. Paths relative to the list
//! are resolved from `/proc` and never continued; calls that aren't handed over (`fstatat`) meet empty directories.

use std::os::fd::AsFd;
use std::path::Path;

use crate::supervise::handlers::answer::CallAnswer;
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::object::pinned::{FileSystemKind, Pinned};
use stockade_sys::notify::OnExecute;

/// Opens the list in place of `/proc`, if `/proc` is opened and no policy denies it. If no list can be made, the open
/// is judged as usual.
pub fn open(context: &NotifyContext<'_>, object: &Pinned, flags: i32, on_execute: OnExecute) -> Option<CallAnswer> {
    if !stands_in_for(context, object) {
        return None;
    }
    let (fds, caller) = (context.fds(), context.caller());
    let list = context
        .run()
        .process_lists
        .open(fds, caller.top, caller.process())
        .ok()?;
    let opened = fds.reopen(list.as_fd(), flags).ok()?;
    Some(CallAnswer::Descriptor(opened, on_execute))
}

/// Whether the list would be opened in this object's place.
pub fn stands_in_for(context: &NotifyContext<'_>, object: &Pinned) -> bool {
    let is_meant = object.name() == Path::new("/proc") && object.file_system() == FileSystemKind::Process;
    is_meant && context.judge.lists_processes(object)
}
