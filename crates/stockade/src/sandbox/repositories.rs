//! Git repositories whose directories can't be recognized by name.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Error;
use super::closed_places;
use super::mounts::Mounts;
use super::outside::guarded;
use crate::policy::{
    Access, DenialRule, NamedByGit, Target, closed_in_git_directory, directories_of_hooks, git_directory, git_settings,
    placed_by_git, words_of_command,
};
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
    fn named_places(&self, homes: &[PathBuf], written: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        let home = homes.first().map(PathBuf::as_path);
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
            .filter(|above| above.join(".git").exists())
            .collect::<Vec<_>>();
        // Where no repository is, no command is started from the tree.
        let has_repository = !self.directories.is_empty() || !around.is_empty();
        let around = around
            .into_iter()
            .flat_map(|above| in_directory(&above.join(".git")).map(|file| (file, above)));
        let mut ahead: Vec<(PathBuf, &Path)> = own.map(|file| (file, self.tree.as_path())).chain(around).collect();
        let (mut seen, mut places) = (BTreeSet::new(), BTreeSet::new());
        while let Some((file, top)) = ahead.pop() {
            if seen.len() >= MAX_CONFIGURATIONS || !seen.insert((file.clone(), top)) {
                continue;
            }
            let text = read(&file, MAX_CONFIGURATION).unwrap_or_default();
            for setting in git_settings(&text) {
                let (value, above) = (setting.value.as_str(), file.parent().unwrap_or(&file));
                let at = |path: &str| placed_by_git(path, top, home);
                match setting.named() {
                    Some(NamedByGit::Configuration) => {
                        let included = placed_by_git(value, above, home);
                        places.insert(included.clone());
                        ahead.push((included, top));
                    }
                    Some(NamedByGit::Hooks) => places.extend(directories_of_hooks(&at(value)).map(Path::to_path_buf)),
                    Some(NamedByGit::File) => places.extend([at(value)]),
                    Some(NamedByGit::Repository) => {
                        let directory = at(value);
                        let is_repository = directory.join("HEAD").is_file();
                        places.extend(
                            closed_in_git_directory()
                                .filter(|_| is_repository)
                                .map(|name| directory.join(name)),
                        );
                    }
                    Some(NamedByGit::Command) => places.extend(words_of_command(value).flat_map(|word| {
                        // `"$(git rev-parse --show-toplevel)"/tools/clean`
                        let inside = word.trim_start_matches('/');
                        let places = [
                            (has_repository || word.starts_with(['/', '~'])).then(|| at(word)),
                            (has_repository && inside != word).then(|| at(inside)),
                        ];
                        places
                            .into_iter()
                            .flatten()
                            .filter(|place| place.is_file() || word.contains('/') && !place.exists())
                    })),
                    Some(NamedByGit::Unknown) => {
                        let words = words_of_command(value).filter(|word| word.contains('/')).map(at);
                        places.extend(words.filter(|place| place.is_file()));
                    }
                    None => {}
                }
            }
        }
        // A repository may name what lies in another tree that the run works in.
        places.retain(|place| written.iter().any(|tree| place.starts_with(tree) && place != tree));
        places
    }

    /// The files there that git obeys and that can't be recognized by name: named by its configuration, behind a `.git` that is a link or leads
    /// elsewhere, in `git init --separate-git-dir`, in work trees beside a `.bare` (gitrepository-layout(5)), behind
    /// links in `.git`, and where `.git` is mounted elsewhere.
    ///
    /// # Errors
    /// See [`closed_places::behind_links`].
    pub fn elsewhere(
        &self,
        homes: &[PathBuf],
        written: &BTreeSet<PathBuf>,
        walker: &mut Walker,
        mounts: &Mounts,
    ) -> Result<Vec<DenialRule>, Error> {
        let kept = |path: PathBuf| guarded(&path, Origin::BuiltIn);
        let named: Vec<DenialRule> = self.named_places(homes, written).into_iter().map(kept).collect();
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
pub(super) fn directories_of(tree: &Path, walker: &mut Walker) -> Vec<PathBuf> {
    let led = |file: &Path, before: &str| {
        let text = read(file, MAX_GIT_FILE)?;
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
    directory.into_iter().chain(common).collect()
}

/// The same, and the directories of its submodules and work trees, by their names (gitrepository-layout(5)).
fn git_directories(tree: &Path, walker: &mut Walker) -> Vec<PathBuf> {
    let mut all = directories_of(tree, walker);
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
                .some_children(&place, MAX_INSIDE)
                .iter()
                .filter(|_| level < MAX_DEPTH)
            {
                let inside: PathBuf = place.join(&child.name).components().collect();
                if all.len() < MAX_INSIDE {
                    all.push(inside.clone());
                    ahead.push((inside, level + 1));
                }
            }
        }
    }
    all
}

/// The most directories of submodules and work trees, and the most components in the name of one.
const MAX_INSIDE: usize = 512;
const MAX_DEPTH: usize = 6;

const MAX_GIT_FILE: u64 = 8192;
const MAX_CONFIGURATION: u64 = 1 << 20;
/// The most configurations that are read for one tree, each with those that it includes.
const MAX_CONFIGURATIONS: usize = 64;

/// Reads a short regular file.
fn read(file: &Path, longest: u64) -> Option<Vec<u8>> {
    let is_read = fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= longest);
    is_read.then(|| fs::read(file).ok())?
}

/// The files that git obeys in its directory.
fn trusted_in(directory: &Path) -> Vec<DenialRule> {
    // `git worktree remove` removes all of such a directory.
    let is_of_work_tree = directory
        .parent()
        .and_then(Path::file_name)
        .is_some_and(|name| name == "worktrees");
    let kept = |path: PathBuf| DenialRule {
        access: if is_of_work_tree { Access::WRITE } else { Access::CHANGE },
        ..guarded(&path, Origin::BuiltIn)
    };
    closed_in_git_directory()
        .map(|name| kept(directory.join(name)))
        .collect()
}
