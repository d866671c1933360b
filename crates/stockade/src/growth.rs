//! The growth of the trees that a run may write, for `--disk-limit`.
//!
//! A sample walks the trees and adds up allocated blocks, so files that others write there meanwhile count too. A whole
//! machine isn't walked: there the used space of its file systems stands for it. That space is also checked more often
//! than walks of large trees allow.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::stat::fstat;
use nix::sys::statvfs::{Statvfs, fstatvfs};

use crate::mutex::lock;
use crate::processes::{BLOCK, may_hide_files, nameless_files};
use crate::real_path::{is_of_disk, unescaped};

/// The trees of one run, with their size at its start.
pub struct Growth {
    trees: Vec<PathBuf>,
    before: u64,
    /// File systems of these trees, and the used space of each at the start.
    systems: Vec<(FileSystem, u64)>,
    since: SystemTime,
    /// How long the last walk took.
    pub took: Duration,
}

impl Growth {
    /// Takes the first sample. A tree inside another is counted once.
    pub fn begin(mut trees: Vec<PathBuf>) -> Growth {
        trees.sort();
        trees.dedup_by(|later, earlier| later.starts_with(earlier.as_path()));
        let with_used = |system: FileSystem| {
            let used = system.used();
            (system, used)
        };
        let mut growth = Growth {
            before: 0,
            systems: file_systems(&trees).into_iter().map(with_used).collect(),
            trees,
            since: a_tick_ago(),
            took: Duration::ZERO,
        };
        let begun = Instant::now();
        growth.before = growth.total(&|| true).unwrap_or_default();
        growth.took = begun.elapsed();
        growth
    }

    /// Bytes gained since the start.
    pub fn sample(&mut self) -> u64 {
        self.sample_while(&|_| true).unwrap_or_default()
    }

    /// The same, unless the file systems alone have grown by more than `limit` meanwhile, or the walk takes long: no
    /// other limit is checked meanwhile.
    pub fn sample_below(&mut self, limit: u64) -> Option<u64> {
        const MAX_TIME: Duration = Duration::from_secs(1);
        let begun = Instant::now();
        self.sample_while(&|growth| growth.glance() <= limit && begun.elapsed() < MAX_TIME)
    }

    fn sample_while(&mut self, go_on: &dyn Fn(&Growth) -> bool) -> Option<u64> {
        let begun = Instant::now();
        let total = self.total(&|| go_on(self))?;
        self.took = begun.elapsed();
        Some(total.saturating_sub(self.before))
    }

    /// Its file systems.
    pub fn devices(&self) -> HashSet<u64> {
        self.systems.iter().map(|(system, _)| system.device).collect()
    }

    /// The growth of the file systems alone: quick, and off by what others write and delete there.
    pub fn glance(&self) -> u64 {
        let grown = |(system, before): &(FileSystem, u64)| system.used().saturating_sub(*before);
        self.systems.iter().map(grown).sum()
    }

    /// Whether these processes may have written files that no walk and no descriptor shows.
    pub fn is_hidden_from(&self, processes: &[i32]) -> bool {
        may_hide(processes, &self.trees, self.since)
    }

    fn total(&self, go_on: &dyn Fn() -> bool) -> Option<u64> {
        let mut linked = HashSet::new();
        let each = self.trees.iter().map(|tree| match tree == Path::new("/") {
            true => Some(self.systems.iter().map(|(system, _)| system.used()).sum()),
            false => allocated_of(tree, &mut linked, |_| true, go_on),
        });
        each.sum()
    }
}

/// A file system, by an open descriptor in it: its path may vanish.
struct FileSystem {
    place: File,
    device: u64,
}

impl FileSystem {
    fn of(place: &Path) -> Option<FileSystem> {
        let place = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(place)
            .ok()?;
        let device = place.metadata().ok()?.dev();
        Some(FileSystem { place, device })
    }

    fn space(&self) -> Option<Statvfs> {
        fstatvfs(&self.place).ok()
    }

    fn used(&self) -> u64 {
        self.space().map_or(0, |space| {
            let blocks = space.blocks().saturating_sub(space.blocks_free());
            blocks.saturating_mul(space.fragment_size())
        })
    }
}

/// The file systems of these trees, including those mounted inside them, each once: one that holds an image's layers
/// may also be mounted by itself, and then both have the same size.
fn file_systems(trees: &[PathBuf]) -> Vec<FileSystem> {
    let mountinfo = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let mounted = mounts(&mountinfo);
    let inside = mounted
        .iter()
        .filter(|(place, _)| trees.iter().any(|tree| place.starts_with(tree)));
    let inside = inside.map(|(place, is_of_memory)| (place, *is_of_memory));
    let of_trees = trees.iter().map(|tree| (tree, true));
    let (mut devices, mut sizes) = (HashSet::new(), HashSet::new());
    let mut found = Vec::new();
    for (place, is_by_itself) in of_trees.chain(inside) {
        let Some(system) = FileSystem::of(place) else { continue };
        let Some(space) = system.space() else { continue };
        let is_of_new_size = sizes.insert((space.blocks(), space.fragment_size()));
        if devices.insert(system.device) && (is_by_itself || is_of_new_size) {
            found.push(system);
        }
    }
    found
}

/// Mount points of writable file systems on a local disk or in memory, and whether in memory (proc_pid_mountinfo(5)).
/// File servers may never answer.
fn mounts(mountinfo: &[u8]) -> Vec<(PathBuf, bool)> {
    let mount = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b' ');
        let place = fields.nth(4)?;
        let is_written = fields.next()?.split(|byte| *byte == b',').any(|option| option == b"rw");
        let mut kind = fields.skip_while(|field| *field != b"-").skip(1);
        let (kind, source) = (kind.next()?, kind.next()?);
        let is_of_memory = kind == b"tmpfs";
        (is_written && (is_of_disk(kind, source) || is_of_memory)).then(|| (unescaped(place), is_of_memory))
    };
    mountinfo.split(|byte| *byte == b'\n').filter_map(mount).collect()
}

/// Allocated bytes of a tree.
pub fn allocated(top: &Path, linked: &mut HashSet<(u64, u64)>) -> u64 {
    allocated_of(top, linked, |_| true, &|| true).unwrap_or_default()
}

/// Allocated bytes of those files of a tree that `counts` accepts. Hard-linked files count once. Now and then `go_on`
/// is asked; returns `None` once it answers false.
fn allocated_of(
    top: &Path,
    linked: &mut HashSet<(u64, u64)>,
    counts: impl Fn(&Metadata) -> bool,
    go_on: &dyn Fn() -> bool,
) -> Option<u64> {
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

/// Whether these processes may have written files that no walk of these trees and no descriptor shows.
fn may_hide(processes: &[i32], trees: &[PathBuf], since: SystemTime) -> bool {
    may_hide_files(processes) || trees.iter().any(|tree| was_closed(tree, since))
}

/// Whether a directory of the tree can't be listed, and has changed since: a run may have closed it over files that it
/// wrote. It can't close another user's.
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

/// Calls `see` with each entry of a tree, and whether it is a directory that can't be looked into. Links aren't followed.
/// Only directories are looked up by path: entries are read relative to the open directory, several times as fast.
fn walk(top: &Path, mut see: impl FnMut(&Metadata, bool) -> ControlFlow<()>) -> ControlFlow<()> {
    let Ok(metadata) = fs::symlink_metadata(top) else {
        return ControlFlow::Continue(());
    };
    let mut waiting = vec![(top.to_path_buf(), metadata)];
    while let Some((path, metadata)) = waiting.pop() {
        let mut is_closed = false;
        let entries = metadata.is_dir().then(|| fs::read_dir(&path));
        let all = match entries {
            Some(Ok(entries)) => Some(entries),
            Some(Err(error)) => {
                is_closed = error.kind() != ErrorKind::NotFound;
                None
            }
            None => None,
        };
        for entry in all.into_iter().flatten() {
            match entry.and_then(|entry| Ok((entry.metadata()?, entry))) {
                Ok((found, entry)) if found.is_dir() => waiting.push((entry.path(), found)),
                Ok((found, _)) => see(&found, false)?,
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                // The directory can be listed, and its entries can't be looked at.
                Err(_) => is_closed = true,
            }
        }
        see(&metadata, is_closed)?;
    }
    ControlFlow::Continue(())
}

/// The kernel stamps a change with the time of the last tick.
fn a_tick_ago() -> SystemTime {
    SystemTime::now() - Duration::from_secs(1)
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}

/// The space that a run leaves free on the file systems that it writes to, where single files are limited and their sum isn't.
///
/// It costs one call per file system. Only where one gets short are the trees walked, for what changed since the start: a disk
/// that others fill ends no run.
pub struct Reserve {
    trees: Vec<PathBuf>,
    systems: Vec<System>,
    since: SystemTime,
}

/// The bytes to keep free on each file system. It holds no descriptor, so any thread may drop it.
pub struct SpaceReserve {
    by_device: HashMap<u64, u64>,
    allocating: Mutex<()>,
}

impl SpaceReserve {
    /// Allocates space to a file, as fallocate(2) with the mode, in pieces, each only if enough stays free: gigabytes
    /// take a moment, and space that the file has already takes nothing.
    ///
    /// # Errors
    /// ENOSPC if too little would stay free; those of `go_on`, which is asked before each piece.
    pub fn allocate(
        &self,
        file: &OwnedFd,
        mode: FallocateFlags,
        (mut offset, end): (i64, i64),
        go_on: impl Fn() -> nix::Result<()>,
    ) -> nix::Result<()> {
        const PIECE: i64 = 64 << 20;
        let held = fstat(file)?.st_blocks.unsigned_abs() * BLOCK;
        if self.left_for(file)? < (end - offset).unsigned_abs().saturating_sub(held) {
            return Err(Errno::ENOSPC);
        }
        while offset < end {
            go_on()?;
            let length = PIECE.min(end - offset);
            let _alone = lock(&self.allocating);
            if self.left_for(file)? < length.unsigned_abs() {
                return Err(Errno::ENOSPC);
            }
            fallocate(file, mode, offset, length)?;
            offset += length;
        }
        Ok(())
    }

    /// Bytes that can still be written to a file's file system, whether or not it is one of the trees'.
    fn left_for(&self, file: &OwnedFd) -> nix::Result<u64> {
        let space = fstatvfs(file)?;
        let known = self.by_device.get(&fstat(file)?.st_dev).copied();
        Ok(available(&space).saturating_sub(known.unwrap_or_else(|| to_be_left(&space))))
    }
}

/// A file system with a reserve.
struct System {
    of: FileSystem,
    /// Bytes available to its user at the start, and the bytes to keep free.
    before: u64,
    reserve: u64,
}

impl Reserve {
    /// The file systems of these trees, as they are now.
    pub fn begin(trees: Vec<PathBuf>) -> Reserve {
        Reserve {
            systems: file_systems(&trees).into_iter().filter_map(System::of).collect(),
            trees,
            since: a_tick_ago(),
        }
    }

    /// Bytes that can still be written: the minimum over the file systems.
    pub fn left(&self) -> u64 {
        let left = |system: &System| system.available().saturating_sub(system.reserve);
        self.systems.iter().map(left).min().unwrap_or(u64::MAX)
    }

    /// Whether at least half of what a short file system lost may be these processes' (their trees are walked for
    /// that), or they may have hidden some of it.
    pub fn is_taken_by(&self, processes: &[i32]) -> bool {
        let lost = |system| {
            let available = System::available(system);
            (available <= system.reserve).then(|| (system, system.before.saturating_sub(available)))
        };
        let short: Vec<_> = self.systems.iter().filter_map(lost).collect();
        let shows = |(system, lost): &(&System, u64)| {
            let nameless = nameless_files(processes, &HashSet::from([system.of.device]));
            nameless + self.changed(system.of.device) >= lost / 2
        };
        !short.is_empty() && (short.iter().any(shows) || may_hide(processes, &self.trees, self.since))
    }

    /// The bytes to keep free on each file system.
    pub fn kept(&self) -> SpaceReserve {
        let of_each = self.systems.iter().map(|system| (system.of.device, system.reserve));
        SpaceReserve {
            by_device: of_each.collect(),
            allocating: Mutex::new(()),
        }
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
    fn of(of: FileSystem) -> Option<System> {
        let space = of.space()?;
        let (before, reserve) = (available(&space), to_be_left(&space));
        // If nothing is free or counted, nothing can be kept.
        (reserve > 0).then_some(System { of, before, reserve })
    }

    /// A file system that can't be queried any more isn't short.
    fn available(&self) -> u64 {
        self.of.space().map_or(u64::MAX, |space| available(&space))
    }
}

fn available(space: &Statvfs) -> u64 {
    space.blocks_available().saturating_mul(space.fragment_size())
}

/// The reserve: a twentieth, at most 2 GiB and at most half of the space now available.
fn to_be_left(space: &Statvfs) -> u64 {
    const MAX: u64 = 2 << 30;
    let all = space.blocks().saturating_mul(space.fragment_size());
    (all / 20).min(MAX).min(available(space) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_is_told_of_when_the_name_of_its_place_is_gone() {
        let place = tempfile::tempdir().unwrap();
        let system = FileSystem::of(place.path()).unwrap();
        drop(place);
        assert!(system.space().is_some());
    }

    #[test]
    fn mounts_of_disks_and_memory_are_told_from_others() {
        let mountinfo = b"22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
            23 22 0:5 / /dev rw - devtmpfs udev rw\n\
            24 22 0:22 / /proc rw - proc proc rw\n\
            25 22 0:40 / /tmp\\040b rw shared:3 - tmpfs tmpfs rw\n\
            26 22 0:41 / /mnt/nfs rw - nfs4 server:/x rw\n\
            27 22 8:2 / /boot ro - ext4 /dev/sda2 ro\n\
            28 22 0:42 / /mnt/ssh rw - fuse.sshfs /dev/fuse rw\n\
            29 22 0:43 / /srv rw - overlay overlay rw\n";
        let expected = [("/", false), ("/tmp b", true), ("/srv", false)];
        assert_eq!(
            mounts(mountinfo),
            expected.map(|(place, is_of_memory)| (PathBuf::from(place), is_of_memory))
        );
    }
}
