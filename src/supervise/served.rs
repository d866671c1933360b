//! Files that the run sees in place of the machine's: those by which programs find names.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

use super::answer::Errno;
use super::caller::Alleged;
use super::desk::Desk;
use crate::sys::file;

const MFD_ALLOW_SEALING: u32 = 2;
const MFD_NOEXEC_SEAL: u32 = 8;

/// The text of such a file; `None` for all others, and where no hosts are named.
pub fn text(desk: &Desk<'_>, path: &Alleged) -> Option<String> {
    let network = desk.shared().network.as_deref()?;
    let reach = &desk.shared().run.brief.policy.reach;
    let text = network.file(path.bytes(), reach)?;
    let is_served = desk.shared().approvals.is_none() || reach.has_names() || is_looking_for_hosts(desk, path);
    is_served.then_some(text)
}

/// Where no names are granted, and hosts may be asked for, the machine's own hosts file is one like others, until a process has opened what C
/// libraries open before it to find a host.
fn is_looking_for_hosts(desk: &Desk<'_>, path: &Alleged) -> bool {
    let process = desk.caller().process();
    if path.bytes() == b"/etc/hosts" {
        return desk.shared().is_resolving(process);
    }
    desk.shared().note_resolving(process);
    true
}

/// A file without a name that holds this text, and can't be changed.
pub fn file(desk: &Desk<'_>, text: &str) -> Result<OwnedFd, Errno> {
    desk.caller().confirm()?;
    let made = file::memory_file(c"stockade", MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL | libc::MFD_CLOEXEC)?;
    let mut written = std::fs::File::from(made);
    written.write_all(text.as_bytes())?;
    let made = OwnedFd::from(written);
    file::seal(made.as_fd())?;
    Ok(desk.station().reopen(made.as_fd(), libc::O_RDONLY)?)
}
