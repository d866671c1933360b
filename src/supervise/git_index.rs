//! A new index of a repository that the run didn't make, as git makes one: it writes `index.lock`, and renames that.
//!
//! From the top of a repository git goes into what the index calls a submodule, and starts what is configured there
//! (`core.fsmonitor`). So an index is written in no other way, and leads to no submodule that it didn't lead to before: the
//! supervisor reads what it has copied into a file of its own, which nothing of the run holds open, and renames that one.

use std::ffi::CString;
use std::fs::{File, FileTimes, Permissions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::answer::Errno;
use super::desk::Desk;
use super::judge::CLOSED;
use super::pinned::{Entry, Identity, Place};
use super::refuse::Attempt;
use crate::policy::leads_no_further;
use crate::report::Reason;
use crate::sys::file::{self, OpenHow};

/// A longer one isn't taken.
const LONGEST: u64 = 1 << 28;

/// Puts a copy of what is at `old` in the place of the index at `new`, and removes that.
pub fn replace(
    desk: &Desk<'_>,
    (old, moved): (&Place, Option<Entry>),
    new: &Place,
    attempt: &Attempt<'_>,
) -> Result<(), Errno> {
    let never = |reason: &'static str| {
        let name = new.name().as_os_str().as_encoded_bytes();
        desk.note(attempt, name, Reason::Never(reason.into()));
        CLOSED
    };
    let wanted = open(old)?.filter(|file| moved.is_some_and(|moved| is(file, moved.identity())));
    let Some(mut wanted) = wanted else {
        return Err(never("a regular file takes the place of git's index"));
    };
    let mut before = open(new)?;
    let ours = CString::new(format!("stockade-index-{}", std::process::id())).expect("it has no NUL");
    let ours = (new.parent.as_fd(), ours.as_c_str());
    // One that was killed may have left it.
    let _ = file::remove(ours.0, ours.1, 0);
    let mut copy = File::from(file::open(ours.0, ours.1, create())?);
    let mut renamed = || -> Result<(), Errno> {
        if io::copy(&mut wanted.by_ref().take(LONGEST), &mut copy)? == LONGEST {
            return Err(Errno(libc::EFBIG));
        }
        if !leads_no_further(before.as_mut(), &mut copy)? {
            let reason = "git's index leads to a submodule that it didn't lead to before, or isn't understood: git would go \
                          there from the top, and start what its configuration names";
            return Err(never(reason));
        }
        let found = wanted.metadata()?;
        copy.set_permissions(Permissions::from_mode(found.mode() & 0o777))?;
        copy.set_times(FileTimes::new().set_modified(found.modified()?))?;
        file::rename(ours, (new.parent.as_fd(), new.component()), 0)?;
        Ok(())
    };
    renamed().inspect_err(|_| {
        let _ = file::remove(ours.0, ours.1, 0);
    })?;
    Ok(file::remove(old.parent.as_fd(), old.component(), 0)?)
}

fn create() -> OpenHow {
    OpenHow {
        flags: (libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC) as u64,
        mode: 0o600,
        resolve: 0,
    }
}

/// The regular file that is there, or anything else as `EPERM`; `None` where nothing is.
fn open(place: &Place) -> Result<Option<File>, Errno> {
    let how = OpenHow::existing(libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK);
    match file::open(place.parent.as_fd(), place.component(), how) {
        Ok(opened) => {
            let opened = File::from(opened);
            match opened.metadata()?.is_file() {
                true => Ok(Some(opened)),
                false => Err(CLOSED),
            }
        }
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is(file: &File, identity: Identity) -> bool {
    Identity::of(file.as_fd()).is_ok_and(|found| found == identity)
}
