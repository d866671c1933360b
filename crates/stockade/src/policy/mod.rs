//! The resolved meaning of a profile for one run: absolute paths, no variables left. A value.
//!
//! `resolve` makes it from a profile and the circumstances of the run, `decide` answers what it allows,
//! `meet` is the intersection that nesting and capabilities build on. No I/O and no word of the kernel here.

mod addresses;
mod base;
mod capability;
mod closed;
mod decide;
mod difference;
mod environment;
mod git;
mod git_config;
mod git_index;
mod kind;
mod listed;
mod meet;
mod mode;
mod moving;
mod placed;
mod reach;
mod resolve;
mod sockets;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

use crate::profile::{Limits, Origin, path_bytes};

pub use addresses::{AddressKind, kind_of};
pub use base::{BASE, BaseEntry};
pub use capability::{Capabilities, NoCapability};
pub use closed::Closed;
pub use decide::{Decision, Matcher, lies_below};
pub use difference::{Differences, Meaning, Power, PowerKind, differences};
pub use environment::{is_limited as is_limited_variable, is_unsecure, is_usual as is_usual_variable};
pub use git::{Renamed, git_config_of_lock, git_directories, is_in_git_directory, is_module};
pub use git_config::is_harmless_change;
pub use git_index::{Index, is_head, may_name_work_tree, object_name_length};
pub use kind::Kind;
pub use listed::{
    Closing, Entry, Line, List, Listed, Names as ListedNames, Opened, PARENTS_OF_HOMES, lines as listed_lines,
    moved as moved_places, names_anywhere, paths_of_homes, paths_of_machine,
};
pub use mode::{Mode, Role, Scope, scope_glob};
pub use moving::Arrival;
pub use placed::Placed;
pub use reach::{HostGrant, ListenGrant, NetworkPolicy, ProtocolCheck};
pub use resolve::{Additions, Circumstances, NetworkChoice, resolve};
pub use sockets::is_powerful_socket;

bitflags! {
    /// What may be done with a file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Access: u8 {
        /// Open for reading, list.
        const READ = 1;
        /// Change, create.
        const WRITE = 2;
        /// Start as a program.
        const EXECUTE = 4;
        /// Remove, rename away, truncate to nothing.
        const DELETE = 8;
        /// Whatever changes something.
        const CHANGE = 2 | 8;
        /// What a grant to write is.
        const WRITING = 1 | 2 | 8;
    }
}

impl Serialize for Access {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.bits().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Access {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bits = u8::deserialize(deserializer)?;
        Access::from_bits(bits).ok_or_else(|| serde::de::Error::custom("no such access"))
    }
}

/// What one run may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The profile it comes from.
    pub profile: String,
    /// What the run may do at all. The grants hold no more than that; this says why.
    pub capabilities: Capabilities,
    /// How changes are taken. The grants hold none where each of them asks; this says why.
    pub mode: Mode,
    /// The run's root: an absolute directory, and the target's working directory.
    #[serde(with = "path_bytes")]
    pub root: PathBuf,
    /// The trees and files that are open.
    pub grants: Vec<Grant>,
    /// What stays closed inside them.
    pub denials: Vec<Denial>,
    /// The hosts that are open.
    pub reach: NetworkPolicy,
    /// Ports of the loopback interface that may be listened on.
    pub listen: Vec<ListenGrant>,
    /// Unix sockets that may be connected to: a socket, or a directory with those of no special power.
    pub sockets: Vec<SocketGrant>,
    /// The target's environment. It stays with the run.
    #[serde(skip)]
    pub environment: BTreeMap<OsString, OsString>,
    /// Whether the run gets a scratch directory.
    pub scratch: bool,
    /// Limits of the tree.
    pub limits: Limits,
    /// System calls on top of the base, by name.
    pub system_calls: Vec<String>,
    /// What may be granted while it runs.
    pub asks: Asks,
}

impl Policy {
    /// Whether the run may write its root.
    pub fn writes_root(&self) -> bool {
        let mut grants = self.grants.iter();
        grants.any(|grant| grant.access.contains(Access::WRITE) && grant.covers(&self.root))
    }
}

/// What a run may be granted on request, while it lives. Nothing is granted by this alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Asks {
    /// Nothing: there's no one to ask.
    Nothing,
    /// Files and unix sockets.
    Files,
    /// Hosts and ports too, so that the run has what named hosts need.
    All,
}

/// One allowed (access, target) pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// What may be done.
    pub access: Access,
    /// The tree's or file's absolute path.
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    /// How far the grant reaches.
    pub extent: Extent,
    /// Whether secret *patterns* are off in it: the runtime base and the command's own installation, which
    /// hold things like `cacert.pem`. Secret *names* hold everywhere.
    pub exempt: bool,
    /// Where it comes from.
    pub origin: Origin,
    /// The reason that the profile gives.
    pub why: Option<String>,
}

/// Unix sockets that may be connected to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketGrant {
    /// The socket's or directory's absolute path.
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    /// Where it comes from.
    pub origin: Origin,
}

/// How far a grant reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Extent {
    /// This one path, and nothing below it.
    Single,
    /// The path and everything below it.
    Subtree,
}

/// Something that stays closed whatever is granted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Denial {
    /// What it closes.
    pub target: Target,
    /// What is refused.
    pub access: Access,
    /// Of what kind it is.
    pub kind: DenialKind,
    /// Where it comes from.
    pub origin: Origin,
}

/// What a denial closes. A closed directory closes what is below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Target {
    /// One absolute path.
    Path(#[serde(with = "path_bytes")] PathBuf),
    /// What matches a glob below a directory; `*` and `?` stay within a component.
    Glob {
        /// The absolute directory.
        #[serde(with = "path_bytes")]
        below: PathBuf,
        /// The glob, relative to it.
        glob: String,
    },
    /// What no everyday command writes in a `.git`, wherever that is. Unlike with the others, there are open
    /// directories below closed ones.
    GitDirectories,
    /// What a built-in list names.
    Listed(Listed),
    /// What lies below a directory and matches none of these globs, by itself or by a directory above it.
    AllBut {
        /// The absolute directory.
        #[serde(with = "path_bytes")]
        below: PathBuf,
        /// The globs, relative to it.
        globs: Vec<String>,
    },
}

/// Why something is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DenialKind {
    /// The profile or a flag says so.
    Explicit,
    /// A secret by its place; holds everywhere.
    SecretName,
    /// A secret by its pattern; holds outside exempt grants.
    SecretPattern,
    /// Something that the host would later execute or trust.
    Guarded,
    /// Outside an agent's scope.
    Scope,
}
