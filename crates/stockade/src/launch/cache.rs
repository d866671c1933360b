//! Directories in which package managers keep fetched and built files for later runs with the same [`Key`].
//!
//! A cache lies in Stockade's state directory, where a run can access this one tree only, so neither another run nor a
//! trusted program starts anything from it. While a run uses it, the launcher changes nothing inside.
//!
//! It is granted as a supervised tree: it outlives the run, so a name in it for a file outside would let a later run
//! change that. The supervisor refuses each move and link over its border (`EXDEV`). A lock on the file beside it,
//! which the run can't reach, is shared by the runs that use it.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use super::removal::remove_tree;
use crate::custody::make_private;
use crate::growth::allocated;
use stockade_text::mask;

/// The key of a cache: runs share it if they agree in every field.
#[derive(Debug, Clone, Copy)]
pub struct CacheKey<'a> {
    /// The profile's name, or its path if it comes from a file.
    pub profile: &'a OsStr,
    /// The agent that the run acts for.
    pub agent: Option<&'a str>,
    /// The run's root, its links resolved: files there (`.npmrc`, `node_modules/.bin`) determine what is fetched and started.
    pub root: &'a Path,
    /// The command, if the run doesn't write its root. Runs that do can change what the others start anyway.
    pub command: Option<&'a [OsString]>,
}

/// The description in the file beside a cache. Secrets in the command are masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The profile.
    pub profile: String,
    /// The agent.
    pub agent: Option<String>,
    /// The root.
    pub root: String,
    /// The command, if the cache is for it alone.
    pub command: Option<Vec<String>>,
}

/// The length of the name, taken from the hash: scripts in a cache name their interpreter in 255 bytes (execve(2)).
const NAME: usize = 24;

/// A variable that tells a program where to keep files that it fetches or builds, and the directory in the cache.
///
/// Sources: npm's config(7), Yarn's and Bun's settings, pip's configuration, uv's and pipx's environment
/// variables, Poetry's and Composer's configuration, the Cargo Book, `go help environment`, Gradle's build environment.
const VARIABLES: [(&str, &str); 19] = [
    ("npm_config_cache", "npm"),
    ("YARN_CACHE_FOLDER", "yarn"),
    ("YARN_GLOBAL_FOLDER", "yarn/global"),
    ("BUN_INSTALL_CACHE_DIR", "bun"),
    ("DENO_DIR", "deno"),
    ("PIP_CACHE_DIR", "pip"),
    ("UV_CACHE_DIR", "uv/cache"),
    ("UV_TOOL_DIR", "uv/tools"),
    ("PIPX_HOME", "pipx"),
    ("PIPX_BIN_DIR", "pipx/bin"),
    ("PIPX_MAN_DIR", "pipx/man"),
    ("POETRY_CACHE_DIR", "poetry"),
    ("COMPOSER_CACHE_DIR", "composer"),
    ("CARGO_HOME", "cargo"),
    ("GOPATH", "go"),
    ("GOMODCACHE", "go/pkg/mod"),
    ("GOCACHE", "go/build"),
    ("GRADLE_USER_HOME", "gradle"),
    ("MAVEN_USER_HOME", "maven"),
];

/// The names of the variables that a run with a cache gets.
pub fn cache_variables() -> impl Iterator<Item = &'static str> {
    VARIABLES.into_iter().map(|(name, _)| name)
}

impl CacheKey<'_> {
    fn name(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: Option<&[u8]>| {
            hasher.update(&bytes.map_or(u64::MAX, |bytes| bytes.len() as u64).to_le_bytes());
            hasher.update(bytes.unwrap_or_default());
        };
        part(Some(self.profile.as_bytes()));
        part(self.agent.map(str::as_bytes));
        part(Some(self.root.as_os_str().as_bytes()));
        part(self.command.map(|_| &[][..]));
        let words = self.command.into_iter().flatten();
        words.for_each(|word| part(Some(word.as_bytes())));
        hasher.finalize().to_hex()[..NAME].to_string()
    }

    fn about(&self) -> About {
        let text = |text: &OsStr| text.to_string_lossy().into_owned();
        let words = |words: &[OsString]| words.iter().map(|word| text(word)).collect::<Vec<_>>();
        About {
            profile: text(self.profile),
            agent: self.agent.map(str::to_string),
            root: text(self.root.as_os_str()),
            command: self.command.map(|command| mask::words(&words(command))),
        }
    }
}

/// The cache of one run. If it is empty at the end, it is removed.
pub struct Cache {
    directory: PathBuf,
    about: PathBuf,
    lock: Flock<File>,
}

impl Cache {
    /// Opens or creates the cache for this key below the state directory.
    pub fn open(state: &Path, key: &CacheKey<'_>) -> io::Result<Cache> {
        let parent = parent(state);
        make_private(&parent)?;
        let parent = fs::canonicalize(parent)?;
        let name = key.name();
        let about = about_of(&parent, &name);
        let mut lock = lock(&about, FlockArg::LockShared)?;
        describe(&mut lock, &serde_json::to_vec(&key.about())?)?;
        let directory = parent.join(name);
        match DirBuilder::new().mode(0o700).create(&directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => make_private(&directory)?,
        }
        // A run may have removed its own access to it.
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700))?;
        Ok(Cache { directory, about, lock })
    }

    /// Its path, the kernel's name.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Whether cargo has fetched crates into it.
    pub fn holds_crates(&self) -> bool {
        ["registry", "git"]
            .iter()
            .any(|part| self.directory.join("cargo").join(part).exists())
    }

    /// The variables that point into it.
    pub fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let directories = VARIABLES.map(|(name, part)| (name.into(), self.directory.join(part).into_os_string()));
        // uv warns if its hard links fail, and no file of a cache gets a name outside.
        let fixed = [("UV_LINK_MODE".into(), "copy".into())];
        // Maven has no variable for its repository, and its script splits this one.
        let is_one_word = !self
            .directory
            .as_os_str()
            .as_bytes()
            .iter()
            .any(u8::is_ascii_whitespace);
        let maven = is_one_word.then(|| {
            let mut option = OsString::from("-Dmaven.repo.local=");
            option.push(self.directory.join("maven/repository"));
            ("MAVEN_OPTS".into(), option)
        });
        directories.into_iter().chain(fixed).chain(maven)
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        if self.lock.relock(FlockArg::LockExclusiveNonblock).is_ok() && fs::remove_dir(&self.directory).is_ok() {
            let _ = fs::remove_file(&self.about);
        }
    }
}

/// A cache on the disk.
#[derive(Debug, Serialize)]
pub struct StoredCache {
    /// Its name.
    pub name: String,
    /// Its description, if that can be read.
    #[serde(flatten)]
    pub about: Option<About>,
    /// Bytes on the disk.
    pub bytes: u64,
    /// When a run last used it: milliseconds since 1970.
    pub used_ms: u64,
}

/// All caches, the last used first.
///
/// # Errors
/// The directory exists and can't be read.
pub fn stored(state: &Path) -> io::Result<Vec<StoredCache>> {
    let entries = match fs::read_dir(parent(state)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?.collect::<io::Result<Vec<_>>>()?,
    };
    let directories = entries
        .iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<_> = directories
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let about = about_of(&parent(state), &name);
            let used = fs::metadata(&about)
                .and_then(|about| about.modified())
                .unwrap_or(SystemTime::UNIX_EPOCH);
            let used = used.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            StoredCache {
                about: fs::read(about).ok().and_then(|text| serde_json::from_slice(&text).ok()),
                bytes: allocated(&entry.path(), &mut HashSet::new()),
                used_ms: u64::try_from(used.as_millis()).unwrap_or(u64::MAX),
                name,
            }
        })
        .collect();
    found.sort_by_key(|cache| std::cmp::Reverse(cache.used_ms));
    Ok(found)
}

/// Removes one. While a run uses it, that fails with [`io::ErrorKind::WouldBlock`].
///
/// # Errors
/// It doesn't exist, or can't be removed completely.
pub fn remove(state: &Path, name: &str) -> io::Result<()> {
    let parent = parent(state);
    let about = about_of(&parent, name);
    let _lock = lock(&about, FlockArg::LockExclusiveNonblock)?;
    // If this is interrupted, no run finds half a cache: the rest has another name.
    let directory = parent.join(name);
    let removed = directory.with_extension("removed");
    if removed != directory {
        delete(&removed)?;
        fs::rename(&directory, &removed)?;
    }
    delete(&removed)?;
    fs::remove_file(&about)
}

fn delete(tree: &Path) -> io::Result<()> {
    match remove_tree(tree) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn parent(state: &Path) -> PathBuf {
    state.join("cache")
}

fn about_of(parent: &Path, name: &str) -> PathBuf {
    parent.join(format!("{name}.json"))
}

/// A lock on the file beside a cache, which is created. The run can't reach it.
fn lock(about: &Path, how: FlockArg) -> io::Result<Flock<File>> {
    loop {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.custom_flags(libc::O_NOFOLLOW).open(about)?;
        let lock = Flock::lock(file, how).map_err(|(_, errno)| errno)?;
        // The last holder may have removed the file.
        let is_same = |there: fs::Metadata| lock.metadata().is_ok_and(|ours| ours.ino() == there.ino());
        if fs::symlink_metadata(about).is_ok_and(is_same) {
            return Ok(lock);
        }
    }
}

/// Writes the text if the file differs, and updates the time of last use.
fn describe(file: &mut File, text: &[u8]) -> io::Result<()> {
    let mut there = Vec::new();
    file.read_to_end(&mut there)?;
    if there != text {
        // Not truncated first: that would force a write to the disk on close (ext4(5), `auto_da_alloc`).
        file.rewind()?;
        file.write_all(text)?;
        file.set_len(text.len() as u64)?;
    }
    file.set_modified(SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_differ_in_anything_have_caches_of_their_own() {
        let words: [Vec<OsString>; 3] = [vec![], vec!["npx".into(), "a".into()], vec!["npxa".into()]];
        let mut names = Vec::new();
        for profile in ["workspace", "mcp-standard"] {
            for agent in [None, Some(""), Some("worker")] {
                for root in ["/home/ada", "/home/ad"] {
                    for command in [None, Some(&words[0]), Some(&words[1]), Some(&words[2])] {
                        let command = command.map(Vec::as_slice);
                        let (profile, root) = (OsStr::new(profile), Path::new(root));
                        names.push(
                            CacheKey {
                                profile,
                                agent,
                                root,
                                command,
                            }
                            .name(),
                        );
                    }
                }
            }
        }
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn what_a_run_left_is_found_by_its_like_and_an_empty_cache_is_removed() {
        let state = tempfile::tempdir().unwrap();
        let key = CacheKey {
            profile: OsStr::new("workspace"),
            agent: None,
            root: Path::new("/work"),
            command: None,
        };
        drop(Cache::open(state.path(), &key).unwrap());
        assert_eq!(fs::read_dir(parent(state.path())).unwrap().count(), 0);
        let one = Cache::open(state.path(), &key).unwrap();
        let other = Cache::open(state.path(), &key).unwrap();
        assert_eq!(one.path(), other.path());
        drop(one);
        fs::write(other.path().join("fetched"), "text").unwrap();
        drop(other);
        let again = Cache::open(state.path(), &key).unwrap();
        assert_eq!(fs::read(again.path().join("fetched")).unwrap(), b"text");
    }
}
