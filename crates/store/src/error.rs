//! The store's errors.

use std::io;
use std::path::PathBuf;

use nix::sys::statvfs::statvfs;

/// The trail's database.
pub(super) const TRAIL: &str = "audit.db";

/// The reason that the store couldn't be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no state directory: neither `$XDG_STATE_HOME` nor a home.
    #[error("there is no state directory")]
    Stateless,
    /// The thread that stores panicked.
    #[error("internal error: {0}")]
    Fault(String),
    /// The state directory can't be used.
    #[error("can't use the state directory `{}`", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file in it can't be used.
    #[error("can't use `{}`", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// SQLite failed.
    #[error("can't {action} `{}`", .path.display())]
    Database {
        /// The failed action: `read`, `write to`.
        action: &'static str,
        /// The database.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// There is no room for a change.
    #[error("can't {action} `{}`: the disk is full", .path.display())]
    Full {
        /// The failed action.
        action: &'static str,
        /// The database.
        path: PathBuf,
    },
    /// A line of the trail's log isn't as it was written, or its number is another row's. From there on the log is left as it is.
    #[error("line {line} of `{}` was altered, or its row was replaced", .path.display())]
    Line {
        /// Its number, from 1 on.
        line: u64,
        /// The log.
        path: PathBuf,
    },
    /// The database is of a later version.
    #[error("`{}` is of version {found}, and this Stockade knows {known}", .path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// A stored grant has been changed since it was stored, so no grant is used.
    #[error("the stored grant `{id}` in `{}` is damaged", .path.display())]
    Damaged {
        /// The grant's id, as far as it is readable.
        id: String,
        /// The database.
        path: PathBuf,
    },
    /// No grant has this id.
    #[error("there is no stored grant `{id}`")]
    Unknown {
        /// The given id.
        id: String,
    },
}

/// Files that belong together must be moved together: a log or a head that remains doesn't fit a new database.
const DAMAGED_TRAIL: &str = "the trail is damaged: move `audit.db`, `audit.db-wal`, `audit.db-shm`, `audit.head` and \
                             `audit.log` away together, and a new one is made";
const DAMAGED_FILE: &str = "the file is damaged: move it away together with the files of the same name that end in \
                            `-wal` and `-shm`, and a new one is made";

impl StoreError {
    /// Of SQLite's error. It tells of some writes to a full disk as errors of the disk.
    pub(super) fn of_database(action: &'static str, path: PathBuf, source: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode::{DiskFull, SystemIoFailure};
        let has_no_room = || statvfs(&path).is_ok_and(|disk| disk.blocks_available() == 0);
        match source.sqlite_error_code() {
            Some(DiskFull) => StoreError::Full { action, path },
            Some(SystemIoFailure) if has_no_room() => StoreError::Full { action, path },
            _ => StoreError::Database { action, path, source },
        }
    }

    /// The remedy.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            StoreError::Stateless => Some("set `XDG_STATE_HOME` or `HOME` to a directory of yours"),
            StoreError::Directory { .. } | StoreError::File { .. } => {
                Some("it must be yours alone, and no symbolic link")
            }
            StoreError::Newer { .. } => Some("a newer Stockade made it: use that one, or move the file away"),
            StoreError::Damaged { .. } => {
                Some("no stored grant is used until it is removed: `stockade grant list` shows it")
            }
            StoreError::Unknown { .. } => Some("`stockade grant list` shows them"),
            StoreError::Line { .. } => Some(DAMAGED_TRAIL),
            StoreError::Database { path, .. } if self.is_broken() => {
                let is_trail = path.file_name() == Some(TRAIL.as_ref());
                Some(if is_trail { DAMAGED_TRAIL } else { DAMAGED_FILE })
            }
            StoreError::Full { .. } => Some("make room there"),
            StoreError::Database { .. } | StoreError::Fault(_) => None,
        }
    }

    /// Whether SQLite reports that a file isn't, or is no longer, a database.
    pub(super) fn is_broken(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let StoreError::Database { source, .. } = self else {
            return false;
        };
        matches!(source.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
    }
}

/// The gap in the audit trail of a run. The run itself isn't affected.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// Records couldn't be written.
    #[error("the audit trail lacks {records} of this run's records")]
    Unwritten {
        /// The number of records.
        records: u64,
        /// The error of the last of them.
        source: StoreError,
    },
    /// Records came faster than they could be written, or exceeded the limit of one run.
    #[error("the audit trail lacks {records} of this run's records: there were too many")]
    Lost {
        /// The number of records.
        records: u64,
    },
    /// All records are in the trail's log, but its rows can't be moved into the database.
    #[error("the audit trail's log can't be taken into its database")]
    Untaken(#[source] StoreError),
    /// A lasting grant wasn't stored; it counts in this run alone.
    #[error("a grant couldn't be kept for later runs")]
    Unkept(#[source] StoreError),
    /// The writer thread couldn't be started.
    #[error("the audit trail lacks all records of this run")]
    Unstarted(#[source] io::Error),
    /// Writing didn't end in time.
    #[error("the audit trail may lack this run's last records: writing them took too long")]
    Late,
    /// The writer thread panicked.
    #[error("the audit trail lacks records of this run: internal error: {0}")]
    Fault(String),
    /// The command of `on_violation` couldn't be started.
    #[error("`on_violation` wasn't run for {records} denials")]
    Unalerted {
        /// The number of denials.
        records: u64,
        /// The error of the last of them; `None` if there were too many at once.
        source: Option<io::Error>,
    },
}

impl AuditError {
    /// The remedy.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            AuditError::Unwritten { source, .. } | AuditError::Untaken(source) | AuditError::Unkept(source) => {
                source.hint()
            }
            AuditError::Lost { .. } => Some("`--audit denials` records less than `--audit all`"),
            AuditError::Unstarted(_) | AuditError::Late | AuditError::Fault(_) | AuditError::Unalerted { .. } => None,
        }
    }
}
