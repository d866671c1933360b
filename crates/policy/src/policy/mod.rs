//! A profile resolved for one run: absolute paths, no variables left. A plain value.
//!
//! `resolve` builds it from a profile and the circumstances of the run, `decide` evaluates accesses against it, and
//! `meet` is the intersection that nesting and capabilities build on. No I/O and no kernel concepts here.

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
pub mod temporary;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

use crate::profile::{Limits, Origin, path_bytes};

pub use addresses::{AddressKind, kind_of};
pub use base::{BASE, BaseEntry};
pub use capability::{Capabilities, NoCapability};
pub use closed::Closed;
pub use decide::{AccessDecision, Matcher, lies_below};
pub use difference::{Differences, Meaning, Power, PowerKind, differences};
pub use environment::{is_limited as is_limited_variable, is_unsecure, is_usual as is_usual_variable};
pub use git::{
    GitSetting, Named as NamedByGit, Renamed, closed_in_git_directory, directories_of_hooks, git_config_of_lock,
    git_directory, git_settings, is_common_directory, is_git_config, is_hook, is_of_work_tree, placed_by_git,
    words_of_command,
};
pub use git_config::is_harmless_change;
pub use git_index::{Index, is_head, may_name_work_tree, object_name_length};
pub use kind::Kind;
pub use listed::{
    Closing, Entry, FINGERPRINT, GuardedBy, IsSpared, Line, Listed, Names as ListedNames, Opened, PARENTS_OF_HOMES,
    SecretList, lines as listed_lines, moved as moved_places, names as listed_names, names_anywhere, paths_of_homes,
    paths_of_machine,
};
pub use mode::{Mode, Role, Scope, scope_glob};
pub use moving::Arrival;
pub use placed::Placed;
pub use reach::{HostGrant, ListenGrant, NetworkPolicy, ProtocolCheck};
pub use resolve::{Additions, Circumstances, NetworkChoice, resolve};
pub use sockets::is_powerful_socket;

bitflags! {
    /// The accesses to a file.
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
        /// Any change.
        const CHANGE = 2 | 8;
        /// The accesses that a `write` grant gives.
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

/// The permissions of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The profile that it was resolved from.
    pub profile: String,
    /// The run's capabilities. The grants are already narrowed to them; this tells why.
    pub capabilities: Capabilities,
    /// The mode for changes. Where every change asks, the grants hold no change access; this tells why.
    pub mode: Mode,
    /// The run's root: an absolute directory, and the target's working directory.
    #[serde(with = "path_bytes")]
    pub root: PathBuf,
    /// The granted trees and files.
    pub grants: Vec<Grant>,
    /// The denials inside them.
    pub denials: Vec<DenialRule>,
    /// The hosts that the run may connect to.
    pub reach: NetworkPolicy,
    /// Ports of the loopback interface that the run may listen on.
    pub listen: Vec<ListenGrant>,
    /// Unix sockets that the run may connect to: a socket, or a directory, which covers its sockets except the powerful ones.
    pub sockets: Vec<SocketGrant>,
    /// The target's environment. Never serialized: it stays with the run.
    #[serde(skip)]
    pub environment: BTreeMap<OsString, OsString>,
    /// Whether the run gets a scratch directory.
    pub scratch: bool,
    /// Resource limits of the process tree.
    pub limits: Limits,
    /// System calls allowed on top of the base, by name.
    pub system_calls: Vec<String>,
    /// The grants that may be requested while the run lives.
    pub asks: Asks,
}

impl Policy {
    /// The tops of the trees that the run was given to work in: its root, and what a person lets it write.
    pub fn tops(&self) -> impl Iterator<Item = &Path> {
        let is_written = |grant: &&Grant| grant.is_chosen() && grant.access.intersects(Access::CHANGE);
        let written = self.grants.iter().filter(is_written).map(|grant| grant.path.as_path());
        written.chain([self.root.as_path()])
    }

    /// Whether a path lies in the root, and isn't the root.
    pub fn is_inside_root(&self, path: &Path) -> bool {
        path != self.root && path.starts_with(&self.root)
    }

    /// Whether a person opened a guarded path by a flag or their configuration, or a directory above it.
    pub fn opens_guarded(&self, path: &Path) -> bool {
        self.denials.iter().any(|denial| match &denial.target {
            Target::Listed(listed) if listed.list.is_guarded() => {
                listed.open.iter().any(|open| path.starts_with(&open.0))
            }
            _ => false,
        })
    }

    /// Whether the run may write its root.
    pub fn writes_root(&self) -> bool {
        let mut grants = self.grants.iter();
        grants.any(|grant| grant.access.contains(Access::WRITE) && grant.covers(&self.root))
    }
}

/// The grants that a run may be given on request while it lives. By itself it grants nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Asks {
    /// Nothing: there is no approver.
    Nothing,
    /// Files and unix sockets.
    Files,
    /// Hosts and ports too, so the run gets the setup that named hosts need.
    All,
}

/// One allowed (access, target) pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The accesses it allows.
    pub access: Access,
    /// The tree's or file's absolute path.
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    /// Whether it covers the path alone or the subtree.
    pub extent: GrantExtent,
    /// Whether secret *patterns* are off in it: true for the runtime base and the command's own installation, which
    /// hold files like `cacert.pem`. Secret *names* apply everywhere.
    pub exempt: bool,
    /// The grant's origin.
    pub origin: Origin,
    /// The reason given in the profile.
    pub why: Option<String>,
}

/// Unix sockets that the run may connect to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketGrant {
    /// The socket's or directory's absolute path.
    #[serde(with = "path_bytes")]
    pub path: PathBuf,
    /// The grant's origin.
    pub origin: Origin,
}

/// The extent of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum GrantExtent {
    /// The path alone, nothing below it.
    Single,
    /// The path and everything below it.
    Subtree,
}

/// A path or pattern that stays closed whatever is granted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DenialRule {
    /// The paths it closes.
    pub target: Target,
    /// The accesses it refuses.
    pub access: Access,
    /// The kind of denial.
    pub kind: DenialKind,
    /// The denial's origin.
    pub origin: Origin,
}

/// The paths that a denial closes. A closed directory closes everything below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Target {
    /// One absolute path.
    Path(#[serde(with = "path_bytes")] PathBuf),
    /// Paths that match a glob below a directory; `*` and `?` stay within a component.
    Glob {
        /// The absolute directory.
        #[serde(with = "path_bytes")]
        below: PathBuf,
        /// The glob, relative to it.
        glob: String,
    },
    /// What git obeys in any `.git`. Unlike the other targets it has open directories below closed ones.
    GitDirectories,
    /// The entries of a built-in list.
    Listed(Listed),
    /// Everything below a directory that matches none of these globs, by itself or by a directory above it.
    AllBut {
        /// The absolute directory.
        #[serde(with = "path_bytes")]
        below: PathBuf,
        /// The globs, relative to it.
        globs: Vec<String>,
    },
}

/// The reason for a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DenialKind {
    /// The profile or a flag denies it.
    Explicit,
    /// A secret by its path; applies everywhere.
    SecretName,
    /// A secret by its pattern; applies outside exempt grants.
    SecretPattern,
    /// A file that the host would later execute or trust.
    Guarded,
    /// Outside an agent's scope.
    Scope,
}
