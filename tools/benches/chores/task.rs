//! One thing to do, bare or confined, and how long it takes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{loops, trees};

const STOCKADE: &str = env!("CARGO_BIN_EXE_stockade");

/// Without or with Stockade, or with a container of bubblewrap's that may write the same directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Bare,
    Confined,
    Bubblewrap,
}

/// The system read-only, private devices and `/proc`, no network, and an end with its parent.
pub const BUBBLEWRAP: &str = "--ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent";

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// A loop, which tells its own time: the launch isn't in it.
    Loop,
    /// The whole process, launch and end too.
    Process,
    /// As `Process`; what was built before is removed first.
    Build,
}

/// One thing to do.
#[derive(Debug, Clone)]
pub struct Task {
    pub words: Vec<OsString>,
    /// The flags of `stockade run`, but for `--root`.
    pub flags: Vec<OsString>,
    /// Where it is done, and the root of the run.
    pub directory: PathBuf,
    pub timing: Timing,
}

impl Task {
    /// `flags` and `words` with single spaces between.
    pub fn new(flags: &str, words: &str, directory: &Path, timing: Timing) -> Task {
        let list = |text: &str| text.split(' ').map(OsString::from).collect();
        Task {
            words: list(words),
            flags: list(flags),
            directory: directory.to_path_buf(),
            timing,
        }
    }

    /// A loop over a path.
    pub fn of_loop(flags: &str, name: &str, path: PathBuf, count: usize, directory: &Path) -> Task {
        let own = std::env::current_exe().expect("the bench has a name");
        let mut task = Task::new(flags, "", directory, Timing::Loop);
        task.words = vec![
            own.into(),
            loops::HIDDEN.into(),
            name.into(),
            path.into(),
            count.to_string().into(),
        ];
        task
    }

    /// The command, with the same few variables either way: `cargo bench` has many of its own.
    pub fn command(&self, way: Way) -> Command {
        let mut command = match way {
            Way::Bare => Command::new(&self.words[0]),
            Way::Confined => Command::new(STOCKADE),
            Way::Bubblewrap => Command::new("bwrap"),
        };
        if way == Way::Confined {
            command.arg("run").args(&self.flags).arg("--root").arg(&self.directory);
            command.arg("--").arg(&self.words[0]);
        }
        if way == Way::Bubblewrap {
            command.args(BUBBLEWRAP.split(' ')).arg("--bind");
            command.args([&self.directory, &self.directory]);
            command.arg("--").arg(&self.words[0]);
        }
        command.args(&self.words[1..]).current_dir(&self.directory).env_clear();
        for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "PYENV_ROOT"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Does it once.
    pub fn time(&self, way: Way) -> Result<Duration, String> {
        if self.timing == Timing::Build {
            trees::clean(&self.directory);
        }
        let mut command = self.command(way);
        let started = Instant::now();
        let output = command.output().map_err(|error| error.to_string())?;
        let whole = started.elapsed();
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_string();
            return Err(format!("{way:?}, {}: {message}", output.status));
        }
        match self.timing {
            Timing::Process | Timing::Build => Ok(whole),
            Timing::Loop => String::from_utf8_lossy(&output.stdout)
                .trim()
                .parse()
                .map(Duration::from_nanos)
                .map_err(|error| error.to_string()),
        }
    }
}
