//! Secrets and guarded files under other names: files with several hard links, one of which is denied.
//!
//! Such names are searched for where the policy names a path without wildcards, directly in such a directory, and
//! directly in the homes. `plan` lets the workers list these directories even if the policy grants nothing there.

use crate::policy::{
    Access, AccessDecision, DenialRule, Matcher, PARENTS_OF_HOMES, Policy, Target, names_anywhere, paths_of_homes,
    paths_of_machine,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a search result is used: at least this long, and this multiple of the search's duration.
const LASTS: Duration = Duration::from_secs(1);
const TIMES: u32 = 50;
/// Most entries searched in one directory, so that filling one doesn't keep the others from being searched.
const MOST: usize = 65_536;
/// Most entries searched in all directories together.
const MOST_IN_ALL: usize = 64 * MOST;

/// A file's device and inode.
pub type Number = (u64, u64);

/// The denied files that have other names, by device and inode, as of the last search.
#[derive(Default)]
pub struct HardLinks {
    closed: HashMap<Number, PathBuf>,
    /// The time at which the next search is due.
    due: Option<Instant>,
}

impl HardLinks {
    /// The denied name of a file, if one was found. Searches again if the last search is old.
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

/// The names that are denied for reading, whether they are there or not; where one is a directory, what is directly in it counts
/// too. With the directories whose entries say which names these are: homes, and what holds some.
pub fn closed_names(policy: &Policy) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let listed = policy.denials.iter().filter_map(|denial| match &denial.target {
        Target::Listed(listed) => Some(listed.entries.iter().map(|entry| entry.place.clone())),
        _ => None,
    });
    let parents = PARENTS_OF_HOMES.iter().map(PathBuf::from);
    let names = closed_paths_and_homes(policy, &[Access::READ]);
    (names, parents.chain(listed.flatten()).collect())
}

/// The files with several names, one of which is denied for some access.
fn closed_files(policy: &Policy, matcher: &Matcher<'_>, accesses: &[Access]) -> HashMap<Number, PathBuf> {
    let mut closed = HashMap::new();
    let mut add = |path: &Path| {
        let found = fs::symlink_metadata(path).ok()?;
        let is_denied = |access: &Access| matches!(matcher.decide(*access, path), AccessDecision::Denied(_));
        if found.is_file() && found.nlink() > 1 && accesses.iter().any(is_denied) {
            closed.insert((found.dev(), found.ino()), path.to_path_buf());
        }
        Some(found)
    };
    let mut left = MOST_IN_ALL;
    for path in closed_paths_and_homes(policy, accesses) {
        // A link isn't listed; its target has a denial of its own.
        if add(&path).is_some_and(|found| found.is_dir()) {
            for entry in fs::read_dir(&path).into_iter().flatten().flatten().take(left.min(MOST)) {
                left -= 1;
                add(&entry.path());
            }
        }
    }
    closed
}

/// The paths that the policy denies by a name without wildcards, and the homes, where wildcards count too.
fn closed_paths_and_homes(policy: &Policy, accesses: &[Access]) -> Vec<PathBuf> {
    let (mut paths, mut homes, mut names) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let literal = |paths: Vec<PathBuf>| paths.into_iter().filter(|path| is_literal(path));
    let closes = |denial: &&DenialRule| accesses.iter().any(|access| denial.access.intersects(*access));
    for denial in policy.denials.iter().filter(closes) {
        match &denial.target {
            Target::Path(path) => {
                paths.insert(path.clone());
            }
            Target::Listed(listed) => {
                paths.extend(literal(paths_of_machine(listed.list)));
                names.extend(literal(paths_of_homes(listed.list)));
                names.extend(literal(names_anywhere(listed.list)));
                homes.extend(
                    listed
                        .entries
                        .iter()
                        .map(|entry| (entry.place.clone(), entry.at.clone())),
                );
            }
            Target::Glob { .. } | Target::GitDirectories | Target::AllBut { .. } => {}
        }
    }
    if !names.is_empty() {
        let children = PARENTS_OF_HOMES.iter().flat_map(fs::read_dir).flatten().flatten();
        homes.extend(children.map(|entry| (entry.path(), PathBuf::new())));
    }
    for (place, at) in homes {
        add_there(&place, &at, &names, &mut paths);
        paths.insert(place);
    }
    paths.into_iter().collect()
}

fn is_literal(path: &Path) -> bool {
    !path.as_os_str().as_bytes().contains(&b'*')
}

/// Adds the paths that these names, relative to a home, may have below `place`, which is `at` in one. Most homes have
/// few of them, so first components are looked up in a listing.
fn add_there(place: &Path, at: &Path, names: &BTreeSet<PathBuf>, paths: &mut BTreeSet<PathBuf>) {
    let entries = match fs::read_dir(place) {
        Ok(entries) => {
            let names = entries.flatten().take(MOST).map(|entry| entry.file_name());
            Some(names.collect::<HashSet<_>>())
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return,
        Err(_) => None,
    };
    let is_there = |first: &OsStr| {
        entries
            .as_ref()
            .is_none_or(|there| there.len() == MOST || there.contains(first))
    };
    for name in names {
        if let Ok(rest) = name.strip_prefix(at)
            && rest.iter().next().is_some_and(is_there)
        {
            paths.insert(place.join(rest));
        }
    }
}
