//! The result of a lookup, and its lifetime.

use std::net::IpAddr;
use std::time::Duration;

/// The bounds on a record's own TTL. An hour: a run is seldom longer, and a changed host should be
/// found within it. A second: otherwise every connect would look up addresses with TTL 0 again.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST_FOUND: Duration = Duration::from_secs(60 * 60);
/// Users create a name and try again.
const LONGEST_MISSING: Duration = Duration::from_secs(60);

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
pub enum Missing {
    /// The name doesn't exist.
    NoSuchName,
    /// The name exists, but has no address.
    NoAddresses,
    /// No server gave a valid answer.
    Failed,
}

/// One answer with its lifetime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub result: Result<Vec<IpAddr>, Missing>,
    pub lifetime: Duration,
}

impl Outcome {
    pub fn found(addresses: Vec<IpAddr>, ttl_seconds: u32) -> Outcome {
        let lifetime = Duration::from_secs(ttl_seconds.into()).clamp(SHORTEST, LONGEST_FOUND);
        Outcome {
            result: Ok(addresses),
            lifetime,
        }
    }

    pub fn missing(why: Missing, ttl_seconds: u32) -> Outcome {
        let lifetime = Duration::from_secs(ttl_seconds.into()).clamp(SHORTEST, LONGEST_MISSING);
        Outcome {
            result: Err(why),
            lifetime,
        }
    }

    /// A failure, cached for the shortest time: the next attempt may well succeed.
    pub fn failed() -> Outcome {
        Outcome {
            result: Err(Missing::Failed),
            lifetime: SHORTEST,
        }
    }

    /// Joins the answers for IPv4 and IPv6. Either family's addresses are enough.
    pub fn joined(v4: Outcome, v6: Outcome) -> Outcome {
        let lifetime = v4.lifetime.min(v6.lifetime);
        match (v4.result, v6.result) {
            (Ok(mut addresses), Ok(more)) => {
                addresses.extend(more);
                Outcome {
                    result: Ok(addresses),
                    lifetime,
                }
            }
            (Ok(addresses), Err(why)) => half(addresses, v4.lifetime, why),
            (Err(why), Ok(addresses)) => half(addresses, v6.lifetime, why),
            (Err(one), Err(other)) => Outcome {
                result: Err(both(one, other)),
                lifetime,
            },
        }
    }

    pub fn told(&self, remaining: Duration) -> Result<Found, Missing> {
        let found = |addresses| Found {
            addresses,
            ttl: remaining,
        };
        self.result.clone().map(found)
    }
}

/// One family's addresses. If the other query failed, they are looked up again soon.
fn half(addresses: Vec<IpAddr>, lifetime: Duration, why: Missing) -> Outcome {
    let longest = if why == Missing::Failed {
        LONGEST_MISSING
    } else {
        LONGEST_FOUND
    };
    Outcome {
        result: Ok(addresses),
        lifetime: lifetime.min(longest),
    }
}

/// A name that doesn't exist has neither family (RFC 8020). A server that says NXDOMAIN for one family and not for the
/// other is broken; the name then exists.
fn both(one: Missing, other: Missing) -> Missing {
    match (one, other) {
        (Missing::NoSuchName, Missing::NoSuchName | Missing::Failed) => Missing::NoSuchName,
        (Missing::Failed, Missing::NoSuchName) => Missing::NoSuchName,
        (Missing::Failed, _) | (_, Missing::Failed) => Missing::Failed,
        (Missing::NoAddresses, _) | (_, Missing::NoAddresses) => Missing::NoAddresses,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(address: &str, seconds: u32) -> Outcome {
        Outcome::found(vec![address.parse().unwrap()], seconds)
    }

    #[test]
    fn lifetimes_are_brought_into_bounds() {
        assert_eq!(found("10.0.0.1", 0).lifetime, Duration::from_secs(1));
        assert_eq!(found("10.0.0.1", 90).lifetime, Duration::from_secs(90));
        assert_eq!(found("10.0.0.1", u32::MAX).lifetime, Duration::from_secs(3600));
        assert_eq!(
            Outcome::missing(Missing::NoSuchName, 900).lifetime,
            Duration::from_secs(60)
        );
        assert_eq!(Outcome::failed().lifetime, Duration::from_secs(1));
    }

    #[test]
    fn two_families_are_one_answer_with_the_shorter_lifetime() {
        let joined = Outcome::joined(found("10.0.0.1", 300), found("2001:db8::1", 20));
        assert_eq!(joined.lifetime, Duration::from_secs(20));
        assert_eq!(joined.result.unwrap().len(), 2);
    }

    #[test]
    fn one_family_is_enough_but_not_for_long_if_the_other_failed() {
        let nothing = Outcome::missing(Missing::NoAddresses, 5);
        assert_eq!(Outcome::joined(found("10.0.0.1", 300), nothing), found("10.0.0.1", 300));
        assert_eq!(Outcome::joined(Outcome::failed(), found("::1", 300)), found("::1", 60));
    }

    #[test]
    fn two_refusals_are_one() {
        use Missing::{Failed, NoAddresses, NoSuchName};
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
