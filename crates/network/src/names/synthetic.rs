//! Synthetic addresses that stand for names inside one run. They aren't routed: a connect to one is looked up here, and
//! only the resulting name is ever judged or resolved outside.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Mutex;

use crate::mutex::lock;
use crate::profile::Name;

/// The address of the run's nameserver, which no name ever gets.
pub const NAMESERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// 198.18.0.0/15: for benchmarks between test networks (RFC 2544), so no real host has such an address.
const V4_NETWORK: u32 = u32::from_be_bytes([198, 18, 0, 0]);
const V4_HOST_BITS: u32 = 17;

/// A unique local prefix (RFC 4193), the same for every run so that its addresses can be recognised.
const V6_NETWORK: u128 = 0xfd73_746f_636b_u128 << V6_HOST_BITS;
const V6_HOST_BITS: u32 = 80;

/// The first name gets 198.18.1.0: the addresses below are for services such as the nameserver.
const FIRST_HOST: u32 = 256;

/// Limits the memory that a run can take with ever new names; with this many, `FIRST_HOST` added,
/// the IPv4 range is far from used up.
const MAX_NAMES: usize = 16_384;

/// The names of one run and their addresses. Allotments are permanent: programs keep addresses as long as they like.
#[derive(Debug, Default)]
pub struct Synthetic {
    allotted: Mutex<Allotted>,
}

#[derive(Debug, Default)]
struct Allotted {
    names: Vec<Name>,
    hosts: HashMap<Name, u32>,
}

impl Synthetic {
    /// An empty map.
    pub fn new() -> Synthetic {
        Synthetic::default()
    }

    /// A name's two addresses, allotted at its first lookup. `None` if there are too many names.
    pub fn addresses(&self, name: &Name) -> Option<(Ipv4Addr, Ipv6Addr)> {
        let mut allotted = lock(&self.allotted);
        let host = match allotted.hosts.get(name) {
            Some(host) => *host,
            None => allotted.allot(name)?,
        };
        let v4 = Ipv4Addr::from_bits(V4_NETWORK | host);
        let v6 = Ipv6Addr::from_bits(V6_NETWORK | u128::from(host));
        Some((v4, v6))
    }

    /// The name that an address was allotted to.
    pub fn name(&self, address: IpAddr) -> Option<Name> {
        let index = host_of(address)?.checked_sub(u128::from(FIRST_HOST))?;
        let allotted = lock(&self.allotted);
        allotted.names.get(usize::try_from(index).ok()?).cloned()
    }

    /// Whether an address is in the synthetic ranges, allotted or not. An IPv4-mapped one counts as its IPv4 address.
    pub fn is_synthetic(address: IpAddr) -> bool {
        host_of(address).is_some()
    }
}

impl Allotted {
    fn allot(&mut self, name: &Name) -> Option<u32> {
        if self.names.len() >= MAX_NAMES {
            return None;
        }
        let host = FIRST_HOST + u32::try_from(self.names.len()).ok()?;
        self.names.push(name.clone());
        self.hosts.insert(name.clone(), host);
        Some(host)
    }
}

/// The host part of a synthetic address.
fn host_of(address: IpAddr) -> Option<u128> {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let host = address.to_bits() ^ V4_NETWORK;
            (host >> V4_HOST_BITS == 0).then_some(u128::from(host))
        }
        IpAddr::V6(address) => {
            let host = address.to_bits() ^ V6_NETWORK;
            (host >> V6_HOST_BITS == 0).then_some(host)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn a_name_keeps_its_addresses_and_they_lead_back_to_it() {
        let synthetic = Synthetic::new();
        let first = synthetic.addresses(&named("api.example.com")).unwrap();
        let second = synthetic.addresses(&named("b.example.com")).unwrap();
        assert_eq!(first.0, Ipv4Addr::new(198, 18, 1, 0));
        assert_eq!(first.1.to_string(), "fd73:746f:636b::100");
        assert_ne!(first.0, second.0);
        assert_eq!(synthetic.addresses(&named("API.example.com.")), Some(first));
        let forms = [first.0.into(), first.1.into(), first.0.to_ipv6_mapped().into()];
        for address in forms {
            assert_eq!(synthetic.name(address), Some(named("api.example.com")), "{address}");
        }
    }

    #[test]
    fn addresses_without_a_holder_lead_nowhere() {
        let synthetic = Synthetic::new();
        synthetic.addresses(&named("a.example")).unwrap();
        let nowhere = [
            "198.18.0.1",
            "198.18.0.255",
            "198.18.1.1",
            "198.19.255.255",
            "fd73:746f:636b::1",
        ];
        let huge = [
            "fd73:746f:636b:1::100",
            "fd73:746f:636b:ffff:ffff:ffff:ffff:ffff",
            "0.0.1.0",
            "::100",
        ];
        for address in nowhere.iter().chain(&huge) {
            assert_eq!(synthetic.name(address.parse().unwrap()), None, "{address}");
        }
    }

    #[test]
    fn the_ranges_end_where_they_end() {
        let ours = [
            "198.18.0.0",
            "198.19.255.255",
            "::ffff:198.18.0.1",
            "fd73:746f:636b::",
            "fd73:746f:636b:ffff::1",
        ];
        let others = [
            "198.17.255.255",
            "198.20.0.0",
            "::198.18.0.1",
            "fd73:746f:636c::",
            "fd73:746f:636a:ffff::",
        ];
        assert!(
            ours.iter()
                .all(|address| Synthetic::is_synthetic(address.parse().unwrap()))
        );
        assert!(
            !others
                .iter()
                .any(|address| Synthetic::is_synthetic(address.parse().unwrap()))
        );
    }

    #[test]
    fn names_beyond_the_limit_get_nothing_and_the_others_keep_theirs() {
        let synthetic = Synthetic::new();
        for number in 0..MAX_NAMES {
            let (v4, v6) = synthetic.addresses(&named(&format!("n{number}.example"))).unwrap();
            assert!(v4 != NAMESERVER && Synthetic::is_synthetic(v4.into()) && Synthetic::is_synthetic(v6.into()));
        }
        assert_eq!(synthetic.addresses(&named("one-more.example")), None);
        let (last, _) = synthetic.addresses(&named("n16383.example")).unwrap();
        assert_eq!(last, Ipv4Addr::new(198, 18, 64, 255));
    }
}
