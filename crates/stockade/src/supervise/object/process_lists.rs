//! The process list: what a run sees when it opens `/proc` as a directory.
//!
//! procfs lists all processes of the machine, and `getdents64` isn't handed over. So the supervisor opens a directory
//! of its own instead. It has an empty directory for each process below the caller's warden, is updated at each open,
//! and provides names alone: a path relative to it is relative to `/proc` (`resolve`).

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{fs, io};

use super::identity::Identity;
use crate::mutex::lock;
use crate::processes::below;
use crate::supervise::call::fds::WorkerFds;
use stockade_sys::file::{self, OpenHow};

/// The place of the lists: in memory, and in the workers' domain.
const PLACE: &str = "/dev/shm";

/// Entries of `/proc` that every list has.
const OWN: [&str; 2] = ["self", "thread-self"];

/// The process lists of a run and of its nested runs.
#[derive(Default)]
pub struct ProcessLists {
    /// The lists by warden. Every lookup of a path without a leading slash waits for the lock, so it is held briefly.
    lists: Mutex<HashMap<i32, ProcListing>>,
    /// Held while a list is updated.
    turn: Mutex<()>,
}

/// One process list.
struct ProcListing {
    path: PathBuf,
    identity: Identity,
}

impl ProcessLists {
    /// Whether no list was opened yet.
    pub fn is_empty(&self) -> bool {
        lock(&self.lists).is_empty()
    }

    /// Whether a directory is one of the lists.
    pub fn contains(&self, directory: BorrowedFd<'_>) -> bool {
        let lists = lock(&self.lists);
        !lists.is_empty() && {
            let identity = Identity::of(directory).ok();
            lists.values().any(|list| Some(list.identity) == identity)
        }
    }

    pub fn open(&self, fds: &WorkerFds, top: i32, caller: i32) -> io::Result<OwnedFd> {
        let _turn = lock(&self.turn);
        let list = self.of(fds, top)?;
        // If the kernel doesn't list children, the list has the caller at least.
        update(&list, below(top)?.into_iter().chain([caller]))?;
        Ok(list)
    }

    fn of(&self, fds: &WorkerFds, top: i32) -> io::Result<OwnedFd> {
        let mut lists = lock(&self.lists);
        if let Some(list) = lists.get(&top).and_then(|list| list.open(fds)) {
            return Ok(list);
        }
        // Remove the lists of nested runs that are over.
        lists.retain(|top, list| Path::new("/proc").join(top.to_string()).exists() || list.remove());
        let made = ProcListing::make()?;
        let list = made.open(fds).ok_or(io::ErrorKind::NotFound)?;
        lists.insert(top, made);
        Ok(list)
    }

    /// Removes all lists, when the run is over.
    pub fn clear(&self) {
        for (_, list) in lock(&self.lists).drain() {
            list.remove();
        }
    }
}

impl ProcListing {
    fn make() -> io::Result<ProcListing> {
        let path = tempfile::Builder::new().prefix("stockade-").tempdir_in(PLACE)?.keep();
        for name in OWN {
            std::os::unix::fs::symlink(Path::new("/proc").join(name), path.join(name))?;
        }
        let identity = Identity::at(&path).ok_or(io::ErrorKind::NotFound)?;
        Ok(ProcListing { path, identity })
    }

    /// Returns `None` if another object has its name by now: a run may write `/dev/shm` by a grant.
    fn open(&self, fds: &WorkerFds) -> Option<OwnedFd> {
        let path = CString::new(self.path.as_os_str().as_encoded_bytes()).ok()?;
        let how = OpenHow::existing(libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW);
        let list = file::open(fds.root.as_fd(), &path, how).ok()?;
        (Identity::of(list.as_fd()).ok() == Some(self.identity)).then_some(list)
    }

    /// Removes the directory. Always returns false: the list isn't kept.
    fn remove(&self) -> bool {
        if Identity::at(&self.path) == Some(self.identity) {
            // They are empty, and may not be opened.
            for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
                let path = entry.path();
                let _ = fs::remove_dir(&path).or_else(|_| fs::remove_file(&path));
            }
            let _ = fs::remove_dir(&self.path);
        }
        false
    }
}

/// Creates the entries of new processes, and removes those of ended ones.
fn update(list: &OwnedFd, processes: impl Iterator<Item = i32>) -> io::Result<()> {
    let mut missing: HashSet<String> = processes.map(|process| process.to_string()).collect();
    let path = WorkerFds::path_to(list.as_fd());
    for entry in fs::read_dir(path.to_str().expect("digits"))?.flatten() {
        let name = entry.file_name();
        let is_there = name
            .to_str()
            .is_some_and(|name| missing.remove(name) || OWN.contains(&name));
        if let Ok(name) = CString::new(name.as_encoded_bytes())
            && !is_there
        {
            let _ = file::remove(list.as_fd(), &name, libc::AT_REMOVEDIR);
        }
    }
    for process in missing {
        // Nothing is found in one: marked opens of what `/proc` has there are refused, and made again for the supervisor.
        file::make_directory(list.as_fd(), &CString::new(process)?, 0)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::testing::worker_fds;

    /// The names in a directory.
    fn names(directory: &OwnedFd) -> HashSet<String> {
        let path = WorkerFds::path_to(directory.as_fd()).into_string().unwrap();
        let entries = fs::read_dir(path).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_list_has_the_caller_and_no_process_outside_the_run() {
        let (fds, lists) = (worker_fds(), ProcessLists::default());
        assert!(lists.is_empty());
        let own = std::process::id().try_into().unwrap();
        let list = lists.open(&fds, own, own).unwrap();
        let names = names(&list);
        assert!(names.contains(&own.to_string()) && names.contains("self"));
        assert!(!names.contains("1"), "{names:?}");
        lists.clear();
    }

    #[test]
    fn a_list_is_known_by_its_identity_until_the_run_is_over() {
        let (fds, lists) = (worker_fds(), ProcessLists::default());
        let own = std::process::id().try_into().unwrap();
        let list = lists.open(&fds, own, own).unwrap();
        assert!(lists.contains(list.as_fd()) && !lists.contains(fds.proc.as_fd()));
        let place = fds.name_of(list.as_fd()).unwrap();
        lists.clear();
        assert!(!lists.contains(list.as_fd()));
        assert!(!Path::new(&String::from_utf8(place).unwrap()).exists());
    }
}
