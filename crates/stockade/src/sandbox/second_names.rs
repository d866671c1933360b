//! Closed files that have a second name, for the look through a run's trees: which closed names are there is kept from launch
//! to launch, so that each costs one statx(2) and a name that isn't there none.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::looked::{self, Stamp};
use crate::policy::{Access, AccessDecision, Matcher, Policy};
use crate::supervise;

/// The longest file.
const LONGEST: usize = 1 << 20;

/// The most entries of a closed directory that are looked at.
const MOST: usize = 65_536;

/// Directories that change all the time, whatever they look like now.
const CHANGING: [&str; 6] = ["/tmp", "/var/tmp", "/run", "/dev", "/proc", "/var/log"];

/// Which closed names are there, and what tells that this is still so.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    /// Directories that stay as they are as long as no closed name comes to be in them, or goes.
    unchanged: BTreeMap<PathBuf, Stamp>,
    /// Closed files that are there, and names in directories that change all the time.
    names: BTreeSet<PathBuf>,
    /// Closed directories that change all the time.
    directories: BTreeSet<PathBuf>,
}

/// The numbers of closed files that have several names, in order.
pub(super) fn closed(policy: &Policy, matcher: &Matcher<'_>, state: Option<&Path>, key: &str) -> Vec<(u64, u64)> {
    // Every run writes to the state directory, and makes a scratch directory.
    let own = state.and_then(Path::file_name).unwrap_or_default();
    let is_own = |name: &OsStr| !own.is_empty() && name.as_bytes().starts_with(own.as_bytes());
    let stays_as_it_is = |path: &Path, stamp: &Stamp| {
        let is_own = path.file_name().is_some_and(is_own);
        stamp.is_settled() && !is_own && !CHANGING.iter().any(|changing| path == Path::new(changing))
    };
    let is_denied = |path: &Path| matches!(matcher.decide(Access::READ, path), AccessDecision::Denied(_));
    let load = |state: &Path| looked::read(state, key, LONGEST).and_then(|text| serde_json::from_slice(&text).ok());
    let is_so = |known: &Known| {
        known
            .unchanged
            .iter()
            .all(|(path, stamp)| Stamp::of(path) == Some(*stamp))
    };
    let known = state.and_then(load).filter(is_so).unwrap_or_else(|| {
        let (names, homes) = supervise::closed_names(policy);
        let is_settled = |home: &PathBuf| Stamp::of(home).is_none_or(|stamp| stamp.is_settled());
        let (mut known, stays) = (look(names, is_denied, stays_as_it_is), homes.iter().all(is_settled));
        known.unchanged.extend(
            homes
                .into_iter()
                .filter_map(|home| Some((Stamp::of(&home)?, home)))
                .map(|(stamp, home)| (home, stamp)),
        );
        let text = serde_json::to_vec(&known)
            .ok()
            .filter(|text| stays && text.len() <= LONGEST);
        // Without it the next launch looks again.
        let _ = state.zip(text).map(|(state, text)| looked::write(state, key, &text));
        known
    });
    let inside = known
        .directories
        .iter()
        .flat_map(fs::read_dir)
        .flat_map(|entries| entries.take(MOST))
        .flatten();
    let inside = inside.map(|entry| entry.path());
    let all = known.names.iter().cloned().chain(inside);
    let found = all.filter_map(|path| {
        let found = fs::symlink_metadata(&path).ok()?;
        let counts = found.is_file() && found.nlink() > 1 && is_denied(&path);
        counts.then(|| (found.dev(), found.ino()))
    });
    found.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Looks which names are there. The parents of the names, and those that are directories, tell when that changes.
fn look(
    names: impl IntoIterator<Item = PathBuf>,
    is_denied: impl Fn(&Path) -> bool,
    stays_as_it_is: impl Fn(&Path, &Stamp) -> bool,
) -> Known {
    let mut known = Known::default();
    let mut stamps: BTreeMap<PathBuf, Option<Stamp>> = BTreeMap::new();
    let mut stamp = |path: &Path| *stamps.entry(path.to_path_buf()).or_insert_with(|| Stamp::of(path));
    for path in names {
        let above = path.ancestors().skip(1);
        let nearest = above.filter_map(|above| Some((above, stamp(above)?))).next();
        match nearest {
            Some((above, stamp)) if stays_as_it_is(above, &stamp) => {
                _ = known.unchanged.insert(above.to_path_buf(), stamp)
            }
            _ => _ = known.names.insert(path.clone()),
        }
        let Ok(found) = fs::symlink_metadata(&path) else {
            continue;
        };
        if !found.is_dir() {
            known.names.insert(path);
            continue;
        }
        match stamp(&path).filter(|stamp| stays_as_it_is(&path, stamp)) {
            Some(stamp) => {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten().take(MOST);
                let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
                let closed = files.map(|entry| entry.path()).filter(|path| is_denied(path));
                known.names.extend(closed);
                known.unchanged.insert(path, stamp);
            }
            None => _ = known.directories.insert(path),
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_all_the_time_is_looked_at_each_time() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        fs::create_dir(at("closed")).unwrap();
        fs::write(at("closed/a"), "").unwrap();
        fs::write(at("b"), "").unwrap();
        let names = || ["closed", "b", "none/c"].map(at);
        let known = look(names(), |_| true, |_, stamp| stamp.is_settled());
        assert!(
            known.names.contains(&at("b")) && known.names.contains(&at("none/c")),
            "{known:?}"
        );
        assert_eq!(known.directories, BTreeSet::from([at("closed")]));
    }
}
