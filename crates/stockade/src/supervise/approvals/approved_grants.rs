//! Grants given by approvals.
//!
//! A call that a yes lets go on is read, resolved and judged again, so what was asked about and what is done are the
//! same by the kernel's name, or it is another question. A grant for once travels with the call (`call_grants.rs`), one
//! for the session is seen by every judge.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::SocketGrant;
    use crate::supervise::testing::{grant, policy};

    fn path(flag: Flag, path: &str) -> FlagGrant {
        let path = path.into();
        FlagGrant::Path(PathGrant { flag, path })
    }

    fn of(grant: &FlagGrant, extent: GrantExtent) -> ApprovedGrants {
        let mut grants = ApprovedGrants::default();
        grants.add(grant, extent, "ada");
        grants
    }

    #[test]
    fn without_an_answer_nothing_is_granted() {
        let none = ApprovedGrants::default();
        assert!(!none.path(Access::READ, Path::new("/x")));
        assert!(!none.socket(Path::new("/x")));
        assert!(!none.may_listen(0));
        assert!(!none.knows(&Name::parse("a.example").unwrap()));
        assert!(!none.address("192.0.2.1".parse().unwrap(), 80));
    }

    #[test]
    fn a_grant_to_read_gives_no_writing_and_one_to_write_gives_both() {
        let read = of(&path(Flag::Read, "/x"), GrantExtent::Subtree);
        assert!(read.path(Access::READ, Path::new("/x/a")));
        assert!(!read.path(Access::WRITE, Path::new("/x/a")));
        let write = of(&path(Flag::Write, "/x"), GrantExtent::Subtree);
        assert!(write.path(Access::WRITING, Path::new("/x/a")));
        assert!(!write.path(Access::EXECUTE, Path::new("/x/a")));
    }

    #[test]
    fn a_single_path_has_nothing_below_it() {
        let single = of(&path(Flag::Read, "/x"), GrantExtent::Single);
        assert!(single.path(Access::READ, Path::new("/x")));
        assert!(!single.path(Access::READ, Path::new("/x/a")));
    }

    #[test]
    fn only_a_grant_of_guarded_files_opens_one() {
        let guarded = of(&path(Flag::WriteGuarded, "/x/.vimrc"), GrantExtent::Single);
        assert!(guarded.opens_guarded(Path::new("/x/.vimrc")));
        assert!(guarded.path(Access::WRITE, Path::new("/x/.vimrc")));
        let written = of(&path(Flag::Write, "/x"), GrantExtent::Subtree);
        assert!(!written.opens_guarded(Path::new("/x/.vimrc")));
    }

    #[test]
    fn a_socket_is_granted_by_its_very_path_and_is_no_file() {
        let socket = of(&path(Flag::Socket, "/x"), GrantExtent::Subtree);
        assert!(socket.socket(Path::new("/x")));
        assert!(!socket.socket(Path::new("/x/a")));
        assert!(!socket.path(Access::READ, Path::new("/x")));
    }

    #[test]
    fn hosts_and_ports_add_up() {
        let mut grants = ApprovedGrants::default();
        for host in ["a.example", "b.example:8080"] {
            grants.add(&FlagGrant::Host(host.parse().unwrap()), GrantExtent::Single, "ada");
        }
        grants.add(&FlagGrant::Listen(8000), GrantExtent::Single, "ada");
        let name = |text| Name::parse(text).unwrap();
        assert_eq!(grants.name(&name("a.example"), 443), Some(ProtocolCheck::Checked));
        assert_eq!(grants.name(&name("b.example"), 8080), Some(ProtocolCheck::Anything));
        assert_eq!(grants.name(&name("b.example"), 443), None);
        assert!(!grants.knows(&name("c.example")));
        assert!(grants.may_listen(8000) && !grants.may_listen(8001));
    }

    #[test]
    fn a_profile_gives_what_a_person_chose_in_it_and_not_its_base() {
        let mut base = grant(Access::READ, "/usr");
        base.origin = Origin::Base;
        let mut profile = policy(vec![base, grant(Access::READ, "/x")]);
        profile.sockets = vec![SocketGrant {
            path: "/s".into(),
            origin: Origin::BuiltIn,
        }];
        profile.reach = NetworkPolicy::Everything;
        let mut grants = ApprovedGrants::default();
        grants.add(
            &FlagGrant::Host("a.example".parse().unwrap()),
            GrantExtent::Single,
            "ada",
        );
        grants.add_profile(&profile);
        assert!(grants.path(Access::READ, Path::new("/x/a")));
        assert!(!grants.path(Access::READ, Path::new("/usr/a")));
        assert!(grants.socket(Path::new("/s")) && grants.may_listen(1));
        assert!(grants.knows(&Name::parse("c.example").unwrap()));
        assert_eq!(grants.paths().count(), 1);
    }

    #[test]
    fn a_profile_without_a_network_takes_no_host_away() {
        let mut grants = ApprovedGrants::default();
        grants.add(
            &FlagGrant::Host("a.example".parse().unwrap()),
            GrantExtent::Single,
            "ada",
        );
        grants.add_profile(&policy(Vec::new()));
        assert!(grants.knows(&Name::parse("a.example").unwrap()));
    }
}
