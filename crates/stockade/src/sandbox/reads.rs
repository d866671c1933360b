//! The parts of a run's trees that Landlock alone may open for reading: one walk through them finds the closed paths.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, DirEntry, FileType, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{io, iter};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, Uid, faccessat};

use super::mounts::Mounts;
use crate::plan::{KeptExact, Links, Opening, Part, is_looked_through, is_too_large, must_be_open};
use crate::policy::{Access, AccessDecision, Grant, GrantExtent, Matcher, Placed, Policy};
use crate::supervise;

/// The most entries of all trees together.
const MOST_ENTRIES: usize = 1 << 20;

/// The most rules around closed paths: each costs some microseconds of every launch.
const MOST_OPENINGS: usize = 16_384;

/// What Landlock alone reads.
#[derive(Debug, Default)]
pub(super) struct Native {
    /// The paths that it opens.
    pub openings: Vec<Opening>,
    /// The trees where it reads, in part where something in them is closed.
    pub trees: Vec<PathBuf>,
    /// The trees that are left to the supervisor, and why.
    pub left: Vec<(PathBuf, KeptExact)>,
}

/// The paths that may be opened in the trees and files of a policy's chosen grants.
///
/// # Errors
/// The reason why Landlock can't judge reads alone.
pub(super) fn native(policy: &Policy) -> Result<Native, KeptExact> {
    let matcher = Matcher::new(policy);
    let trees = trees(policy);
    let chosen = || policy.grants.iter().filter(|grant| grant.is_chosen());
    let writes = |grant: &&Grant| grant.access.intersects(Access::CHANGE);
    let mut walk = ReadsWalk {
        by_other_names: supervise::closed_to_reading(policy, &matcher),
        matcher,
        placed: Placed::of(policy, Access::READ),
        written: chosen().filter(writes).collect(),
        closed: BTreeSet::new(),
        around: BTreeSet::new(),
        seen: 0,
    };
    let mut native = Native::default();
    for (tree, (access, links)) in &trees {
        let opened = match Mounts::unusual(iter::once(*tree)) {
            Some(place) => Err(KeptExact::Mounted(place)),
            None => walk
                .through(tree)
                .and_then(|()| walk.open(tree, *access, *links, &mut native.openings)),
        };
        match opened {
            Ok(()) => native.trees.push(tree.to_path_buf()),
            Err(kept) if chosen().any(|grant| must_be_open(grant) && grant.path.starts_with(tree)) => return Err(kept),
            Err(kept) => {
                native.openings.retain(|opening| !opening.path.starts_with(tree));
                native.left.push((tree.to_path_buf(), kept));
            }
        }
    }
    for grant in chosen().filter(|grant| is_too_large(grant)) {
        native
            .left
            .push((grant.path.clone(), KeptExact::TooLarge(grant.path.clone())));
    }
    for grant in chosen().filter(|grant| grant.extent == GrantExtent::Single && grant.access.contains(Access::READ)) {
        // A rule for a directory would cover everything in it.
        let is_directory = fs::symlink_metadata(&grant.path).is_ok_and(|found| found.is_dir());
        if !is_directory && !walk.closes_file(&grant.path) {
            native.openings.push(Opening {
                path: grant.path.clone(),
                access: grant.access & (Access::READ | Access::EXECUTE),
                part: Part::All,
                links: Links::of(&grant.origin),
            });
        }
    }
    Ok(native)
}

/// The trees to walk, each with the access to all of it and the meaning of links in its path.
fn trees(policy: &Policy) -> BTreeMap<&Path, (Access, Links)> {
    let mut trees: BTreeMap<&Path, (Access, Links)> = BTreeMap::new();
    let is_tree = |grant: &&Grant| {
        is_looked_through(policy, grant) && grant.extent == GrantExtent::Subtree && !is_too_large(grant)
    };
    for grant in policy.grants.iter().filter(is_tree) {
        let access = grant.access & (Access::READ | Access::EXECUTE);
        let links = Links::of(&grant.origin);
        if !access.is_empty() {
            let tree = trees.entry(&grant.path).or_insert((access, links));
            *tree = (tree.0 | access, tree.1.max(links));
        }
    }
    let all = trees.clone();
    trees.retain(|path, (access, _)| {
        let mut others = all
            .iter()
            .filter(|(other, _)| *other != path && path.starts_with(other));
        !others.any(|(_, (of_other, _))| of_other.contains(*access))
    });
    trees
}

struct ReadsWalk<'a> {
    matcher: Matcher<'a>,
    placed: Placed,
    /// Files that are closed by another name.
    by_other_names: HashSet<(u64, u64)>,
    /// The grants to write.
    written: Vec<&'a Grant>,
    /// The closed paths.
    closed: BTreeSet<PathBuf>,
    /// The directories above them.
    around: BTreeSet<PathBuf>,
    seen: usize,
}

impl ReadsWalk<'_> {
    /// Finds the closed paths in a tree.
    fn through(&mut self, tree: &Path) -> Result<(), KeptExact> {
        if fs::symlink_metadata(tree).is_ok_and(|found| !found.is_dir()) {
            return match self.closes_file(tree) {
                true => self.close(tree, tree, KeptExact::Closed),
                false => Ok(()),
            };
        }
        let mut ahead = vec![(tree.to_path_buf(), false)];
        while let Some((directory, is_plain)) = ahead.pop() {
            // No placed denial lies above or below: so in all subdirectories too, unless a name begins a place.
            let is_plain = is_plain || self.placed.are_elsewhere(&directory);
            let entries = match fs::read_dir(&directory) {
                Ok(entries) => entries,
                Err(error) => {
                    if holds_something(&directory, &error) {
                        self.close(&directory, tree, KeptExact::Unlisted)?;
                    }
                    continue;
                }
            };
            for entry in entries {
                let Ok((entry, kind)) = entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind))) else {
                    self.close(&directory, tree, KeptExact::Unlisted)?;
                    continue;
                };
                self.seen += 1;
                if self.seen > MOST_ENTRIES {
                    return Err(KeptExact::TooMany {
                        tree: tree.to_path_buf(),
                        what: "entries",
                        most: MOST_ENTRIES,
                    });
                }
                if !is_opened(kind) {
                    continue;
                }
                let begins = !is_plain || self.placed.begin(&entry.file_name());
                if !begins && !kind.is_dir() && !is_device(kind) && self.by_other_names.is_empty() {
                    continue;
                }
                let path = entry.path();
                if self.closes(&path, &entry, kind) {
                    self.close(&path, tree, KeptExact::Closed)?;
                } else if kind.is_dir() {
                    ahead.push((path, !begins));
                }
            }
        }
        Ok(())
    }

    /// Records a closed path. That is a tree's top only if it can't be listed.
    fn close(&mut self, path: &Path, tree: &Path, why: fn(PathBuf) -> KeptExact) -> Result<(), KeptExact> {
        let directory = path.parent().filter(|directory| directory.starts_with(tree));
        if self.written.iter().any(|grant| grant.covers(directory.unwrap_or(path))) {
            return Err(why(path.to_path_buf()));
        }
        self.closed.insert(path.to_path_buf());
        let above = directory.into_iter().flat_map(Path::ancestors);
        self.around
            .extend(above.take_while(|above| above.starts_with(tree)).map(Path::to_path_buf));
        Ok(())
    }

    /// Whether a path is closed. Devices are opened below `/dev` alone.
    fn closes(&self, path: &Path, entry: &DirEntry, kind: FileType) -> bool {
        let is_other_name = || {
            let found = entry.metadata();
            found.is_ok_and(|found| self.by_other_names.contains(&(found.dev(), found.ino())))
        };
        self.is_denied(path)
            || is_device(kind) && !path.starts_with("/dev")
            || kind.is_file() && !self.by_other_names.is_empty() && is_other_name()
    }

    fn closes_file(&self, path: &Path) -> bool {
        let is_other = |found: Metadata| {
            is_device(found.file_type()) && !path.starts_with("/dev")
                || self.by_other_names.contains(&(found.dev(), found.ino()))
        };
        self.is_denied(path) || fs::symlink_metadata(path).is_ok_and(is_other)
    }

    fn is_denied(&self, path: &Path) -> bool {
        matches!(self.matcher.decide(Access::READ, path), AccessDecision::Denied(_))
    }

    /// Opens a tree, around the closed paths in it.
    fn open(&self, tree: &Path, access: Access, links: Links, openings: &mut Vec<Opening>) -> Result<(), KeptExact> {
        let mut ahead = vec![(tree.to_path_buf(), links)];
        while let Some((path, links)) = ahead.pop() {
            if self.closed.contains(&path) || self.is_denied(&path) {
                continue;
            }
            let is_around = self.around.contains(&path);
            if is_around {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                let opened = entries.filter(|entry| entry.file_type().is_ok_and(is_opened));
                ahead.extend(opened.map(|entry| (entry.path(), Links::GrantNothing)));
            }
            openings.push(Opening {
                path,
                access,
                part: if is_around { Part::Names } else { Part::All },
                links,
            });
            if openings.len() > MOST_OPENINGS {
                return Err(KeptExact::TooMany {
                    tree: tree.to_path_buf(),
                    what: "files and directories beside closed ones",
                    most: MOST_OPENINGS,
                });
            }
        }
        Ok(())
    }
}

fn is_device(kind: FileType) -> bool {
    kind.is_block_device() || kind.is_char_device()
}

/// Whether a rule for something of this kind opens it. Links lead to objects with names of their own.
fn is_opened(kind: FileType) -> bool {
    !kind.is_symlink() && !kind.is_socket()
}

/// Whether a run may reach something in a directory that can't be listed: not if only another user, its owner, can enter it.
fn holds_something(directory: &Path, error: &io::Error) -> bool {
    if error.kind() == io::ErrorKind::NotFound {
        return false;
    }
    let is_entered = faccessat(AT_FDCWD, directory, AccessFlags::X_OK, AtFlags::AT_EACCESS).is_ok();
    let is_ours = || fs::symlink_metadata(directory).map_or(true, |found| found.uid() == Uid::effective().as_raw());
    error.kind() != io::ErrorKind::PermissionDenied || is_entered || is_ours()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The walk queries few paths; it must find the same as querying each.
    #[test]
    fn the_walk_finds_what_asking_of_each_path_finds() {
        const NAMES: [&str; 12] = [
            "src",
            ".aws",
            ".config",
            "credentials",
            ".env",
            ".ENV",
            "server.pem",
            "secrets",
            "node_modules",
            "gcloud",
            "x.key",
            ".kube",
        ];
        let top = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
        let tree = top.path().canonicalize().unwrap();
        for one in NAMES {
            for two in NAMES {
                fs::create_dir_all(tree.join(one).join(two)).unwrap();
                for three in NAMES {
                    fs::write(tree.join(one).join(two).join(three), "").unwrap();
                }
            }
        }
        let sandbox = crate::Sandbox::profile("minimal").unwrap().root(&tree).read(&tree);
        let policy = sandbox.policy_of_any_command().unwrap();
        let matcher = Matcher::new(&policy);
        let mut walk = ReadsWalk {
            matcher: Matcher::new(&policy),
            placed: Placed::of(&policy, Access::READ),
            by_other_names: HashSet::new(),
            written: Vec::new(),
            closed: BTreeSet::new(),
            around: BTreeSet::new(),
            seen: 0,
        };
        walk.through(&tree).unwrap();
        let is_closed = |path: &Path| matches!(matcher.decide(Access::READ, path), AccessDecision::Denied(_));
        let mut all = vec![tree.clone()];
        let mut expected = BTreeSet::new();
        while let Some(path) = all.pop() {
            if is_closed(&path) {
                expected.insert(path);
            } else if path.is_dir() {
                all.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        assert_eq!(walk.closed, expected);
        assert!(expected.len() > 50 && expected.iter().any(|path| path.ends_with("src/src/server.pem")));
    }
}
