//! The guarded part of a `.git`: what git executes, or is led elsewhere by. Looks at names alone.
//!
//! Everything else in a `.git` is data, and open for writing whatever its name. `worktrees/NAME` and `modules/NAME` are
//! git directories too. Sources: gitrepository-layout(5), githooks(5), git-config(1), git-worktree(1), and the manuals of
//! the companions that [`CLOSED`] names.
//!
//! Names match as a file system may read them that doesn't distinguish case, drops trailing dots and blanks, or has short
//! names (`CONFIG~1`).

mod settings;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::listed::{GuardedBy, IsSpared};

pub use settings::{GitSetting, Named, directories_of_hooks, git_settings, is_hook, placed_by_git, words_of_command};

/// What git executes or is led elsewhere by, relative to a git directory.
const CLOSED: &[&str] = &[
    // githooks(5).
    "hooks",
    // git-config(1), FILES.
    "config",
    "config.worktree",
    // gitattributes(5): they choose the programs of the configuration, for files of the run's choice.
    "info/attributes",
    // gitrepository-layout(5): another common directory, other objects, the addresses of old remotes.
    "commondir",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "remotes",
    "branches",
    // git-annex(1): options of its ssh, and the sockets that its ssh connects to.
    "annex/ssh",
    "annex/ssh.config",
    // sl help config: Sapling in a checkout of git, and where its repository is.
    "sl/config",
    "sl/requires",
    "sl/sharedpath",
    // Settings with commands: lazygit's docs/Config.md, `glab config --help`.
    "lazygit.yml",
    "glab-cli",
    // git-instaweb(1) ends the process of this number, and executes what lies there.
    "pid",
    "gitweb",
];

/// The directories without which git takes another one for the repository (setup.c, is_git_directory).
const KEPT: &[&str] = &["refs", "objects"];

/// Returns what is closed in a git directory, relative to it.
pub fn closed_in_git_directory() -> impl Iterator<Item = &'static str> {
    CLOSED.iter().copied().chain(["config.lock", "modules"])
}

/// Whether the path is closed for writing: a `.git`, or something in one that git obeys.
pub fn is_guarded(path: &Path) -> bool {
    matches!(
        GitRole::of(path),
        GitRole::Repository | GitRole::Kept | GitRole::Guarded | GitRole::CommonDirectory
    )
}

/// The same, unless the outermost `.git` of the path is spared.
pub(super) fn is_guarded_unless(path: &Path, is_spared: IsSpared<'_>) -> bool {
    is_guarded(path) && !git_directory(path).is_some_and(|git| is_spared(GuardedBy::Git, git))
}

/// Returns the outermost `.git` that the path is, or lies in.
pub fn git_directory(path: &Path) -> Option<&Path> {
    let is_git = |above: &&Path| above.file_name().is_some_and(is_git);
    path.ancestors().filter(is_git).last()
}

/// Whether the path is that of a linked work tree's `commondir` in another's repository.
pub fn is_common_directory(path: &Path) -> bool {
    GitRole::of(path) == GitRole::CommonDirectory
}

/// Whether the path lies in the git directory of a linked work tree, which `git worktree remove` removes.
pub fn is_of_work_tree(path: &Path) -> bool {
    let names = names_in_git(path);
    names.is_some_and(|names| names.len() > 2 && names[0] == b"worktrees")
}

/// Returns the repository configuration that this lock belongs to: git writes the lock first, and renames it.
pub fn git_config_of_lock(path: &Path) -> Option<PathBuf> {
    // Called at every open, so check the name first: few files have it.
    let above = path
        .parent()
        .filter(|_| path.file_name().is_some_and(|name| name == "config.lock"))?;
    (GitRole::of(above) == GitRole::Repository).then(|| above.join("config"))
}

/// Whether the path is the configuration of a `.git`, whose mode `git init` tries.
pub fn is_git_config(path: &Path) -> bool {
    let is_named = path.file_name().is_some_and(|name| name == "config");
    is_named
        && path
            .parent()
            .is_some_and(|above| GitRole::of(above) == GitRole::Repository)
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
        let names = names_in_git(path)?;
        let (name, above) = names.split_last()?;
        let is_top = above.is_empty();
        let is_others = match above.first().map(Vec::as_slice) {
            Some(b"worktrees") => above.len() == 2,
            // Each name may be the last of a submodule's.
            Some(b"modules") => above.len() > 1,
            _ => false,
        };
        match name.as_slice() {
            b"head" if is_top => Some(Renamed::Head),
            b"index" if is_top => Some(Renamed::Index),
            b"index" if is_others => Some(Renamed::OthersIndex),
            name if (is_top || is_others) && name.starts_with(b"sharedindex.") => Some(Renamed::SharedIndex),
            _ => None,
        }
    }
}

/// Whether a file or directory can be moved without changing which of its entries are guarded, and without replacing
/// something that git trusts.
pub(super) fn may_move(old: &Path, new: &Path) -> bool {
    let (old, new) = (GitRole::of(old), GitRole::of(new));
    old == new && !matches!(old, GitRole::Repository | GitRole::Kept | GitRole::Passage)
}

/// The meaning of a path to git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GitRole {
    /// Not in a `.git`.
    Outside,
    /// A `.git`: directory or file.
    Repository,
    /// A directory that stays where it is.
    Kept,
    /// A directory that may hold something closed. It may be made and removed, and doesn't move.
    Passage,
    /// Data, with everything in it.
    Open,
    /// Data in `modules`, where a git directory may begin at each name: a submodule's name may have slashes.
    OpenInModule,
    /// `commondir` of a linked work tree: closed but for the text that git writes.
    CommonDirectory,
    /// Closed, with everything in it.
    Guarded,
}

impl GitRole {
    fn of(path: &Path) -> GitRole {
        let Some(all) = names_in_git(path) else {
            return GitRole::Outside;
        };
        let names: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
        let (is_linked, names) = match names.as_slice() {
            [] => return GitRole::Repository,
            [b"worktrees"] | [b"worktrees", _] => return GitRole::Passage,
            [b"worktrees", _, b"commondir"] => return GitRole::CommonDirectory,
            [b"worktrees", _, rest @ ..] => (true, rest),
            names => (false, names),
        };
        match names {
            // No repository lies in such a place.
            names if names.contains(&DOT_GIT) => GitRole::Guarded,
            [b"modules"] | [b"modules", _] => GitRole::Kept,
            [b"modules", _, rest @ ..] => GitRole::in_module(rest),
            [name] if !is_linked && KEPT.iter().any(|kept| kept.as_bytes() == *name) => GitRole::Kept,
            names if is_closed(names, is_or_may_be) => GitRole::Guarded,
            names if leads_to_closed(names) => GitRole::Passage,
            _ => GitRole::Open,
        }
    }

    fn in_module(names: &[&[u8]]) -> GitRole {
        let from_each = || (0..names.len()).map(|from| &names[from..]);
        match names {
            [above @ .., b"worktrees", _, b"commondir"] if !from_each().any(|_| is_closed(above, is)) => {
                GitRole::CommonDirectory
            }
            _ if is_closed(names, is_or_may_be) || from_each().any(is_closed_anywhere) => GitRole::Guarded,
            _ if from_each().any(leads_to_closed) => GitRole::Passage,
            _ => GitRole::OpenInModule,
        }
    }
}

const DOT_GIT: &[u8] = b".git";

/// The names below the outermost `.git` of a path, as [`spelled`]; `None` outside of one.
fn names_in_git(path: &Path) -> Option<Vec<Vec<u8>>> {
    let below = path.strip_prefix(git_directory(path)?).ok()?;
    Some(below.iter().map(spelled).collect())
}

/// Whether names in a git directory begin with a path of [`CLOSED`].
fn is_closed(names: &[&[u8]], is: fn(&[u8], &str) -> bool) -> bool {
    CLOSED.iter().any(|closed| {
        let parts = closed.split('/');
        names.len() >= parts.clone().count() && names.iter().zip(parts).all(|(name, part)| is(name, part))
    })
}

/// The same below `modules`, where refs have such names as well: `refs/remotes` isn't a submodule's `remotes`.
fn is_closed_anywhere(names: &[&[u8]]) -> bool {
    !OF_REFS.contains(names.first().unwrap_or(&DOT_GIT)) && is_closed(names, is)
}

/// Names of [`CLOSED`] that git itself uses below `refs` and `logs`, or that are a branch's like any other.
const OF_REFS: &[&[u8]] = &[b"remotes", b"branches", b"pid"];

/// Whether a path of [`CLOSED`] lies below these names.
fn leads_to_closed(names: &[&[u8]]) -> bool {
    CLOSED.iter().any(|closed| {
        let mut parts = closed.split('/');
        names.iter().all(|name| parts.next().is_some_and(|part| is(name, part))) && parts.next().is_some()
    })
}

/// Git writes `config.lock`, and renames it; vfat and NTFS give short names (`CONFIG~1.WOR`), which no ref has.
fn is(name: &[u8], known: &str) -> bool {
    let is_short = || {
        name.len() <= "LONGES~1.EXT".len() && name.windows(2).any(|pair| pair[0] == b'~' && pair[1].is_ascii_digit())
    };
    name.strip_suffix(b".lock").unwrap_or(name) == known.as_bytes() || is_short()
}

/// The same, or a name with letters that a file system may take for others.
fn is_or_may_be(name: &[u8], known: &str) -> bool {
    is(name, known) || !name.is_ascii()
}

/// A name as a file system may read it that doesn't distinguish case, and drops dots and blanks at the end and what is
/// behind a colon.
fn spelled(name: &OsStr) -> Vec<u8> {
    let name = name.as_bytes().split(|byte| *byte == b':').next().unwrap_or_default();
    let is_dropped = |byte: &u8| matches!(byte, b'.' | b' ');
    let end = name
        .iter()
        .rposition(|byte| !is_dropped(byte))
        .map_or(0, |last| last + 1);
    name[..end].to_ascii_lowercase()
}

fn is_git(name: &OsStr) -> bool {
    // Few names begin so, and each name of each path is asked.
    matches!(name.as_bytes().first(), Some(b'.' | b'g' | b'G')) && matches!(&*spelled(name), DOT_GIT | b"git~1")
}

#[cfg(test)]
mod tests;
