//! A sibling work tree that an agent works in (git-worktree(1)), by what both `.git` say of each other.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The longest file that names a directory.
const MAX_LENGTH: u64 = 8192;

/// The linked work tree around a directory outside of a project, if it is one of the project's repository: its `.git` file
/// names a directory there, and this one names the file (gitrepository-layout(5)). Either alone could be a run's.
pub fn sibling(project: &Path, cwd: &Path) -> Option<PathBuf> {
    let (project, cwd) = (fs::canonicalize(project).ok()?, fs::canonicalize(cwd).ok()?);
    if cwd.starts_with(&project) {
        return None;
    }
    let file = dot_git(&cwd)?;
    let directory = named_by(&file)?;
    let back = fs::canonicalize(read(&directory.join("gitdir"), b"")?).ok()?;
    let is_of_project = directory.parent()? == repository(&project)?.join("worktrees");
    (back == file && is_of_project).then(|| file.parent().map(Path::to_path_buf))?
}

/// The `.git` of the work tree around a directory.
fn dot_git(directory: &Path) -> Option<PathBuf> {
    let mut all = directory.ancestors().map(|above| above.join(".git"));
    all.find(|git| git.symlink_metadata().is_ok())
}

/// The git directory that all work trees share.
fn repository(project: &Path) -> Option<PathBuf> {
    let git = dot_git(project)?;
    match git.is_dir() {
        true => fs::canonicalize(git).ok(),
        false => Some(named_by(&git)?.parent()?.parent()?.to_path_buf()),
    }
}

/// The real directory that a `.git` file names.
fn named_by(file: &Path) -> Option<PathBuf> {
    fs::canonicalize(read(file, b"gitdir: ")?).ok()
}

/// The path in a regular file, relative to the file.
fn read(file: &Path, before: &[u8]) -> Option<PathBuf> {
    let found = file.symlink_metadata().ok()?;
    let text = (found.is_file() && found.len() <= MAX_LENGTH).then(|| fs::read(file).ok())??;
    let path = text.strip_prefix(before)?.trim_ascii_end();
    Some(file.parent()?.join(OsStr::from_bytes(path)))
}
