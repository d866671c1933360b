//! `HEAD` and the index of a repository that the run didn't make. Git writes `HEAD.lock`, or `index.lock`, and renames that.
//!
//! By them git goes elsewhere: where `HEAD` isn't what it takes for one, to a repository above, or to the work tree as if that
//! were a repository; and from the top into what the index calls a submodule. There it starts what is configured
//! (`core.fsmonitor`). So they are written in no other way, and lead no further than before: the supervisor reads what it has
//! copied into a file of its own, which nothing of the run holds open, and renames that one.

use std::ffi::CString;
use std::fs::{File, FileTimes, Permissions};
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::answer::Errno;
use super::judge::CLOSED;
use super::notify_context::NotifyContext;
use super::pinned::{Entry, Identity, Place};
use super::refuse::Attempt;
use super::submodules::Repository;
use crate::policy::{Renamed, is_head};
use crate::report::Reason;
use stockade_sys::file::{self, OpenHow};

/// A longer one isn't taken.
const LONGEST: u64 = 1 << 28;

/// Puts a copy of what is at `old` in the place of the file at `new`, and removes that.
pub fn replace(
    context: &NotifyContext<'_>,
    (old, moved): (&Place, Option<Entry>),
    new: &Place,
    attempt: &Attempt<'_>,
) -> Result<(), Errno> {
    let never = |reason: &'static str| {
        let name = new.name().as_os_str().as_encoded_bytes();
        context.note(attempt, name, Reason::Never(reason.into()));
        CLOSED
    };
    let is_moved = |file: &File| moved.is_some_and(|moved| is(file, moved.identity()));
    let no_file = "a regular file takes the place of git's HEAD or index, which is one";
    let wanted = open(old).map_err(|_| never(no_file))?;
    let mut wanted = wanted.filter(is_moved).ok_or_else(|| never(no_file))?;
    let mut before = open(new).map_err(|_| never(no_file))?;
    // As rename(2): two names of one file stay as they are.
    if before.as_ref().is_some_and(is_moved) {
        return Ok(());
    }
    let ours = CString::new(format!("stockade-{}", std::process::id())).expect("it has no NUL");
    let ours = (new.parent.as_fd(), ours.as_c_str());
    // One that was killed may have left it.
    let _ = file::remove(ours.0, ours.1, 0);
    let mut copy = File::from(file::open(ours.0, ours.1, create())?);
    let mut renamed = || -> Result<(), Errno> {
        if io::copy(&mut wanted.by_ref().take(LONGEST), &mut copy)? == LONGEST {
            return Err(Errno(libc::EFBIG));
        }
        if let Some(reason) = leads_further(context, new, before.as_mut(), &mut copy)? {
            return Err(never(reason));
        }
        let found = wanted.metadata()?;
        copy.set_permissions(Permissions::from_mode(found.mode() & 0o777 | 0o400))?;
        copy.set_times(FileTimes::new().set_modified(found.modified()?))?;
        file::rename(ours, (new.parent.as_fd(), new.component()), 0)?;
        Ok(())
    };
    renamed().inspect_err(|_| {
        let _ = file::remove(ours.0, ours.1, 0);
    })?;
    Ok(file::remove(old.parent.as_fd(), old.component(), 0)?)
}

/// Why it isn't taken, where git would go further by it than by the file before.
fn leads_further(
    context: &NotifyContext<'_>,
    place: &Place,
    before: Option<&mut File>,
    now: &mut File,
) -> io::Result<Option<&'static str>> {
    const HEAD: &str =
        "git's HEAD names a branch or an object: with another one git takes a directory above for the repository";
    const INDEX: &str = "git's index has a repository as a new submodule, or isn't understood: git would go there from the top, and \
                         start what its configuration names";
    let is_fine = match Renamed::of(place.name()) {
        Some(Renamed::Head) => {
            let mut text = Vec::new();
            now.rewind()?;
            now.take(512).read_to_end(&mut text)?;
            return Ok((!is_head(&text)).then_some(HEAD));
        }
        Some(kind) => {
            let repository = place.name().parent().map(Repository::of_directory);
            repository.is_some_and(|repository| repository.takes(&context.judge, kind, before, now))
        }
        None => false,
    };
    Ok((!is_fine).then_some(INDEX))
}

fn create() -> OpenHow {
    OpenHow {
        flags: (libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC) as u64,
        mode: 0o600,
        resolve: 0,
    }
}

/// The regular file that is there; `None` where nothing is.
fn open(place: &Place) -> io::Result<Option<File>> {
    let how = OpenHow::existing(libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK);
    match file::open(place.parent.as_fd(), place.component(), how).map(File::from) {
        Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
        Ok(_) => Err(io::ErrorKind::InvalidInput.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn is(file: &File, identity: Identity) -> bool {
    Identity::of(file.as_fd()).is_ok_and(|found| found == identity)
}
