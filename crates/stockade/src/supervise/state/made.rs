//! Objects that the run has made, and names that were another's.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::hash::Hash;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::pseudo_terminal::PseudoTerminal;
use super::system_v_objects::SystemVObjects;
use crate::real_path::REPOSITORIES;
use crate::supervise::object::identity::Identity;

/// Objects that the run has made and may use for that reason.
#[derive(Debug, Default)]
pub struct Made {
    /// Unix sockets bound to a path.
    pub sockets: HashSet<Identity>,
    /// Directories: a `.git` among them isn't guarded, nor is an entry in one that would be guarded for its name.
    pub directories: HashSet<Identity>,
    /// Locks of a `.git/config`, which the run may write and remove again.
    pub git_locks: HashMap<Identity, PathBuf>,
    /// Symbolic links.
    pub links: HashSet<Identity>,
    /// Names that directories and links of others had before the run moved or removed them, each with its first object.
    /// What the run makes there instead is guarded as they were. So is the target of a link at such a place.
    vacated: BTreeMap<PathBuf, Option<Identity>>,
    /// Git directories of others, and those of other version control, of which the run has removed what makes them one.
    taken: BTreeSet<PathBuf>,
    /// Repositories that the run made, where it did.
    repositories: BTreeSet<PathBuf>,
    /// Those of earlier runs, and the directories that they are in: this run's own only in that it may replace them.
    pub earlier: HashSet<Identity>,
    /// Directories of others that the run has moved.
    carried: HashSet<Identity>,
    /// Whether the run has written, in a directory of its own, what would be guarded elsewhere.
    pub uses_own: bool,
    /// Files in `/dev/shm`.
    pub shared_memory: HashSet<Identity>,
    /// System V shared memory and semaphores.
    pub system_v: SystemVObjects,
    /// The names of these files, to be removed at the end. Kept for the whole run in the outermost one.
    shared_names: HashMap<PathBuf, Identity>,
    /// Pseudo-terminals.
    pub terminals: HashSet<PseudoTerminal>,
    /// Listening sockets and their addresses, by the number that the kernel's tables have for them.
    pub listeners: HashMap<u64, SocketAddr>,
    /// Sockets that were bound to loopback and may listen, by number.
    pub bound: HashSet<u64>,
    /// Ports that the kernel chose for the run to listen on.
    pub chosen_ports: HashSet<u16>,
}

impl Made {
    /// Most objects of one kind that are recorded; later ones count as anybody's.
    pub const MAX: usize = 16_384;
    /// Most names that are recorded; beyond that every name may have been another's.
    const MAX_VACATED: usize = 65_536;
    /// Most directories that are recorded: an environment or a repository has many.
    pub const MAX_DIRECTORIES: usize = 262_144;

    /// The names of the run's files in `/dev/shm`.
    pub fn shared_files(&self) -> Vec<PathBuf> {
        self.shared_names.keys().cloned().collect()
    }

    /// Records that an object lost this name, unless the run made it.
    pub fn vacate(&mut self, name: &Path, identity: Identity) {
        if !self.has_made(identity) && !self.is_of_earlier(name, identity) {
            self.claim(name, Some(identity));
        }
    }

    /// Whether an object is a repository of an earlier run's, or in one or beside one, and in no other repository.
    pub fn is_of_earlier(&self, name: &Path, identity: Identity) -> bool {
        if self.earlier.is_empty() {
            return false;
        }
        let is_earlier = |above: &Path| Identity::at(above).is_some_and(|identity| self.earlier.contains(&identity));
        let is_repository = |above: &Path| {
            REPOSITORIES
                .iter()
                .any(|one| above.file_name() == Some(OsStr::new(one)))
        };
        let mut above = name.ancestors().skip(1);
        self.earlier.contains(&identity)
            || !is_repository(name)
                && above
                    .find(|above| is_earlier(above) || is_repository(above))
                    .is_some_and(is_earlier)
    }

    /// Records a repository that the run made.
    pub fn found(&mut self, repository: &Path) {
        if self.repositories.len() < Made::MAX {
            self.repositories.insert(repository.to_path_buf());
        }
    }

    /// The repositories that the run made and that may be there still, and the directories that they are in.
    pub fn repositories(&self) -> BTreeSet<&Path> {
        const MAX: usize = 1024;
        let repositories = self.repositories.iter().take(MAX);
        repositories.flat_map(|repository| repository.ancestors()).collect()
    }

    /// Records that a repository of others, or a part of one, is gone from this place.
    pub fn take(&mut self, repository: &Path) {
        if self.taken.len() < Made::MAX {
            self.taken.insert(repository.to_path_buf());
        }
    }

    /// The places of those repositories.
    pub fn taken(&self) -> impl Iterator<Item = &PathBuf> {
        self.taken.iter()
    }

    /// Whether a directory whose repository was taken is still there, below this one or here.
    pub fn has_taken_from_below(&self, directory: &Path) -> bool {
        let mut below = self.taken.iter().filter_map(|repository| repository.parent());
        below.any(|below| below.starts_with(directory) && below.is_dir())
    }

    /// Records that a directory has another name now, unless the run made it.
    pub fn carry(&mut self, identity: Identity) {
        if !self.has_made(identity) {
            Made::keep(&mut self.carried, identity, Made::MAX_VACATED);
        }
    }

    /// Whether a directory, or one above it, is another's and was moved.
    pub fn has_carried(&self, directory: &Path) -> bool {
        let is_carried = |above| Identity::at(above).is_none_or(|identity| self.carried.contains(&identity));
        let is_full = self.carried.len() >= Made::MAX_VACATED;
        is_full || !self.carried.is_empty() && directory.ancestors().any(is_carried)
    }

    /// Records that a name belongs to something that the run didn't make.
    pub fn claim(&mut self, name: &Path, identity: Option<Identity>) {
        if self.vacated.len() < Made::MAX_VACATED {
            self.vacated.entry(name.to_path_buf()).or_insert(identity);
        }
    }

    /// Whether the run made this directory or link.
    pub fn has_made(&self, identity: Identity) -> bool {
        self.directories.contains(&identity) || self.links.contains(&identity)
    }

    /// Whether a move leaves a directory of the run's own, and leads to one that isn't.
    pub fn leaves_own(&self, old: &Path, new: &Path) -> bool {
        let is_own = |above: &Path| Identity::at(above).is_some_and(|identity| self.has_made(identity));
        let is_in_own = |name: &Path| {
            name.parent()
                .is_some_and(|above| is_own(above) && !self.was_anothers(above))
        };
        !self.directories.is_empty() && old.ancestors().skip(1).any(is_own) && !is_in_own(new)
    }

    /// Records a move: names below the old one that were another's are so below the new one.
    pub fn move_vacated(&mut self, old: &Path, new: &Path) {
        let below = self.vacated.range(old.to_path_buf()..);
        let below = below.map_while(|(name, had)| Some((new.join(name.strip_prefix(old).ok()?), *had)));
        for (name, had) in below.collect::<Vec<_>>() {
            self.claim(&name, had);
        }
    }

    /// Whether this name, or one above it, was that of something that the run didn't make.
    pub fn was_anothers(&self, name: &Path) -> bool {
        let is_full = self.vacated.len() >= Made::MAX_VACATED;
        is_full || !self.vacated.is_empty() && name.ancestors().any(|above| self.vacated.contains_key(above))
    }

    /// Whether a name was that of something that the run didn't make, or may have been inside of what was moved away. What
    /// was removed was empty by then, and what was in it had been recorded by itself.
    pub fn may_have_been_anothers(&self, name: &Path) -> bool {
        let is_moved = |had: &Option<Identity>| had.is_none_or(|had| self.carried.contains(&had));
        let mut above = name.ancestors().skip(1);
        self.vacated.len() >= Made::MAX_VACATED
            || !self.vacated.is_empty()
                && (self.vacated.contains_key(name) || above.any(|above| self.vacated.get(above).is_some_and(is_moved)))
    }

    /// Whether something other than `moved`, which the run didn't make, had this name, or one above or below it.
    pub fn is_anothers(&self, name: &Path, moved: Option<Identity>) -> bool {
        if moved.is_some() && self.vacated.get(name).is_some_and(|had| *had == moved) {
            return false;
        }
        let mut from_here = self.vacated.range(name.to_path_buf()..);
        self.was_anothers(name) || from_here.next().is_some_and(|(below, _)| below.starts_with(name))
    }

    /// Records an object, if there is room.
    pub fn keep<T: Eq + Hash>(kept: &mut HashSet<T>, made: T, most: usize) {
        if kept.len() < most {
            kept.insert(made);
        }
    }

    /// Forgets an object that is gone: its number will mean another object one day.
    pub fn forget(&mut self, identity: Identity) {
        self.sockets.remove(&identity);
        self.directories.remove(&identity);
        self.links.remove(&identity);
        self.git_locks.remove(&identity);
        self.shared_memory.remove(&identity);
    }

    /// Whether one more name in `/dev/shm` would be too many.
    pub fn has_all_shared_names(&self) -> bool {
        self.shared_names.len() >= Made::MAX
    }

    /// Records which object a name in `/dev/shm` has now.
    pub fn look_at_shared_name(&mut self, name: &Path) {
        match Identity::at(name).filter(|identity| self.shared_memory.contains(identity)) {
            Some(identity) => self.shared_names.insert(name.to_path_buf(), identity),
            None => self.shared_names.remove(name),
        };
    }

    /// Removes what the run left in `/dev/shm` and of System V objects, and locks that would keep others from writing.
    pub fn clear_shared_memory(&mut self) {
        self.system_v.clear();
        for (identity, name) in self.git_locks.drain() {
            if Identity::at(&name) == Some(identity) {
                let _ = std::fs::remove_file(&name);
            }
        }
        for (name, identity) in self.shared_names.drain() {
            if Identity::at(&name) == Some(identity) {
                let _ = std::fs::remove_file(&name);
            }
        }
    }
}

#[cfg(test)]
mod tests;
