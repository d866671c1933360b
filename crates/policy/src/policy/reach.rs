//! The network policy: the names and addresses that are open, on which ports, and the protocol checks there.

use std::collections::BTreeSet;
use std::net::IpAddr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::addresses::{AddressKind, kind_of};
use crate::profile::{Host, HostPattern, Name, Origin, Rule, is_localhost};

/// The hosts that a run may connect to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetworkPolicy {
    /// None, not even a socket.
    Nothing,
    /// These. An empty list allows sockets but no host; ports that the run listens on may be reached.
    Hosts(Vec<HostGrant>),
    /// All, except the addresses where clouds hand out credentials.
    Everything,
}

/// Hosts that the run may connect to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostGrant {
    /// The hosts and ports.
    pub pattern: HostPattern,
    /// The grant's origin.
    pub origin: Origin,
}

impl HostGrant {
    /// The grant of a rule.
    pub(super) fn of(rule: &Rule<HostPattern>) -> HostGrant {
        HostGrant {
            pattern: rule.value.clone(),
            origin: rule.origin.clone(),
        }
    }
}

/// A port of the loopback interface that the run may listen on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListenGrant {
    /// The port; 0 for one that the kernel chooses.
    pub port: u16,
    /// The grant's origin.
    pub origin: Origin,
}

/// The protocols allowed on a granted connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProtocolCheck {
    /// Web protocols only, where every request has to name a granted host.
    Checked,
    /// Any protocol.
    Anything,
}

impl NetworkPolicy {
    /// Whether a name is granted at all, on any port (for the resolver).
    pub fn knows(&self, name: &Name) -> bool {
        match self {
            NetworkPolicy::Nothing => false,
            NetworkPolicy::Hosts(grants) => grants.iter().any(|grant| grant.pattern.host.has_name(name)),
            NetworkPolicy::Everything => true,
        }
    }

    /// Returns the check for connections to a name on a port, `None` if they are refused. Any protocol is allowed where
    /// any matching grant names the port.
    pub fn name(&self, name: &Name, port: u16) -> Option<ProtocolCheck> {
        match self {
            NetworkPolicy::Nothing => None,
            NetworkPolicy::Hosts(grants) => {
                let matching = grants
                    .iter()
                    .map(|grant| &grant.pattern)
                    .filter(|pattern| pattern.host.has_name(name) && pattern.ports.contain(port));
                matching.map(protocol_check).max()
            }
            NetworkPolicy::Everything => Some(ProtocolCheck::Anything),
        }
    }

    /// Whether an address may be reached on a port as an address. An IPv4-mapped one is its IPv4 address. An address
    /// where clouds hand out credentials is open only if exactly that address is granted.
    pub fn address(&self, address: IpAddr, port: u16) -> bool {
        let address = address.to_canonical();
        match self {
            NetworkPolicy::Nothing => false,
            NetworkPolicy::Hosts(grants) => {
                let mut patterns = grants.iter().map(|grant| &grant.pattern);
                patterns.any(|pattern| pattern.ports.contain(port) && has_address(&pattern.host, address))
            }
            NetworkPolicy::Everything => kind_of(address) != AddressKind::Credentials,
        }
    }

    /// The first grant of a name, on a port where one is given; `None` where none names it.
    pub fn granting_name(&self, name: &Name, port: Option<u16>) -> Option<&HostGrant> {
        let NetworkPolicy::Hosts(grants) = self else {
            return None;
        };
        let has_port = |grant: &HostGrant| port.is_none_or(|port| grant.pattern.ports.contain(port));
        grants
            .iter()
            .find(|grant| grant.pattern.host.has_name(name) && has_port(grant))
    }

    /// The first grant of an address on a port; `None` where none names it.
    pub fn granting_address(&self, address: IpAddr, port: u16) -> Option<&HostGrant> {
        let NetworkPolicy::Hosts(grants) = self else {
            return None;
        };
        let address = address.to_canonical();
        grants
            .iter()
            .find(|grant| grant.pattern.ports.contain(port) && has_address(&grant.pattern.host, address))
    }

    /// Whether any names are granted, not only addresses.
    pub fn has_names(&self) -> bool {
        let is_address = |grant: &HostGrant| matches!(grant.pattern.host, Host::Network(_) | Host::Localhost);
        match self {
            NetworkPolicy::Nothing => false,
            NetworkPolicy::Hosts(grants) => !grants.iter().all(is_address),
            NetworkPolicy::Everything => true,
        }
    }

    /// The exact names, each once, for the hosts file.
    pub fn exact_names(&self) -> impl Iterator<Item = &Name> {
        let grants: &[HostGrant] = match self {
            NetworkPolicy::Hosts(grants) => grants,
            NetworkPolicy::Nothing | NetworkPolicy::Everything => &[],
        };
        let names: BTreeSet<&Name> = grants
            .iter()
            .filter_map(|grant| match &grant.pattern.host {
                Host::Exact(name) => Some(name),
                _ => None,
            })
            .collect();
        names.into_iter()
    }

    /// Whether everything that a grant of the pattern would open is open.
    pub(super) fn contains(&self, pattern: &HostPattern) -> bool {
        match self {
            NetworkPolicy::Nothing => false,
            NetworkPolicy::Hosts(grants) => grants.iter().any(|grant| grant.pattern.contains(pattern)),
            NetworkPolicy::Everything => !is_credentials(&pattern.host),
        }
    }

    /// The intersection of both, with the origins of `self`.
    pub(super) fn meet(&self, other: &NetworkPolicy) -> NetworkPolicy {
        match (self, other) {
            (NetworkPolicy::Nothing, _) | (_, NetworkPolicy::Nothing) => NetworkPolicy::Nothing,
            (NetworkPolicy::Everything, NetworkPolicy::Everything) => NetworkPolicy::Everything,
            (NetworkPolicy::Everything, NetworkPolicy::Hosts(grants))
            | (NetworkPolicy::Hosts(grants), NetworkPolicy::Everything) => {
                let open = grants.iter().filter(|grant| !is_credentials(&grant.pattern.host));
                NetworkPolicy::Hosts(open.cloned().collect())
            }
            (NetworkPolicy::Hosts(ours), NetworkPolicy::Hosts(theirs)) => {
                NetworkPolicy::Hosts(meet_grants(ours, theirs))
            }
        }
    }
}

impl HostPattern {
    /// Whether a grant of one pattern allows at least what a grant of the other does.
    pub fn contains(&self, other: &HostPattern) -> bool {
        self.meet(other).as_ref() == Some(other)
    }

    /// The intersection of both patterns.
    pub fn meet(&self, other: &HostPattern) -> Option<HostPattern> {
        Some(HostPattern {
            host: meet_hosts(&self.host, &other.host)?,
            ports: self.ports.meet(&other.ports)?,
        })
    }
}

fn protocol_check(pattern: &HostPattern) -> ProtocolCheck {
    if pattern.ports.are_named() {
        ProtocolCheck::Anything
    } else {
        ProtocolCheck::Checked
    }
}

fn has_address(host: &Host, address: IpAddr) -> bool {
    match host {
        Host::Network(network) => {
            network.contains(&address) && (is_single(network) || kind_of(address) != AddressKind::Credentials)
        }
        Host::Localhost => is_localhost(address),
        _ => false,
    }
}

fn is_single(network: &IpNet) -> bool {
    network.prefix_len() == network.max_prefix_len()
}

/// Whether this is the one address where a cloud hands out credentials.
fn is_credentials(host: &Host) -> bool {
    matches!(host, Host::Network(network) if is_single(network) && kind_of(network.addr()) == AddressKind::Credentials)
}

/// Every pair of grants that intersect. A list allows the most that one of its grants allows, so two lists together
/// allow what the best of the pairs does.
fn meet_grants(ours: &[HostGrant], theirs: &[HostGrant]) -> Vec<HostGrant> {
    let mut grants: Vec<HostGrant> = Vec::new();
    for our in ours {
        for their in theirs {
            let Some(pattern) = our.pattern.meet(&their.pattern) else {
                continue;
            };
            if grants.iter().all(|grant| grant.pattern != pattern) {
                grants.push(HostGrant {
                    pattern,
                    origin: our.origin.clone(),
                });
            }
        }
    }
    grants
}

fn meet_hosts(a: &Host, b: &Host) -> Option<Host> {
    match (a, b) {
        (Host::Localhost, Host::Localhost) => Some(Host::Localhost),
        (Host::Network(network), Host::Localhost) | (Host::Localhost, Host::Network(network)) => {
            let local = [
                IpAddr::from(std::net::Ipv4Addr::LOCALHOST),
                IpAddr::from(std::net::Ipv6Addr::LOCALHOST),
            ];
            let inside = local.into_iter().find(|address| network.contains(address));
            inside.map(|address| Host::Network(address.into()))
        }
        (Host::Network(a), Host::Network(b)) => meet_networks(a, b).map(Host::Network),
        (Host::Exact(name), other) | (other, Host::Exact(name)) => {
            other.has_name(name).then(|| Host::Exact(name.clone()))
        }
        _ => meet_wildcards(a, b),
    }
}

/// The smaller of two ranges, where the other contains it. A range never opens the credentials' addresses, so its
/// intersection with such an address is empty.
fn meet_networks(a: &IpNet, b: &IpNet) -> Option<IpNet> {
    let smaller = match (a.contains(b), b.contains(a)) {
        (true, _) => b,
        (_, true) => a,
        (false, false) => return None,
    };
    let is_void = a != b && is_credentials(&Host::Network(*smaller));
    (!is_void).then_some(*smaller)
}

/// A wildcard has a prefix, a suffix, both or neither; two of them intersect where both prefixes and both suffixes do.
fn meet_wildcards(a: &Host, b: &Host) -> Option<Host> {
    let ((a_labels, a_domain), (b_labels, b_domain)) = (ends(a)?, ends(b)?);
    let labels = longer(a_labels, b_labels, |long, short| {
        long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'))
    })?;
    let domain = longer(a_domain, b_domain, |long, short| long.is_below(short))?;
    Some(match (labels.cloned(), domain.cloned()) {
        (None, None) => Host::Any,
        (None, Some(domain)) => Host::Subdomains(domain),
        (Some(labels), None) => Host::Prefix(labels),
        (Some(labels), Some(domain)) => Host::Both(labels, domain),
    })
}

/// The prefix and the suffix of a wildcard; `None` for other hosts.
fn ends(host: &Host) -> Option<(Option<&String>, Option<&Name>)> {
    match host {
        Host::Any => Some((None, None)),
        Host::Subdomains(domain) => Some((None, Some(domain))),
        Host::Prefix(labels) => Some((Some(labels), None)),
        Host::Both(labels, domain) => Some((Some(labels), Some(domain))),
        Host::Exact(_) | Host::Network(_) | Host::Localhost => None,
    }
}

/// The longer of two where one extends the other; `None` where they conflict.
fn longer<'a, T: PartialEq>(
    a: Option<&'a T>,
    b: Option<&'a T>,
    goes_on: impl Fn(&T, &T) -> bool,
) -> Option<Option<&'a T>> {
    match (a, b) {
        (Some(a), Some(b)) if a == b || goes_on(a, b) => Some(Some(a)),
        (Some(a), Some(b)) if goes_on(b, a) => Some(Some(b)),
        (Some(_), Some(_)) => None,
        (one, other) => Some(one.or(other)),
    }
}
