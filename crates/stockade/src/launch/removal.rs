//! Removes the files that a run leaves, at any depth and whatever modes its directories have.
//!
//! `std::fs::remove_dir_all` holds a descriptor for each level, and a run may nest directories deeper than there are
//! descriptors. Here each directory's subdirectories are moved to the top, so that nothing lies deeper than two levels.
//! Links are never followed.

use std::ffi::CString;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::Mode;

use stockade_sys::file;

/// Removes a tree of this user's. Entries that can't be removed stay, and the last reason is the error.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    let mut top = Top {
        directory: open_for_changes(AT_FDCWD, &name)?,
        name: 0,
        moved: 0,
    };
    let mut failed = None;
    // A failed removal is retried as long as another one succeeds.
    while top.empty_once(&mut failed)? {}
    file::remove(AT_FDCWD, &name, libc::AT_REMOVEDIR).map_err(|error| failed.unwrap_or(error))
}

struct Top {
    directory: OwnedFd,
    /// The last name given to a directory here.
    name: u64,
    /// The number of directories moved here.
    moved: u64,
}

impl Top {
    /// Removes the files of this directory and of its subdirectories; returns whether any was removed.
    fn empty_once(&mut self, failed: &mut Option<io::Error>) -> io::Result<bool> {
        let mut went = false;
        let moved = self.moved;
        for entry in list(self.directory.as_fd())? {
            let (name, is_directory) = entry?;
            let done = match is_directory {
                true => self.empty_below(&name),
                false => file::remove(self.directory.as_fd(), &name, 0),
            };
            went |= done.is_ok();
            *failed = done.err().or(failed.take());
        }
        Ok(went || self.moved != moved)
    }

    /// Removes a subdirectory. Its own subdirectories move here, also if something in it stays.
    fn empty_below(&mut self, name: &CString) -> io::Result<()> {
        let directory = open_for_changes(self.directory.as_fd(), name)?;
        let mut failed = None;
        for entry in list(directory.as_fd())? {
            let (name, is_directory) = entry?;
            let done = match is_directory {
                true => self.take(directory.as_fd(), &name),
                false => file::remove(directory.as_fd(), &name, 0),
            };
            failed = done.err().or(failed);
        }
        file::remove(self.directory.as_fd(), name, libc::AT_REMOVEDIR).map_err(|error| failed.unwrap_or(error))
    }

    /// Moves a directory here, or removes it if it is empty.
    fn take(&mut self, from: BorrowedFd<'_>, name: &CString) -> io::Result<()> {
        if file::remove(from, name, libc::AT_REMOVEDIR).is_ok() {
            return Ok(());
        }
        // Moving a directory takes the right to write to it, since its `..` changes (rename(2)).
        open_for_changes(from, name)?;
        loop {
            self.name += 1;
            let here = CString::new(format!("{:x}", self.name))?;
            match file::rename((from, name), (self.directory.as_fd(), &here), 0) {
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(error),
                Ok(()) => break,
            }
        }
        self.moved += 1;
        Ok(())
    }
}

/// Whether the name is taken. An empty directory is replaced.
fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EEXIST | libc::ENOTEMPTY | libc::ENOTDIR)
    )
}

/// Opens a directory, and gives its owner all rights to it.
fn open_for_changes(parent: BorrowedFd<'_>, name: &CString) -> io::Result<OwnedFd> {
    const ALL: u32 = 0o700;
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let directory = openat(parent, name.as_c_str(), flags, Mode::empty())?;
    let mode = file::status(directory.as_fd())?.st_mode;
    if mode & ALL != ALL {
        fs::set_permissions(by_number(directory.as_fd()), Permissions::from_mode(ALL))?;
    }
    Ok(directory)
}

fn by_number(file: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The names in a directory, and whether each is a directory.
fn list(directory: BorrowedFd<'_>) -> io::Result<impl Iterator<Item = io::Result<(CString, bool)>> + use<>> {
    let entries = fs::read_dir(by_number(directory))?;
    Ok(entries.map(|entry| {
        let entry = entry?;
        let is_directory = entry.file_type()?.is_dir();
        Ok((CString::new(entry.file_name().into_vec())?, is_directory))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_tree_is_removed_whatever_its_modes_and_depth() {
        let place = tempfile::tempdir().expect("a directory");
        let outside = place.path().join("outside");
        fs::create_dir(&outside).expect("a new directory");
        fs::write(outside.join("kept"), "").expect("a new file");
        let tree = place.path().join("tree");
        fs::create_dir_all(tree.join("a/b/c")).expect("new directories");
        // The names that directories are moved to.
        fs::create_dir_all(tree.join("1/2")).expect("new directories");
        fs::write(tree.join("2"), "").expect("a new file");
        fs::write(tree.join("a/b/c/file"), "").expect("a new file");
        symlink(&outside, tree.join("a/link")).expect("a new link");
        symlink("nowhere", tree.join("dangling")).expect("a new link");
        for (closed, mode) in [("a/b/c", 0o500), ("a/b", 0), ("a", 0o300), ("", 0o500)] {
            fs::set_permissions(tree.join(closed), Permissions::from_mode(mode)).expect("its mode");
        }
        remove_tree(&tree).expect("its end");
        assert!(!tree.exists());
        assert!(outside.join("kept").exists());
        assert_eq!(remove_tree(&tree).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// Deeper than a path, or the number of descriptors, can reach.
    #[test]
    fn a_tree_is_removed_that_no_path_reaches_the_end_of() {
        let place = tempfile::tempdir().expect("a directory");
        let tree = place.path().join("tree");
        fs::create_dir(&tree).expect("a new directory");
        let mut deepest = open_for_changes(AT_FDCWD, &CString::new(tree.as_os_str().as_bytes()).unwrap()).unwrap();
        for _ in 0..5000 {
            file::make_directory(deepest.as_fd(), c"d", 0o700).expect("a new directory");
            deepest = open_for_changes(deepest.as_fd(), &c"d".to_owned()).expect("it opens");
        }
        remove_tree(&tree).expect("its end");
        assert!(!tree.exists());
    }
}
