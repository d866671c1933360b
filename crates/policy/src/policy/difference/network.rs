//! Compares hosts, ports, unix sockets and models.

use std::path::Path;

use super::{Meaning, Power, PowerKind, power};
use crate::policy::{NetworkPolicy, Policy, is_powerful_socket};
use crate::profile::{Network, Origin};

pub(super) fn compare(narrow: Meaning<'_>, wide: Meaning<'_>, powers: &mut Vec<Power>) {
    let more_models = wide.profile.llm && !narrow.profile.llm;
    if more_models {
        powers.push(power(PowerKind::Llm, "the hosts and keys of `models.toml`", None));
    }
    match (&narrow.policy.reach, &wide.policy.reach) {
        (_, NetworkPolicy::Nothing) | (NetworkPolicy::Everything, NetworkPolicy::Everything) => {}
        (_, NetworkPolicy::Everything) => {
            let origin = match &wide.profile.network {
                Network::All(rule) => Some(&rule.origin),
                _ => None,
            };
            powers.push(power(PowerKind::Network, "every host", origin));
        }
        (reach, NetworkPolicy::Hosts(hosts)) => {
            if *reach == NetworkPolicy::Nothing && hosts.is_empty() && wide.policy.listen.is_empty() {
                powers.push(power(PowerKind::Network, "sockets, and no host", None));
            }
            for grant in hosts {
                let is_said = more_models && matches!(grant.origin, Origin::Models { .. });
                if !is_said && !reach.contains(&grant.pattern) {
                    powers.push(power(PowerKind::Host, grant.pattern.to_string(), Some(&grant.origin)));
                }
            }
        }
    }
    listen(narrow.policy, wide.policy, powers);
    for grant in &wide.policy.sockets {
        if !opens_socket(narrow.policy, &grant.path) {
            let target = grant.path.display().to_string();
            powers.push(power(PowerKind::Socket, target, Some(&grant.origin)));
        }
    }
}

/// A run that may reach every host may listen anywhere, whatever its list says.
fn listen(narrow: &Policy, wide: &Policy, powers: &mut Vec<Power>) {
    if narrow.reach == NetworkPolicy::Everything {
        return;
    }
    for grant in &wide.listen {
        let is_there = narrow.listen.iter().any(|other| other.port == grant.port);
        if !is_there && wide.reach != NetworkPolicy::Everything {
            powers.push(power(PowerKind::Listen, grant.port.to_string(), Some(&grant.origin)));
        }
    }
}

/// A directory opens the sockets in it, except the powerful ones.
fn opens_socket(policy: &Policy, path: &Path) -> bool {
    policy.sockets.iter().any(|grant| grant.path == path)
        || !is_powerful_socket(path) && policy.sockets.iter().any(|grant| path.starts_with(&grant.path))
}
