//! Kinds of addresses: those that a public name never resolves to, and those that hand out credentials.
//!
//! From IANA's special-purpose registries of IPv4 and IPv6 (RFC 6890 and its updates). An IPv4 address embedded in an
//! IPv6 one is where the packet ends up, so it decides the kind.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// A public address on the internet.
    Public,
    /// An address where clouds hand out the machine's credentials to any caller.
    Credentials,
    /// Any other kind, in a word.
    Special(&'static str),
}

/// The metadata services of Azure (also), Oracle (also) and Alibaba. All others are link-local, in many parts of
/// `169.254.0.0/16`, which counts as a whole: a run needs nothing else in it.
const CREDENTIALS_4: [Ipv4Addr; 3] = [
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(100, 100, 100, 200),
];

/// The same over IPv6: Amazon's two, Google's, Oracle's, OpenStack's and Scaleway's.
const CREDENTIALS_6: [Ipv6Addr; 6] = [
    Ipv6Addr::new(0xfd00, 0x00c1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0023),
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    Ipv6Addr::new(0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042),
];

/// IPv4 special ranges: address, prefix length, kind. The first match counts.
const SPECIAL_4: [(Ipv4Addr, u8, &str); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "unspecified"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "reserved"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "reserved"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarking"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(255, 255, 255, 255), 32, "broadcast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
    (Ipv4Addr::new(192, 31, 196, 0), 24, "reserved"),
];

/// IPv6 special ranges, likewise. Other addresses outside of global unicast (`2000::/3`) are reserved, too.
const SPECIAL_6: [(Ipv6Addr, u8, &str); 13] = [
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, "private"),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64, "discarded"),
    // Teredo addresses lead through a server to the host that they embed.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "reserved"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "documentation"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "documentation"),
    (Ipv6Addr::new(0x5f00, 0, 0, 0, 0, 0, 0, 0), 16, "reserved"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "private"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "link-local"),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, "private"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "multicast"),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48, "reserved"),
];

/// Returns the kind of an address.
pub fn kind_of(address: IpAddr) -> AddressKind {
    match address {
        IpAddr::V4(address) => kind_of_4(address),
        IpAddr::V6(address) => kind_of_6(address),
    }
}

fn kind_of_4(address: Ipv4Addr) -> AddressKind {
    if address.is_link_local() || CREDENTIALS_4.contains(&address) {
        return AddressKind::Credentials;
    }
    let bits = u32::from(address);
    let fits = |(network, length, _): &&(Ipv4Addr, u8, &str)| {
        let rest = 32 - u32::from(*length);
        (bits ^ u32::from(*network)).checked_shr(rest).unwrap_or(0) == 0
    };
    special(SPECIAL_4.iter().find(fits).map(|(_, _, word)| *word))
}

fn kind_of_6(address: Ipv6Addr) -> AddressKind {
    if CREDENTIALS_6.contains(&address) {
        return AddressKind::Credentials;
    }
    let bits = u128::from(address);
    let fits = |(network, length, _): &&(Ipv6Addr, u8, &str)| {
        let rest = 128 - u32::from(*length);
        (bits ^ u128::from(*network)).checked_shr(rest).unwrap_or(0) == 0
    };
    let named = SPECIAL_6.iter().find(fits).map(|(_, _, word)| *word);
    if local_nat64(address).is_some_and(|four| kind_of_4(four) == AddressKind::Credentials) {
        return AddressKind::Credentials;
    }
    let inside = four_inside(address).map(kind_of_4);
    match (inside, named) {
        (Some(AddressKind::Credentials), _) => AddressKind::Credentials,
        (_, Some(word)) => AddressKind::Special(word),
        (Some(kind), None) => kind,
        (None, None) if bits >> 125 == 1 => AddressKind::Public,
        (None, None) => AddressKind::Special("reserved"),
    }
}

fn special(word: Option<&'static str>) -> AddressKind {
    word.map_or(AddressKind::Public, AddressKind::Special)
}

/// Returns the IPv4 address inside a mapped (RFC 4291), compatible, translated (RFC 2765), NAT64 (RFC 6052, RFC 8215)
/// or 6to4 (RFC 3056) address.
fn four_inside(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let last = |parts: [u16; 8]| four(parts[6], parts[7]);
    let parts = address.segments();
    match parts {
        [0, 0, 0, 0, 0, 0 | 0xffff, _, _] => Some(last(parts)),
        [0, 0, 0, 0, 0xffff, 0, _, _] => Some(last(parts)),
        [0x64, 0xff9b, 0 | 1, _, _, _, _, _] => Some(last(parts)),
        [0x2002, high, low, ..] => Some(four(high, low)),
        _ => None,
    }
}

/// Returns the IPv4 address behind a local-use NAT64 (RFC 8215) whose prefix has 48 bits (RFC 6052, 2.2).
fn local_nat64(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0x64, 0xff9b, 1, high, middle, low, _, _] => Some(four(high, (middle & 0xff) << 8 | low >> 8)),
        _ => None,
    }
}

fn four(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::AddressKind::{Credentials, Public, Special};
    use super::*;

    fn kind(text: &str) -> AddressKind {
        kind_of(text.parse().unwrap())
    }

    #[test]
    fn addresses_of_the_internet_are_public() {
        for text in [
            "1.1.1.1",
            "93.184.216.34",
            "172.32.0.1",
            "100.128.0.1",
            "198.20.0.1",
            "2606:4700:4700::1111",
            "64:ff9b::1.1.1.1",
            "2002:101:101::1",
            "::ffff:1.1.1.1",
        ] {
            assert_eq!(kind(text), Public, "{text}");
        }
    }

    #[test]
    fn addresses_of_this_machine_and_its_networks_are_not() {
        for (text, word) in [
            ("0.0.0.0", "unspecified"),
            ("0.1.2.3", "unspecified"),
            ("127.0.0.1", "loopback"),
            ("127.255.255.255", "loopback"),
            ("10.0.0.1", "private"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.168.1.1", "private"),
            ("100.64.0.1", "shared"),
            ("198.18.0.1", "benchmarking"),
            ("198.19.255.255", "benchmarking"),
            ("203.0.113.7", "documentation"),
            ("224.0.0.251", "multicast"),
            ("240.0.0.1", "reserved"),
            ("255.255.255.255", "broadcast"),
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("fe80::1", "link-local"),
            ("fd12:3456::1", "private"),
            ("ff02::fb", "multicast"),
            ("2001::1", "reserved"),
            ("2001:db8::1", "documentation"),
            ("4000::1", "reserved"),
        ] {
            assert_eq!(kind(text), Special(word), "{text}");
        }
    }

    #[test]
    fn an_address_inside_another_counts() {
        for text in [
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "2002:7f00:1::",
        ] {
            assert_eq!(kind(text), Special("loopback"), "{text}");
        }
        assert_eq!(kind("64:ff9b::10.0.0.1"), Special("private"));
        assert_eq!(kind("64:ff9b:1::1.1.1.1"), Special("private"));
    }

    #[test]
    fn where_clouds_hand_out_credentials_is_known_in_every_form() {
        for text in [
            "169.254.169.254",
            "169.254.1.1",
            "fd00:c1::a9fe:a9fe",
            "::ffff:169.254.169.254",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::169.254.169.254",
            "64:ff9b:1:a9fe:a9:fe00::",
            "2002:a9fe:a9fe::",
            "::169.254.169.254",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fe80::a9fe:a9fe",
        ] {
            assert_eq!(kind(text), Credentials, "{text}");
        }
    }
}
