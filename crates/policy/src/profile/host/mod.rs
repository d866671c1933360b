//! A host pattern: the host and its ports. Parsed once, with the profile or the flag.
//!
//! Names are compared as lowercase ASCII labels and addresses as numbers, never as text. The library with the browsers'
//! rules (the URL Standard, section 3.5) distinguishes the two, so `0x7f.1` is no name.

mod error;
mod ports;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::excerpt;
pub use error::HostError;
pub use ports::Ports;

/// A DNS name has at most 253 characters (RFC 1035, section 2.3.4, minus the length bytes and the root's).
const MAX_NAME: usize = 253;

/// A name with brackets, wildcards and a list of ports; international names are longer before encoding.
const MAX_PATTERN: usize = 2048;

/// A host name: lowercase ASCII labels (international ones as `xn--…`), no trailing dot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

impl Name {
    /// Parses a name as people write it: any case, trailing dot, international. `None` if it is no name (or an address
    /// in any numeric form).
    pub fn parse(text: &str) -> Option<Name> {
        match parse_host(text)? {
            url::Host::Domain(domain) => Name::from_wire(domain.as_bytes()),
            url::Host::Ipv4(_) | url::Host::Ipv6(_) => None,
        }
    }

    /// Parses a name from a protocol (DNS, SNI, `Host`): ASCII only, any case, one trailing dot allowed, labels of
    /// letters, digits, `-` and `_`; 1 to 63 characters per label, 253 in all; the last label isn't a number.
    pub fn from_wire(bytes: &[u8]) -> Option<Name> {
        let bytes = bytes.strip_suffix(b".").unwrap_or(bytes);
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_label = |label: &[u8]| (1..=63).contains(&label.len()) && label.iter().all(is_plain);
        let mut labels = bytes.split(|byte| *byte == b'.');
        let is_name = bytes.len() <= MAX_NAME && labels.clone().all(is_label);
        if !is_name || labels.next_back().is_some_and(is_number) {
            return None;
        }
        let text = std::str::from_utf8(bytes).ok()?;
        Some(Name(text.to_ascii_lowercase()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the name lies below a domain, at any depth; a domain doesn't lie below itself.
    pub fn is_below(&self, domain: &Name) -> bool {
        self.0
            .strip_suffix(domain.as_str())
            .is_some_and(|above| above.ends_with('.'))
    }

    /// Whether these are the name's first labels, and at least one more follows.
    pub fn begins_with(&self, labels: &str) -> bool {
        self.0.strip_prefix(labels).is_some_and(|rest| rest.starts_with('.'))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a label makes a name one of the forms of an IPv4 address (URL Standard, "ends in a number").
fn is_number(label: &[u8]) -> bool {
    let hexadecimal = label.strip_prefix(b"0x").or_else(|| label.strip_prefix(b"0X"));
    label.iter().all(u8::is_ascii_digit) || hexadecimal.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Parses a name or an address in any form; `%` escapes belong to URLs, not hosts.
fn parse_host(text: &str) -> Option<url::Host> {
    if text.contains('%') || text.len() > MAX_PATTERN {
        return None;
    }
    url::Host::parse(text).ok()
}

/// The hosts that a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// The host of this name.
    Exact(Name),
    /// `*.github.com`: every name below it, at any depth.
    Subdomains(Name),
    /// `api.*`: every name that starts with these labels and has at least one more.
    Prefix(String),
    /// The intersection of a prefix and a domain. Never written; it results from the meet of two policies.
    Both(String, Name),
    /// `*`: every name.
    Any,
    /// An address or an address range. A single address is a range with all bits fixed.
    Network(IpNet),
    /// `localhost`: `127.0.0.1` and `::1`.
    Localhost,
}

impl Host {
    /// Whether the pattern matches the host of this name.
    pub fn has_name(&self, name: &Name) -> bool {
        match self {
            Host::Exact(exact) => name == exact,
            Host::Subdomains(domain) => name.is_below(domain),
            Host::Prefix(labels) => name.begins_with(labels),
            Host::Both(labels, domain) => name.begins_with(labels) && name.is_below(domain),
            Host::Any => true,
            Host::Network(_) | Host::Localhost => false,
        }
    }

    /// Whether the pattern matches addresses and not names.
    pub fn is_address(&self) -> bool {
        matches!(self, Host::Network(_) | Host::Localhost)
    }
}

/// A host and its ports.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern {
    /// The host.
    pub host: Host,
    /// Its ports.
    pub ports: Ports,
}

impl HostPattern {
    /// Parses a pattern as people write it.
    ///
    /// # Errors
    /// The error says what is wrong and how to correct it.
    pub fn parse(text: &str) -> Result<HostPattern, HostError> {
        if text.len() > MAX_PATTERN {
            let message = format!("this host pattern is longer than {MAX_PATTERN} bytes");
            return Err(HostError::saying(message).hint(error::FORMS));
        }
        HostPattern::read(text)
    }

    /// The same without a length limit: the intersection of two lists of ports may be longer than any written one.
    fn read(text: &str) -> Result<HostPattern, HostError> {
        refuse_other_things(text)?;
        let (host, ports) = split_ports(text)?;
        let ports = ports.map_or(Ok(Ports::Web), Ports::parse)?;
        let host = parse_place(text, host)?;
        if host == Host::Localhost && ports == Ports::Web {
            return Err(HostError::saying("`localhost` stands without a port")
                .hint("name the port, as in `localhost:5432`, or `localhost:*` for all of them"));
        }
        Ok(HostPattern { host, ports })
    }

    /// The pattern that grants one address and port.
    pub fn of_address(address: IpAddr, port: u16) -> HostPattern {
        let address = address.to_canonical();
        HostPattern {
            host: if address.is_ipv4() && is_localhost(address) {
                Host::Localhost
            } else {
                Host::Network(address.into())
            },
            ports: Ports::one(port),
        }
    }

    /// The same, or `localhost` if it is one of localhost's addresses.
    pub fn localhost_for_its_addresses(self) -> HostPattern {
        match &self.host {
            Host::Network(network)
                if network.prefix_len() == network.max_prefix_len() && is_localhost(network.addr()) =>
            {
                HostPattern {
                    host: Host::Localhost,
                    ..self
                }
            }
            _ => self,
        }
    }
}

/// Whether an address is one of localhost's.
pub fn is_localhost(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address == std::net::Ipv4Addr::LOCALHOST,
        IpAddr::V6(address) => address == std::net::Ipv6Addr::LOCALHOST,
    }
}

/// Rejects things that people paste in place of a host.
fn refuse_other_things(text: &str) -> Result<(), HostError> {
    if text.is_empty() {
        return Err(HostError::saying("this host pattern is empty").hint(error::FORMS));
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let host = rest[..end].rsplit('@').next().unwrap_or_default();
        let message = format!("`{}` is a URL, not a host", excerpt(text));
        let hint = match HostPattern::parse(host) {
            Ok(host) => format!(
                "write the host alone, without `{}://` and path: `{host}`",
                excerpt(scheme)
            ),
            Err(_) => "write the host alone, without scheme and path".to_owned(),
        };
        return Err(HostError::saying(message).hint(hint));
    }
    if text.contains('@') {
        let message = format!("`{}` names a user, and only hosts are granted", excerpt(text));
        return Err(HostError::saying(message).hint("write what stands behind the `@`"));
    }
    Ok(())
}

/// Splits off the host, without the brackets of an address, from the ports after the colon.
fn split_ports(text: &str) -> Result<(&str, Option<&str>), HostError> {
    if let Some(rest) = text.strip_prefix('[') {
        let bracketed = || HostError::saying(format!("the brackets of `{}` don't fit", excerpt(text)));
        let hint = "an IPv6 address or range stands in them, and a port behind: `[fd00::/8]:443`";
        let (inside, behind) = rest.split_once(']').ok_or_else(|| bracketed().hint(hint))?;
        if !inside.contains(':') {
            return Err(bracketed().hint(hint));
        }
        return match behind.strip_prefix(':') {
            Some(ports) => Ok((inside, Some(ports))),
            None if behind.is_empty() => Ok((inside, None)),
            None => Err(bracketed().hint(hint)),
        };
    }
    match text.split_once(':') {
        None => Ok((text, None)),
        Some((_, rest)) if rest.contains(':') => Ok((text, None)),
        Some((host, ports)) => Ok((host, Some(ports))),
    }
}

/// Parses a host without its ports. `whole` is the pattern as written, for messages.
fn parse_place(whole: &str, text: &str) -> Result<Host, HostError> {
    let stranger = || HostError::saying(format!("`{}` isn't a host pattern", excerpt(whole)));
    if text == "*" {
        return Ok(Host::Any);
    }
    if text.contains('*') {
        return parse_wildcard(whole, text);
    }
    if text.contains(['/', ':']) {
        return parse_network(whole, text).map(Host::Network);
    }
    match parse_host(text).ok_or_else(|| stranger().hint(error::FORMS))? {
        url::Host::Ipv4(address) => Ok(Host::Network(IpAddr::V4(address).into())),
        url::Host::Ipv6(address) => Ok(Host::Network(IpAddr::V6(address).into())),
        url::Host::Domain(domain) => match Name::from_wire(domain.as_bytes()) {
            Some(name) if name.as_str() == "localhost" => Ok(Host::Localhost),
            Some(name) => Ok(Host::Exact(name)),
            None => Err(stranger().hint(error::FORMS)),
        },
    }
}

/// A wildcard replaces whole labels, at one end.
fn parse_wildcard(whole: &str, text: &str) -> Result<Host, HostError> {
    let misplaced = || {
        let message = format!(
            "the `*` of `{}` isn't the first or the last part of a name",
            excerpt(whole)
        );
        HostError::saying(message).hint(
            "write `*.example.com` for all names below a domain, `api.*` for all that begin so, or `*` for every name",
        )
    };
    let (prefix, fixed) = match (text.strip_prefix("*."), text.strip_suffix(".*")) {
        (Some(domain), None) => (false, domain),
        (None, Some(labels)) => (true, labels),
        _ => return Err(misplaced()),
    };
    if fixed.contains('*') || (prefix && fixed.ends_with('.')) {
        return Err(misplaced());
    }
    if parse_host(fixed).is_some_and(|host| !matches!(host, url::Host::Domain(_))) {
        let message = format!("`{}` is a wildcard in an address", excerpt(whole));
        return Err(HostError::saying(message).hint("write a range, as in `10.0.0.0/8`"));
    }
    let name = Name::parse(fixed)
        .ok_or_else(|| HostError::saying(format!("`{}` isn't a host pattern", excerpt(whole))).hint(error::FORMS))?;
    Ok(if prefix {
        Host::Prefix(name.0)
    } else {
        Host::Subdomains(name)
    })
}

/// Parses an IPv6 address, or a range of either family.
fn parse_network(whole: &str, text: &str) -> Result<IpNet, HostError> {
    let stranger = || {
        HostError::saying(format!(
            "`{}` is neither a name nor a range of addresses",
            excerpt(whole)
        ))
    };
    if !whole.starts_with('[') && is_ambiguous(text) {
        let (address, port) = text.rsplit_once(':').unwrap_or_default();
        let message = format!("`{}` may be an address, or one with a port", excerpt(whole));
        return Err(HostError::saying(message).hint(format!(
            "write `[{address}]:{port}` for the port, or `[{text}]` for the address"
        )));
    }
    let network = match text.split_once('/') {
        None => text.parse::<IpAddr>().ok().map(IpNet::from),
        Some(_) => text.parse::<IpNet>().ok(),
    };
    let Some(network) = network else {
        let hint = if text.contains('/') && Name::parse(text.split('/').next().unwrap_or_default()).is_some() {
            "a host has no path: write the name alone"
        } else {
            "write `10.0.0.0/8`, `fd00::/8`, and an IPv6 address in brackets where a port follows: `[fd00::1]:443`"
        };
        return Err(stranger().hint(hint));
    };
    if network.trunc() != network {
        let message = format!(
            "`{}` has bits set behind the first {}",
            excerpt(whole),
            network.prefix_len()
        );
        return Err(HostError::saying(message).hint(format!(
            "write `{}` for the range, or `{}` for the address",
            network.trunc(),
            network.addr()
        )));
    }
    Ok(canonical(network))
}

/// Whether the digits after an IPv6 address's last colon could be a port: the part before it is an address too.
fn is_ambiguous(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(address, port)| {
        address.parse::<std::net::Ipv6Addr>().is_ok() && port.parse::<u16>().is_ok() && text.parse::<IpAddr>().is_ok()
    })
}

/// Normalizes a range of IPv4 addresses written as IPv6 (`::ffff:10.0.0.0/104`) to a range of IPv4 addresses.
fn canonical(network: IpNet) -> IpNet {
    const MAPPED: u8 = 96;
    if let IpNet::V6(six) = network
        && let Some(four) = six.addr().to_ipv4_mapped()
        && let Some(length) = six.prefix_len().checked_sub(MAPPED)
        && let Ok(network) = Ipv4Net::new(four, length)
    {
        return IpNet::V4(network);
    }
    network
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Exact(name) => write!(f, "{name}"),
            Host::Subdomains(name) => write!(f, "*.{name}"),
            Host::Prefix(labels) => write!(f, "{labels}.*"),
            Host::Both(labels, domain) => write!(f, "{labels}.*&*.{domain}"),
            Host::Any => f.write_str("*"),
            Host::Network(network) if network.prefix_len() == network.max_prefix_len() => {
                write!(f, "{}", network.addr())
            }
            Host::Network(network) => write!(f, "{network}"),
            Host::Localhost => f.write_str("localhost"),
        }
    }
}

/// Formats as it would be written; parsing the result gives the same pattern.
impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HostPattern { host, ports } = self;
        match (host, ports) {
            (host, Ports::Web) if is_ambiguous(&host.to_string()) => write!(f, "[{host}]"),
            (host, Ports::Web) => write!(f, "{host}"),
            (Host::Network(IpNet::V6(_)), ports) => write!(f, "[{host}]:{ports}"),
            (host, ports) => write!(f, "{host}:{ports}"),
        }
    }
}

impl std::str::FromStr for HostPattern {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        HostPattern::parse(text)
    }
}

impl Serialize for HostPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Also parses patterns that result from the meet of two policies.
impl<'de> Deserialize<'de> for HostPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        HostPattern::of_record(&text).map_err(serde::de::Error::custom)
    }
}

impl HostPattern {
    fn of_record(text: &str) -> Result<HostPattern, HostError> {
        let Some((prefix, rest)) = text.split_once('&') else {
            return HostPattern::read(text);
        };
        let (prefix, rest) = (HostPattern::read(prefix)?, HostPattern::read(rest)?);
        match (prefix.host, rest.host) {
            (Host::Prefix(labels), Host::Subdomains(domain)) if prefix.ports == Ports::Web => Ok(HostPattern {
                host: Host::Both(labels, domain),
                ports: rest.ports,
            }),
            _ => Err(HostError::saying("this host pattern joins what doesn't fit").hint(error::FORMS)),
        }
    }
}
