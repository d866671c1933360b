//! Carries out a plan: everything is created before the fork (`prepare`), the child only makes system calls
//! (`warden::child`), the warden ends the tree (`warden`), the launcher waits and keeps the limits (`running`).
//!
//! | limit | kept by | past it |
//! |---|---|---|
//! | time | a timer in the launcher; it stands still while a question is open | the tree ends |
//! | memory | a control group of version 2, else samples of the tree, 1 to 40 ms apart | the tree ends |
//! | processes | a control group, else up to 256 the supervisor; above, samples and `room` | `fork` fails with `EAGAIN`; sampled, the tree ends |
//! | processor time | samples of the tree, and `RLIMIT_CPU` for each process | the tree ends |
//! | growth of disk, free space | samples of the written trees (`growth`) | the tree ends |
//! | open files, file size | `RLIMIT_NOFILE`, `RLIMIT_FSIZE` | the call fails; SIGXFSZ |
//! | output | the launcher counts, through pipes | it is cut, and the tree ends |

mod cache;
mod cgroup;
mod late;
mod made;
mod network;
mod prepare;
mod removal;
mod room;
mod running;
mod sampler;
mod scratch;
mod survey;
mod taken;
mod workers;

use std::io;
use std::path::PathBuf;

pub use crate::report::Ending;
pub use crate::warden::Step;
pub use cache::{CacheKey, StoredCache, cache_variables, remove as remove_cache, stored as stored_caches};
pub use cgroup::{Parent as ControlGroups, find as find_control_group};
pub use late::LateSecrets;
pub use prepare::{CallersSignals, Input, Places, Prepared, Streams, prepare};
pub use running::{Event, Running};
pub use scratch::{parent as parent_of_scratch, places as places_of_scratch};

/// Why a run could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A path of the plan exists but can't be opened.
    #[error("can't open `{}`", .0.display())]
    Open(PathBuf, #[source] io::Error),
    /// The root isn't there or isn't a directory.
    #[error("the root `{}` can't be used", .0.display())]
    Root(PathBuf, #[source] io::Error),
    /// The Landlock ruleset could not be created.
    #[error("can't make the Landlock ruleset")]
    Ruleset(#[from] landlock::RulesetError),
    /// A tree that is granted file by file holds too many files.
    #[error("`{}` holds more than {limit} files", .tree.display())]
    TooManyFiles {
        /// The tree.
        tree: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// The scratch directory could not be created.
    #[error("can't make a scratch directory in `{}`", .0.display())]
    Scratch(PathBuf, #[source] io::Error),
    /// The control group could not be created.
    #[error("can't make the control group `{}`", .0.display())]
    ControlGroup(PathBuf, #[source] io::Error),
    /// One of the program's streams is a socket that reaches any peer that the program names.
    #[error("{0} is a datagram socket, through which the run could send to anybody")]
    Datagrams(&'static str),
    /// `/proc` shows another PID namespace.
    #[error(
        "`/proc` isn't that of this process's PID namespace, so nothing of a run could be counted or ended; it has to be \
         mounted there (`unshare --pid --fork --mount-proc`)"
    )]
    ForeignProc,
    /// A string for the program holds a NUL byte.
    #[error("{0} holds a NUL byte")]
    Nul(&'static str),
    /// A system call of the launcher failed.
    #[error("can't {0}")]
    System(&'static str, #[source] io::Error),
    /// A step between the fork and the exec failed.
    #[error("could not {}", .0.describe())]
    Step(Step, #[source] io::Error),
    /// The target's process ended between the fork and the exec, killed or by a fault of Stockade's own.
    #[error("the new process ended before it became the program")]
    Unfinished,
    /// A fault of Stockade's own in a thread that serves the run.
    #[error("internal error in the supervisor: {0}")]
    Fault(String),
    /// The warden was killed while the program ran, and the program with it.
    #[error("the warden was killed, and with it the run")]
    WardenLost,
    /// The warden ended without a message.
    #[error("the warden ended before the program started")]
    WardenGone,
}
