//! The machine's resolver configuration: its nameservers and the names that it lists itself. This module only parses
//! the texts; `source` reads the files.

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::time::Duration;

use resolv_conf::{Config, ScopedIp};

use crate::profile::Name;

/// The port of DNS, RFC 1035, section 4.2.
pub(super) const PORT: u16 = 53;

/// glibc's limits (`MAXNS`, `RES_MAXNDOTS`, `RES_MAXRETRANS`, `RES_MAXRETRY`, resolv.conf(5)).
const MAX_NAMESERVERS: usize = 3;
const MAX_DOTS: u32 = 15;
const MAX_TIMEOUT_SECONDS: u32 = 30;
const MAX_ATTEMPTS: u32 = 5;

/// The addresses of `localhost` and all names below it, whatever any file says (RFC 6761, section 6.3).
const LOCALHOST: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// The transport of queries to a nameserver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carrier {
    /// UDP, and TCP if an answer doesn't fit.
    Datagrams,
    /// TCP alone, if the machine sets `options use-vc`.
    Streams,
}

/// The machine's resolver configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The nameservers, at least one, in the order of queries.
    pub(super) nameservers: Vec<SocketAddr>,
    pub(super) carrier: Carrier,
    /// The time for one nameserver's answer, and the number of times each is asked.
    pub(super) timeout: Duration,
    pub(super) attempts: u32,
    /// False if the machine sets `options no-aaaa`.
    pub(super) wants_ipv6: bool,
    /// The domains that programs append to names with fewer dots than `ndots`.
    pub(super) search: Vec<String>,
    pub(super) ndots: u32,
    hosts: HashMap<Name, Vec<IpAddr>>,
}

impl Machine {
    /// Parses resolv.conf(5) and hosts(5) as glibc does: parts that can't be parsed are ignored.
    pub fn parse(resolv_conf: &str, hosts: &str) -> Machine {
        let (config, _unreadable) = Config::parse_with_errors(resolv_conf.as_bytes());
        Machine {
            nameservers: nameservers(&config),
            carrier: if config.use_vc {
                Carrier::Streams
            } else {
                Carrier::Datagrams
            },
            timeout: Duration::from_secs(config.timeout.clamp(1, MAX_TIMEOUT_SECONDS).into()),
            attempts: config.attempts.clamp(1, MAX_ATTEMPTS),
            wants_ipv6: !config.no_aaaa,
            search: config
                .get_last_search_or_domain()
                .filter(|domain| is_plain(domain))
                .cloned()
                .collect(),
            ndots: config.ndots.min(MAX_DOTS),
            hosts: listed(hosts),
        }
    }

    /// The same configuration with one given nameserver.
    pub(super) fn asking(mut self, nameserver: SocketAddr) -> Machine {
        self.nameservers = vec![nameserver];
        self.carrier = Carrier::Datagrams;
        self
    }

    /// The addresses of a name that needs no query. Never an empty list.
    pub(super) fn listed(&self, name: &Name) -> Option<&[IpAddr]> {
        if name.as_str() == "localhost" || name.as_str().ends_with(".localhost") {
            return Some(&LOCALHOST);
        }
        self.hosts.get(name).map(Vec::as_slice)
    }
}

/// The first few, as in glibc; the local machine if there is none (resolv.conf(5)).
fn nameservers(config: &Config) -> Vec<SocketAddr> {
    let named = config.nameservers.iter().filter_map(nameserver);
    let mut nameservers: Vec<SocketAddr> = named.take(MAX_NAMESERVERS).collect();
    if nameservers.is_empty() {
        nameservers.push(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)));
    }
    nameservers
}

fn nameserver(address: &ScopedIp) -> Option<SocketAddr> {
    match address {
        ScopedIp::V4(address) => Some(SocketAddr::from((*address, PORT))),
        ScopedIp::V6(address, None) => Some(SocketAddr::from((*address, PORT))),
        ScopedIp::V6(address, Some(scope)) => Some(SocketAddrV6::new(*address, PORT, 0, interface(scope)?).into()),
    }
}

/// An interface's index, from the number or the name after `%`.
fn interface(scope: &str) -> Option<u32> {
    if scope.contains('/') {
        return None;
    }
    scope.parse().ok().or_else(|| {
        let index = fs::read_to_string(format!("/sys/class/net/{scope}/ifindex")).ok()?;
        index.trim_end().parse().ok()
    })
}

/// Whether a domain can be copied into another resolv.conf(5) without changing its meaning there.
fn is_plain(domain: &str) -> bool {
    domain.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Parses hosts(5): an address and its names on each line. A name's addresses accumulate over lines. Scoped addresses
/// can't be told apart from unscoped ones and are left out.
fn listed(hosts: &str) -> HashMap<Name, Vec<IpAddr>> {
    let mut listed: HashMap<Name, Vec<IpAddr>> = HashMap::new();
    for line in hosts.lines() {
        let text = line.split('#').next().unwrap_or_default();
        let mut words = text.split_whitespace();
        let Some(address) = words.next().and_then(|word| word.parse::<IpAddr>().ok()) else {
            continue;
        };
        let address = address.to_canonical();
        for name in words.filter_map(|word| Name::from_wire(word.as_bytes())) {
            let addresses = listed.entry(name).or_default();
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(machine: &Machine, name: &str) -> Option<Vec<String>> {
        let listed = machine.listed(&Name::parse(name).unwrap())?;
        Some(listed.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn resolv_conf_is_read_as_written() {
        let text = "# a comment\nnameserver 10.0.0.1\nnameserver fe80::1%7\nnameserver nonsense\nnameserver 10.0.0.3\n\
                    nameserver 10.0.0.4\nsearch corp.example example.org\noptions ndots:5 timeout:2 attempts:3 use-vc\n\
                    options no-aaaa what:ever\nfamily\n";
        let machine = Machine::parse(text, "");
        let nameservers: Vec<String> = machine.nameservers.iter().map(ToString::to_string).collect();
        assert_eq!(nameservers, ["10.0.0.1:53", "[fe80::1%7]:53", "10.0.0.3:53"]);
        assert_eq!(machine.search, ["corp.example", "example.org"]);
        assert_eq!(
            (machine.ndots, machine.timeout, machine.attempts),
            (5, Duration::from_secs(2), 3)
        );
        assert_eq!((machine.carrier, machine.wants_ipv6), (Carrier::Streams, false));
    }

    #[test]
    fn an_empty_resolv_conf_means_the_local_machine_and_the_documented_defaults() {
        let machine = Machine::parse("", "");
        assert_eq!(machine.nameservers, ["127.0.0.1:53".parse().unwrap()]);
        assert_eq!(
            (machine.ndots, machine.timeout, machine.attempts),
            (1, Duration::from_secs(5), 2)
        );
        assert_eq!((machine.carrier, machine.wants_ipv6), (Carrier::Datagrams, true));
    }

    #[test]
    fn numbers_are_brought_into_bounds() {
        let machine = Machine::parse("options ndots:99 timeout:0 attempts:0", "");
        assert_eq!(
            (machine.ndots, machine.timeout, machine.attempts),
            (15, Duration::from_secs(1), 1)
        );
        let machine = Machine::parse("options timeout:4000000000 attempts:1000", "");
        assert_eq!((machine.timeout, machine.attempts), (Duration::from_secs(30), 5));
    }

    #[test]
    fn the_last_of_domain_and_search_counts() {
        assert_eq!(
            Machine::parse("search a.example\ndomain b.example", "").search,
            ["b.example"]
        );
        assert_eq!(
            Machine::parse("domain b.example\nsearch a.example \u{1}x", "").search,
            ["a.example"]
        );
    }

    #[test]
    fn an_interface_is_found_by_its_name() {
        assert_eq!(interface("lo"), Some(1));
        assert_eq!(interface("../../etc"), None);
        assert_eq!(interface("no-such-interface"), None);
    }

    #[test]
    fn hosts_lines_list_several_names_and_add_up() {
        let hosts = "127.0.0.1 localhost\n10.0.0.5\tDB.internal db  db # not-this\n#10.9.9.9 off\n::5 db\nnonsense x\n\
                     fe80::1%eth0 scoped\n::ffff:10.0.0.6 mapped\n10.0.0.7\n10.0.0.5 db\n10.0.0.8 b\u{fc}ro 1.2.3.4";
        let machine = Machine::parse("", hosts);
        assert_eq!(addresses(&machine, "db.internal"), Some(vec!["10.0.0.5".into()]));
        assert_eq!(addresses(&machine, "db"), Some(vec!["10.0.0.5".into(), "::5".into()]));
        assert_eq!(addresses(&machine, "mapped"), Some(vec!["10.0.0.6".into()]));
        for name in ["not-this", "off", "x", "scoped", "example.com"] {
            assert_eq!(addresses(&machine, name), None, "{name}");
        }
    }

    #[test]
    fn localhost_is_the_local_machine_whatever_the_file_says() {
        let machine = Machine::parse("", "10.0.0.5 localhost app.localhost notlocalhost");
        let loopback = Some(vec!["127.0.0.1".to_string(), "::1".to_string()]);
        assert_eq!(addresses(&machine, "localhost"), loopback);
        assert_eq!(addresses(&machine, "app.localhost"), loopback);
        assert_eq!(addresses(&machine, "notlocalhost"), Some(vec!["10.0.0.5".into()]));
    }
}
