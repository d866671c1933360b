//! Closed names that somebody else makes while the kernel alone judges reads: the run could read what is there, so it is told.
//!
//! The tops of the trees and the directories directly in them are looked at now and then, and at the end: one statx(2) each, and a
//! listing where something changed. (inotify(7) would tell at once, but ending a watch takes the kernel 15 ms.)

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::blobs;
use crate::policy::{Access, AccessDecision, Matcher, Policy};

/// The time between two looks.
const PERIOD: Duration = Duration::from_millis(250);
/// The most directories of one tree that are looked at.
const MAX: usize = 32;
/// The most entries of a directory that are looked at.
const MAX_ENTRIES: usize = 1024;
/// The most repositories whose objects are looked through in one look, which keeps the run's limits waiting.
const MAX_REPOSITORIES: usize = 4;
/// The most names that are told.
const MAX_TOLD: usize = 64;

/// A watch on trees where nothing is closed.
#[derive(Debug)]
pub struct LateSecrets {
    policy: Policy,
    trees: Vec<PathBuf>,
    /// Seconds since 1970: what hasn't changed since was seen before the start.
    since: i64,
    next: Instant,
    told: BTreeSet<PathBuf>,
}

impl LateSecrets {
    /// Watches trees that were looked through since a time.
    pub fn new(policy: &Policy, trees: Vec<PathBuf>, since: SystemTime) -> LateSecrets {
        // A file system's clock may be a moment behind.
        let since = since
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs()
            .saturating_sub(1);
        LateSecrets {
            policy: policy.clone(),
            trees,
            since: i64::try_from(since).unwrap_or(i64::MAX),
            next: Instant::now() + PERIOD,
            told: BTreeSet::new(),
        }
    }

    /// When the next look is due.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// The closed names that appeared since the last look, each once.
    pub fn look(&mut self) -> Vec<PathBuf> {
        // A run that is over at once costs no more than a look at the tops.
        let is_deep = self.next <= Instant::now();
        self.next = Instant::now() + PERIOD;
        let inside = |tree: &PathBuf| {
            let directories = entries(tree).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            directories.map(|entry| entry.path()).take(MAX - 1).collect::<Vec<_>>()
        };
        let inside = self.trees.iter().filter(|_| is_deep).flat_map(inside);
        let changed: Vec<_> = self
            .trees
            .iter()
            .cloned()
            .chain(inside)
            .filter(|path| self.is_new(path))
            .collect();
        if changed.is_empty() {
            return Vec::new();
        }
        let matcher = Matcher::new(&self.policy);
        // What the repository holds is none: the look before the start went by it, too.
        let (mut repository, mut opened) = (blobs::LastOpened::default(), 0);
        let mut is_held = |path: &Path| {
            let Some(objects) = blobs::objects_for(&matcher, path).filter(|_| opened <= MAX_REPOSITORIES) else {
                return false;
            };
            let (objects, is_new) = repository.open(objects);
            opened += usize::from(is_new);
            path.is_dir() || objects.is_some_and(|objects| objects.hold_file(path))
        };
        let mut is_closed =
            |path: &Path| matches!(matcher.decide(Access::READ, path), AccessDecision::Denied(_)) && !is_held(path);
        let names = changed
            .iter()
            .flat_map(|directory| entries(directory))
            .map(|entry| entry.path());
        let new = names.filter(|path| self.is_new(path) && is_closed(path) && !self.told.contains(path));
        let appeared: Vec<_> = new.take(MAX_TOLD.saturating_sub(self.told.len())).collect();
        self.told.extend(appeared.iter().cloned());
        appeared
    }

    /// Whether something has changed, or got its name, since the start.
    fn is_new(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| found.ctime() >= self.since)
    }

    /// All of them.
    pub fn told(&self) -> impl Iterator<Item = &PathBuf> {
        self.told.iter()
    }
}

fn entries(directory: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .take(MAX_ENTRIES)
}
