//! Secrets and guarded files by their other names: files with several hard links, one of which a denial closes.
//!
//! Such a name is looked for where the policy names a path without wildcards, directly in such a directory, and directly in
//! the homes. `plan` lets the workers list these directories where the policy grants nothing there.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::policy::{Access, Decision, Matcher, PARENTS_OF_HOMES, Policy, Target};

/// How long a look at the closed names counts: at least this, and so many times what it took.
const LASTS: Duration = Duration::from_secs(1);
const TIMES: u32 = 50;
/// Entries that a look takes in, of each directory: one that somebody fills keeps none of the others from being looked at.
const MOST: usize = 65_536;
/// The same of all together.
const MOST_IN_ALL: usize = 64 * MOST;

/// A file's device and inode.
pub type Number = (u64, u64);

/// The closed files that have other names, by device and inode, as they were found.
#[derive(Default)]
pub struct HardLinks {
    closed: HashMap<Number, PathBuf>,
    /// When the next look is due.
    due: Option<Instant>,
}

impl HardLinks {
    /// The closed name of a file, if it was found to have one. Looks for them again where the last look is old.
    pub fn closed_name(&mut self, policy: &Policy, matcher: &Matcher<'_>, file: Number) -> Option<PathBuf> {
        if self.due.is_none_or(|due| Instant::now() > due) {
            self.look(policy, matcher);
        }
        self.closed.get(&file).cloned()
    }

    fn look(&mut self, policy: &Policy, matcher: &Matcher<'_>) {
        let begun = Instant::now();
        self.closed = closed_files(policy, matcher, &[Access::READ, Access::WRITE]);
        self.due = Some(Instant::now() + LASTS.max(begun.elapsed() * TIMES));
    }
}

/// The files that are closed to reading and have other names, as they are found now.
pub fn closed_to_reading(policy: &Policy, matcher: &Matcher<'_>) -> HashSet<Number> {
    closed_files(policy, matcher, &[Access::READ]).into_keys().collect()
}

/// The files with several names of which one is closed to some access.
fn closed_files(policy: &Policy, matcher: &Matcher<'_>, accesses: &[Access]) -> HashMap<Number, PathBuf> {
    let mut closed = HashMap::new();
    let mut add = |path: &Path| {
        let found = fs::symlink_metadata(path).ok();
        let found = found.filter(|found| found.is_file() && found.nlink() > 1);
        let is_denied = |access: &Access| matches!(matcher.decide(*access, path), Decision::Denied(_));
        if let Some(found) = found.filter(|_| accesses.iter().any(is_denied)) {
            closed.insert((found.dev(), found.ino()), path.to_path_buf());
        }
    };
    let mut left = MOST_IN_ALL;
    let mut there = There::default();
    for path in closed_paths_and_homes(policy) {
        if !there.is(&path) {
            continue;
        }
        add(&path);
        // A link isn't listed; what it leads to has a denial of its own.
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
            for entry in fs::read_dir(&path).into_iter().flatten().flatten().take(left.min(MOST)) {
                left -= 1;
                add(&entry.path());
            }
        }
    }
    closed
}

/// What is there: each directory is listed once, since most paths of a list aren't, in any home.
#[derive(Default)]
struct There(HashMap<PathBuf, Option<HashSet<OsString>>>);

impl There {
    /// Whether something may be at a path. One whose directory can't be listed may.
    fn is(&mut self, path: &Path) -> bool {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return true;
        };
        if !self.0.contains_key(above) {
            let names = match self.is(above) {
                true => names(above),
                false => Some(HashSet::new()),
            };
            self.0.insert(above.to_path_buf(), names);
        }
        self.0[above].as_ref().is_none_or(|names| names.contains(name))
    }
}

/// The names in a directory; `None` where they can't be told, or are too many.
fn names(directory: &Path) -> Option<HashSet<OsString>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Some(HashSet::new());
        }
        Err(_) => return None,
    };
    let mut names = HashSet::new();
    for entry in entries {
        names.insert(entry.ok()?.file_name());
        if names.len() > MOST {
            return None;
        }
    }
    Some(names)
}

/// The paths that the policy closes by a name without wildcards, and the homes, in which wildcards count.
fn closed_paths_and_homes(policy: &Policy) -> Vec<PathBuf> {
    let mut paths: Vec<_> = policy
        .denials
        .iter()
        .flat_map(|denial| match &denial.target {
            Target::Path(path) => vec![path.clone()],
            Target::Listed(listed) => {
                let children = PARENTS_OF_HOMES.iter().flat_map(fs::read_dir).flatten().flatten();
                let homes: Vec<_> = children.map(|entry| entry.path()).collect();
                let paths = listed.literal_paths(homes.iter().cloned());
                let own = listed.entries.iter().map(|entry| entry.place.clone());
                paths.into_iter().chain(own).chain(homes).collect()
            }
            Target::Glob { .. } | Target::GitDirectories | Target::AllBut { .. } => Vec::new(),
        })
        .collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}
