//! Runs a command bare and confined, each in a directory of its own with the same content, and compares.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Seconds after which a run counts as hanging.
const TOO_LONG: &str = "200";

/// Two directories with the same content, one for the bare run and one for the confined.
pub struct Pair {
    place: TempDir,
    variables: Vec<(&'static str, OsString)>,
}

/// How a run ended and what it printed, with the directory's name taken out.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
}

impl Pair {
    /// Outside `/tmp`, which most profiles may write.
    pub fn new() -> Pair {
        let make = |parent: &Path| tempfile::Builder::new().prefix("programs-").tempdir_in(parent);
        let place = make(Path::new("/var/tmp"))
            .or_else(|_| make(&env::temp_dir()))
            .expect("a directory for the test");
        for name in ["bare", "confined"] {
            fs::create_dir(place.path().join(name)).expect("a directory for each run");
        }
        Pair {
            place,
            variables: Vec::new(),
        }
    }

    /// A home of the test's own, so that the user's settings don't matter.
    pub fn with_home(mut self) -> Pair {
        let home = self.place.path().join("home");
        fs::create_dir(&home).expect("a home");
        self.variables.push(("HOME", home.into()));
        self
    }

    /// Writes a file of both directories, executable if it starts with `#!`.
    pub fn file(&self, name: &str, text: &str) -> &Pair {
        for directory in [self.bare(), self.confined()] {
            write(&directory.join(name), text);
        }
        self
    }

    /// Writes a file of the home.
    pub fn home_file(&self, name: &str, text: &str) -> &Pair {
        write(&self.place.path().join("home").join(name), text);
        self
    }

    /// Prepares both directories with a command that isn't confined.
    pub fn prepare(&self, command: &[&str]) -> &Pair {
        for directory in [self.bare(), self.confined()] {
            let output = run(self.command(&directory, &[], command));
            assert!(output.status.success(), "{command:?} prepares: {}", text_of(&output));
        }
        self
    }

    pub fn bare(&self) -> PathBuf {
        self.place.path().join("bare")
    }

    pub fn confined(&self) -> PathBuf {
        self.place.path().join("confined")
    }

    /// Runs the command bare.
    pub fn run_bare(&self, command: &[&str]) -> Output {
        run(self.command(&self.bare(), &[], command))
    }

    /// Runs the command under a profile.
    pub fn run_confined(&self, profile: &str, command: &[&str]) -> Output {
        run(self.command(&self.confined(), &stockade(profile), command))
    }

    /// Asserts that the command does the same under each of the profiles as bare. The directories keep what it made.
    pub fn same(&self, profiles: &[&str], command: &[&str]) -> Ended {
        let bare = self.run_bare(command);
        let expected = self.ended(&bare);
        for profile in profiles {
            let confined = self.run_confined(profile, command);
            assert_eq!(
                self.ended(&confined),
                expected,
                "{command:?} under {profile}.\n--- bare:\n{}\n--- confined:\n{}",
                text_of(&bare),
                text_of(&confined),
            );
        }
        expected
    }

    /// As [`Pair::same`], for a command that must succeed.
    pub fn succeeds(&self, profiles: &[&str], command: &[&str]) -> Ended {
        let ended = self.same(profiles, command);
        assert_eq!(ended.code, Some(0), "{command:?} bare");
        ended
    }

    fn ended(&self, output: &Output) -> Ended {
        let mut stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        for directory in [self.bare(), self.confined()] {
            stdout = stdout.replace(&*directory.to_string_lossy(), "HERE");
        }
        Ended {
            // A signal that ended the program, as shells and Stockade tell it.
            code: output
                .status
                .code()
                .or(output.status.signal().map(|signal| 128 + signal)),
            stdout,
        }
    }

    fn command(&self, directory: &Path, before: &[OsString], command: &[&str]) -> Command {
        let mut run = Command::new("timeout");
        run.arg(TOO_LONG).args(before).args(command).current_dir(directory);
        run.env("XDG_STATE_HOME", self.place.path().join("state"));
        run.envs(self.variables.iter().map(|(name, value)| (name, value)));
        run.stdin(Stdio::null());
        run
    }
}

/// The arguments that confine a command.
pub fn stockade(profile: &str) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![crate::common::STOCKADE.into()];
    arguments.extend(["run", "--profile", profile].map(OsString::from));
    arguments.push("--".into());
    arguments
}

fn run(mut command: Command) -> Output {
    command.output().expect("`timeout` of coreutils starts")
}

/// Both streams, for messages.
pub fn text_of(output: &Output) -> String {
    format!(
        "{}{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        output.status
    )
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file in a directory")).expect("its directory");
    fs::write(path, text).expect("a file of the test");
    if text.starts_with("#!") {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("an executable file");
    }
}

/// Whether the programs are all on `PATH`, or there as files. Says which one isn't; with `STOCKADE_TEST_ALL=1` that is
/// a failure.
pub fn installed(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let is_there = find(program).is_some();
        if !is_there {
            missing(program);
        }
        is_there
    })
}

/// Says that something isn't installed; fails if everything has to be.
pub fn missing(program: &str) {
    let all = env::var_os("STOCKADE_TEST_ALL").is_some_and(|value| value == "1");
    assert!(!all, "{program} isn't installed, and STOCKADE_TEST_ALL=1 is set");
    eprintln!("skipped: {program} isn't installed");
}

/// Where a program is.
pub fn find(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.exists());
    }
    env::split_paths(&env::var_os("PATH")?)
        .map(|directory| directory.join(program))
        .find(|path| path.is_file())
}

/// A directory that `tests/setup-programs.sh` fills: the variable's, or this one of `target`.
pub fn prepared(variable: &str, default: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| crate::common::checkout().join("target").join(default), PathBuf::from)
}
