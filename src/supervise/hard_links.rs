//! Secrets by their other names: files with several hard links, one of which a denial closes by a name without wildcards.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::pinned::Pinned;
use crate::policy::{Access, DenialKind, PARENTS_OF_HOMES, Policy, Target};

/// How long a look at the closed names counts: at least this, and so many times what it took.
const LASTS: Duration = Duration::from_secs(1);
const TIMES: u32 = 50;
/// Entries of closed directories that a look takes in.
const MOST: usize = 4096;

/// The closed files that have other names, by device and inode, as they were found.
#[derive(Default)]
pub struct HardLinks {
    closed: HashMap<(u64, u64), PathBuf>,
    /// When the next look is due.
    due: Option<Instant>,
}

impl HardLinks {
    /// The closed name of a file, if it was found to have one. Looks for them again where the last look is old.
    pub fn closed_name(&mut self, policy: &Policy, object: &Pinned) -> Option<PathBuf> {
        if self.due.is_none_or(|due| Instant::now() > due) {
            self.look(policy);
        }
        self.closed.get(&object.number()).cloned()
    }

    fn look(&mut self, policy: &Policy) {
        let begun = Instant::now();
        self.closed.clear();
        let mut left = MOST;
        for path in closed_paths(policy) {
            self.add(&path);
            // A link isn't listed; what it leads to has a denial of its own.
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                for entry in fs::read_dir(&path).into_iter().flatten().flatten().take(left) {
                    left -= 1;
                    self.add(&entry.path());
                }
            }
        }
        self.due = Some(Instant::now() + LASTS.max(begun.elapsed() * TIMES));
    }

    fn add(&mut self, path: &Path) {
        let found = fs::symlink_metadata(path).ok();
        if let Some(found) = found.filter(|found| found.is_file() && found.nlink() > 1) {
            self.closed.insert((found.dev(), found.ino()), path.to_path_buf());
        }
    }
}

/// The paths that the policy closes for reading by a name without wildcards.
fn closed_paths(policy: &Policy) -> Vec<PathBuf> {
    let denials = policy.denials.iter();
    let denials = denials.filter(|denial| denial.access.contains(Access::READ) && denial.kind != DenialKind::Guarded);
    denials
        .flat_map(|denial| match &denial.target {
            Target::Path(path) => vec![path.clone()],
            Target::Listed(listed) => {
                let children = PARENTS_OF_HOMES.iter().flat_map(fs::read_dir).flatten().flatten();
                listed.literal_paths(children.map(|entry| entry.path()))
            }
            Target::Glob { .. } | Target::GitDirectories | Target::AllBut { .. } => Vec::new(),
        })
        .collect()
}
