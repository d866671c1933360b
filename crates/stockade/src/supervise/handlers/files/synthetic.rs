//! Synthetic files, which the run sees in place of the machine's: those that programs resolve names with, the script that
//! the run is for, as it was when it was read, and the object that is preloaded.
//!
//! An open of `/etc/resolv.conf`, `/etc/hosts` or `/etc/nsswitch.conf` by these names gets a sealed memfd; `stat` shows
//! the machine's. A grant of `/etc` with named hosts keeps all reads with the supervisor for that.

use crate::network;
use crate::supervise::handlers::answer::Handled;
use crate::supervise::object::subject::Subject;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

use super::memory::{MFD_ALLOW_SEALING, make_unexecutable};
use crate::supervise::call::caller::Alleged;
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::net::stand_in;
use stockade_sys::file;

/// The content served in place of a file; `None` for the machine's own files.
pub fn content<'a>(context: &'a NotifyContext<'_>, path: &Alleged) -> Option<Cow<'a, [u8]>> {
    let script = context
        .run()
        .script
        .as_ref()
        .filter(|_| context.judge.is_in_no_inner_run());
    match script.and_then(|script| script.serve(context.caller().process(), path)) {
        Some(text) => Some(text.into()),
        None => names(context, path).map(|text| text.into_bytes().into()),
    }
}

/// The text of a file that programs resolve names with; `None` if no hosts are named.
pub fn names(context: &NotifyContext<'_>, path: &Alleged) -> Option<String> {
    let Some(network) = context.run().network.as_deref() else {
        return file_without_names(context, path);
    };
    let reach = &context.run().policy().run_config.policy.reach;
    let text = network.file(path.bytes(), reach)?;
    let is_served = context.run().approvals.is_none() || reach.has_names() || is_looking_for_hosts(context, path);
    is_served.then_some(text)
}

/// Whether the process looks up hosts. If no names are granted but hosts may be asked for, the machine's hosts file
/// stays as it is until a process has opened the files that C libraries open first to find a host.
pub fn is_looking_for_hosts(context: &NotifyContext<'_>, path: &Alleged) -> bool {
    let process = context.caller().process();
    if path.bytes() == b"/etc/hosts" {
        return context.run().is_resolving(process);
    }
    context.run().note_resolving(process);
    true
}

/// A file without a name that contains this text and can't be changed.
pub fn file(context: &NotifyContext<'_>, text: &[u8]) -> Handled<OwnedFd> {
    context.caller().confirm()?;
    Ok(context.fds().reopen(made(text)?.as_fd(), libc::O_RDONLY)?)
}

/// Whether a path is that of the object that programs preload.
pub fn is_preloaded(path: &Alleged) -> bool {
    path.bytes() == stockade_preload::PATH.as_bytes()
}

/// The object that programs preload. Each of them opens it as it starts, so each worker keeps one.
pub fn preloaded(context: &NotifyContext<'_>) -> Handled<OwnedFd> {
    thread_local! {
        static OBJECT: OnceCell<OwnedFd> = const { OnceCell::new() };
    }
    context.caller().confirm()?;
    OBJECT.with(|object| {
        if object.get().is_none() {
            let _ = object.set(made(stockade_preload::OBJECT)?);
        }
        let object = object.get().expect("it is there");
        Ok(context.fds().reopen(object.as_fd(), libc::O_RDONLY)?)
    })
}

fn made(text: &[u8]) -> Handled<OwnedFd> {
    let mut written = std::fs::File::from(make_unexecutable(c"stockade", MFD_ALLOW_SEALING)?);
    written.write_all(text)?;
    let made = OwnedFd::from(written);
    file::seal(made.as_fd())?;
    Ok(made)
}

/// The text of such a file in a run without network, which has no names.
fn file_without_names(context: &NotifyContext<'_>, path: &Alleged) -> Option<String> {
    if !network::is_about_names(path.bytes()) || !stand_in::is_needed(context) {
        return None;
    }
    is_looking_for_hosts(context, path)
        .then(|| network::file_without_names(path.bytes()))
        .flatten()
}

/// Whether the run sees a synthetic file in this one's place.
pub fn is_served(context: &NotifyContext<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Path(_, path, _) => names(context, path).is_some(),
        Subject::PathOrDescriptor(..) | Subject::Descriptor(_) => false,
    }
}
