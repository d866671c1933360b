//! A fresh root and a fresh home for one run, removed on drop.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::skipped;

/// Makes a build with debug assertions use an older kernel's Landlock ABI.
const OLDER_LANDLOCK: &str = "STOCKADE_TEST_LANDLOCK_ABI";

/// The variable for an older ABI. If the tests have a program that they didn't build, it may be a release.
pub fn older_landlock(abi: &str) -> (&'static str, &str) {
    if std::env::var_os("STOCKADE_BIN").is_some() {
        skipped(&format!(
            "a release takes no Landlock ABI {abi} in place of the machine's"
        ));
    }
    (OLDER_LANDLOCK, abi)
}

/// Flags that pass the variable on to nested runs.
pub fn older_inside() -> &'static [&'static str] {
    match cfg!(debug_assertions) && std::env::var_os(OLDER_LANDLOCK).is_some() {
        true => &["--env", OLDER_LANDLOCK],
        false => &[],
    }
}

/// Two sibling directories. Not below `/tmp`, which some profiles open.
pub struct Place {
    top: TempDir,
    /// The run's root.
    pub root: PathBuf,
    /// The caller's home.
    pub home: PathBuf,
}

impl Place {
    pub fn new() -> Place {
        let top = tempfile::Builder::new()
            .prefix("stockade-test-")
            .tempdir_in("/var/tmp")
            .expect("/var/tmp can be written");
        let real = fs::canonicalize(top.path()).unwrap();
        let place = Place {
            root: real.join("root"),
            home: real.join("home"),
            top,
        };
        fs::create_dir(&place.root).unwrap();
        fs::create_dir(&place.home).unwrap();
        place
    }

    /// Resolves `~/x` below the home, anything else below the root.
    pub fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => self.root.join(name),
        }
    }

    /// Writes a file, creating its parent directories.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes an executable file, from another process: a child that another thread forks inherits this process's
    /// descriptors until it executes, so a file open for writing here couldn't be started.
    pub fn program(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        const ANEW: &str = "cp -- \"$1\" \"$1.new\" && chmod 755 \"$1.new\" && mv -f -- \"$1.new\" \"$1\"";
        let path = self.file(name, text);
        let copied = Command::new("sh").args(["-c", ANEW, "sh"]).arg(&path).status();
        assert!(copied.unwrap().success(), "{} can be written", path.display());
        path
    }

    /// Replaces `@ROOT` and `@HOME` by this place's directories.
    pub fn fill(&self, text: &str) -> String {
        text.replace("@ROOT", self.root.to_str().unwrap())
            .replace("@HOME", self.home.to_str().unwrap())
    }

    /// A command that starts a program in the root, with a small environment whose home is this place's.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", &self.home);
        command.envs(std::env::var_os(OLDER_LANDLOCK).map(|abi| (OLDER_LANDLOCK, abi)));
        command
    }

    /// Stockade's state directory for this home.
    pub fn state(&self) -> PathBuf {
        self.home.join(".local/state/stockade")
    }

    /// The scratch directories of this place's runs: none after they end, if all is well.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        scratch_directories(Some(&self.state()))
    }
}

/// The scratch directories of runs with this state directory, which are next to those of all the user's runs.
pub fn scratch_directories(state: Option<&Path>) -> Vec<PathBuf> {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    let sign = format!("{:05x}", hasher.finish() & 0xf_ffff);
    let shared = format!("/var/tmp/stockade-{}", nix::unistd::getuid());
    let is_theirs = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(&sign);
    entries(Path::new(&shared)).into_iter().filter(is_theirs).collect()
}

/// Tests of modes leave directories that their owner may not enter.
impl Drop for Place {
    fn drop(&mut self) {
        if fs::remove_dir_all(self.top.path()).is_err() {
            let _ = Command::new("chmod")
                .args(["-R", "u+rwX"])
                .arg(self.top.path())
                .status();
        }
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect()
}
