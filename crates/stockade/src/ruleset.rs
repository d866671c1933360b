//! Landlock rulesets: each rule's path is opened first, and the rule is added for the open object.

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

/// Opens a rule's path (`O_PATH`). Between the check of a path and this call, another run that may write there could
/// have replaced it by a link to anywhere: `ELOOP`, where links aren't followed.
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
        // The answer of an outer run's filter.
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

/// Allows rights on an opened object, and returns those of them that an object of its kind can have.
///
/// The crate's own `add_rule` asks for the file's type twice; that would be a quarter of a launch. The kernel refuses a
/// right that only directories have with EINVAL, which gives the same answer.
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

/// Confines the calling thread for good, within its domain: unix sockets can be made below this directory alone.
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

/// Confines the calling thread for good to the workers' domain and these paths, the kernel's names of what was granted
/// meanwhile. The rules stay in `ruleset`, so that the next retry threads have them too.
///
/// # Errors
/// A path is gone; Landlock refuses a rule or the restriction.
pub fn enter_with(ruleset: BorrowedFd<'_>, landlock_abi: i32, paths: &[(Access, PathBuf)]) -> io::Result<()> {
    for (access, path) in paths {
        if let Some(place) = place_of(*access, path) {
            let rights = plan::rights_on_behalf(*access, landlock_abi);
            allow_up_to(ruleset, &place, rights, landlock_abi)?;
        }
        // A granted directory may itself be removed, which is a change of its parent.
        if let Some(above) = above_of(*access, path) {
            allow_up_to(ruleset, &above, plan::rights_on_entries(landlock_abi), landlock_abi)?;
        }
    }
    confine::landlock_restrict_self(ruleset.as_raw_fd())
}

/// The parent of a directory that is granted for changes.
fn above_of(access: Access, path: &Path) -> Option<File> {
    let is_changed = access.intersects(Access::CHANGE);
    let above = path.parent().filter(|_| is_changed && path.is_dir())?;
    place_of(Access::READ, above)
}

/// For reading, the object itself; for writing, its directory, since a file may be replaced.
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
