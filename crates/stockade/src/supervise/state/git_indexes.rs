//! What indexes of repositories lead to, read as git reads them. From the top of a repository git enters a path that its index
//! lists as a submodule, if a repository is there, and starts what is configured there (`core.fsmonitor`, say). So the
//! run can't put a repository at such a path, nor make a path with a repository a submodule.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::mutex::lock;
use crate::policy::{
    Index, NamedByGit, Renamed, directories_of_hooks, git_settings, is_hook, may_name_work_tree, object_name_length,
    placed_by_git,
};
use crate::real_path::is_absence;

const MAX_CONFIG: u64 = 1 << 20;
/// The longest `.git` file.
const MAX_PATH: u64 = 8192;

/// A git directory.
#[derive(Debug)]
pub struct Repository {
    directory: PathBuf,
    /// The directory that a linked work tree shares with others.
    common: PathBuf,
}

impl Repository {
    /// The repository with this git directory.
    pub fn of_directory(directory: &Path) -> Repository {
        let above = directory.parent();
        let is_linked = !is_git(directory) && above.and_then(Path::file_name).is_some_and(|name| name == "worktrees");
        let common = above.and_then(Path::parent).filter(|_| is_linked);
        Repository {
            directory: directory.to_path_buf(),
            common: common.unwrap_or(directory).to_path_buf(),
        }
    }

    /// The repository of a `.git`, which is its directory or leads there.
    fn of_dot_git(path: &Path) -> io::Result<Repository> {
        if fs::metadata(path)?.is_dir() {
            return Ok(Repository::of_directory(path));
        }
        let text = text(path)?;
        let led = text.strip_prefix(b"gitdir: ").ok_or(io::ErrorKind::InvalidData)?;
        let led = OsStr::from_bytes(led.trim_ascii_end());
        let directory = fs::canonicalize(path.parent().unwrap_or(path).join(led))?;
        Ok(Repository::of_directory(&directory))
    }

    /// The configuration, which no run writes.
    fn config(&self) -> Option<Vec<u8>> {
        let config = self.common.join("config");
        let found = fs::metadata(&config).ok()?;
        let is_read = found.is_file() && found.len() <= MAX_CONFIG;
        is_read.then(|| fs::read(&config).ok())?
    }

    /// The directory that its files belong to, if that lies around it.
    fn work_tree(&self) -> Option<&Path> {
        let is_around = is_git(&self.directory) && !may_name_work_tree(&self.config()?);
        self.directory.parent().filter(|_| is_around)
    }

    /// Reads a file as an index, and whether it has a name. A split index is read with its shared part in another file,
    /// which is written in the same way.
    fn read(&self, file: &mut File, name: Option<&Path>) -> Option<Index> {
        let hash = object_name_length(&self.config()?)?;
        let index = Index::read(file, hash, name).ok()??;
        let Some(other) = &index.shared else {
            return Some(index);
        };
        let mut shared = File::open(self.directory.join(format!("sharedindex.{other}"))).ok()?;
        let shared = Index::read(&mut shared, hash, name).ok()??;
        shared.shared.is_none().then(|| index.with(shared))
    }

    /// Whether a new index, or a part of one, leads git into no repository that the old one didn't, except those that
    /// git itself made for submodules. In linked work trees and in submodules no new one is accepted.
    pub fn takes(
        &self,
        is_closed: &dyn Fn(&Path) -> bool,
        kind: Renamed,
        before: Option<&mut File>,
        now: &mut File,
    ) -> bool {
        let Some(now) = self
            .read(now, None)
            .filter(|now| kind != Renamed::SharedIndex || now.shared.is_none())
        else {
            return false;
        };
        let before = match kind {
            Renamed::SharedIndex => File::open(self.directory.join("index"))
                .ok()
                .and_then(|mut index| self.read(&mut index, None)),
            _ => before.and_then(|before| self.read(before, None)),
        };
        let Some(beyond) = now.submodules_beyond(before.as_ref()) else {
            return false;
        };
        beyond.is_empty()
            || self.work_tree().is_some_and(|work_tree| {
                let mut directories = beyond.iter().map(|path| work_tree.join(path));
                directories.all(|directory| self.is_none_or_own(is_closed, &directory))
            })
    }

    /// Whether a directory is no repository, or its `.git` is a file that leads to one of this repository's `modules`
    /// and that no run may write.
    fn is_none_or_own(&self, is_closed: &dyn Fn(&Path) -> bool, directory: &Path) -> bool {
        let dot_git = directory.join(".git");
        match dot_git.symlink_metadata() {
            Err(error) => is_absence(&error),
            Ok(found) if found.is_file() && found.nlink() == 1 && is_closed(&dot_git) => {
                // No run makes a configuration in `modules`.
                let is_own = |led: Repository| {
                    led.directory.starts_with(self.directory.join("modules")) && led.directory.join("config").is_file()
                };
                Repository::of_dot_git(&dot_git).is_ok_and(is_own)
            }
            Ok(_) => false,
        }
    }
}

/// Whether a file is a hook of the repository around it by `core.hooksPath`: of one below what was read at the start. A
/// configuration that can't be read names none.
pub fn is_named_hook(file: &Path) -> bool {
    let Some(directory) = file.parent().filter(|_| file.file_name().is_some_and(is_hook)) else {
        return false;
    };
    let Some(top) = directory
        .ancestors()
        .find(|above| above.join(".git").symlink_metadata().is_ok())
    else {
        return false;
    };
    let config = Repository::of_dot_git(&top.join(".git"))
        .ok()
        .and_then(|repository| repository.config());
    let settings = git_settings(&config.unwrap_or_default());
    settings
        .iter()
        .filter(|setting| setting.named() == Some(NamedByGit::Hooks))
        .any(|setting| {
            let place = placed_by_git(&setting.value, top, None);
            directories_of_hooks(&place).any(|hooks| hooks == directory)
        })
}

fn is_git(directory: &Path) -> bool {
    directory
        .file_name()
        .is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

/// Reads a short file.
fn text(path: &Path) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    match found.is_file() && found.len() <= MAX_PATH {
        true => fs::read(path),
        false => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Identifies the state of a file.
type FileStamp = (u64, u64, u64, i64, i64);

fn stamp(found: &Metadata) -> FileStamp {
    (
        found.dev(),
        found.ino(),
        found.size(),
        found.ctime(),
        found.ctime_nsec(),
    )
}

/// The index read at a stamp; `None` if it couldn't be parsed.
type KnownIndex = (FileStamp, Option<Arc<Index>>);

/// A cache of indexes, each valid until its file changes.
#[derive(Default)]
pub struct GitIndexes(Mutex<HashMap<PathBuf, KnownIndex>>);

impl GitIndexes {
    const MAX: usize = 64;

    /// Whether a repository's index has a submodule, or a directory, at a path below this one where there is a
    /// repository. The answer is yes if that can't be determined.
    pub fn have_place(&self, dot_git: &Path, directory: &Path, is_repository: impl Fn(&Path) -> bool) -> bool {
        let (repository, path, file) = match index_of(dot_git) {
            Ok(found) => found,
            Err(may_have) => return may_have,
        };
        let Some(index) = self.read(&repository, &path, file) else {
            return true;
        };
        let work_tree = dot_git.parent().unwrap_or(dot_git);
        let Ok(name) = directory.strip_prefix(work_tree) else {
            return true;
        };
        index.places(name).any(is_repository)
    }

    fn read(&self, repository: &Repository, path: &Path, mut file: File) -> Option<Arc<Index>> {
        let found = file.metadata().ok()?;
        let now = stamp(&found);
        let known = lock(&self.0).get(path).cloned();
        if let Some((_, index)) = known.filter(|(then, _)| *then == now) {
            return index;
        }
        let index = repository.read(&mut file, None).map(Arc::new);
        // The shared part of a split index changes without it. A file that was just written may be written again within
        // the same tick of the clock.
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(found.ctime().unsigned_abs());
        let is_settled = changed + Duration::from_secs(2) < SystemTime::now();
        if is_settled && index.as_ref().is_none_or(|index| index.shared.is_none()) {
            let mut known = lock(&self.0);
            if known.len() >= GitIndexes::MAX {
                known.clear();
            }
            known.insert(path.to_path_buf(), (now, index.clone()));
        }
        index
    }
}

/// Whether a repository's index has an entry that a `.git` in this directory would belong to, surround, or lie beside.
/// The answer is yes if that can't be determined.
pub fn has_tracked(dot_git: &Path, directory: &Path) -> bool {
    let (repository, _, mut file) = match index_of(dot_git) {
        Ok(found) => found,
        Err(may_have) => return may_have,
    };
    let work_tree = dot_git.parent().unwrap_or(dot_git);
    let index = directory
        .strip_prefix(work_tree)
        .ok()
        .and_then(|name| repository.read(&mut file, Some(name)));
    index.is_none_or(|index| index.has_name || index.links().any(|link| directory.starts_with(work_tree.join(link))))
}

/// The index of the repository that a `.git` is, or leads to; otherwise whether there may be entries.
fn index_of(dot_git: &Path) -> Result<(Repository, PathBuf, File), bool> {
    // If there is no repository, git finds none either.
    let repository = Repository::of_dot_git(dot_git).map_err(|error| !is_absence(&error))?;
    let path = repository.directory.join("index");
    match File::open(&path) {
        Ok(file) => Ok((repository, path, file)),
        // A run may remove the index of a linked work tree.
        Err(error) => Err(!is_absence(&error) || repository.directory != repository.common),
    }
}

#[cfg(test)]
mod tests;
