//! How much the trees that a run may write have grown, for `--disk-limit`.
//!
//! A sample walks the trees and adds up allocated blocks, so what others write there meanwhile counts too. A whole
//! machine isn't walked: there the used space of its file system stands for it. That is also glanced at more often than a
//! walk of large trees allows.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The trees of one run, with what they held at its start.
pub struct Growth {
    trees: Vec<PathBuf>,
    before: u64,
    /// File systems of these trees by the first of them, and what was used of each.
    systems: Vec<(PathBuf, u64)>,
}

impl Growth {
    /// Takes the first sample. A tree inside another is counted once.
    pub fn begin(mut trees: Vec<PathBuf>) -> Growth {
        trees.sort();
        trees.dedup_by(|later, earlier| later.starts_with(earlier.as_path()));
        let mut devices = HashSet::new();
        let on_another = |tree: &&PathBuf| fs::metadata(tree).is_ok_and(|metadata| devices.insert(metadata.dev()));
        let systems = trees.iter().filter(on_another);
        let systems = systems.map(|tree| (tree.clone(), used_space(tree))).collect();
        let mut growth = Growth {
            trees,
            before: 0,
            systems,
        };
        growth.before = growth.total();
        growth
    }

    /// Bytes more than at the start.
    pub fn sample(&self) -> u64 {
        self.total().saturating_sub(self.before)
    }

    /// Its file systems.
    pub fn devices(&self) -> HashSet<u64> {
        let systems = self.systems.iter().filter_map(|(tree, _)| fs::metadata(tree).ok());
        systems.map(|found| found.dev()).collect()
    }

    /// The same by the file systems alone: quick, and wrong by what others write and delete there.
    pub fn glance(&self) -> u64 {
        let grown = |(tree, before): &(PathBuf, u64)| used_space(tree).saturating_sub(*before);
        self.systems.iter().map(grown).sum()
    }

    fn total(&self) -> u64 {
        let mut linked = HashSet::new();
        self.trees
            .iter()
            .map(|tree| {
                if tree == Path::new("/") {
                    used_space(tree)
                } else {
                    allocated(tree, &mut linked)
                }
            })
            .sum()
    }
}

/// Allocated bytes of a tree. Files with several names count once, links aren't followed.
fn allocated(top: &Path, linked: &mut HashSet<(u64, u64)>) -> u64 {
    const BLOCK: u64 = 512;
    let mut sum = 0;
    let mut waiting = vec![top.to_path_buf()];
    while let Some(path) = waiting.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        let is_counted = metadata.nlink() < 2 || metadata.is_dir() || linked.insert((metadata.dev(), metadata.ino()));
        if is_counted {
            sum += metadata.blocks() * BLOCK;
        }
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            waiting.extend(entries.map(|entry| entry.path()));
        }
    }
    sum
}

fn used_space(path: &Path) -> u64 {
    nix::sys::statvfs::statvfs(path).map_or(0, |space| {
        let blocks = space.blocks().saturating_sub(space.blocks_free());
        blocks.saturating_mul(space.fragment_size())
    })
}
