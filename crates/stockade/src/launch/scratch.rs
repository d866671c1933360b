//! The scratch directory of a run: private, writable, removed with the run.
//!
//! It lies in a directory that is closed to all runs, so no other run can look into it. Each is locked while its run
//! lives; a later run removes those that a killed launcher left behind.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::AccessFlags;
use tempfile::TempDir;

use super::LaunchError;
use super::removal::remove_tree;
use crate::custody::{is_ours, make_private};
use crate::real_path::is_there;
use crate::report::is_temporary;

/// One scratch directory; dropping it removes the tree.
pub struct Scratch {
    directory: TempDir,
    _lock: Option<Flock<File>>,
}

impl Scratch {
    /// Creates one below `parent`, which is created too (mode 0700), for a run with this state directory.
    pub fn make(parent: &Path, state: Option<&Path>) -> Result<Scratch, LaunchError> {
        let failed = |error| LaunchError::Scratch(parent.to_path_buf(), error);
        make_private(parent).map_err(failed)?;
        remove_abandoned(parent);
        let directory = tempfile::Builder::new()
            .prefix(&sign(state))
            .rand_bytes(4)
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .tempdir_in(parent)
            .map_err(failed)?;
        let lock = lock(directory.path());
        Ok(Scratch { directory, _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The names at its top that a person may have meant for their home, at most eight.
    pub fn left(&self) -> Vec<String> {
        const MAX: usize = 8;
        let entries = fs::read_dir(self.directory.path()).into_iter().flatten().flatten();
        let kept = entries.filter(is_kept);
        let mut names: Vec<String> = kept
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .take(MAX)
            .collect();
        names.sort_unstable();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = remove_tree(self.directory.path());
    }
}

/// Whether a person may have meant an entry for their home. Programs put temporary files, histories and caches there too:
/// names that are made up or numbered, hidden ones but for settings, and directories with more than letters in their names.
fn is_kept(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy().into_owned();
    let Ok(metadata) = entry.metadata() else { return false };
    let is_numbered = name
        .split(['.', '-', '_'])
        .any(|part| part.len() > 3 && part.bytes().all(|byte| byte.is_ascii_digit()));
    let is_setting = ["rc", "config", "profile"].iter().any(|end| name.ends_with(end));
    match (metadata.is_dir(), name.starts_with('.')) {
        (true, false) => name != "go" && name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_alphabetic()),
        (true, true) => false,
        (false, true) => metadata.is_file() && is_setting,
        (false, false) => metadata.is_file() && metadata.len() > 0 && !is_numbered && !is_temporary(&name, b""),
    }
}

/// An exclusive lock on a directory, kept as long as the value; `None` if the file system has no locks.
fn lock(directory: &Path) -> Option<Flock<File>> {
    let file = File::open(directory).ok()?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()
}

/// Removes the directories of killed launchers: old enough to have been locked, and not locked.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        if is_old(&entry) && lock(&entry.path()).is_some() {
            let _ = remove_tree(&entry.path());
        }
    }
}

fn is_old(entry: &fs::DirEntry) -> bool {
    const LONGER_THAN_A_LAUNCH: std::time::Duration = std::time::Duration::from_secs(60);
    entry
        .metadata()
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > LONGER_THAN_A_LAUNCH))
}

/// The prefix of a state directory's scratch directories, by which a person or a test tells whose they are.
fn sign(state: Option<&Path>) -> String {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    format!("{:05x}", hasher.finish() & 0xf_ffff)
}

/// The parent of short paths.
const TOP: &str = "/var/tmp";

fn usual_name() -> String {
    format!("stockade-{}", nix::unistd::getuid())
}

/// Where this user's scratch directories may be, also if another user has taken the usual name: a directory, and a glob
/// below it.
pub fn places() -> (PathBuf, String) {
    (PathBuf::from(TOP), usual_name() + "{,-*}")
}

/// The parent of scratch directories: in `/var/tmp`, since the address of a unix socket is limited to 108 bytes
/// (unix(7)) and homes may be deep. Not in `/tmp`, which profiles grant, so that it would have to be excluded there. If
/// that isn't usable, as in a nested run, the state directory.
pub fn parent(state: Option<&Path>) -> PathBuf {
    let top = Path::new(TOP);
    let short = shared(top, &usual_name());
    match state {
        Some(state) if !does(top, &short) => state.join("scratch"),
        _ => short,
    }
}

/// Whether scratch directories can be created in `short`, below `top`: programs can be started there, and no other user
/// can put another directory in its place.
fn does(top: &Path, short: &Path) -> bool {
    let keeps_names = |metadata: fs::Metadata| {
        let is_sticky = metadata.mode() & libc::S_ISVTX != 0;
        metadata.uid() == 0 && (is_sticky || metadata.mode() & 0o022 == 0)
    };
    let may_write = |path: &Path| {
        let both = AccessFlags::W_OK | AccessFlags::X_OK;
        nix::unistd::access(path, both).is_ok()
    };
    fs::canonicalize(top).is_ok_and(|real| real == top)
        && fs::metadata(top).is_ok_and(keeps_names)
        && statvfs(top).is_ok_and(|system| !system.flags().contains(FsFlags::ST_NOEXEC))
        && may_write(if is_ours(short) { short } else { top })
}

/// The directory of this name, shared by runs so that each keeps the others out of it. Any user can take the name: then
/// one of this user's with the name as prefix, found or created.
fn shared(top: &Path, name: &str) -> PathBuf {
    let usual = top.join(name);
    if is_ours(&usual) {
        return usual;
    }
    let prefix = format!("{name}-");
    let entries = fs::read_dir(top).into_iter().flatten().flatten();
    let ours = entries
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()))
        .map(|entry| entry.path())
        .filter(|path| is_ours(path));
    let make = || {
        let made = tempfile::Builder::new().prefix(&prefix).rand_bytes(3).tempdir_in(top);
        made.map(TempDir::keep).ok()
    };
    let is_free = || is_there(&usual).is_ok_and(|there| !there).then(|| usual.clone());
    ours.min().or_else(is_free).or_else(make).unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_person_misses_files_and_settings_and_not_what_programs_leave() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::make(&parent.path().join("scratch"), None).unwrap();
        let at = |name: &str| scratch.path().join(name);
        for file in [
            "notes.txt",
            ".gitconfig",
            ".npmrc",
            ".python_history",
            ".lesshst",
            ".wget-hsts",
            "tmpk3_x9",
            "sh-thd.171234",
            "cc9Yx2Zq.o",
            "x.tmp",
        ] {
            fs::write(at(file), "x").unwrap();
        }
        fs::write(at("empty.txt"), "").unwrap();
        for directory in ["data", ".cache", "go", "npm-12ab", "pytest-of-ada"] {
            fs::create_dir(at(directory)).unwrap();
        }
        assert_eq!(scratch.left(), [".gitconfig", ".npmrc", "data", "notes.txt"]);
    }

    #[test]
    fn a_name_that_another_user_took_keeps_no_run_from_starting() {
        let mut takes: Vec<fn(&Path)> = vec![
            |name| drop(File::create(name).unwrap()),
            |name| symlink("/nonexistent", name).unwrap(),
            |name| symlink(name.parent().unwrap(), name).unwrap(),
        ];
        match nix::unistd::geteuid().is_root() {
            true => takes.push(|name| {
                fs::create_dir(name).unwrap();
                std::os::unix::fs::chown(name, Some(65534), None).unwrap();
            }),
            false => eprintln!("skipped: only root makes a directory of another user's"),
        }
        for (index, take) in takes.iter().enumerate() {
            let top = tempfile::tempdir().unwrap();
            let usual = top.path().join("stockade-1");
            assert_eq!(shared(top.path(), "stockade-1"), usual);
            take(&usual);
            fs::write(top.path().join("stockade-1-a"), "").unwrap();
            let parent = shared(top.path(), "stockade-1");
            assert_ne!(parent, usual, "{index}");
            let scratch = Scratch::make(&parent, None).unwrap();
            assert_eq!(fs::metadata(&parent).unwrap().mode() & 0o777, 0o700, "{index}");
            assert_eq!(shared(top.path(), "stockade-1"), parent, "the next run finds it");
            drop(scratch);
            assert_eq!(fs::read_dir(&parent).unwrap().count(), 0, "{index}");
        }
    }

    #[test]
    fn scratch_directories_are_below_var_tmp_only_where_no_other_user_can_take_their_place() {
        use std::os::unix::fs::PermissionsExt;
        if !nix::unistd::geteuid().is_root() {
            return eprintln!("skipped: only what is root's own keeps names");
        }
        let place = tempfile::tempdir_in("/var/tmp").unwrap();
        let top = place.path().join("top");
        let fits = |top: &Path| does(top, &shared(top, "stockade-1"));
        assert!(!fits(&top), "nothing is there");
        fs::create_dir(&top).unwrap();
        for (mode, is_fit) in [(0o1777, true), (0o755, true), (0o777, false), (0o775, false)] {
            fs::set_permissions(&top, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(fits(&top), is_fit, "{mode:o}");
        }
        fs::set_permissions(&top, fs::Permissions::from_mode(0o1777)).unwrap();
        let link = place.path().join("link");
        symlink(&top, &link).unwrap();
        assert!(!fits(&link), "its kernel's name is another");
        std::os::unix::fs::chown(&top, Some(65534), None).unwrap();
        assert!(!fits(&top), "its owner renames what is in it");
    }

    #[test]
    fn a_scratch_directory_has_a_short_name_for_every_user() {
        let place = tempfile::tempdir().unwrap();
        let scratch = Scratch::make(place.path(), Some(Path::new("/a/deep/home"))).unwrap();
        let name = scratch.path().file_name().unwrap().len();
        let longest = format!("/var/tmp/stockade-{}/", u32::MAX);
        assert!(longest.len() + name < 40, "{}", scratch.path().display());
    }
}
