//! The guarded part of a `.git`: everything except the files that everyday commands write. Looks at names alone.
//!
//! The host's git executes hooks, configuration and attributes, and `commondir`, `gitdir`, `alternates` and a `.git`
//! *file* redirect it. So this module lists the files that may be written, and guards everything else. `worktrees/NAME`
//! and `modules/NAME` are git directories too. Source: gitrepository-layout(5), and git 2.47 under strace.
//!
//! `.git` and guarded names match in any case, since a file system may not distinguish them. Allowed names have to be
//! spelled as git spells them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whether the path is closed for writing: a `.git`, or something in one that no everyday command writes.
pub fn is_guarded(path: &Path) -> bool {
    GitRole::of(path).is_guarded()
}

/// The same for a run that made some directories itself: it owns the content of a `.git` among them.
pub(super) fn is_guarded_from_maker(path: &Path, made: &dyn Fn(&Path) -> bool) -> bool {
    is_guarded(path) && !git_directories(path).iter().any(|directory| made(directory))
}

/// Whether the path is a `.git` or lies in one.
pub fn is_in_git_directory(path: &Path) -> bool {
    GitRole::of(path) != GitRole::Outside
}

/// Returns the repository configuration that this lock belongs to: git writes the lock first, and renames it.
pub fn git_config_of_lock(path: &Path) -> Option<PathBuf> {
    // Called at every open, so check the name first: few files have it.
    let above = path
        .parent()
        .filter(|_| path.file_name().is_some_and(|name| name == "config.lock"))?;
    (GitRole::of(above) == GitRole::Repository).then(|| above.join("config"))
}

/// A file of a repository that redirects git: it is written under another name, and renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renamed {
    /// `HEAD` of a `.git`: without a `HEAD` that git accepts, it takes a directory above for the repository.
    Head,
    /// An index, which leads to submodules.
    Index,
    /// The index of a linked work tree, or of a submodule.
    OthersIndex,
    /// The shared file of a split index.
    SharedIndex,
}

impl Renamed {
    /// Returns the kind of file by its name.
    pub fn of(path: &Path) -> Option<Renamed> {
        let name = path.file_name()?;
        let renamed = match name.as_bytes() {
            b"HEAD" => Renamed::Head,
            b"index" => Renamed::Index,
            name if name.starts_with(b"sharedindex.") => Renamed::SharedIndex,
            _ => return None,
        };
        let renamed = match GitRole::of(path.parent()?) {
            GitRole::Repository => renamed,
            GitRole::Worktree(_)
            | GitRole::Modules { .. }
            | GitRole::Open(Ambiguity::Submodule)
            | GitRole::Objects(Ambiguity::Submodule)
            | GitRole::ObjectsInfo(Ambiguity::Submodule)
            | GitRole::Info(Ambiguity::Submodule) => match renamed {
                Renamed::Head => return None,
                Renamed::Index => Renamed::OthersIndex,
                other => other,
            },
            _ => return None,
        };
        Some(renamed)
    }
}

/// Whether a path is a directory in `modules`, which no command of a run writes: a submodule's, or one above it.
pub fn is_module(path: &Path) -> bool {
    GitRole::of(path) == GitRole::Modules { named: true }
}

/// Returns the directories from the first `.git` of the path down to the one that it lies in; for a `.git` itself that
/// one. Empty outside of any. Where a run made one of these, it owns the content.
pub fn git_directories(path: &Path) -> Vec<PathBuf> {
    let depth = |above: &&Path| above.components().any(|part| is_git(part.as_os_str()));
    let mut directories: Vec<_> = path.ancestors().take_while(depth).map(Path::to_path_buf).collect();
    if directories.len() > 1 {
        directories.remove(0);
    }
    directories.reverse();
    directories
}

/// Whether a directory can be moved without changing which of its entries are guarded, and without replacing something
/// that git trusts.
pub(super) fn may_move(old: &Path, new: &Path) -> bool {
    let (old, new) = (GitRole::of(old), GitRole::of(new));
    old == new && matches!(old, GitRole::Outside | GitRole::Open(_) | GitRole::Guarded)
}

/// The meaning of a path to git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GitRole {
    /// Not in a `.git`.
    Outside,
    /// A `.git`: directory or file.
    Repository,
    /// `worktrees`, which the first `git worktree add` makes and the last `remove` deletes.
    Worktrees(Ambiguity),
    /// `worktrees/NAME`, the git directory of a linked work tree.
    Worktree(Ambiguity),
    /// `modules`, or some names below it. A submodule's name often contains slashes, so each component may be its end.
    Modules { named: bool },
    /// `refs`. Git accepts no directory without it as a repository.
    Refs,
    /// `objects`.
    Objects(Ambiguity),
    /// `objects/info`.
    ObjectsInfo(Ambiguity),
    /// `info`.
    Info(Ambiguity),
    /// An entry that commands write, and everything in it.
    Open(Ambiguity),
    /// Any other entry, and everything in it.
    Guarded,
}

/// Whether the components so far have a second reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ambiguity {
    /// They don't.
    None,
    /// Below `modules`: `modules/a/refs/hooks` is a branch's directory, or the hooks of a submodule `a/refs`.
    Submodule,
}

impl GitRole {
    fn of(path: &Path) -> GitRole {
        path.components()
            .fold(GitRole::Outside, |role, part| role.child(part.as_os_str()))
    }

    fn is_guarded(self) -> bool {
        !matches!(
            self,
            GitRole::Outside | GitRole::Open(_) | GitRole::Worktrees(_) | GitRole::Worktree(_)
        )
    }

    /// The role of a name in a directory of this role.
    fn child(self, name: &OsStr) -> GitRole {
        match self {
            GitRole::Outside if is_git(name) => GitRole::Repository,
            GitRole::Outside => GitRole::Outside,
            GitRole::Guarded => GitRole::Guarded,
            // No repository lies in such a place.
            _ if is_git(name) => GitRole::Guarded,
            GitRole::Repository if name == "refs" => GitRole::Refs,
            GitRole::Repository => entry(name, Ambiguity::None),
            GitRole::Refs => GitRole::Open(Ambiguity::None),
            GitRole::Worktrees(ambiguity) => GitRole::Worktree(ambiguity),
            GitRole::Worktree(ambiguity) => entry(name, ambiguity),
            GitRole::Modules { named } => module(name, named),
            GitRole::Objects(ambiguity) if is(name, "info") => GitRole::ObjectsInfo(ambiguity),
            GitRole::Objects(ambiguity) | GitRole::Open(ambiguity) => below_open(name, ambiguity),
            GitRole::ObjectsInfo(ambiguity) if starts_with_one_of(name, OBJECTS_INFO) => GitRole::Open(ambiguity),
            GitRole::Info(ambiguity) if name == "refs" || starts_with_one_of(name, INFO) => GitRole::Open(ambiguity),
            GitRole::ObjectsInfo(_) | GitRole::Info(_) => GitRole::Guarded,
        }
    }
}

/// The role of a name in a git directory.
fn entry(name: &OsStr, ambiguity: Ambiguity) -> GitRole {
    if name == "objects" {
        GitRole::Objects(ambiguity)
    } else if name == "worktrees" {
        GitRole::Worktrees(ambiguity)
    } else if is(name, "modules") {
        // In a submodule it may be the last component of a name.
        let named = ambiguity == Ambiguity::Submodule;
        GitRole::Modules { named }
    } else if is(name, "info") {
        GitRole::Info(ambiguity)
    } else if is_written(name) {
        GitRole::Open(ambiguity)
    } else {
        GitRole::Guarded
    }
}

/// The role of a name below `modules`: another component of a submodule's name, or an entry of its git directory.
fn module(name: &OsStr, named: bool) -> GitRole {
    match entry(name, Ambiguity::Submodule) {
        role if named && role != GitRole::Guarded => role,
        _ if named && is_trusted(name) => GitRole::Guarded,
        _ => GitRole::Modules { named: true },
    }
}

/// The role of a name in a directory that commands write.
fn below_open(name: &OsStr, ambiguity: Ambiguity) -> GitRole {
    match ambiguity {
        Ambiguity::Submodule if is_trusted(name) => GitRole::Guarded,
        _ => GitRole::Open(ambiguity),
    }
}

/// Directories of a git directory that are open with everything in them.
const DIRECTORIES: &[&str] = &[
    "refs",
    "reftable",
    "logs",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "rr-cache",
    "NOTES_MERGE_WORKTREE",
];

/// Files that are written in place or through their `.lock`.
const FILES: &[&str] = &[
    "packed-refs",
    "index",
    "HEAD",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "SQUASH_MSG",
    "COMMIT_EDITMSG",
    "TAG_EDITMSG",
    "NOTES_EDITMSG",
    "NOTES_MERGE_REF",
    "NOTES_MERGE_PARTIAL",
    "ADD_EDIT.patch",
    "addp-hunk-edit.diff",
    "shallow",
    "gc.pid",
    "gc.log",
];

/// Prefixes of temporary names, and of names of which there are many.
const PREFIXES: &[&str] = &[
    "BISECT_",
    "index.stash.",
    "next-index-",
    "packed-refs.new",
    "shallow_",
    "sharedindex.",
    "sharedindex_",
    "tmp_",
];

/// Prefixes allowed in `objects/info`. Never `alternates` or `http-alternates`.
const OBJECTS_INFO: &[&str] = &["packs", "commit-graph", "tmp_"];

/// Prefixes allowed in `info` besides `refs`, the list for dumb servers: the temporary files that become it.
const INFO: &[&str] = &["refs_"];

/// Names that git trusts: they stay closed wherever a submodule's git directory may start.
const TRUSTED: &[&str] = &["hooks", "config", "config.worktree", "info", "commondir", "gitdir"];

fn is_trusted(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    let unlocked = bytes.strip_suffix(b".lock").unwrap_or(bytes);
    TRUSTED
        .iter()
        .any(|trusted| unlocked.eq_ignore_ascii_case(trusted.as_bytes()))
}

/// Whether commands write an entry of this name.
fn is_written(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    let unlocked = bytes.strip_suffix(b".lock").unwrap_or(bytes);
    let named = |file: &&str| file.as_bytes() == unlocked;
    DIRECTORIES.iter().any(|directory| name == *directory)
        || FILES.iter().any(named)
        || starts_with_one_of(name, PREFIXES)
}

fn starts_with_one_of(name: &OsStr, starts: &[&str]) -> bool {
    starts.iter().any(|start| name.as_bytes().starts_with(start.as_bytes()))
}

fn is_git(name: &OsStr) -> bool {
    is(name, ".git")
}

fn is(name: &OsStr, known: &str) -> bool {
    name.eq_ignore_ascii_case(known)
}

#[cfg(test)]
mod tests;
