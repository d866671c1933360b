//! Names the grant behind an allowed access, for the audit trail. It decides nothing: the access was judged before.

use std::fmt::Display;
use std::path::Path;

use crate::policy::{Access, NetworkPolicy, Policy};
use crate::profile::{Origin, with_origin};
use crate::report::{Endpoint, Kind, Refusal, endpoint_of};
use crate::supervise::state::run_policy::RunPolicy;

/// The rule of an access that an answer allowed.
pub const ANSWERED: &str = "granted by an answer";

/// The grant of the run's own policy that allows an access to a path; `None` where none of a path does.
pub fn of_path(run: &RunPolicy, kind: Kind, path: &Path) -> Option<String> {
    let config = &run.run_config;
    let tree = |path: &Path, origin: &Origin| granted("tree", path.display(), origin);
    if let Some(scratch) = config.scratch.as_deref().filter(|scratch| path.starts_with(scratch)) {
        return Some(tree(scratch, &Origin::Scratch));
    }
    if let Some(cache) = config.cache.as_deref().filter(|cache| path.starts_with(cache)) {
        return Some(tree(cache, &Origin::BuiltIn));
    }
    if kind == Kind::Socket {
        let grant = config
            .policy
            .sockets
            .iter()
            .find(|grant| path.starts_with(&grant.path))?;
        return Some(granted("socket", grant.path.display(), &grant.origin));
    }
    let grant = config.policy.granting(file_access(kind)?, path)?;
    Some(match grant.path == path {
        true => granted("path", path.display(), &grant.origin),
        false => tree(&grant.path, &grant.origin),
    })
}

fn granted(what: &str, name: impl Display, origin: &Origin) -> String {
    with_origin(&format!("granted {what} `{name}`"), &origin.to_string())
}

fn file_access(kind: Kind) -> Option<Access> {
    match kind {
        Kind::Read => Some(Access::READ),
        Kind::Write | Kind::Create | Kind::Metadata => Some(Access::WRITE),
        Kind::Delete => Some(Access::DELETE),
        Kind::Execute => Some(Access::EXECUTE),
        _ => None,
    }
}

/// The same for an access to the network, described as its refusal would be.
pub fn of_network(policy: &Policy, access: &Refusal) -> Option<String> {
    if access.kind == Kind::Listen {
        let Some(Endpoint::Address(address)) = endpoint_of(access) else {
            return None;
        };
        let grant = policy.listen.iter().find(|grant| grant.port == address.port());
        return grant.map(|grant| with_origin(&format!("granted port {}", grant.port), &grant.origin.to_string()));
    }
    if policy.reach == NetworkPolicy::Everything {
        return Some("every host is granted".to_string());
    }
    let grant = match endpoint_of(access)? {
        Endpoint::Name(name, port) => policy.reach.granting_name(&name, port),
        Endpoint::Address(address) => policy.reach.granting_address(address.ip(), address.port()),
    }?;
    Some(granted("host", &grant.pattern, &grant.origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{HostGrant, ListenGrant, SocketGrant};
    use crate::supervise::testing::{grant, policy, refusal, run_config};

    fn flag() -> Origin {
        Origin::Flag("--flag".into())
    }

    #[test]
    fn a_path_is_granted_by_itself_or_by_the_tree_around_it() {
        let mut config = run_config(policy(vec![grant(Access::WRITING, "/w")]));
        config.scratch = Some("/s".into());
        let run = RunPolicy::new(config);
        let named = |kind, path: &str| of_path(&run, kind, Path::new(path)).unwrap_or_default();
        assert!(named(Kind::Read, "/w/a").starts_with("granted tree `/w`"));
        assert!(named(Kind::Create, "/w").starts_with("granted path `/w`"));
        assert!(named(Kind::Delete, "/s/a").starts_with("granted tree `/s`"));
        assert_eq!(named(Kind::Execute, "/w/a"), "");
        assert_eq!(named(Kind::Signal, "/w/a"), "");
    }

    #[test]
    fn a_socket_is_granted_as_one_and_not_by_a_tree_of_files() {
        let mut sockets = policy(vec![grant(Access::WRITING, "/w")]);
        sockets.sockets = vec![SocketGrant {
            path: "/run/s".into(),
            origin: flag(),
        }];
        let run = RunPolicy::new(run_config(sockets));
        assert!(
            of_path(&run, Kind::Socket, Path::new("/run/s"))
                .unwrap()
                .contains("socket `/run/s`")
        );
        assert_eq!(of_path(&run, Kind::Socket, Path::new("/w/s")), None);
    }

    #[test]
    fn hosts_and_ports_are_named_by_their_grants() {
        let mut network = policy(Vec::new());
        network.reach = NetworkPolicy::Hosts(vec![HostGrant {
            pattern: "*.example.com".parse().unwrap(),
            origin: flag(),
        }]);
        network.listen = vec![ListenGrant {
            port: 8080,
            origin: flag(),
        }];
        let named = |kind, target: &str| of_network(&network, &refusal(kind, target));
        assert!(
            named(Kind::Connect, "api.example.com:443")
                .unwrap()
                .contains("host `*.example.com`")
        );
        assert!(named(Kind::Listen, "127.0.0.1:8080").unwrap().contains("port 8080"));
        assert_eq!(named(Kind::Connect, "other.example.org:443"), None);
        assert_eq!(named(Kind::Listen, "127.0.0.1:8081"), None);
    }
}
