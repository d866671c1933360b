//! What was granted on answers, and what one call may do for that reason.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::question::Key;
use crate::policy::{self, Access, Extent, HostGrant, NetworkPolicy, Policy, ProtocolCheck};
use crate::profile::{Name, Origin};
use crate::report::{Flag, Grant, PathGrant};

/// Grants beside those of the policy. A denial of the policy's closes them all the same.
#[derive(Debug, Clone)]
pub struct ApprovedGrants {
    paths: Vec<policy::Grant>,
    sockets: Vec<PathBuf>,
    reach: NetworkPolicy,
    listen: Vec<u16>,
}

impl Default for ApprovedGrants {
    fn default() -> Self {
        ApprovedGrants {
            paths: Vec::new(),
            sockets: Vec::new(),
            reach: NetworkPolicy::Nothing,
            listen: Vec::new(),
        }
    }
}

impl ApprovedGrants {
    /// Adds one. `by` says on whose answer.
    pub fn add(&mut self, grant: &Grant, extent: Extent, by: &str) {
        let origin = Origin::Approval(by.to_string());
        match grant {
            Grant::Path(PathGrant {
                flag: Flag::Socket,
                path,
            }) => self.sockets.push(path.clone()),
            Grant::Path(PathGrant { flag, path }) => self.paths.push(policy::Grant {
                access: flag.access(),
                path: path.clone(),
                extent,
                exempt: false,
                origin,
                why: None,
            }),
            Grant::Host(pattern) => {
                let host = HostGrant {
                    pattern: pattern.clone(),
                    origin,
                };
                match &mut self.reach {
                    NetworkPolicy::Everything => {}
                    NetworkPolicy::Hosts(hosts) => hosts.push(host),
                    NetworkPolicy::Nothing => self.reach = NetworkPolicy::Hosts(vec![host]),
                }
            }
            Grant::Listen(port) => self.listen.push(*port),
        }
    }

    /// Adds what a profile grants here.
    pub fn add_profile(&mut self, granted: &Policy) {
        let chosen = granted.grants.iter().filter(|grant| grant.is_chosen());
        self.paths.extend(chosen.cloned());
        self.sockets
            .extend(granted.sockets.iter().map(|socket| socket.path.clone()));
        self.listen.extend(granted.listen.iter().map(|grant| grant.port));
        match (&mut self.reach, &granted.reach) {
            (NetworkPolicy::Everything, _) | (_, NetworkPolicy::Nothing) => {}
            (NetworkPolicy::Hosts(ours), NetworkPolicy::Hosts(theirs)) => ours.extend(theirs.iter().cloned()),
            (reach, granted) => *reach = granted.clone(),
        }
    }

    /// Whether an access to what has this name is granted.
    pub fn path(&self, access: Access, name: &Path) -> bool {
        let mut paths = self.paths.iter();
        paths.any(|grant| grant.access.contains(access) && grant.covers(name))
    }

    /// Whether this very socket is.
    pub fn socket(&self, name: &Path) -> bool {
        self.sockets.iter().any(|socket| socket == name)
    }

    /// Whether a name may be known.
    pub fn knows(&self, name: &Name) -> bool {
        self.reach.knows(name)
    }

    /// Whether a host may be reached, and what may be spoken there.
    pub fn name(&self, name: &Name, port: u16) -> Option<ProtocolCheck> {
        self.reach.name(name, port)
    }

    /// Whether an address may be reached as one.
    pub fn address(&self, address: IpAddr, port: u16) -> bool {
        self.reach.address(address, port)
    }

    /// Whether a port may be listened on.
    pub fn may_listen(&self, port: u16) -> bool {
        self.reach == NetworkPolicy::Everything || self.listen.contains(&port)
    }

    /// The paths with what is granted there.
    pub fn paths(&self) -> impl Iterator<Item = (Access, PathBuf)> {
        self.paths.iter().map(|grant| (grant.access, grant.path.clone()))
    }
}

/// What one call may do beyond the policy, and where it is made.
#[derive(Debug, Clone, Default)]
pub struct CallGrants {
    /// Granted for this call alone.
    pub once: ApprovedGrants,
    /// What was answered for it.
    pub answered: Vec<Key>,
    /// Where it is made.
    pub place: Place,
}

/// Where a call is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Place {
    /// In the workers' domain.
    #[default]
    Worker,
    /// On a thread of its own outside it, which has only read so far.
    RetryThread,
    /// On a thread that is confined to the workers' domain and what was granted.
    Confined,
}
