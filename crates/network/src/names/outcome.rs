//! The result of a lookup, and its lifetime.

use std::net::IpAddr;
use std::time::Duration;

/// The bounds on a record's own TTL. An hour: a run is seldom longer, and a changed host should be
/// found within it. A second: otherwise every connect would look up addresses with TTL 0 again.
const MIN_TIME: Duration = Duration::from_secs(1);
const MAX_FOUND: Duration = Duration::from_secs(60 * 60);
/// Users create a name and try again.
const MAX_MISSING: Duration = Duration::from_secs(60);

/// The addresses of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Never empty; IPv4 first, in the order of the answer.
    pub addresses: Vec<IpAddr>,
    /// The time for which they hold from now on.
    pub ttl: Duration,
}

/// The reason that there is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAddress {
    /// The name doesn't exist.
    NoSuchName,
    /// The name exists, but has no address.
    NoAddresses,
    /// No server gave a valid answer.
    Failed,
}

/// One answer with its lifetime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LookupOutcome {
    pub result: Result<Vec<IpAddr>, NoAddress>,
    pub lifetime: Duration,
}

impl LookupOutcome {
    pub fn found(addresses: Vec<IpAddr>, ttl_seconds: u32) -> LookupOutcome {
        let lifetime = Duration::from_secs(ttl_seconds.into()).clamp(MIN_TIME, MAX_FOUND);
        LookupOutcome {
            result: Ok(addresses),
            lifetime,
        }
    }

    pub fn missing(why: NoAddress, ttl_seconds: u32) -> LookupOutcome {
        let lifetime = Duration::from_secs(ttl_seconds.into()).clamp(MIN_TIME, MAX_MISSING);
        LookupOutcome {
            result: Err(why),
            lifetime,
        }
    }

    /// A failure, cached for the shortest time: the next attempt may well succeed.
    pub fn failed() -> LookupOutcome {
        LookupOutcome {
            result: Err(NoAddress::Failed),
            lifetime: MIN_TIME,
        }
    }

    /// Joins the answers for IPv4 and IPv6. Either family's addresses are enough.
    pub fn joined(v4: LookupOutcome, v6: LookupOutcome) -> LookupOutcome {
        let lifetime = v4.lifetime.min(v6.lifetime);
        match (v4.result, v6.result) {
            (Ok(mut addresses), Ok(more)) => {
                addresses.extend(more);
                LookupOutcome {
                    result: Ok(addresses),
                    lifetime,
                }
            }
            (Ok(addresses), Err(why)) => half(addresses, v4.lifetime, why),
            (Err(why), Ok(addresses)) => half(addresses, v6.lifetime, why),
            (Err(one), Err(other)) => LookupOutcome {
                result: Err(both(one, other)),
                lifetime,
            },
        }
    }

    pub fn told(&self, remaining: Duration) -> Result<Found, NoAddress> {
        let found = |addresses| Found {
            addresses,
            ttl: remaining,
        };
        self.result.clone().map(found)
    }
}

/// One family's addresses. If the other query failed, they are looked up again soon.
fn half(addresses: Vec<IpAddr>, lifetime: Duration, why: NoAddress) -> LookupOutcome {
    let longest = if why == NoAddress::Failed {
        MAX_MISSING
    } else {
        MAX_FOUND
    };
    LookupOutcome {
        result: Ok(addresses),
        lifetime: lifetime.min(longest),
    }
}

/// A name that doesn't exist has neither family (RFC 8020). A server that says NXDOMAIN for one family and not for the
/// other is broken; the name then exists.
fn both(one: NoAddress, other: NoAddress) -> NoAddress {
    match (one, other) {
        (NoAddress::NoSuchName, NoAddress::NoSuchName | NoAddress::Failed) => NoAddress::NoSuchName,
        (NoAddress::Failed, NoAddress::NoSuchName) => NoAddress::NoSuchName,
        (NoAddress::Failed, _) | (_, NoAddress::Failed) => NoAddress::Failed,
        (NoAddress::NoAddresses, _) | (_, NoAddress::NoAddresses) => NoAddress::NoAddresses,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(address: &str, seconds: u32) -> LookupOutcome {
        LookupOutcome::found(vec![address.parse().unwrap()], seconds)
    }

    #[test]
    fn lifetimes_are_brought_into_bounds() {
        assert_eq!(found("10.0.0.1", 0).lifetime, Duration::from_secs(1));
        assert_eq!(found("10.0.0.1", 90).lifetime, Duration::from_secs(90));
        assert_eq!(found("10.0.0.1", u32::MAX).lifetime, Duration::from_secs(3600));
        assert_eq!(
            LookupOutcome::missing(NoAddress::NoSuchName, 900).lifetime,
            Duration::from_secs(60)
        );
        assert_eq!(LookupOutcome::failed().lifetime, Duration::from_secs(1));
    }

    #[test]
    fn two_families_are_one_answer_with_the_shorter_lifetime() {
        let joined = LookupOutcome::joined(found("10.0.0.1", 300), found("2001:db8::1", 20));
        assert_eq!(joined.lifetime, Duration::from_secs(20));
        assert_eq!(joined.result.unwrap().len(), 2);
    }

    #[test]
    fn one_family_is_enough_but_not_for_long_if_the_other_failed() {
        let nothing = LookupOutcome::missing(NoAddress::NoAddresses, 5);
        assert_eq!(
            LookupOutcome::joined(found("10.0.0.1", 300), nothing),
            found("10.0.0.1", 300)
        );
        assert_eq!(
            LookupOutcome::joined(LookupOutcome::failed(), found("::1", 300)),
            found("::1", 60)
        );
    }

    #[test]
    fn two_refusals_are_one() {
        use NoAddress::{Failed, NoAddresses, NoSuchName};
        let cases = [
            (NoSuchName, NoSuchName, NoSuchName),
            (NoSuchName, Failed, NoSuchName),
            (NoSuchName, NoAddresses, NoAddresses),
            (NoAddresses, NoAddresses, NoAddresses),
            (NoAddresses, Failed, Failed),
            (Failed, Failed, Failed),
        ];
        for (one, other, expected) in cases {
            assert_eq!(both(one, other), expected);
            assert_eq!(both(other, one), expected);
        }
    }
}
