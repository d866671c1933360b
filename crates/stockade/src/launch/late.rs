//! Closed names that somebody else makes while the kernel alone judges reads: the run could read what is there, so it is told.
//!
//! The tops of the trees are watched, and the directories directly in them, those that come later too (inotify(7)).

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};

use crate::policy::{Access, AccessDecision, Matcher, Policy};

/// The most directories of one tree that are watched.
const MOST: usize = 32;
/// The most directories that are watched in all.
const MOST_WATCHED: usize = 256;
/// The most entries that are looked at for directories, at the top of a tree, and for closed names, in a directory that comes.
const MOST_ENTRIES: usize = 1024;
/// The most names that are told.
const MOST_TOLD: usize = 64;

/// A watch on trees.
#[derive(Debug)]
pub struct LateSecrets {
    inotify: Inotify,
    places: HashMap<WatchDescriptor, PathBuf>,
    told: BTreeSet<PathBuf>,
}

impl LateSecrets {
    /// Watches trees from now on.
    ///
    /// # Errors
    /// The kernel watches nothing more for this user.
    pub fn watch<'a>(trees: impl Iterator<Item = &'a Path>) -> nix::Result<LateSecrets> {
        let mut late = LateSecrets {
            inotify: Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?,
            places: HashMap::new(),
            told: BTreeSet::new(),
        };
        for tree in trees.filter(|tree| tree.is_dir()) {
            late.add(tree)?;
            let entries = fs::read_dir(tree).into_iter().flatten().flatten().take(MOST_ENTRIES);
            let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            for entry in directories.take(MOST - 1) {
                // Another user's may not be watched, nor read.
                let _ = late.add(&entry.path());
            }
        }
        Ok(late)
    }

    fn add(&mut self, directory: &Path) -> nix::Result<()> {
        let flags = AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_MOVED_TO
            | AddWatchFlags::IN_ONLYDIR
            | AddWatchFlags::IN_DONT_FOLLOW;
        let watch = self.inotify.add_watch(directory, flags)?;
        self.places.insert(watch, directory.to_path_buf());
        Ok(())
    }

    /// The closed names that appeared since the last call, each once.
    pub fn appeared(&mut self, policy: &Policy) -> Vec<PathBuf> {
        let Ok(events) = self.inotify.read_events() else {
            return Vec::new();
        };
        let matcher = Matcher::new(policy);
        let mut paths = Vec::new();
        for event in events {
            let (Some(place), Some(name)) = (self.places.get(&event.wd), event.name) else {
                continue;
            };
            let path = place.join(name);
            if event.mask.contains(AddWatchFlags::IN_ISDIR) {
                // What is in it came along, and what comes is told from now on.
                if self.places.len() < MOST_WATCHED {
                    let _ = self.add(&path);
                }
                let inside = fs::read_dir(&path).into_iter().flatten().flatten().take(MOST_ENTRIES);
                paths.extend(inside.map(|entry| entry.path()));
            }
            paths.push(path);
        }
        let is_closed = |path: &PathBuf| matches!(matcher.decide(Access::READ, path), AccessDecision::Denied(_));
        let mut new = Vec::new();
        for path in paths.into_iter().filter(is_closed) {
            if self.told.len() < MOST_TOLD && self.told.insert(path.clone()) {
                new.push(path);
            }
        }
        new
    }

    /// All of them.
    pub fn told(&self) -> impl Iterator<Item = &PathBuf> {
        self.told.iter()
    }
}

impl AsFd for LateSecrets {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}
