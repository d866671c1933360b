//! How much the trees that a run may write have grown, for `--disk-limit`.
//!
//! A sample walks the trees and adds up allocated blocks, so what others write there meanwhile counts too. A whole
//! machine isn't walked: there the used space of its file system stands for it. That is also glanced at more often than a
//! walk of large trees allows.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use nix::sys::statvfs::statvfs;

use super::tree::{may_hide_files, nameless_files};

/// The trees of one run, with what they held at its start.
pub struct Growth {
    trees: Vec<PathBuf>,
    before: u64,
    /// File systems of these trees by the first of them, and what was used of each.
    systems: Vec<(PathBuf, u64)>,
    since: SystemTime,
    /// How long the last walk took.
    pub took: Duration,
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
            since: a_tick_ago(),
            took: Duration::ZERO,
        };
        growth.before = growth.total(&|| true).unwrap_or_default();
        growth
    }

    /// Bytes more than at the start.
    pub fn sample(&mut self) -> u64 {
        let total = self.total(&|| true).unwrap_or_default();
        total.saturating_sub(self.before)
    }

    /// The same, unless the file systems alone have grown by more than that meanwhile.
    pub fn sample_below(&mut self, limit: u64) -> Option<u64> {
        let (systems, before) = (self.systems.clone(), self.before);
        let total = self.total(&|| grown(&systems) <= limit)?;
        Some(total.saturating_sub(before))
    }

    /// Its file systems.
    pub fn devices(&self) -> HashSet<u64> {
        let systems = self.systems.iter().filter_map(|(tree, _)| fs::metadata(tree).ok());
        systems.map(|found| found.dev()).collect()
    }

    /// The same by the file systems alone: quick, and wrong by what others write and delete there.
    pub fn glance(&self) -> u64 {
        grown(&self.systems)
    }

    /// Whether these processes may have written what no walk and no descriptor shows.
    pub fn is_hidden_from(&self, processes: &[i32]) -> bool {
        may_hide(processes, &self.trees, self.since)
    }

    fn total(&mut self, go_on: &dyn Fn() -> bool) -> Option<u64> {
        let (begun, mut linked) = (Instant::now(), HashSet::new());
        let each = self.trees.iter().map(|tree| match tree == Path::new("/") {
            true => Some(used_space(tree)),
            false => allocated_of(tree, &mut linked, |_| true, go_on),
        });
        let total: Option<u64> = each.sum();
        if total.is_some() {
            self.took = begun.elapsed();
        }
        total
    }
}

fn grown(systems: &[(PathBuf, u64)]) -> u64 {
    let grown = |(tree, before): &(PathBuf, u64)| used_space(tree).saturating_sub(*before);
    systems.iter().map(grown).sum()
}

/// Allocated bytes of a tree.
#[cfg(feature = "cli")]
pub fn allocated(top: &Path, linked: &mut HashSet<(u64, u64)>) -> u64 {
    allocated_of(top, linked, |_| true, &|| true).unwrap_or_default()
}

/// Allocated bytes of those files of a tree that count. Files with several names count once. It is asked now and then whether
/// to go on, and otherwise answers nothing.
fn allocated_of(
    top: &Path,
    linked: &mut HashSet<(u64, u64)>,
    counts: impl Fn(&Metadata) -> bool,
    go_on: &dyn Fn() -> bool,
) -> Option<u64> {
    const BLOCK: u64 = 512;
    // A few milliseconds.
    const ASKED_EACH: usize = 256;
    let (mut sum, mut seen) = (0, 0);
    let ended = walk(top, |found, _| {
        seen += 1;
        if seen % ASKED_EACH == 0 && !go_on() {
            return ControlFlow::Break(());
        }
        let is_once = found.nlink() < 2 || found.is_dir() || linked.insert((found.dev(), found.ino()));
        if is_once && counts(found) {
            sum += found.blocks() * BLOCK;
        }
        ControlFlow::Continue(())
    });
    ended.is_continue().then_some(sum)
}

/// Whether these processes may have written what no walk of these trees and no descriptor shows.
fn may_hide(processes: &[i32], trees: &[PathBuf], since: SystemTime) -> bool {
    may_hide_files(processes) || trees.iter().any(|tree| was_closed(tree, since))
}

/// Whether a directory of the tree can't be listed, and has changed since: a run may have closed it over what it wrote. Another
/// user's it can't close.
fn was_closed(top: &Path, since: SystemTime) -> bool {
    let (since, own) = (seconds(since), nix::unistd::geteuid().as_raw());
    let closed = walk(top, |found, is_closed| {
        match is_closed && found.uid() == own && found.ctime().unsigned_abs() >= since {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    closed.is_break()
}

/// Shows each entry of a tree, its top first, and whether it is a directory that can't be listed. Links aren't followed. Only
/// directories are looked up by their paths: entries are asked for below the open directory, which is several times as fast.
fn walk(top: &Path, mut see: impl FnMut(&Metadata, bool) -> ControlFlow<()>) -> ControlFlow<()> {
    let Ok(metadata) = fs::symlink_metadata(top) else {
        return ControlFlow::Continue(());
    };
    let mut waiting = vec![(top.to_path_buf(), metadata)];
    while let Some((path, metadata)) = waiting.pop() {
        let entries = metadata.is_dir().then(|| fs::read_dir(&path));
        see(&metadata, matches!(entries, Some(Err(_))))?;
        for entry in entries.into_iter().flatten().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => waiting.push((entry.path(), found)),
                Ok(found) => see(&found, false)?,
                Err(_) => {}
            }
        }
    }
    ControlFlow::Continue(())
}

/// The time of a change is the last tick's.
fn a_tick_ago() -> SystemTime {
    SystemTime::now() - Duration::from_secs(1)
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}

/// What a run leaves free on the file systems that it writes to, where a single file is limited and all of them aren't.
///
/// It costs a question to each file system. Only where one gets short the trees are walked, for what changed since the start:
/// a disk that others fill ends no run.
pub struct Reserve {
    trees: Vec<PathBuf>,
    systems: Vec<System>,
    since: SystemTime,
}

/// A file system, by a tree in it.
struct System {
    tree: PathBuf,
    device: u64,
    /// Bytes that its user could have at the start, and those that stay.
    before: u64,
    reserve: u64,
}

impl Reserve {
    /// The file systems of these trees, as they are now.
    pub fn begin(trees: Vec<PathBuf>) -> Reserve {
        let mut devices = HashSet::new();
        let system = |tree: &PathBuf| {
            let device = fs::metadata(tree).ok()?.dev();
            devices.insert(device).then(|| System::of(tree, device)).flatten()
        };
        let systems = trees.iter().filter_map(system).collect();
        Reserve {
            trees,
            systems,
            since: a_tick_ago(),
        }
    }

    /// Bytes that can still be written: to the file system that has least.
    pub fn left(&self) -> u64 {
        let left = |system: &System| system.available().saturating_sub(system.reserve);
        self.systems.iter().map(left).min().unwrap_or(u64::MAX)
    }

    /// Whether at least half of what a short one lost may be of these processes, whose trees are walked for that: where they
    /// may have hidden some, it may.
    pub fn is_taken_by(&self, processes: &[i32]) -> bool {
        let lost = |system| {
            let available = System::available(system);
            (available <= system.reserve).then(|| (system, system.before.saturating_sub(available)))
        };
        let short: Vec<_> = self.systems.iter().filter_map(lost).collect();
        let shows = |(system, lost): &(&System, u64)| {
            let nameless = nameless_files(processes, &HashSet::from([system.device]));
            nameless + self.changed(system.device) >= lost / 2
        };
        !short.is_empty() && (short.iter().any(shows) || may_hide(processes, &self.trees, self.since))
    }

    fn changed(&self, device: u64) -> u64 {
        let since = seconds(self.since);
        let mut linked = HashSet::new();
        let is_new = |found: &Metadata| found.dev() == device && found.ctime().unsigned_abs() >= since;
        self.trees
            .iter()
            .filter_map(|tree| allocated_of(tree, &mut linked, is_new, &|| true))
            .sum()
    }
}

impl System {
    /// A twentieth stays, and no more than 2 GiB; of one that was short before half of what there was.
    fn of(tree: &Path, device: u64) -> Option<System> {
        const MOST: u64 = 2 << 30;
        let space = statvfs(tree).ok()?;
        let unit = space.fragment_size();
        let before = space.blocks_available().saturating_mul(unit);
        let reserve = (space.blocks().saturating_mul(unit) / 20).min(MOST).min(before / 2);
        // Where nothing is left or counted nothing can be kept.
        (reserve > 0).then(|| System {
            tree: tree.to_path_buf(),
            device,
            before,
            reserve,
        })
    }

    /// What can't be asked any more isn't short.
    fn available(&self) -> u64 {
        statvfs(&self.tree).map_or(u64::MAX, |space| {
            space.blocks_available().saturating_mul(space.fragment_size())
        })
    }
}

fn used_space(path: &Path) -> u64 {
    statvfs(path).map_or(0, |space| {
        let blocks = space.blocks().saturating_sub(space.blocks_free());
        blocks.saturating_mul(space.fragment_size())
    })
}
