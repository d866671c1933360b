//! The parts of a run's trees that Landlock alone may open for reading: one walk through them finds the closed paths.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType, OpenOptions};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::{io, iter};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, Uid, faccessat};

use super::looked::{self, Closings, Looked, Seen, Stamp};
use super::mounts::Mounts;
use crate::blobs;
use crate::plan::{KeptExact, Links, Opening, Part, is_looked_through, is_too_large, must_be_open};
use crate::policy::{Access, AccessDecision, Grant, GrantExtent, Matcher, Placed, Policy};

/// The most directories of all trees together, known ones among them: some 2 ms of every launch.
const MAX_DIRECTORIES: usize = 4096;

/// The most entries that a launch lists in directories that aren't known, or have changed. While the run goes on the others
/// are listed, for later launches.
const MAX_ENTRIES: usize = 16_384;

/// The most files with a secret's name that a launch compares with the repository: each is read.
const MAX_BLOBS: usize = 128;

/// What another repository takes of that.
const REPOSITORY: usize = 8;

/// The most rules around closed paths: each costs some microseconds of every launch.
const MAX_OPENINGS: usize = 16_384;

/// What Landlock alone reads.
#[derive(Debug, Default)]
pub(super) struct Native {
    /// The paths that it opens.
    pub openings: Vec<Opening>,
    /// The trees where it reads, in part where something in them is closed.
    pub trees: Vec<PathBuf>,
    /// Those of them where nothing is closed: the run reads all that comes to be there.
    pub open: Vec<PathBuf>,
    /// The trees that are left to the supervisor, and why.
    pub left: Vec<(PathBuf, KeptExact)>,
}

/// How far a launch looks.
pub(super) struct Budget<'a> {
    directories: usize,
    entries: usize,
    /// How many files with a secret's name it compares with the repository.
    blobs: usize,
    /// Whether the look is to end now.
    is_over: &'a dyn Fn() -> bool,
}

impl Budget<'_> {
    /// A launch's.
    pub fn of_launch() -> Budget<'static> {
        Budget {
            directories: MAX_DIRECTORIES,
            entries: MAX_ENTRIES,
            blobs: MAX_BLOBS,
            is_over: &|| false,
        }
    }

    /// That of a look while a run goes on: no launch looks at more directories, so it doesn't either.
    pub fn of_run(is_over: &dyn Fn() -> bool) -> Budget<'_> {
        Budget {
            directories: MAX_DIRECTORIES,
            entries: usize::MAX,
            blobs: MAX_BLOBS,
            is_over,
        }
    }

    /// The reason to go no further.
    fn refuse(&self, tree: &Path) -> Result<(), KeptExact> {
        if self.directories == 0 {
            return Err(too_many_directories(tree));
        }
        match self.entries == 0 || (self.is_over)() {
            true => Err(KeptExact::NotSeen(tree.to_path_buf())),
            false => Ok(()),
        }
    }
}

/// What was found by looking through a policy's trees.
pub(super) struct NativeLook {
    /// What Landlock alone reads, or the reason why it can't judge reads alone.
    pub native: Result<Native, KeptExact>,
    /// For later launches.
    pub unkept: Unkept,
}

impl NativeLook {
    /// A result that is known without a walk.
    pub fn of(native: Result<Native, KeptExact>) -> NativeLook {
        NativeLook {
            native,
            unkept: Unkept::default(),
        }
    }
}

/// What a launch has found and not kept yet.
#[derive(Debug, Default)]
pub(super) struct Unkept {
    /// The text about each tree, with its key.
    seen: Vec<(String, Vec<u8>)>,
    /// Whether the look ended early, so that another may find more.
    is_unfinished: bool,
}

impl Unkept {
    /// Keeps it for later launches, once the run has started. Where the look ended early another one begins.
    pub fn keep(self, state: Option<&Path>, policy: &Policy) -> Option<Looking> {
        let state = state?;
        keep(state, &self.seen);
        self.is_unfinished.then(|| Looking::begin(state, policy)).flatten()
    }
}

fn keep(state: &Path, seen: &[(String, Vec<u8>)]) {
    for (key, text) in seen {
        // Without it the next launch looks again.
        let _ = looked::write(state, key, text);
    }
}

/// A look through a run's trees while it goes on, for later launches. It ends with the run, and what it has seen is kept.
#[derive(Debug)]
pub(super) struct Looking {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Looking {
    fn begin(state: &Path, policy: &Policy) -> Option<Looking> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (state, policy, is_told) = (state.to_path_buf(), policy.clone(), Arc::clone(&is_over));
        let look = move || {
            let is_over = || is_told.load(Ordering::Relaxed);
            keep(
                &state,
                &look(&policy, Some(&state), Budget::of_run(&is_over)).unkept.seen,
            );
        };
        let thread = thread::Builder::new().name("stockade look".into()).spawn(look).ok()?;
        Some(Looking {
            is_over,
            thread: Some(thread),
        })
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Looks through the trees of a policy's chosen grants for what may be opened in them. `state` has what is known of them.
pub(super) fn look(policy: &Policy, state: Option<&Path>, budget: Budget<'_>) -> NativeLook {
    let chosen = || policy.grants.iter().filter(|grant| grant.is_chosen());
    if chosen().next().is_none() {
        return NativeLook::of(Ok(Native::default()));
    }
    let matcher = Matcher::new(policy);
    let closings = Closings::of(policy);
    let mut walk = ReadsWalk {
        matcher,
        placed: Placed::of(policy, Access::READ),
        written: chosen()
            .filter(|grant| grant.access.intersects(Access::CHANGE))
            .collect(),
        closed: BTreeSet::new(),
        around: BTreeSet::new(),
        budget,
        repository: blobs::LastOpened::default(),
    };
    let (mut seen, mut is_unfinished) = (Vec::new(), false);
    let mut through = |walk: &mut ReadsWalk<'_>, tree: &Path| {
        let key = closings.key(&tree.as_os_str().as_bytes());
        let known = state.map(|state| Looked::load(state, &key)).unwrap_or_default();
        let mut now = Seen::default();
        let found = walk.through(tree, &known, &mut now);
        is_unfinished |= matches!(found, Err(KeptExact::NotSeen(_)));
        seen.extend(now.is_news.then(|| (key, now.text())));
        found
    };
    let native = native(policy, &mut walk, &mut through);
    NativeLook {
        native,
        unkept: Unkept { seen, is_unfinished },
    }
}

/// The paths that may be opened in the trees and files of a policy's chosen grants.
fn native(
    policy: &Policy,
    walk: &mut ReadsWalk<'_>,
    through: &mut dyn FnMut(&mut ReadsWalk<'_>, &Path) -> Result<(), KeptExact>,
) -> Result<Native, KeptExact> {
    let chosen = || policy.grants.iter().filter(|grant| grant.is_chosen());
    let trees = trees(policy);
    let mut native = Native::default();
    // First what decides whether anything is read natively: a large tree that is only read takes nothing of its budget.
    let decides = |tree: &Path| chosen().any(|grant| must_be_open(grant) && grant.path.starts_with(tree));
    let (first, last): (Vec<_>, Vec<_>) = trees.iter().partition(|(tree, _)| decides(tree));
    // What doesn't exist yet gets no rule: the supervisor judges what the run makes there.
    let exists = |(tree, _): &(&&Path, _)| fs::symlink_metadata(tree).is_ok();
    for (tree, (access, links)) in first.into_iter().chain(last).filter(exists) {
        let opened = match Mounts::unusual(iter::once(*tree)) {
            Some(place) => Err(KeptExact::Mounted(place)),
            None => through(walk, tree).and_then(|()| walk.open(tree, *access, *links, &mut native.openings)),
        };
        match opened {
            Ok(()) => {
                native
                    .open
                    .extend((!walk.around.contains(*tree)).then(|| tree.to_path_buf()));
                native.trees.push(tree.to_path_buf());
            }
            Err(kept) if decides(tree) => return Err(kept),
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
    /// The grants to write.
    written: Vec<&'a Grant>,
    /// The closed paths.
    closed: BTreeSet<PathBuf>,
    /// The directories above them.
    around: BTreeSet<PathBuf>,
    budget: Budget<'a>,
    repository: blobs::LastOpened,
}

/// A directory to look at.
struct Ahead<'k> {
    path: PathBuf,
    /// Its name in the directory above; none of the tree's top.
    name: Cow<'k, OsStr>,
    depth: usize,
    /// What is known of it.
    node: Option<usize>,
    /// Whether no placed denial lies above or below.
    is_plain: bool,
}

impl ReadsWalk<'_> {
    /// Finds the closed paths in a tree. `now` gets what is known of it then.
    fn through<'k>(&mut self, tree: &Path, known: &'k Looked, now: &mut Seen<'k>) -> Result<(), KeptExact> {
        if fs::symlink_metadata(tree).is_ok_and(|found| !found.is_dir()) {
            return match self.closes_file(tree) {
                true => self.close(tree, tree, KeptExact::Closed),
                false => Ok(()),
            };
        }
        if known.count() > MAX_DIRECTORIES {
            return Err(too_many_directories(tree));
        }
        // Each directory is looked at from here: half of a path's names needn't be looked up again.
        let top = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(tree).ok();
        let mut found = Ok(());
        let mut ahead = vec![Ahead {
            path: tree.to_path_buf(),
            name: Cow::default(),
            depth: 0,
            node: known.top(),
            is_plain: false,
        }];
        let below = |next: &Ahead<'k>, (node, name): (usize, &'k OsStr)| Ahead {
            path: next.path.join(name),
            name: name.into(),
            depth: next.depth + 1,
            node: Some(node),
            is_plain: false,
        };
        while let Some(next) = ahead.pop() {
            if found.is_ok() {
                found = self.budget.refuse(tree);
            }
            let known_below = || next.node.into_iter().flat_map(|node| known.below(node));
            let stamp = next.node.and_then(|node| known.stamp(node));
            // What isn't looked at any more is known as it was.
            if found.is_err() {
                ahead.extend(known_below().map(|known| below(&next, known)));
                now.add(next.depth, next.name, stamp);
                continue;
            }
            self.budget.directories -= 1;
            let relative = next.path.strip_prefix(tree).unwrap_or(&next.path);
            let is = |top: &File| stamp.is_some() && stamp == Stamp::at(top.as_fd(), relative);
            if top.as_ref().is_some_and(is) {
                ahead.extend(known_below().map(|known| below(&next, known)));
                now.add(next.depth, next.name, stamp);
                continue;
            }
            // No placed denial lies above or below: so in all subdirectories too, unless a name begins a place.
            let is_plain = next.is_plain || self.placed.are_elsewhere(&next.path);
            let mut listed = Listed::default();
            let settled = match self.list(&next.path, tree, is_plain, &mut listed) {
                Ok(is) => is.filter(|is| !listed.holds_closed && is.is_settled()),
                Err(kept) => {
                    found = Err(kept);
                    None
                }
            };
            now.is_news |= settled.is_some();
            let nodes: BTreeMap<&OsStr, usize> = known_below().map(|(node, name)| (name, node)).collect();
            ahead.extend(listed.directories.into_iter().map(|(name, is_plain)| Ahead {
                path: next.path.join(&name),
                depth: next.depth + 1,
                node: nodes.get(name.as_os_str()).copied(),
                name: name.into(),
                is_plain,
            }));
            now.add(next.depth, next.name, settled);
        }
        found
    }

    /// Lists a directory, and finds what is closed in it. Returns its stamp from before: that of the directory that is listed,
    /// since a run that goes on may put another in its place.
    fn list(
        &mut self,
        directory: &Path,
        tree: &Path,
        is_plain: bool,
        listed: &mut Listed,
    ) -> Result<Option<Stamp>, KeptExact> {
        let is_among_objects = directory.ends_with(".git/objects");
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
            .open(directory);
        let opened = opened.and_then(|opened| {
            let entries = fs::read_dir(format!("/proc/self/fd/{}", opened.as_raw_fd()))?;
            Ok((Stamp::at(opened.as_fd(), Path::new("")), entries))
        });
        let (stamp, entries) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                listed.holds_closed = true;
                return match holds_something(directory, &error) {
                    true => self.close(directory, tree, KeptExact::Unlisted).map(|()| None),
                    false => Ok(None),
                };
            }
        };
        for entry in entries {
            let Ok((entry, kind)) = entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind))) else {
                listed.holds_closed = true;
                self.close(directory, tree, KeptExact::Unlisted)?;
                continue;
            };
            self.budget.entries = self.budget.entries.saturating_sub(1);
            // One directory may hold millions, and the end of a run waits for its look.
            if self.budget.entries == 0 || (self.budget.is_over)() {
                return Err(KeptExact::NotSeen(tree.to_path_buf()));
            }
            if !is_opened(kind) {
                continue;
            }
            let name = entry.file_name();
            let begins = !is_plain || self.placed.begin(&name);
            if is_among_objects && !begins && is_named_by_git(&name) {
                continue;
            }
            if !begins && !kind.is_dir() && !is_device(kind) {
                continue;
            }
            let path = directory.join(&name);
            if self.is_in_repository(&path, kind) {
                // It may be another content the next time.
                listed.holds_closed = true;
                if kind.is_dir() {
                    listed.directories.push((name, false));
                }
            } else if self.closes(&path, kind) {
                listed.holds_closed = true;
                self.close(&path, tree, KeptExact::Closed)?;
            } else if kind.is_dir() {
                listed.directories.push((name, !begins));
            }
        }
        Ok(stamp)
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
    fn closes(&self, path: &Path, kind: FileType) -> bool {
        self.is_denied(path) || is_device(kind) && !path.starts_with("/dev")
    }

    /// Whether the lists close a file whose content the repository around holds, or a directory, whose files then count one
    /// by one.
    fn is_in_repository(&mut self, path: &Path, kind: FileType) -> bool {
        if !(kind.is_file() || kind.is_dir()) || self.budget.blobs == 0 {
            return false;
        }
        let Some(objects) = blobs::objects_for(&self.matcher, path) else {
            return false;
        };
        let (objects, is_new) = self.repository.open(objects);
        // All of its indexes are read.
        let price = if is_new { REPOSITORY } else { 1 };
        self.budget.blobs = self.budget.blobs.saturating_sub(price);
        kind.is_dir() || objects.is_some_and(|objects| objects.hold_file(path))
    }

    fn closes_file(&self, path: &Path) -> bool {
        self.is_denied(path) || fs::symlink_metadata(path).is_ok_and(|found| self.closes(path, found.file_type()))
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
            if openings.len() > MAX_OPENINGS {
                return Err(KeptExact::TooMany {
                    tree: tree.to_path_buf(),
                    what: "files and directories beside closed ones",
                    most: MAX_OPENINGS,
                });
            }
        }
        Ok(())
    }
}

fn too_many_directories(tree: &Path) -> KeptExact {
    KeptExact::TooMany {
        tree: tree.to_path_buf(),
        what: "directories",
        most: MAX_DIRECTORIES,
    }
}

/// What a directory holds.
#[derive(Default)]
struct Listed {
    /// Its directories, each with whether no placed denial lies above or below it.
    directories: Vec<(OsString, bool)>,
    /// Whether something in it is closed, or can't be told.
    holds_closed: bool,
}

/// Whether git named a directory of objects (gitrepository-layout(5)). All in it is named by hashes, and a repository may
/// have 256 of them.
fn is_named_by_git(directory: &OsStr) -> bool {
    directory.len() == 2 && directory.as_bytes().iter().all(u8::is_ascii_hexdigit)
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
            written: Vec::new(),
            closed: BTreeSet::new(),
            around: BTreeSet::new(),
            budget: Budget::of_run(&|| false),
            repository: blobs::LastOpened::default(),
        };
        walk.through(&tree, &Looked::default(), &mut Seen::default()).unwrap();
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
