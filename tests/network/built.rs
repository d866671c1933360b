//! Programs that the tests compile themselves.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::common::finish_within;

/// Whether the programs are all on `PATH`. Says which one isn't; with `STOCKADE_TEST_ALL=1` that is a failure.
pub fn installed(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let paths = env::var_os("PATH").unwrap_or_default();
        let is_there = env::split_paths(&paths).any(|directory| directory.join(program).is_file());
        is_there || missing(program)
    })
}

/// Whether the system's Python has the modules.
pub fn has_modules(modules: &[&str]) -> bool {
    modules.iter().all(|module| {
        let mut python = Command::new(crate::common::python());
        python.args(["-I", "-c", &format!("import {module}")]);
        let is_there = python
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        is_there || missing(&format!("the Python module {module}"))
    })
}

/// A directory that `tests/setup-programs.sh` fills with an npm package.
pub fn npm_package(name: &str) -> Option<PathBuf> {
    let default = || crate::common::checkout().join("target/test-npm");
    let directory = env::var_os("STOCKADE_TEST_NPM").map_or_else(default, PathBuf::from);
    let package = directory.join("node_modules").join(name);
    (package.is_dir() || missing(&format!("the npm package {name}"))).then_some(package)
}

/// Says that something isn't installed; fails if everything has to be. Never true.
pub fn missing(what: &str) -> bool {
    let all = env::var_os("STOCKADE_TEST_ALL").is_some_and(|value| value == "1");
    assert!(!all, "{what} isn't installed, and STOCKADE_TEST_ALL=1 is set");
    eprintln!("skipped: {what} isn't installed");
    false
}

/// A file of this test program's sources.
pub fn source(name: &str) -> PathBuf {
    crate::common::checkout().join("tests/network").join(name)
}

/// A compiled program, removed with the value.
pub struct Built {
    directory: TempDir,
}

impl Built {
    /// A C program by a compiler with some flags; none where there's no such compiler.
    pub fn c(compiler: &str, flags: &[&str], name: &str) -> Option<Built> {
        if !installed(&[compiler]) {
            return None;
        }
        let built = Built::empty();
        let mut command = Command::new(compiler);
        command.args(flags).arg("-o").arg(built.program()).arg(source(name));
        built.by(&mut command)
    }

    /// A Go program without C, so that it resolves names by itself.
    pub fn go(name: &str) -> Option<Built> {
        if !installed(&["go"]) {
            return None;
        }
        let built = Built::empty();
        let cache = kept_cache().unwrap_or_else(|| built.directory.path().join("cache"));
        let mut command = Command::new("go");
        command.args(["build", "-o"]).arg(built.program()).arg(source(name));
        command.envs([("CGO_ENABLED", OsStr::new("0")), ("GOCACHE", cache.as_os_str())]);
        command.envs([
            ("GOFLAGS", "-mod=mod"),
            ("GO111MODULE", "off"),
            ("HOME", "/nonexistent"),
        ]);
        built.by(&mut command)
    }

    /// The classes of a Java source file.
    pub fn java(name: &str) -> Option<Built> {
        if !installed(&["java", "javac"]) {
            return None;
        }
        let built = Built::empty();
        let mut command = Command::new("javac");
        command.arg("-d").arg(built.directory.path()).arg(source(name));
        built.by(&mut command)
    }

    fn empty() -> Built {
        let directory = tempfile::Builder::new()
            .prefix("stockade-built-")
            .tempdir_in("/var/tmp")
            .unwrap();
        Built { directory }
    }

    fn by(self, command: &mut Command) -> Option<Built> {
        let finished = finish_within(command, b"", Duration::from_secs(400));
        assert!(
            finished.status.success(),
            "{command:?}: {}{}",
            finished.stdout(),
            finished.stderr()
        );
        Some(self)
    }

    /// The program's path.
    pub fn program(&self) -> PathBuf {
        self.directory.path().join("program")
    }

    /// Where everything is.
    pub fn directory(&self) -> &str {
        self.directory.path().to_str().unwrap()
    }
}

/// Go's standard library takes a minute to compile; it is kept in `STOCKADE_TEST_CACHE`, or where this user may.
fn kept_cache() -> Option<PathBuf> {
    let directory = env::var_os("STOCKADE_TEST_CACHE").unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    let cache = Path::new(&directory).join("go-cache");
    std::fs::create_dir_all(&cache).ok()?;
    tempfile::tempfile_in(&cache).ok().map(|_| cache)
}
