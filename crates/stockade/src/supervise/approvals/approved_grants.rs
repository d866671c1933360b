//! Grants given by approvals.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::policy::{self, Access, GrantExtent, HostGrant, NetworkPolicy, Policy, ProtocolCheck};
use crate::profile::{Name, Origin};
use crate::report::{Flag, FlagGrant, PathGrant};

/// Grants in addition to the policy's. The policy's denials override them as well.
#[derive(Debug, Clone)]
pub struct ApprovedGrants {
    paths: Vec<policy::Grant>,
    /// Those of the paths that are guarded files.
    guarded: Vec<policy::Grant>,
    sockets: Vec<PathBuf>,
    reach: NetworkPolicy,
    listen: Vec<u16>,
}

impl Default for ApprovedGrants {
    fn default() -> Self {
        ApprovedGrants {
            paths: Vec::new(),
            guarded: Vec::new(),
            sockets: Vec::new(),
            reach: NetworkPolicy::Nothing,
            listen: Vec::new(),
        }
    }
}

impl ApprovedGrants {
    /// Adds one grant. `by` names the approver.
    pub fn add(&mut self, grant: &FlagGrant, extent: GrantExtent, by: &str) {
        let origin = Origin::Approval(by.to_string());
        match grant {
            FlagGrant::Path(PathGrant {
                flag: Flag::Socket,
                path,
            }) => self.sockets.push(path.clone()),
            FlagGrant::Path(PathGrant { flag, path }) => {
                let granted = policy::Grant {
                    access: flag.access(),
                    path: path.clone(),
                    extent,
                    exempt: false,
                    origin,
                    why: None,
                };
                if *flag == Flag::WriteGuarded {
                    self.guarded.push(granted.clone());
                }
                self.paths.push(granted);
            }
            FlagGrant::Host(pattern) => {
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
            FlagGrant::Listen(port) => self.listen.push(*port),
        }
    }

    /// Adds the grants of a profile, resolved for this run.
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

    /// Whether this access to this path is granted.
    pub fn path(&self, access: Access, name: &Path) -> bool {
        let mut paths = self.paths.iter();
        paths.any(|grant| grant.access.contains(access) && grant.covers(name))
    }

    /// Whether this guarded file was opened.
    pub fn opens_guarded(&self, name: &Path) -> bool {
        self.guarded.iter().any(|grant| grant.covers(name))
    }

    /// Whether this socket is granted; the path must be equal.
    pub fn socket(&self, name: &Path) -> bool {
        self.sockets.iter().any(|socket| socket == name)
    }

    /// Whether this host name may be resolved.
    pub fn knows(&self, name: &Name) -> bool {
        self.reach.knows(name)
    }

    /// The protocol check for this host and port if they may be reached.
    pub fn name(&self, name: &Name, port: u16) -> Option<ProtocolCheck> {
        self.reach.name(name, port)
    }

    /// Whether this address may be reached by its number.
    pub fn address(&self, address: IpAddr, port: u16) -> bool {
        self.reach.address(address, port)
    }

    /// Whether this port may be listened on.
    pub fn may_listen(&self, port: u16) -> bool {
        self.reach == NetworkPolicy::Everything || self.listen.contains(&port)
    }

    /// The granted paths with their access.
    pub fn paths(&self) -> impl Iterator<Item = (Access, PathBuf)> {
        self.paths.iter().map(|grant| (grant.access, grant.path.clone()))
    }
}
