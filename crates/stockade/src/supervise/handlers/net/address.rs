//! Internet addresses as calls give them, and the errors for those that nothing grants.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::report::Reason;
use crate::supervise::call::errno::Errno;
use crate::supervise::judge::policy::CLOSED;
use stockade_sys::socket;

/// The errno for a refused peer, as from a firewall rule (connect(2)).
pub const REFUSED: Errno = CLOSED;

/// Parses an address into its canonical form.
pub fn parse(bytes: &[u8]) -> Result<SocketAddr, Errno> {
    socket::address(bytes)
        .map(canonical)
        .ok_or_else(|| wrong_address(bytes))
}

/// The kernel's error for an address that is too short, or of another family.
pub fn wrong_address(bytes: &[u8]) -> Errno {
    let family = bytes.get(..2).map(|family| u16::from_ne_bytes([family[0], family[1]]));
    match family.map(i32::from) {
        Some(libc::AF_INET | libc::AF_INET6) | None => Errno(libc::EINVAL),
        Some(_) => Errno(libc::EAFNOSUPPORT),
    }
}

/// The address that is meant: IPv4 if it is mapped, loopback if it is unspecified.
pub fn canonical(given: SocketAddr) -> SocketAddr {
    let ip = match given.ip().to_canonical() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, given.port())
}

/// The judged address for the kernel, which would turn an unspecified one into the address that the socket has been
/// bound to.
pub fn judged(given: SocketAddr, address: SocketAddr, domain: i32) -> SocketAddr {
    if given.ip().to_canonical() == address.ip() {
        given
    } else {
        socket::for_domain(address, domain)
    }
}

pub fn loopback_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

/// Why a port isn't granted. A run has no capability, so no grant opens a port that needs one (`ip_unprivileged_port_start`
/// of the kernel's ip-sysctl.rst).
pub fn why_not_granted(port: u16) -> Reason {
    let first = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    let first: Option<u16> = first.ok().and_then(|text| text.trim().parse().ok());
    match first.is_some_and(|first| (1..first).contains(&port)) {
        true => kept_port(),
        false => Reason::NotGranted,
    }
}

pub fn kept_port() -> Reason {
    Reason::Never("the kernel keeps the lowest ports for the administrator".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_mapped_address_is_its_ipv4_one_and_an_unspecified_one_is_loopback() {
        for (given, meant) in [
            ("[::ffff:192.0.2.1]:80", "192.0.2.1:80"),
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("[::ffff:0.0.0.0]:80", "127.0.0.1:80"),
            ("[2001:db8::1]:80", "[2001:db8::1]:80"),
        ] {
            assert_eq!(canonical(address(given)), address(meant), "{given}");
        }
    }

    #[test]
    fn the_kernel_gets_the_judged_address_where_the_given_one_was_unspecified() {
        let judged_as = |given: &str, domain| judged(address(given), canonical(address(given)), domain);
        assert_eq!(judged_as("0.0.0.0:80", libc::AF_INET), address("127.0.0.1:80"));
        assert_eq!(judged_as("[::]:80", libc::AF_INET6), address("[::1]:80"));
        let mapped = "[::ffff:192.0.2.1]:80";
        assert_eq!(judged_as(mapped, libc::AF_INET6), address(mapped));
    }

    #[test]
    fn an_address_of_another_family_or_too_short_a_one_has_the_kernels_error() {
        let family = |number: i32| u16::try_from(number).unwrap().to_ne_bytes();
        assert_eq!(parse(&family(libc::AF_INET)), Err(Errno(libc::EINVAL)));
        assert_eq!(parse(&family(libc::AF_NETLINK)), Err(Errno(libc::EAFNOSUPPORT)));
        assert_eq!(parse(b""), Err(Errno(libc::EINVAL)));
    }

    #[test]
    fn loopback_is_that_of_the_same_family() {
        assert_eq!(loopback_of(address("192.0.2.1:1").ip()), address("127.0.0.1:1").ip());
        assert_eq!(loopback_of(address("[2001:db8::1]:1").ip()), address("[::1]:1").ip());
    }
}
