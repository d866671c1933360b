//! Landlock rulesets: what a rule is for is opened first, and rules are added to what is open.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use landlock::{ABI, AccessFs, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr};

use crate::plan::{self, Handled, Links};
use crate::policy::Access;
use stockade_sys::confine;
use stockade_sys::file::{self, OpenHow};

/// Opens what a rule is for (`O_PATH`). Between the look at a path and this, somebody who may write there (another run)
/// could have put a link to anywhere in its place: `ELOOP`, where links aren't followed.
pub fn pin(path: &Path, links: Links) -> io::Result<File> {
    let open = || File::options().read(true).custom_flags(libc::O_PATH).open(path);
    if links == Links::Followed {
        return open();
    }
    let how = OpenHow {
        resolve: libc::RESOLVE_NO_SYMLINKS,
        ..OpenHow::existing(libc::O_PATH)
    };
    let name = CString::new(path.as_os_str().as_bytes())?;
    match file::open(nix::fcntl::AT_FDCWD, &name, how) {
        // As the filter of another run answers that this one is in.
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            let file = open()?;
            let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
            match real == path {
                true => Ok(file),
                false => Err(io::Error::from_raw_os_error(libc::ELOOP)),
            }
        }
        opened => opened.map(File::from),
    }
}

/// Allows rights on an opened object: those of them that an object of its kind can have, which it answers.
///
/// The crate's own `add_rule` asks for the file's type twice; that would be a quarter of a launch. The kernel
/// refuses a right that only directories have with EINVAL, which tells the same.
pub fn allow(ruleset: BorrowedFd<'_>, file: &File, rights: u64, handled: Handled) -> io::Result<u64> {
    allow_up_to(ruleset, file, rights, handled.abi)
}

/// The same by the number of the ABI alone.
pub fn allow_up_to(ruleset: BorrowedFd<'_>, file: &File, rights: u64, abi: i32) -> io::Result<u64> {
    let allow = |rights| match rights {
        0 => Ok(0),
        _ => confine::landlock_add_path(ruleset, file.as_fd(), rights).map(|()| rights),
    };
    match allow(rights) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            allow(rights & AccessFs::from_file(ABI::from(abi)).bits())
        }
        other => other,
    }
}

/// Confines the calling thread for good, more narrowly than its domain: unix sockets are made below this directory alone.
///
/// # Errors
/// Landlock refuses the ruleset or the restriction.
pub fn make_sockets_only_below(directory: OwnedFd) -> io::Result<()> {
    let make = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::MakeSock)?
            .create()?
            .add_rule(PathBeneath::new(directory, AccessFs::MakeSock))?
            .restrict_self()
    };
    let restricted: Result<_, landlock::RulesetError> = make();
    restricted.map(drop).map_err(io::Error::other)
}

/// Confines the calling thread for good to the workers' domain and these paths, which are the kernel's names for what was
/// granted meanwhile. The rules stay in `ruleset`, so that the next ones have them too.
///
/// # Errors
/// A path is gone; Landlock refuses a rule or the restriction.
pub fn enter_with(ruleset: BorrowedFd<'_>, landlock_abi: i32, paths: &[(Access, PathBuf)]) -> io::Result<()> {
    for (access, path) in paths {
        if let Some(place) = place_of(*access, path) {
            let rights = plan::rights_on_behalf(*access, landlock_abi);
            allow_up_to(ruleset, &place, rights, landlock_abi)?;
        }
        // A directory that is granted may be removed itself, which is done in the one above.
        if let Some(above) = above_of(*access, path) {
            allow_up_to(ruleset, &above, plan::rights_on_entries(landlock_abi), landlock_abi)?;
        }
    }
    confine::landlock_restrict_self(ruleset.as_raw_fd())
}

/// The directory above one that is granted for changes.
fn above_of(access: Access, path: &Path) -> Option<File> {
    let is_changed = access.intersects(Access::CHANGE);
    let above = path.parent().filter(|_| is_changed && path.is_dir())?;
    place_of(Access::READ, above)
}

/// What is read by itself; of what is written the directory, since a file may be replaced.
fn place_of(access: Access, path: &Path) -> Option<File> {
    let open = |path: &Path| pin(path, Links::GrantNothing).ok();
    if !access.intersects(Access::CHANGE) {
        return open(path);
    }
    let is_directory = |file: &File| file.metadata().is_ok_and(|metadata| metadata.is_dir());
    path.ancestors()
        .take(2)
        .find_map(|path| open(path).filter(is_directory))
}
