//! `HEAD` and the index of a repository not made by the run. Git writes `HEAD.lock` or `index.lock` and renames it.
//!
//! Both tell git where to go. If git doesn't recognise `HEAD`, it uses a repository above, or the work tree as if it
//! were one; and from the top it enters what the index lists as a submodule. There it starts configured programs
//! (`core.fsmonitor`). So only a rename may write them, and they must lead no further than before: the supervisor
//! checks a copy in a file of its own, which no process of the run holds open, and renames that.

use crate::policy::Access;
use crate::supervise::handlers::answer::{Handled, fail};
use crate::supervise::handlers::stop::Stop;
use std::ffi::CString;
use std::fs::{File, FileTimes, Permissions};
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::policy::{Renamed, is_head};
use crate::report::Reason;
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::judge::policy::CLOSED;
use crate::supervise::object::identity::Identity;
use crate::supervise::object::pinned::{PinnedEntry, Place};
use crate::supervise::state::git_indexes::Repository;
use stockade_sys::file::{self, OpenHow};

/// The longest file that is accepted.
const MAX_LENGTH: u64 = 1 << 28;

/// Replaces the file at `new` with a copy of the file at `old`, and removes `old`.
pub fn replace(
    context: &NotifyContext<'_>,
    (old, moved): (&Place, Option<PinnedEntry>),
    new: &Place,
    attempt: &Attempt<'_>,
) -> Handled<()> {
    let never = |reason: &'static str| {
        let name = new.name().as_os_str().as_encoded_bytes();
        context.note(attempt, name, Reason::Never(reason.into()));
        Stop::Errno(CLOSED)
    };
    let is_moved = |file: &File| moved.is_some_and(|moved| is(file, moved.identity()));
    let no_file = "a regular file takes the place of git's HEAD or index, which is one";
    let wanted = open(old).map_err(|_| never(no_file))?;
    let mut wanted = wanted.filter(is_moved).ok_or_else(|| never(no_file))?;
    let mut before = open(new).map_err(|_| never(no_file))?;
    // As in rename(2): two names of one file are left as they are.
    if before.as_ref().is_some_and(is_moved) {
        return Ok(());
    }
    let ours = CString::new(format!("stockade-{}", std::process::id())).expect("it has no NUL");
    let ours = (new.parent.as_fd(), ours.as_c_str());
    // A supervisor that was killed may have left it.
    let _ = file::remove(ours.0, ours.1, 0);
    let mut copy = File::from(file::open(ours.0, ours.1, create())?);
    let mut renamed = || -> Handled<()> {
        if io::copy(&mut wanted.by_ref().take(MAX_LENGTH), &mut copy)? == MAX_LENGTH {
            return fail(libc::EFBIG);
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

/// The reason to refuse the new file, if it leads git further than the old one.
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
            let is_closed = |dot_git: &Path| context.judge.is_closed_to_all(Access::WRITE, dot_git);
            repository.is_some_and(|repository| repository.takes(&is_closed, kind, before, now))
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

/// The regular file at a place; `None` if nothing is there.
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
