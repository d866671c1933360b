//! Questions to another terminal, where `stockade approvals` runs.
//!
//! The watcher is the server: it listens on a unix socket in the state directory, which is closed to every run. The run
//! connects, sends the request as one line of JSON, and waits for one line with the answer. There is no process in
//! between: however the watcher ends, the kernel closes the connection, and that is a no. When the run no longer
//! needs an answer, it closes the connection, and the question disappears at the watcher.

mod asking;
mod directory;
mod stream;
mod watcher;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use directory::DirectoryError;
pub use watcher::{WaitingQuestion, WatchError, WatchEvent, Watcher};

use super::{Answer, Approver, Deadline, EscalationRequest};
use directory::Directory;

/// The policy of a run while no `stockade approvals` is watching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Refuses the question at once.
    OnlyWatched,
    /// Waits for a watcher, until the deadline.
    ForSomebody,
}

/// Asks the `stockade approvals` watchers. All of them are asked, and the first answer counts.
#[derive(Debug, Clone)]
pub struct SocketApprover {
    state: PathBuf,
    waiting: Waiting,
}

impl SocketApprover {
    /// Looks for watchers in this state directory (`$XDG_STATE_HOME/stockade`).
    pub fn new(state: impl Into<PathBuf>, waiting: Waiting) -> SocketApprover {
        SocketApprover {
            state: state.into(),
            waiting,
        }
    }

    /// Whether there is a watcher.
    pub fn is_watched(&self) -> bool {
        let directory = Directory::open(&self.state);
        directory.is_ok_and(|directory| directory.sockets().iter().any(|name| directory.connect(name).is_ok()))
    }
}

impl Approver for SocketApprover {
    fn may_open_guarded(&self) -> bool {
        true
    }

    fn ask(&self, request: &EscalationRequest, deadline: &Deadline) -> Answer {
        asking::ask(&self.state, self.waiting, request, deadline)
    }

    /// The run may be a server, whose client waits for its answer too.
    fn usual_time(&self) -> Duration {
        Duration::from_secs(20)
    }
}

/// The directory of the sockets, below the state directory.
fn place(state: &Path) -> PathBuf {
    state.join("approvals")
}
