//! Layouts of files as the tools create them, built in scratch directories.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::*;

mod interpreters;
mod layouts;
mod links;
mod programs;
mod python;
mod scripts;
mod search_path;

/// A simulated machine: a home, a root below it, and a `PATH` of `home/bin` and the system's.
struct Machine {
    base: PathBuf,
    root: &'static str,
    variables: Vec<(&'static str, OsString)>,
    search_path: OsString,
    others: Option<Vec<PathBuf>>,
    written: Vec<PathBuf>,
    is_foreign: bool,
    script: Option<PathBuf>,
    _scratch: tempfile::TempDir,
}

const ELF: &str = "\x7fELF and the rest";

impl Machine {
    fn new() -> Machine {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let base = fs::canonicalize(scratch.path()).expect("its real name");
        fs::create_dir_all(base.join("home/work/root")).expect("the root");
        let search_path = format!("{}/home/bin:/usr/bin:/bin", base.display()).into();
        Machine {
            written: vec![base.join("home/work/root")],
            base,
            root: "home/work/root",
            variables: Vec::new(),
            search_path,
            others: None,
            is_foreign: false,
            script: None,
            _scratch: scratch,
        }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.base.join(below)
    }

    fn file(&self, below: impl AsRef<Path>, text: &str) -> &Machine {
        let path = self.base.join(below);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(&path, text.replace("@", &self.base.display().to_string())).expect("a file");
        self
    }

    fn program(&self, below: impl AsRef<Path>, text: &str) -> &Machine {
        let path = self.base.join(below.as_ref());
        self.file(below, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
        self
    }

    fn link(&self, below: &str, target: &str) -> &Machine {
        let path = self.path(below);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        symlink(target.replace('@', &self.base.display().to_string()), path).expect("a link");
        self
    }

    fn try_find(&self, argv: &[&str]) -> Result<ResolvedCommand, CommandError> {
        let argv: Vec<OsString> = argv
            .iter()
            .map(|word| word.replace('@', &self.base.display().to_string()).into())
            .collect();
        self.try_find_os(&argv)
    }

    fn try_find_os(&self, argv: &[OsString]) -> Result<ResolvedCommand, CommandError> {
        let variable = |name: &str| {
            self.variables
                .iter()
                .find(|known| known.0 == name)
                .map(|known| known.1.clone())
        };
        let (root, home) = (self.path(self.root), self.path("home"));
        let search_path: Option<&OsStr> = Some(&self.search_path);
        let found = find(&Request {
            argv,
            root: &root,
            search_path,
            home: Some(&home),
            variable: &variable,
            others: self.others.as_deref(),
            written: &self.written,
            is_foreign: self.is_foreign,
            script: self.script.as_deref(),
        })?;
        for part in &found.installation {
            let too_wide = [&root, &home, &home.join(".local")]
                .iter()
                .any(|kept| kept.starts_with(&part.path));
            assert!(!too_wide, "{} is granted", part.path.display());
        }
        Ok(found)
    }

    fn find(&self, argv: &[&str]) -> ResolvedCommand {
        self.try_find(argv).unwrap_or_else(|error| panic!("{argv:?}: {error}"))
    }

    /// The granted paths below the scratch directory, prefixed with `r` or `x`.
    fn grants(&self, argv: &[&str]) -> Vec<String> {
        let describe = |part: Belongs| {
            let access = if part.access == InstallationAccess::Read {
                "r"
            } else {
                "x"
            };
            format!(
                "{access} {}",
                part.path.strip_prefix(&self.base).unwrap_or(&part.path).display()
            )
        };
        self.find(argv).installation.into_iter().map(describe).collect()
    }

    fn entrypoints(&self, argv: &[&str]) -> Vec<String> {
        let below = |path: PathBuf| path.strip_prefix(&self.base).unwrap_or(&path).display().to_string();
        self.find(argv).entrypoints.into_iter().map(below).collect()
    }

    /// A Python as `make install` leaves it.
    fn python(&self, prefix: &str) -> &Machine {
        self.program(format!("{prefix}/bin/python3.12"), ELF)
            .link(&format!("{prefix}/bin/python3"), "python3.12");
        self.link(&format!("{prefix}/bin/python"), "python3")
            .file(format!("{prefix}/lib/python3.12/os.py"), "")
    }
}
