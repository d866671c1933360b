//! Submodules of repositories that the run didn't make. From the top of a repository git goes into what its index calls a
//! submodule where a repository is, and starts what is configured there (`core.fsmonitor`, say). So nothing of the run's comes to
//! be a repository there, and nothing where a repository is comes to be a submodule.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::answer::Errno;
use super::desk::Desk;
use super::pinned::{Entry, Place};
use super::refuse::Attempt;
use crate::mutex::lock;
use crate::policy::{Index, Renamed, object_name_length};
use crate::report::{Kind, Reason};

const LONGEST_CONFIG: u64 = 1 << 20;
/// Of a `.git` file, and of `gitdir`.
const LONGEST_PATH: u64 = 8192;

/// A git directory, and the work tree that belongs to it.
#[derive(Debug)]
pub struct Repository {
    directory: PathBuf,
    /// Not known of a submodule, whose configuration names it.
    work_tree: Option<PathBuf>,
    /// Of a linked work tree, what it shares with others.
    common: PathBuf,
}

impl Repository {
    /// By its git directory.
    pub fn of_directory(directory: &Path) -> Option<Repository> {
        let above = directory.parent()?;
        let (common, work_tree) = match (directory.file_name()?, above.file_name()) {
            (name, _) if name.eq_ignore_ascii_case(".git") => (directory, Some(above.to_path_buf())),
            (_, Some(name)) if name == "worktrees" => {
                let dot_git = PathBuf::from(text(&directory.join("gitdir"))?.trim_end());
                (above.parent()?, dot_git.parent().map(Path::to_path_buf))
            }
            _ => (directory, None),
        };
        Some(Repository {
            directory: directory.to_path_buf(),
            work_tree,
            common: common.to_path_buf(),
        })
    }

    /// By a `.git`, which is its directory or leads there.
    fn of_dot_git(path: &Path) -> Option<Repository> {
        let directory = match fs::metadata(path).ok()?.is_dir() {
            true => path.to_path_buf(),
            false => fs::canonicalize(path.parent()?.join(text(path)?.strip_prefix("gitdir: ")?.trim_end())).ok()?,
        };
        let mut repository = Repository::of_directory(&directory)?;
        repository.work_tree = path.parent().map(Path::to_path_buf);
        Some(repository)
    }

    /// How long an object's name is, in bytes, by the configuration, which no run writes.
    fn hash(&self) -> Option<usize> {
        let config = self.common.join("config");
        let found = fs::metadata(&config).ok()?;
        let is_read = found.is_file() && found.len() <= LONGEST_CONFIG;
        object_name_length(&is_read.then(|| fs::read_to_string(&config).ok())??)
    }

    /// A file as an index. A split one with what it has in another file, which is written as it is itself.
    fn read(&self, file: &mut File) -> Option<Index> {
        let hash = self.hash()?;
        let index = Index::read(file, hash).ok()??;
        let Some(name) = &index.shared else {
            return Some(index);
        };
        let mut shared = File::open(self.directory.join(format!("sharedindex.{name}"))).ok()?;
        let shared = Index::read(&mut shared, hash).ok()??;
        shared.shared.is_none().then(|| index.with(shared))
    }

    /// Whether git goes into no repository by a new index, or a part of one, that it didn't go into by the old one, but those
    /// that it made itself for submodules.
    pub fn takes(&self, kind: Renamed, before: Option<&mut File>, now: &mut File) -> bool {
        let Some(now) = self
            .read(now)
            .filter(|now| kind == Renamed::Index || now.shared.is_none())
        else {
            return false;
        };
        let before = match kind {
            Renamed::Index => before.and_then(|before| self.read(before)),
            _ => File::open(self.directory.join("index"))
                .ok()
                .and_then(|mut index| self.read(&mut index)),
        };
        let is_fine = |path: &PathBuf| {
            let work_tree = self.work_tree.as_ref();
            work_tree.is_some_and(|work_tree| self.is_none_or_own(&work_tree.join(path)))
        };
        let beyond = now.submodules_beyond(before.as_ref());
        beyond.is_some_and(|beyond| beyond.iter().all(is_fine))
    }

    /// Whether a directory is no repository, or its `.git` leads into this repository's `modules`, where no run writes.
    fn is_none_or_own(&self, directory: &Path) -> bool {
        let dot_git = directory.join(".git");
        match dot_git.symlink_metadata() {
            Err(error) => crate::real_path::is_absence(&error),
            Ok(found) if found.is_file() => {
                let led = Repository::of_dot_git(&dot_git).map(|repository| repository.directory);
                let modules = [&self.directory, &self.common].map(|directory| directory.join("modules"));
                led.is_some_and(|led| modules.iter().any(|modules| led.starts_with(modules)))
            }
            Ok(_) => false,
        }
    }
}

/// A short text.
fn text(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    let is_read = found.is_file() && found.len() <= LONGEST_PATH;
    is_read.then(|| fs::read_to_string(path).ok())?
}

/// A file as it was.
type Stamp = (u64, u64, u64, i64, i64);

fn stamp(found: &Metadata) -> Stamp {
    (
        found.dev(),
        found.ino(),
        found.size(),
        found.ctime(),
        found.ctime_nsec(),
    )
}

/// Indexes that were read, until they change.
#[derive(Default)]
pub struct Indexes(Mutex<HashMap<PathBuf, (Stamp, Option<Arc<Index>>)>>);

impl Indexes {
    const MOST: usize = 64;

    /// Whether a repository's index has a submodule that a `.git` below this directory, at these names, would be that of. So it
    /// is where the index can't be read.
    pub fn have_submodule(&self, dot_git: &Path, directory: &Path, is_repository: impl Fn(&Path) -> bool) -> bool {
        let Some(work_tree) = dot_git.parent() else {
            return false;
        };
        let Some(repository) = Repository::of_dot_git(dot_git) else {
            // Git takes it for none either.
            return false;
        };
        let path = repository.directory.join("index");
        let Ok(mut file) = File::open(&path) else { return false };
        let Ok(found) = file.metadata() else { return true };
        let now = stamp(&found);
        let known = lock(&self.0)
            .get(&path)
            .filter(|(then, _)| *then == now)
            .map(|(_, index)| index.clone());
        let index = known.unwrap_or_else(|| {
            let index = repository.read(&mut file).map(Arc::new);
            let mut known = lock(&self.0);
            if known.len() >= Indexes::MOST {
                known.clear();
            }
            known.insert(path, (now, index.clone()));
            index
        });
        let Some(index) = index else { return true };
        let mut places = index.places().map(|place| work_tree.join(place));
        places.any(|place| place.strip_prefix(directory).is_ok_and(&is_repository))
    }
}

/// That no directory with a repository comes to be where an index has a submodule. The answer is that of another file system.
pub fn refuse_move(
    desk: &Desk<'_>,
    (old, moved): (&Place, Option<Entry>),
    new: &Place,
    asked: &[u8],
) -> Result<(), Errno> {
    if !moved.is_some_and(|moved| moved.is_directory()) {
        return Ok(());
    }
    let is_repository = |rest: &Path| {
        let dot_git = old.name().join(rest).join(".git");
        dot_git.symlink_metadata().is_ok_and(|_| true)
    };
    if !desk.judge.fills_submodule(new.name(), &is_repository) {
        return Ok(());
    }
    let reason = "a repository doesn't come to be where the index has a submodule: git would go there from the top, and start what \
                  its configuration names";
    let name = new.name().as_os_str().as_encoded_bytes();
    desk.note(&Attempt::on(Kind::Write, asked), name, Reason::Never(reason.into()));
    Err(Errno(libc::EXDEV))
}
