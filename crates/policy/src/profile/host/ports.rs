//! The ports of a host pattern.

use std::fmt;
use std::ops::RangeInclusive;

use super::HostError;
use crate::profile::error::excerpt;

/// HTTP's port.
pub const HTTP: u16 = 80;
/// The port of HTTP over TLS.
pub const HTTPS: u16 = 443;

/// The ports of a host.
///
/// Without a number only the port's own protocol is allowed, and every request has to name a granted host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Ports {
    /// No port written: 80 with HTTP and 443 with TLS.
    Web,
    /// `:http`: 80 with HTTP only.
    Http,
    /// `:https`: 443 with TLS only.
    Https,
    /// These, with any protocol: sorted, not adjacent, without 0.
    These(Vec<RangeInclusive<u16>>),
}

impl Ports {
    /// A single port by its number.
    pub fn one(port: u16) -> Ports {
        Ports::These(vec![port..=port])
    }

    /// Parses the part after the colon: `443`, `8000-9000`, `80,443`, `*`, `https`.
    pub(super) fn parse(text: &str) -> Result<Ports, HostError> {
        match text {
            "*" => return Ok(Ports::These(vec![1..=u16::MAX])),
            "http" => return Ok(Ports::Http),
            "https" => return Ok(Ports::Https),
            _ => {}
        }
        let ranges: Result<Vec<_>, _> = text.split(',').map(range).collect();
        Ok(Ports::These(joined(ranges?)))
    }

    /// Whether a port is one of them.
    pub fn contain(&self, port: u16) -> bool {
        match self {
            Ports::Web => port == HTTP || port == HTTPS,
            Ports::Http => port == HTTP,
            Ports::Https => port == HTTPS,
            Ports::These(ranges) => ranges.iter().any(|range| range.contains(&port)),
        }
    }

    /// Whether any protocol is allowed on them.
    pub fn are_named(&self) -> bool {
        matches!(self, Ports::These(_))
    }

    /// The intersection of both, with the protocols that both allow; `None` if it is empty.
    pub fn meet(&self, other: &Ports) -> Option<Ports> {
        match (self, other) {
            (Ports::These(ours), Ports::These(theirs)) => {
                let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
                let common = pairs.map(|(a, b)| *a.start().max(b.start())..=*a.end().min(b.end()));
                let common = joined(common.filter(|range| !range.is_empty()).collect());
                (!common.is_empty()).then_some(Ports::These(common))
            }
            _ => {
                let both = |port: u16| self.contain(port) && other.contain(port);
                match (both(HTTP), both(HTTPS)) {
                    (true, true) => Some(Ports::Web),
                    (true, false) => Some(Ports::Http),
                    (false, true) => Some(Ports::Https),
                    (false, false) => None,
                }
            }
        }
    }

    fn ends(&self) -> Vec<(u16, u16)> {
        match self {
            Ports::These(ranges) => ranges.iter().map(|range| (*range.start(), *range.end())).collect(),
            _ => Vec::new(),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Ports::Web => 0,
            Ports::Http => 1,
            Ports::Https => 2,
            Ports::These(_) => 3,
        }
    }
}

/// Needed because ranges don't implement `Ord`.
impl Ord for Ports {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.rank(), self.ends()).cmp(&(other.rank(), other.ends()))
    }
}

impl PartialOrd for Ports {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Parses `443` or `8000-9000`.
fn range(text: &str) -> Result<RangeInclusive<u16>, HostError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if text.is_empty() {
        let hint = "leave the colon away for 80 and 443, or write `:*` for all ports";
        return Err(HostError::saying("no port stands behind the colon").hint(hint));
    }
    if !is_number(first) || !is_number(last) {
        let message = format!("`{}` isn't a port", excerpt(text));
        return Err(HostError::saying(message)
            .hint("write `:443`, `:8000-9000`, `:80,443` or `:*` for all ports behind the host"));
    }
    let number = |text: &str| text.parse::<u16>().ok().filter(|port| *port != 0);
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        (Some(first), Some(last)) => Err(HostError::saying(format!("the ports `{first}-{last}` run backwards"))
            .hint(format!("write `{last}-{first}`"))),
        _ => Err(HostError::saying(format!("`{}` isn't a port", excerpt(text))).hint("ports are 1 to 65535")),
    }
}

/// Sorts the ports and merges ranges that touch.
fn joined(mut ranges: Vec<RangeInclusive<u16>>) -> Vec<RangeInclusive<u16>> {
    ranges.sort_by_key(|range| (*range.start(), *range.end()));
    let mut joined: Vec<RangeInclusive<u16>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if *range.start() <= last.end().saturating_add(1) => {
                *last = *last.start()..=*last.end().max(range.end());
            }
            _ => joined.push(range),
        }
    }
    joined
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = match self {
            Ports::Web => return f.write_str("http,https"),
            Ports::Http => return f.write_str("http"),
            Ports::Https => return f.write_str("https"),
            Ports::These(ranges) => ranges,
        };
        for (index, range) in ranges.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            match (*range.start(), *range.end()) {
                (1, u16::MAX) => f.write_str("*")?,
                (first, last) if first == last => write!(f, "{separator}{first}")?,
                (first, last) => write!(f, "{separator}{first}-{last}")?,
            }
        }
        Ok(())
    }
}
