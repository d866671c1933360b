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
