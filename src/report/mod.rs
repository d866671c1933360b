//! The report of a run: one JSON document, its field names a promise (`schemas/report.schema.json`).

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::launch::Ending;

/// The version of the document's format.
pub const VERSION: u32 = 1;

/// How a run went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The program ended by itself, whatever its exit code.
    Completed,
    /// It failed, and a denial explains it.
    PermissionDenied,
    /// It ran past its time limit.
    TimeLimit,
    /// It ran past another limit.
    ResourceLimit,
    /// A signal ended it.
    Signalled,
    /// It never started.
    NotStarted,
}

/// A refused access. Filled in once the supervisor sees accesses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Denial {
    /// The kind of access.
    pub access: String,
    /// What it was to, as the kernel names it.
    pub target: String,
}

/// The whole document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// [`VERSION`].
    pub version: u32,
    /// The run's id.
    pub run: String,
    /// The profile's name.
    pub profile: String,
    /// The command and its arguments; what isn't UTF-8 is replaced.
    pub command: Vec<String>,
    /// The run's root.
    pub root: PathBuf,
    /// How it went.
    pub status: Status,
    /// The program's exit code, where it ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it, like `SIGKILL`.
    pub signal: Option<String>,
    /// The limit that ended it.
    pub limit: Option<&'static str>,
    /// Wall-clock milliseconds.
    pub duration_ms: u64,
    /// What enforced the policy.
    pub enforcement: Enforcement,
    /// What was refused, in the order in which it explains a failure.
    pub denials: Vec<Denial>,
    /// The least that would have to be granted.
    pub suggestion: Option<()>,
    /// What was asked of a person.
    pub escalation: Option<()>,
    /// What the tree used.
    pub resources: Resources,
}

/// What enforced the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Enforcement {
    /// The kernel's Landlock ABI.
    pub landlock_abi: i32,
    /// Whether the supervisor took part.
    pub supervisor: bool,
    /// The namespaces that the run had to itself.
    pub namespaces: Vec<String>,
    /// The shortfalls that were accepted.
    pub shortfalls: Vec<String>,
    /// How the limits on memory, processes and processor time are kept: `control group` or `sampling`.
    pub limits_by: &'static str,
    /// How the limit that ended the run was noticed.
    pub limit_noticed_by: Option<&'static str>,
}

/// What the tree used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// Processor time in milliseconds.
    pub cpu_ms: u64,
    /// The largest resident set of one process.
    pub max_rss_bytes: u64,
    /// The most processes seen at once, where somebody looked.
    pub processes: Option<u64>,
    /// Bytes of standard output, where it was piped.
    pub stdout_bytes: Option<u64>,
    /// Bytes of standard error, where it was piped.
    pub stderr_bytes: Option<u64>,
    /// Whether output past the limit was dropped.
    pub output_cut: bool,
}

impl Report {
    /// Takes over how the run ended.
    pub fn ended(&mut self, ending: &Ending) {
        let status = ending.status;
        let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
        self.exit_code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        self.signal = signal.map(signal_name);
        self.limit = ending.limit.map(|hit| hit.limit.name());
        self.enforcement.limit_noticed_by = ending.limit.map(|hit| hit.by);
        self.status = match (ending.limit, signal) {
            (Some(hit), _) if hit.limit == crate::launch::Limit::Time => Status::TimeLimit,
            (Some(_), _) => Status::ResourceLimit,
            (None, Some(_)) => Status::Signalled,
            (None, None) => Status::Completed,
        };
        self.duration_ms = milliseconds(ending.duration);
        self.resources = Resources {
            cpu_ms: milliseconds(ending.usage.cpu),
            max_rss_bytes: ending.usage.max_rss,
            processes: ending.usage.processes,
            stdout_bytes: ending.usage.output.map(|bytes| bytes[0]),
            stderr_bytes: ending.usage.output.map(|bytes| bytes[1]),
            output_cut: ending.output_cut,
        };
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// `SIGKILL` and its like; real-time signals by number.
pub fn signal_name(signal: i32) -> String {
    nix::sys::signal::Signal::try_from(signal)
        .map_or_else(|_| format!("SIG{signal}"), |signal| signal.as_str().to_string())
}

/// Where a report goes: opened before the launch, so that no run can put a link in its place.
#[derive(Debug)]
pub struct Sink {
    file: File,
    /// The path, where it is a file of the caller's choosing.
    path: Option<PathBuf>,
}

impl Sink {
    /// Opens a file of the caller's choosing, never through a link, and empties it.
    pub fn file(path: &Path) -> io::Result<Sink> {
        let path = std::path::absolute(path)?;
        for above in path.ancestors().skip(1) {
            if std::fs::symlink_metadata(above).is_ok_and(|metadata| metadata.is_symlink()) {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
        }
        let file = open(&path)?;
        if file.metadata()?.is_file() {
            file.set_len(0)?;
        }
        Ok(Sink { file, path: Some(path) })
    }

    /// Takes a descriptor that the caller opened; the caller's own stays open.
    pub fn descriptor(number: i32) -> io::Result<Sink> {
        let file = File::from(crate::sys::duplicate(number)?);
        Ok(Sink { file, path: None })
    }

    /// Writes the document, in place of whatever the run may have put there meanwhile. The run is over: it can't
    /// interfere any more.
    pub fn write(mut self, report: &Report) -> io::Result<()> {
        if let Some(path) = &self.path
            && !is_same(&self.file, path)
        {
            std::fs::remove_file(path).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })?;
            self.file = open(path)?;
        }
        if self.file.metadata()?.is_file() && self.file.stream_position()? == 0 {
            self.file.set_len(0)?;
        }
        let mut text = serde_json::to_string_pretty(report)?;
        text.push('\n');
        self.file.write_all(text.as_bytes())
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options()
        .write(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
}

/// Whether the path still names the file that was opened.
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(opened), Ok(found)) => (opened.dev(), opened.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}
