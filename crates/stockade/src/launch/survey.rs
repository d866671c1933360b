//! The paths that a tree's rule becomes if something in the tree must stay closed.
//!
//! Landlock rules only add: a granted directory grants all below it. So a closed path inside a tree is excluded by
//! granting its siblings, at every level above it.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{AccessFs, BitFlags, make_bitflags};

use super::LaunchError;
use crate::plan::{Cover, FileRule, Links, Plan};
use crate::policy::{Access, Closing, DenialRule, Matcher, Policy, Target};
use crate::real_path::real_path;

/// More files than this aren't granted one by one: each rule costs some microseconds of every launch.
const MAX_FILES: usize = 16_384;

/// Rights that only apply to directories and are needed to list them.
const LISTING: u64 = 1 << 3;

/// All rights that write; the others read and execute.
const WRITING: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    WriteFile | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym | Refer | Truncate
});

/// A path to open and the rights to grant on it.
pub struct Spot {
    /// The path.
    pub path: PathBuf,
    /// Landlock's rights; on files those for directories are masked later.
    pub rights: u64,
    /// What a symbolic link in the path means.
    pub links: Links,
}

/// All the spots of a plan.
pub fn survey(plan: &Plan, policy: &Policy) -> Result<Vec<Spot>, LaunchError> {
    // Links are only followed if a rule has to exclude something.
    let goes_round = plan.rules.iter().any(|rule| rule.cover == Cover::AroundClosed);
    let closed = if goes_round {
        ClosedPlace::of(&policy.denials)
    } else {
        ClosedPlace::of(&[])
    };
    let mut spots = Vec::with_capacity(plan.rules.len());
    for rule in &plan.rules {
        match rule.cover {
            Cover::Whole => spots.push(Spot {
                path: rule.path.clone(),
                rights: rule.rights,
                links: rule.links,
            }),
            Cover::AroundClosed => around(&top(rule), rule.rights, &closed, &mut spots),
            Cover::FileByFile => file_by_file(rule, policy, &mut spots)?,
        }
    }
    Ok(spots)
}

/// The top of a rule's tree.
fn top(rule: &FileRule) -> PathBuf {
    match rule.links {
        Links::Followed => real_path(&rule.path),
        Links::GrantNothing | Links::Refused => rule.path.clone(),
    }
}

/// The closed places, with the rights that each takes away.
struct ClosedPlace {
    paths: Vec<(PathBuf, u64)>,
    lists: Vec<(Closing, u64)>,
}

impl ClosedPlace {
    /// The targets of links are among a policy's denials.
    fn of(denials: &[DenialRule]) -> ClosedPlace {
        let mut closed = ClosedPlace {
            paths: Vec::new(),
            lists: Vec::new(),
        };
        for denial in denials {
            let taken = if denial.access.contains(Access::READ) {
                u64::MAX
            } else {
                WRITING.bits()
            };
            match &denial.target {
                Target::Path(path) => closed.paths.push((path.clone(), taken)),
                Target::Listed(listed) => closed.lists.push((Closing::new(listed), taken)),
                _ => {}
            }
        }
        closed
    }

    /// The rights taken from all of a path, and those taken from something in it.
    fn taken(&self, path: &Path) -> (u64, u64) {
        let (mut all, mut inside) = (0, 0);
        for (closed, taken) in &self.paths {
            if path.starts_with(closed) {
                all |= taken;
            } else if closed.starts_with(path) {
                inside |= taken;
            }
        }
        for (closing, taken) in &self.lists {
            if closing.closes_by_place(path) {
                all |= taken;
            } else if closing.is_placed_below(path) {
                inside |= taken;
            }
        }
        (all, inside)
    }
}

/// Grants `path` as a whole, or around the closed paths in it.
fn around(path: &Path, rights: u64, closed: &ClosedPlace, spots: &mut Vec<Spot>) {
    let (taken, lost) = closed.taken(path);
    let rights = rights & !taken;
    if rights == 0 {
        return;
    }
    // Rights that nothing inside takes away apply to the whole directory, and so does listing: names are no secret.
    let whole = (rights & !lost) | (rights & LISTING);
    if whole != 0 {
        spots.push(Spot {
            path: path.to_path_buf(),
            rights: whole,
            links: Links::GrantNothing,
        });
    }
    if rights & lost == 0 {
        return;
    }
    let Ok(entries) = fs::read_dir(path) else {
        return;
    };
    for entry in entries.flatten() {
        let child = entry.path();
        // Links aren't objects of their own here: their targets are granted, or not, under their own names.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) && !is_kernel_tree(&child) {
            around(&child, rights & lost, closed, spots);
        }
    }
}

/// Devices and the kernel's own trees are never part of "all files"; the base has those that programs need.
fn is_kernel_tree(path: &Path) -> bool {
    [Path::new("/dev"), Path::new("/proc")].contains(&path)
}

/// Grants each file of a tree that no denial closes.
fn file_by_file(rule: &FileRule, policy: &Policy, spots: &mut Vec<Spot>) -> Result<(), LaunchError> {
    let top = top(rule);
    let Ok(metadata) = fs::symlink_metadata(&top) else {
        return Ok(());
    };
    let matcher = Matcher::new(policy);
    let is_open = |path: &Path| matcher.denial(Access::READ, path, false).is_none();
    if !is_open(&top) {
        return Ok(());
    }
    if !metadata.is_dir() {
        spots.push(Spot {
            path: top,
            rights: rule.rights,
            links: rule.links,
        });
        return Ok(());
    }
    let first = spots.len();
    spots.push(Spot {
        path: top.clone(),
        rights: rule.rights & LISTING,
        links: rule.links,
    });
    let mut waiting = vec![top.clone()];
    while let Some(directory) = waiting.pop() {
        // A directory that the user can't list, or that vanished meanwhile, grants nothing.
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if !is_open(&path) {
                continue;
            }
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() {
                spots.push(Spot {
                    path,
                    rights: rule.rights & !LISTING,
                    links: Links::GrantNothing,
                });
            }
            if spots.len() - first + waiting.len() > MAX_FILES {
                return Err(LaunchError::TooManyFiles {
                    tree: top,
                    limit: MAX_FILES,
                });
            }
        }
    }
    Ok(())
}
