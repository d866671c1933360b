//! Synthetic files, which the run sees in place of the machine's: those that programs resolve names with, the script that
//! the run is for, as it was when it was read, and the object that is preloaded.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::answer::Errno;
use super::caller::Alleged;
use super::memory::{MFD_ALLOW_SEALING, make_unexecutable};
use super::notify_context::NotifyContext;
use super::stand_in;
use crate::mutex::lock;
use stockade_sys::file;

/// A script as it was read. Its interpreter opens it by its path, where somebody may have put another one by then.
#[derive(Debug)]
pub struct Script {
    path: PathBuf,
    text: Arc<[u8]>,
    to_whom: ServedTo,
    opens: Mutex<Opens>,
}

/// How often a script was served, and to which process.
#[derive(Debug, Default)]
struct Opens {
    process: Option<i32>,
    count: u32,
}

/// How often the first process that opens a script, its interpreter, gets the text as it was read. Others get the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedTo {
    /// As often as the interpreter opens it before running it. Afterwards it gets the file: scripts hold locks on it.
    First(u32),
    /// Always.
    All,
}

impl Script {
    /// A script at its real path, by which its interpreter will open it.
    pub fn new(path: PathBuf, text: Arc<[u8]>, to_whom: ServedTo) -> Script {
        Script {
            path,
            text,
            to_whom,
            opens: Mutex::default(),
        }
    }

    fn serve(&self, process: i32, path: &Alleged) -> Option<&[u8]> {
        if self.path.as_os_str().as_bytes() != path.bytes() {
            return None;
        }
        let mut opens = lock(&self.opens);
        let is_due = *opens.process.get_or_insert(process) == process
            && match self.to_whom {
                ServedTo::First(most) => opens.count < most,
                ServedTo::All => true,
            };
        opens.count = opens.count.saturating_add(u32::from(is_due));
        is_due.then_some(&self.text)
    }
}

/// The content served in place of a file; `None` for the machine's own files.
pub fn content<'a>(context: &'a NotifyContext<'_>, path: &Alleged) -> Option<Cow<'a, [u8]>> {
    let script = context
        .shared()
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
    let Some(network) = context.shared().network.as_deref() else {
        return stand_in::file(context, path);
    };
    let reach = &context.shared().run.run_config.policy.reach;
    let text = network.file(path.bytes(), reach)?;
    let is_served = context.shared().approvals.is_none() || reach.has_names() || is_looking_for_hosts(context, path);
    is_served.then_some(text)
}

/// Whether the process looks up hosts. If no names are granted but hosts may be asked for, the machine's hosts file
/// stays as it is until a process has opened the files that C libraries open first to find a host.
pub fn is_looking_for_hosts(context: &NotifyContext<'_>, path: &Alleged) -> bool {
    let process = context.caller().process();
    if path.bytes() == b"/etc/hosts" {
        return context.shared().is_resolving(process);
    }
    context.shared().note_resolving(process);
    true
}

/// A file without a name that contains this text and can't be changed.
pub fn file(context: &NotifyContext<'_>, text: &[u8]) -> Result<OwnedFd, Errno> {
    context.caller().confirm()?;
    Ok(context.worker_fds().reopen(made(text)?.as_fd(), libc::O_RDONLY)?)
}

/// Whether a path is that of the object that programs preload.
pub fn is_preloaded(path: &Alleged) -> bool {
    path.bytes() == stockade_preload::PATH.as_bytes()
}

/// The object that programs preload. Each of them opens it as it starts, so each worker keeps one.
pub fn preloaded(context: &NotifyContext<'_>) -> Result<OwnedFd, Errno> {
    thread_local! {
        static OBJECT: OnceCell<OwnedFd> = const { OnceCell::new() };
    }
    context.caller().confirm()?;
    OBJECT.with(|object| {
        if object.get().is_none() {
            let _ = object.set(made(stockade_preload::OBJECT)?);
        }
        let object = object.get().expect("it is there");
        Ok(context.worker_fds().reopen(object.as_fd(), libc::O_RDONLY)?)
    })
}

fn made(text: &[u8]) -> Result<OwnedFd, Errno> {
    let mut written = std::fs::File::from(make_unexecutable(c"stockade", MFD_ALLOW_SEALING)?);
    written.write_all(text)?;
    let made = OwnedFd::from(written);
    file::seal(made.as_fd())?;
    Ok(made)
}
