//! The Landlock domain of the supervisor's workers: what the policy could ever grant, and the listing of homes.
//!
//! A mistake in the supervisor then opens no more than the policy names. The run's own domain is nested inside, since
//! Landlock lets a confined thread read the memory only of what is in its own domain or one below.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};

use super::LaunchError;
use super::prepare::{allow, allow_up_to, descriptor};
use crate::plan::{self, Links, Plan};
use crate::policy::Access;
use crate::sys::confine;
use crate::sys::file::{self, OpenHow};

/// The ruleset with what the workers need beyond the run's own rules, which are added to both.
pub fn create(plan: &Plan) -> Result<OwnedFd, LaunchError> {
    let abi = ABI::from(plan.handled.abi);
    // Connections are the policy's affair, not the file system's.
    let files = AccessFs::from_all(abi) & !BitFlags::from(AccessFs::ResolveUnix);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(files)?;
    // A terminal that gets an owner by a call on behalf signals nothing outside, whatever owner that is.
    let ruleset = match plan.handled.scopes {
        true => ruleset.scope(Scope::Signal)?,
        false => ruleset,
    };
    let ruleset = descriptor(ruleset.create()?)?;
    for rule in &plan.workers_rules {
        let failed = |error| LaunchError::Open(rule.path.clone(), error);
        if let Some(file) = nearest(&rule.path, rule.links).map_err(failed)? {
            allow(ruleset.as_fd(), &file, rule.rights & files.bits(), plan.handled).map_err(failed)?;
        }
        // Never the top, which is above everything.
        let above = rule.path.parent().filter(|above| *above != Path::new("/"));
        if rule.above != 0
            && let Some(above) = above
            && let Some(file) = nearest(above, rule.links).map_err(failed)?
        {
            allow(ruleset.as_fd(), &file, rule.above & files.bits(), plan.handled).map_err(failed)?;
        }
    }
    for path in &plan.workers_lists {
        if let Ok(file) = pin(path, Links::Followed)
            && file.metadata().is_ok_and(|found| found.is_dir())
        {
            let failed = |error| LaunchError::Open(path.clone(), error);
            allow(ruleset.as_fd(), &file, plan::right_to_list(), plan.handled).map_err(failed)?;
        }
    }
    Ok(ruleset)
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

/// The directory in which a path is made, replaced or found: the path itself, if it is one. A device is never replaced.
fn nearest(path: &Path, links: Links) -> io::Result<Option<File>> {
    use std::os::unix::fs::FileTypeExt;
    let is_device = |file: &File| {
        file.metadata()
            .is_ok_and(|metadata| metadata.file_type().is_char_device() || metadata.file_type().is_block_device())
    };
    let fits = |file: &File| file.metadata().is_ok_and(|metadata| metadata.is_dir()) || is_device(file);
    for path in path.ancestors() {
        match pin(path, links) {
            Ok(file) if fits(&file) => return Ok(Some(file)),
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                return if links == Links::Refused { Err(error) } else { Ok(None) };
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Opens what a rule is for (`O_PATH`). Between the look at a path and this, somebody who may write there (another run)
/// could have put a link to anywhere in its place: `ELOOP`, where links aren't followed.
pub(super) fn pin(path: &Path, links: Links) -> io::Result<File> {
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
