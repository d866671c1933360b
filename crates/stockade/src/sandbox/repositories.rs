//! Git repositories whose directories can't be recognized by name.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Error;
use super::closed_places;
use super::mounts::Mounts;
use super::outside::guarded;
use crate::policy::{DenialRule, Target, closed_in_git_directory, git_directory};
use crate::profile::Origin;
use crate::real_path::Walker;

/// The git directories to which the top directory of a tree leads.
pub(super) struct Repositories {
    /// The tree.
    pub tree: PathBuf,
    /// The git directories, unresolved.
    pub directories: Vec<PathBuf>,
}

impl Repositories {
    /// Finds them.
    pub fn of(tree: &Path, walker: &mut Walker) -> Repositories {
        Repositories {
            tree: tree.to_path_buf(),
            directories: git_directories(tree, walker),
        }
    }

    /// The files there that git obeys and that can't be recognized by name: behind a `.git` that is a link or leads
    /// elsewhere, in `git init --separate-git-dir`, in work trees beside a `.bare` (gitrepository-layout(5)), behind
    /// links in `.git`, and where `.git` is mounted elsewhere.
    ///
    /// # Errors
    /// See [`closed_places::behind_links`].
    pub fn elsewhere(&self, walker: &mut Walker, mounts: &Mounts) -> Result<Vec<DenialRule>, Error> {
        let kept = |path: PathBuf| guarded(&path, Origin::BuiltIn);
        let mut denials = Vec::new();
        let file = self.tree.join(".git");
        if file.is_symlink() && file.is_file() {
            denials.extend(closed_places::behind_links(&[kept(file)], walker)?);
        }
        for directory in &self.directories {
            let trusted = trusted_in(directory);
            denials.extend(closed_places::behind_links(&trusted, walker)?);
            let real = walker.walk(directory).real;
            let places = mounts.showing(&real).into_iter().map(|shown| (shown.place, shown.part));
            let itself = git_directory(&real).is_none().then(|| (real, PathBuf::new()));
            for (place, part) in places.chain(itself) {
                let shown = directory.join(&part);
                let inside = |denial: &DenialRule| match &denial.target {
                    Target::Path(path) if shown.starts_with(path) => Some(place.clone()),
                    Target::Path(path) => path.strip_prefix(&shown).ok().map(|rest| place.join(rest)),
                    _ => None,
                };
                denials.extend(trusted.iter().filter_map(inside).map(kept));
            }
        }
        Ok(denials)
    }
}

/// The `.git` of a tree, unresolved; if that is a file, the file itself if a link led there, the directory that it
/// names, and that directory's common directory.
fn git_directories(tree: &Path, walker: &mut Walker) -> Vec<PathBuf> {
    let led = |file: &Path, before: &str| {
        let is_read = fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= LONGEST_GIT_FILE);
        let text = is_read.then(|| fs::read(file).ok())??;
        let path = OsStr::from_bytes(text.strip_prefix(before.as_bytes())?.trim_ascii_end());
        Some(file.parent()?.join(path))
    };
    let written = tree.join(".git");
    let walked = walker.walk(&written);
    if !walked.exists {
        return Vec::new();
    }
    let directory = match walked.is_directory {
        true => Some(written),
        false => led(&walked.real, "gitdir: "),
    };
    let common = directory
        .as_ref()
        .and_then(|directory| led(&directory.join("commondir"), ""));
    let mut all: Vec<PathBuf> = directory.into_iter().chain(common).collect();
    // The directories of submodules and work trees, by their names (gitrepository-layout(5)).
    let mut ahead: Vec<(PathBuf, usize)> = all.iter().map(|directory| (directory.clone(), 0)).collect();
    while let Some((directory, level)) = ahead.pop() {
        let is_repository = directory.join("HEAD").symlink_metadata().is_ok();
        let below: &[&str] = if is_repository {
            &["modules", "worktrees"]
        } else {
            &["."]
        };
        for place in below.iter().map(|name| directory.join(name)) {
            for child in walker
                .some_children(&place, MOST_INSIDE)
                .iter()
                .filter(|_| level < DEEPEST)
            {
                let inside: PathBuf = place.join(&child.name).components().collect();
                if all.len() < MOST_INSIDE {
                    all.push(inside.clone());
                    ahead.push((inside, level + 1));
                }
            }
        }
    }
    all
}

/// The most directories of submodules and work trees, and the most components in the name of one.
const MOST_INSIDE: usize = 512;
const DEEPEST: usize = 6;

const LONGEST_GIT_FILE: u64 = 8192;

/// The files that git obeys in its directory.
fn trusted_in(directory: &Path) -> Vec<DenialRule> {
    let names = closed_in_git_directory().map(|name| directory.join(name));
    names.map(|path| guarded(&path, Origin::BuiltIn)).collect()
}
