//! Questions that go to another terminal, where `stockade approvals` runs.
//!
//! The watcher is the server: it listens on a unix socket in the state directory, which is closed to every run. The run
//! connects, sends the request as one line of JSON, and waits for one line with the answer. There is no process in
//! between: when the watcher ends, however it does, the kernel closes the connection, and that is a no. When the run
//! needs no answer any more it closes the connection, and the question disappears at the watcher.

mod asking;
mod directory;
mod stream;
mod watcher;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use directory::DirectoryError;
pub use watcher::{News, Question, WatchError, Watcher};

use super::{Answer, Approver, Deadline, EscalationRequest};
use directory::Directory;

/// What a run does where no `stockade approvals` is watching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// The question is refused at once.
    OnlyWatched,
    /// It waits for somebody to come, as long as there is patience.
    ForSomebody,
}

/// Asks those who watch with `stockade approvals`. With several watchers all are asked, and the first answer counts.
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

    /// Whether somebody watches.
    pub fn is_watched(&self) -> bool {
        let directory = Directory::open(&self.state);
        directory.is_ok_and(|directory| directory.sockets().iter().any(|name| directory.connect(name).is_ok()))
    }
}

impl Approver for SocketApprover {
    fn ask(&self, request: &EscalationRequest, deadline: &Deadline) -> Answer {
        asking::ask(&self.state, self.waiting, request, deadline)
    }

    /// The run may be a server, whose client waits for its answer too.
    fn usual_time(&self) -> Duration {
        Duration::from_secs(20)
    }
}

/// Where the sockets are, below the state directory.
fn place(state: &Path) -> PathBuf {
    state.join("approvals")
}
