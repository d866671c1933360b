//! The targets of connections, listeners and lookups, and the minimal grant for each.
//!
//! The target chooses the name. Only a name that a flag would parse as this very host ever appears in a grant.

use std::net::SocketAddr;

use super::refusal::{Reason, Refusal};
use crate::policy::Kind;
use crate::policy::{AddressKind, NetworkPolicy, ProtocolCheck, kind_of};
use crate::profile::{Host, HostPattern, Name, Ports, is_localhost};

/// A host of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A name; without a port if it was only looked up.
    Name(Name, Option<u16>),
    /// An address.
    Address(SocketAddr),
}

impl Endpoint {
    /// Whether a network policy allows it, with this protocol check.
    pub fn is_open_in(&self, reach: &NetworkPolicy, speech: ProtocolCheck) -> bool {
        match self {
            Endpoint::Name(name, Some(port)) => reach.name(name, *port) >= Some(speech),
            Endpoint::Name(name, None) => reach.knows(name),
            Endpoint::Address(address) => reach.address(address.ip(), address.port()),
        }
    }
}

/// The host of a refusal; `None` if it concerns none, or its target isn't well-formed.
pub fn endpoint_of(refusal: &Refusal) -> Option<Endpoint> {
    let target = refusal.target.as_slice();
    match refusal.kind {
        Kind::Resolve => Some(Endpoint::Name(Name::from_wire(target)?, None)),
        Kind::Connect | Kind::Listen => {
            let text = std::str::from_utf8(target).ok()?;
            text.parse()
                .map_or_else(|_| name_and_port(text), |address| Some(Endpoint::Address(address)))
        }
        _ => None,
    }
}

fn name_and_port(text: &str) -> Option<Endpoint> {
    let (name, port) = text.rsplit_once(':')?;
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    let port: u16 = port.parse().ok().filter(|port| is_number && *port != 0)?;
    Some(Endpoint::Name(Name::from_wire(name.as_bytes())?, Some(port)))
}

/// The minimal pattern that would allow a refused connection or lookup; `None` if none would.
pub fn least_pattern(refusal: &Refusal) -> Option<HostPattern> {
    if !matches!(refusal.kind, Kind::Connect | Kind::Resolve) {
        return None;
    }
    let is_narrower = matches!(refusal.reason, Reason::Limited(_));
    let pattern = match endpoint_of(refusal)? {
        // The command line would take it for a flag.
        Endpoint::Name(name, _) if name.as_str().starts_with('-') => return None,
        Endpoint::Name(name, Some(port)) if is_narrower || !Ports::Web.contain(port) => {
            HostPattern::parse(&format!("{name}:{port}")).ok()?
        }
        Endpoint::Name(name, _) if !is_narrower => HostPattern {
            host: Host::Exact(name),
            ports: Ports::Web,
        },
        Endpoint::Name(..) => return None,
        Endpoint::Address(address) if is_grantable(address) => HostPattern::of_address(address.ip(), address.port()),
        Endpoint::Address(_) => return None,
    };
    // Not every name on the wire is one that people write, and `localhost` is never looked up.
    (HostPattern::parse(&pattern.to_string()).as_ref() == Ok(&pattern)).then_some(pattern)
}

/// A pasted line must not lead to credentials, and the addresses that stand for names mean no host by themselves
/// (`198.18.0.0/15`).
fn is_grantable(address: SocketAddr) -> bool {
    let kind = kind_of(address.ip());
    address.port() != 0 && kind != AddressKind::Credentials && kind != AddressKind::Special("benchmarking")
}

/// The port to grant for listening: on loopback alone, whatever address was requested.
pub fn listen_port(refusal: &Refusal) -> Option<u16> {
    match endpoint_of(refusal).filter(|_| refusal.kind == Kind::Listen)? {
        Endpoint::Address(address) => {
            let ip = address.ip().to_canonical();
            (ip.is_loopback() || ip.is_unspecified()).then(|| address.port())
        }
        Endpoint::Name(..) => None,
    }
}

/// The ways in which programs and command lines may write it.
pub fn spellings(kind: Kind, endpoint: &Endpoint) -> Vec<String> {
    match endpoint {
        Endpoint::Name(name, _) => vec![name.to_string()],
        Endpoint::Address(address) => {
            let mut spellings = vec![address.ip().to_string()];
            if is_localhost(address.ip()) || address.ip().is_unspecified() {
                spellings.push(format!("localhost:{}", address.port()));
            }
            if kind == Kind::Listen {
                spellings.push(address.port().to_string());
            }
            spellings
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::refusal;
    use super::*;

    fn pattern(kind: Kind, target: &str) -> Option<String> {
        least_pattern(&refusal(kind, target)).map(|pattern| pattern.to_string())
    }

    fn limited(target: &str) -> Option<String> {
        let limited = Refusal {
            reason: Reason::Limited("only TLS".into()),
            ..refusal(Kind::Connect, target)
        };
        least_pattern(&limited).map(|pattern| pattern.to_string())
    }

    #[test]
    fn the_least_grant_of_a_host_is_its_name_and_its_port_where_that_is_not_the_web_s() {
        for (target, grant) in [
            ("api.example.com:443", "api.example.com"),
            ("api.example.com:80", "api.example.com"),
            ("API.example.com:8443", "api.example.com:8443"),
            ("10.0.0.5:5432", "10.0.0.5:5432"),
            ("10.0.0.5:443", "10.0.0.5:443"),
            ("127.0.0.1:5432", "localhost:5432"),
            ("[::1]:5432", "[::1]:5432"),
            ("[::ffff:127.0.0.1]:80", "localhost:80"),
            ("[2606:4700::1111]:443", "[2606:4700::1111]:443"),
            ("localhost:5432", "localhost:5432"),
        ] {
            assert_eq!(pattern(Kind::Connect, target).as_deref(), Some(grant), "{target}");
        }
        assert_eq!(pattern(Kind::Resolve, "Example.com.").as_deref(), Some("example.com"));
        assert_eq!(limited("example.com:443").as_deref(), Some("example.com:443"));
        assert_eq!(pattern(Kind::Resolve, "--llm"), None);
    }

    #[test]
    fn a_text_that_is_no_host_is_never_granted() {
        for target in [
            "internet",
            "*:443",
            "*.example.com:443",
            "a.*:80",
            "a b:443",
            "a.b:+80",
            "a.b:0",
            "a.b:99999",
            "a.b:",
            ":443",
            "a.b --net all:443",
            "--net:443x",
            "1.2.3.4:0",
            "0x7f.1:80",
            "169.254.169.254:80",
            "[::ffff:169.254.169.254]:80",
            "198.18.0.7:443",
            "xn--a:443",
            "a.b:443\0",
            "ü.de:443",
        ] {
            assert_eq!(pattern(Kind::Connect, target), None, "{target}");
        }
        for target in ["localhost", "*", "*.b", "1.2.3.4", "", "a/b", "xn--a.com", "a:80"] {
            assert_eq!(pattern(Kind::Resolve, target), None, "{target}");
        }
        assert_eq!(pattern(Kind::Read, "a.b:443"), None);
        assert_eq!(limited("10.0.0.5"), None);
    }

    #[test]
    fn listening_is_granted_by_port_on_loopback_alone() {
        let port = |target: &str| listen_port(&refusal(Kind::Listen, target));
        assert_eq!(port("127.0.0.1:8080"), Some(8080));
        assert_eq!(port("[::1]:0"), Some(0));
        assert_eq!(port("0.0.0.0:8080"), Some(8080));
        assert_eq!(port("192.168.1.5:8080"), None);
        assert_eq!(port("8080"), None);
        assert_eq!(listen_port(&refusal(Kind::Connect, "127.0.0.1:8080")), None);
    }
}
