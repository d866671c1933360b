//! The policy's decision on an attempt that a profile's test names.

use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use stockade_policy::policy::{Access, AccessDecision, HostGrant, Matcher, NetworkPolicy, Policy, is_powerful_socket};
use stockade_policy::profile::{Attempt, Deed, Host, Origin};
use stockade_policy::real_path::real_path;

/// A decision of the policy.
pub struct Foreseen {
    /// Whether it allows the attempt.
    pub is_allowed: bool,
    /// The deciding rule, as the end of "because of …"; `None` if no rule applies.
    pub rule: Option<Origin>,
}

impl Foreseen {
    fn by(is_allowed: bool, rule: &Origin) -> Foreseen {
        Foreseen {
            is_allowed,
            rule: Some(rule.clone()),
        }
    }

    fn without_rule(is_allowed: bool) -> Foreseen {
        Foreseen { is_allowed, rule: None }
    }
}

/// Decides an attempt whose path, if it has one, is `path`; `value` is the value of a variable.
pub fn foresee(policy: &Policy, attempt: &Attempt, path: &Path, value: &str) -> Foreseen {
    match attempt {
        Attempt::Path(Deed::Socket, _) => socket(policy, &real_path(path)),
        Attempt::Path(deed, _) => file(policy, access(*deed), &real_path(path)),
        Attempt::Connect(host, port) => connect(policy, host, *port),
        Attempt::Listen(port) => match policy.listen.iter().find(|grant| grant.port == *port) {
            Some(grant) => Foreseen::by(true, &grant.origin),
            None => Foreseen::without_rule(policy.reach == NetworkPolicy::Everything),
        },
        Attempt::Variable(name) => {
            let found = policy.environment.get(OsStr::new(name));
            Foreseen::without_rule(found.is_some_and(|found| found == value))
        }
    }
}

fn access(deed: Deed) -> Access {
    match deed {
        Deed::Read | Deed::Socket => Access::READ,
        Deed::Write | Deed::Create | Deed::Delete => Access::WRITE,
        Deed::Execute => Access::EXECUTE,
    }
}

fn file(policy: &Policy, access: Access, path: &Path) -> Foreseen {
    match Matcher::new(policy).decide(access, path) {
        AccessDecision::Allow(grant) => Foreseen::by(true, &grant.origin),
        AccessDecision::Denied(denial) => Foreseen::by(false, &denial.origin),
        AccessDecision::NotGranted => Foreseen::without_rule(false),
    }
}

/// Decides as the supervisor does: a socket is allowed if it or its directory is named and it has no special power.
fn socket(policy: &Policy, path: &Path) -> Foreseen {
    if let Some(grant) = policy.sockets.iter().find(|grant| grant.path == path) {
        return Foreseen::by(true, &grant.origin);
    }
    if let Some(denial) = Matcher::new(policy).denial(Access::READ, path, false) {
        return Foreseen::by(false, &denial.origin);
    }
    let mut around = policy.sockets.iter().filter(|grant| path.starts_with(&grant.path));
    match around.next().filter(|_| !is_powerful_socket(path)) {
        Some(grant) => Foreseen::by(true, &grant.origin),
        None => Foreseen::without_rule(false),
    }
}

fn connect(policy: &Policy, host: &Host, port: u16) -> Foreseen {
    let is_open = |reach: &NetworkPolicy| match host {
        Host::Exact(name) => reach.name(name, port).is_some(),
        Host::Network(network) => reach.address(network.addr(), port),
        _ => reach.address(IpAddr::from(Ipv4Addr::LOCALHOST), port),
    };
    let grants: &[HostGrant] = match &policy.reach {
        NetworkPolicy::Hosts(grants) => grants,
        NetworkPolicy::Nothing | NetworkPolicy::Everything => &[],
    };
    let opening = grants
        .iter()
        .find(|grant| is_open(&NetworkPolicy::Hosts(vec![(*grant).clone()])));
    match opening {
        Some(grant) => Foreseen::by(true, &grant.origin),
        None => Foreseen::without_rule(is_open(&policy.reach)),
    }
}
