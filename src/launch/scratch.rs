//! The scratch directory of a run: private, writable, removed with the run.
//!
//! It lies in Stockade's own state directory, which no profile opens, so no other run can look into it. Each is
//! locked while its run lives; what a killed launcher left behind is removed by a later run.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use tempfile::TempDir;

use super::LaunchError;
use crate::real_path::is_there;

/// One scratch directory; dropping it removes the tree.
pub struct Scratch {
    directory: TempDir,
    _lock: Option<Flock<File>>,
}

impl Scratch {
    /// Makes one below `parent`, which is made as well (mode 0700).
    pub fn make(parent: &Path) -> Result<Scratch, LaunchError> {
        let failed = |error| LaunchError::Scratch(parent.to_path_buf(), error);
        make_private(parent).map_err(failed)?;
        remove_abandoned(parent);
        let directory = tempfile::Builder::new()
            .prefix("run-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .tempdir_in(parent)
            .map_err(failed)?;
        let lock = lock(directory.path());
        Ok(Scratch { directory, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A run may have taken the write bit off a directory of its own; the owner can give it back.
        make_removable(self.directory.path(), 0);
    }
}

/// The directory and what is missing above it, for the user alone. One that somebody else prepared isn't used.
pub fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let metadata = fs::symlink_metadata(path)?;
    if !is_ours(path) {
        return Err(io::Error::other("it is a link, or belongs to somebody else"));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// An exclusive lock on a directory, kept as long as the value; `None` where the file system has none.
fn lock(directory: &Path) -> Option<Flock<File>> {
    let file = File::open(directory).ok()?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()
}

/// Removes what runs left whose launcher was killed: old enough to have been locked, and not locked.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(b"run-");
        if is_ours && is_old(&entry) && lock(&entry.path()).is_some() {
            make_removable(&entry.path(), 0);
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_old(entry: &fs::DirEntry) -> bool {
    const LONGER_THAN_A_LAUNCH: std::time::Duration = std::time::Duration::from_secs(60);
    entry
        .metadata()
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > LONGER_THAN_A_LAUNCH))
}

/// Makes directories writable for their owner again, as deep as a removal would go. Links aren't followed.
fn make_removable(directory: &Path, depth: u32) {
    const DEEP_ENOUGH: u32 = 128;
    let Ok(metadata) = fs::symlink_metadata(directory) else {
        return;
    };
    if !metadata.is_dir() || depth > DEEP_ENOUGH {
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    if metadata.permissions().mode() & 0o700 != 0o700 {
        let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_removable(&entry.path(), depth + 1);
        }
    }
}

/// Where scratch directories go: the state directory, or `/var/tmp` where there's no home.
pub fn parent(state: Option<&Path>) -> PathBuf {
    match state {
        Some(state) => state.join("scratch"),
        None => without_home(),
    }
}

/// The same where there's no home. Not in `/tmp`, which profiles grant, and which would have to be gone around.
pub fn without_home() -> PathBuf {
    homeless(Path::new("/var/tmp"), &format!("stockade-{}", nix::unistd::getuid()))
}

/// The directory of this name, which runs share so that each keeps the others out of it. Any user can take the name: then
/// one of this user's whose name begins like it, found or made.
fn homeless(top: &Path, name: &str) -> PathBuf {
    let usual = top.join(name);
    if is_ours(&usual) || is_there(&usual).is_ok_and(|there| !there) {
        return usual;
    }
    let prefix = format!("{name}-");
    let entries = fs::read_dir(top).into_iter().flatten().flatten();
    let ours = entries
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()))
        .map(|entry| entry.path())
        .filter(|path| is_ours(path));
    let make = || {
        let made = tempfile::Builder::new().prefix(&prefix).tempdir_in(top);
        made.map(TempDir::keep).ok()
    };
    ours.min().or_else(make).unwrap_or(usual)
}

fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == nix::unistd::geteuid().as_raw())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn without_a_home_a_name_that_another_user_took_keeps_no_run_from_starting() {
        let mut takes: Vec<fn(&Path)> = vec![
            |name| drop(File::create(name).unwrap()),
            |name| symlink("/nonexistent", name).unwrap(),
            |name| symlink(name.parent().unwrap(), name).unwrap(),
        ];
        match nix::unistd::geteuid().is_root() {
            true => takes.push(|name| {
                fs::create_dir(name).unwrap();
                std::os::unix::fs::chown(name, Some(65534), None).unwrap();
            }),
            false => eprintln!("skipped: only root makes a directory of another user's"),
        }
        for (index, take) in takes.iter().enumerate() {
            let top = tempfile::tempdir().unwrap();
            let usual = top.path().join("stockade-1");
            assert_eq!(homeless(top.path(), "stockade-1"), usual);
            take(&usual);
            fs::write(top.path().join("stockade-1-a"), "").unwrap();
            let parent = homeless(top.path(), "stockade-1");
            assert_ne!(parent, usual, "{index}");
            let scratch = Scratch::make(&parent).unwrap();
            assert_eq!(fs::metadata(&parent).unwrap().mode() & 0o777, 0o700, "{index}");
            assert_eq!(homeless(top.path(), "stockade-1"), parent, "the next run finds it");
            drop(scratch);
            assert_eq!(fs::read_dir(&parent).unwrap().count(), 0, "{index}");
        }
    }
}
