//! Git repositories whose directories can't be recognized by name.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::Error;
use super::closed_places;
use super::mounts::Mounts;
use super::outside::guarded;
use crate::policy::{DenialRule, NamedByGit, Target, closed_in_git_directory, git_directory, git_settings};
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

    /// What its repository's configuration, and the user's own, names in the tree as hooks, attributes, further
    /// configuration, or programs.
    fn named_places(&self, homes: &[PathBuf]) -> BTreeSet<PathBuf> {
        let in_directory = |directory: &Path| ["config", "config.worktree"].map(|name| directory.join(name));
        let own = self.directories.iter().flat_map(|directory| in_directory(directory));
        let of_homes = homes
            .iter()
            .flat_map(|home| [".gitconfig", ".config/git/config"].map(|name| home.join(name)));
        let own = own.chain(of_homes).chain([PathBuf::from("/etc/gitconfig")]);
        // The tree may be a part of a repository.
        let around = self
            .tree
            .ancestors()
            .skip(1)
            .filter(|above| above.join(".git").exists());
        let around = around.flat_map(|above| in_directory(&above.join(".git")).map(|file| (file, above)));
        let mut ahead: Vec<(PathBuf, &Path)> = own.map(|file| (file, self.tree.as_path())).chain(around).collect();
        let (mut seen, mut places) = (BTreeSet::new(), BTreeSet::new());
        while let Some((file, top)) = ahead.pop() {
            if seen.len() >= MOST_CONFIGURATIONS || !seen.insert((file.clone(), top)) {
                continue;
            }
            let text = read(&file, LONGEST_CONFIGURATION).unwrap_or_default();
            for setting in git_settings(&text) {
                let (value, above) = (setting.value.as_str(), file.parent().unwrap_or(&file));
                match setting.named() {
                    Some(NamedByGit::Configuration) => {
                        let included = placed(value, above, homes);
                        places.insert(included.clone());
                        ahead.push((included, top));
                    }
                    Some(NamedByGit::Hooks) => places.extend(hooks(&placed(value, top, homes))),
                    Some(NamedByGit::File) => places.extend([placed(value, top, homes)]),
                    Some(NamedByGit::Command) => {
                        let words = words(value).map(|word| placed(word, top, homes));
                        places.extend(words.filter(|path| path.is_file()));
                    }
                    None => {}
                }
            }
        }
        places.retain(|place| place.starts_with(&self.tree) && place != &self.tree);
        places
    }

    /// The files there that git obeys and that can't be recognized by name: named by its configuration, behind a `.git` that is a link or leads
    /// elsewhere, in `git init --separate-git-dir`, in work trees beside a `.bare` (gitrepository-layout(5)), behind
    /// links in `.git`, and where `.git` is mounted elsewhere.
    ///
    /// # Errors
    /// See [`closed_places::behind_links`].
    pub fn elsewhere(&self, homes: &[PathBuf], walker: &mut Walker, mounts: &Mounts) -> Result<Vec<DenialRule>, Error> {
        let kept = |path: PathBuf| guarded(&path, Origin::BuiltIn);
        let named: Vec<DenialRule> = self.named_places(homes).into_iter().map(kept).collect();
        let mut denials = closed_places::behind_links(&named, walker)?;
        denials.extend(named);
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
        let text = read(file, LONGEST_GIT_FILE)?;
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
const LONGEST_CONFIGURATION: u64 = 1 << 20;
/// The most configurations that are read for one tree, each with those that it includes.
const MOST_CONFIGURATIONS: usize = 64;

/// Reads a short regular file.
fn read(file: &Path, longest: u64) -> Option<Vec<u8>> {
    let is_read = fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= longest);
    is_read.then(|| fs::read(file).ok())?
}

/// A path of a configuration, without `.` and `..`: relative to a directory, or to a home.
fn placed(path: &str, below: &Path, homes: &[PathBuf]) -> PathBuf {
    let whole = match (path.strip_prefix("~/"), homes.first()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => below.join(path),
    };
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The words of a command line that may name a file of the tree: programs that `PATH` finds have no slash.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|letter: char| letter.is_whitespace() || "\"';&|()<>=!".contains(letter));
    words.filter(|word| word.contains('/'))
}

/// The directories of hooks at a place. Husky's `_` starts what is beside it.
fn hooks(place: &Path) -> impl Iterator<Item = PathBuf> {
    let is_huskys = place.file_name().is_some_and(|name| name == "_");
    let beside = place.parent().filter(|_| is_huskys);
    [Some(place), beside]
        .into_iter()
        .flatten()
        .map(Path::to_path_buf)
        .collect::<Vec<_>>()
        .into_iter()
}

/// The files that git obeys in its directory.
fn trusted_in(directory: &Path) -> Vec<DenialRule> {
    let names = closed_in_git_directory().map(|name| directory.join(name));
    names.map(|path| guarded(&path, Origin::BuiltIn)).collect()
}
