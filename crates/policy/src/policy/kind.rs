//! The kinds of a program's attempted accesses.

use serde::{Deserialize, Serialize};

use super::Capabilities;

/// The kind of an attempted access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Reading a file or listing a directory.
    Read,
    /// Changing a file that exists.
    Write,
    /// Making a file, directory, link, FIFO or socket.
    Create,
    /// Removing a file or renaming it away.
    Delete,
    /// Changing mode, owner, times, attributes.
    Metadata,
    /// Starting a program.
    Execute,
    /// Connecting to a host: `name:port`, `address:port`, `[address]:port`.
    Connect,
    /// Listening on a port: `address:port`, `[address]:port`.
    Listen,
    /// Connecting to, or making, a unix socket; making a socket of any kind.
    Socket,
    /// Looking up a host's name.
    Resolve,
    /// Sending a signal to, or changing, a process outside the run.
    Signal,
    /// Making a process.
    Spawn,
    /// A system call that no profile allows.
    Syscall,
    /// A variable of the caller's that wasn't passed.
    Variable,
}

impl Kind {
    /// The capability that this kind requires.
    pub fn capability(self) -> Option<Capabilities> {
        match self {
            Kind::Read => Some(Capabilities::READ),
            Kind::Write | Kind::Create | Kind::Metadata => Some(Capabilities::WRITE),
            Kind::Delete => Some(Capabilities::DELETE),
            Kind::Execute => Some(Capabilities::EXECUTE),
            Kind::Connect | Kind::Listen | Kind::Resolve => Some(Capabilities::NET),
            Kind::Spawn => Some(Capabilities::SPAWN),
            Kind::Socket | Kind::Signal | Kind::Syscall | Kind::Variable => None,
        }
    }

    /// Whether it changes a file.
    pub fn changes(self) -> bool {
        matches!(self, Kind::Write | Kind::Create | Kind::Delete | Kind::Metadata)
    }

    /// Doing it, as what a program was refused: `reading`, before the target.
    pub fn doing(self) -> &'static str {
        match self {
            Kind::Read => "reading",
            Kind::Write => "writing",
            Kind::Create => "creating",
            Kind::Delete => "deleting",
            Kind::Metadata => "changing the attributes of",
            Kind::Execute => "starting",
            Kind::Connect => "connecting to",
            Kind::Listen => "listening on",
            Kind::Socket => "the socket",
            Kind::Resolve => "looking up",
            Kind::Signal => "sending a signal to",
            Kind::Spawn => "making another",
            Kind::Variable => "the variable",
            Kind::Syscall => "the system call",
        }
    }

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Create => "create",
            Kind::Delete => "delete",
            Kind::Metadata => "metadata",
            Kind::Execute => "execute",
            Kind::Connect => "connect",
            Kind::Listen => "listen",
            Kind::Socket => "socket",
            Kind::Resolve => "resolve",
            Kind::Signal => "signal",
            Kind::Spawn => "spawn",
            Kind::Syscall => "syscall",
            Kind::Variable => "variable",
        }
    }
}
