//! The addresses of one name in one family: nameserver after nameserver until one answers, and from alias to alias
//! (CNAME) until there are addresses.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use hickory_proto::op::{Message, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name as WireName, RData, Record, RecordType};

use super::exchange::Nameserver;
use super::machine::Machine;
use super::outcome::{Missing, Outcome};

/// Aliases of aliases: unbound follows 11, dnsmasq 10, a few are enough.
const MOST_ALIASES: usize = 8;

/// Far more than anybody tries to connect to.
const MOST_ADDRESSES: usize = 64;

/// Whom to ask, and until when, all aliases and attempts together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search<'a> {
    pub machine: &'a Machine,
    pub started: Instant,
    pub deadline: Instant,
}

impl Search<'_> {
    /// `family` is A or AAAA.
    pub fn addresses(&self, name: &WireName, family: RecordType) -> Outcome {
        let mut chain = Chain {
            end: name.clone(),
            aliases: 0,
            ttl_seconds: u32::MAX,
        };
        loop {
            let Some(answer) = self.ask(&Query::query(chain.end.clone(), family)) else {
                return Outcome::failed();
            };
            match chain.follow(&answer, family) {
                Step::Ended(outcome) => return outcome,
                // Each time at least one alias further, so that this ends.
                Step::AskAgain => {}
            }
        }
    }

    /// The first answer that says something about the name; other answers ("I failed", "I won't") are as good as none.
    fn ask(&self, query: &Query) -> Option<Message> {
        for _ in 0..self.machine.attempts {
            for address in &self.machine.nameservers {
                let deadline = self.deadline.min(Instant::now() + self.deadline());
                if Instant::now() >= deadline {
                    return None;
                }
                let nameserver = Nameserver {
                    address: *address,
                    carrier: self.machine.carrier,
                    deadline,
                };
                match nameserver.ask(query) {
                    Ok(answer) if is_definite(&answer) => return Some(answer),
                    _ => {}
                }
            }
        }
        None
    }

    /// How long one nameserver has: as the machine says, but so that each is asked once in the time there is.
    fn deadline(&self) -> Duration {
        let servers = u32::try_from(self.machine.nameservers.len()).unwrap_or(u32::MAX);
        self.machine
            .timeout
            .min((self.deadline - self.started) / servers.max(1))
    }
}

fn is_definite(answer: &Message) -> bool {
    matches!(
        answer.metadata.response_code,
        ResponseCode::NoError | ResponseCode::NXDomain
    )
}

/// Aliases followed so far.
struct Chain {
    end: WireName,
    aliases: usize,
    /// The shortest lifetime on the way.
    ttl_seconds: u32,
}

enum Step {
    Ended(Outcome),
    /// The aliases lead out of this answer.
    AskAgain,
}

impl Chain {
    fn follow(&mut self, answer: &Message, family: RecordType) -> Step {
        let asked = self.end.clone();
        loop {
            let addresses = self.addresses(answer, family);
            if !addresses.is_empty() {
                return Step::Ended(Outcome::found(addresses, self.ttl_seconds));
            }
            let Some((alias, ttl_seconds)) = self.alias(answer) else {
                break;
            };
            self.aliases += 1;
            self.ttl_seconds = self.ttl_seconds.min(ttl_seconds);
            self.end = alias;
            if self.aliases > MOST_ALIASES {
                return Step::Ended(Outcome::failed());
            }
        }
        self.nothing(answer, self.end != asked)
    }

    /// No addresses at the end. "No such name" is said of the last alias (RFC 6604). A server that stopped at an alias
    /// without saying that it ends there (SOA, RFC 2308) knows nothing about it.
    fn nothing(&self, answer: &Message, is_alias: bool) -> Step {
        let lifetime = lifetime_of_nothing(answer);
        let ttl_seconds = lifetime.unwrap_or(0).min(self.ttl_seconds);
        if answer.metadata.response_code == ResponseCode::NXDomain {
            Step::Ended(Outcome::missing(Missing::NoSuchName, ttl_seconds))
        } else if is_alias && lifetime.is_none() {
            Step::AskAgain
        } else {
            Step::Ended(Outcome::missing(Missing::NoAddresses, ttl_seconds))
        }
    }

    /// The addresses that the answer has for the end of the chain. An IPv4 address in the form of an IPv6 one comes out
    /// as IPv4, so that it is judged as what it is.
    fn addresses(&mut self, answer: &Message, family: RecordType) -> Vec<IpAddr> {
        let mut addresses = Vec::new();
        for record in self
            .records(answer)
            .filter(|record| record.record_type() == family)
            .take(MOST_ADDRESSES)
        {
            if let Some(address) = record.data.ip_addr() {
                self.ttl_seconds = self.ttl_seconds.min(record.ttl);
                addresses.push(address.to_canonical());
            }
        }
        addresses
    }

    fn alias(&self, answer: &Message) -> Option<(WireName, u32)> {
        self.records(answer).find_map(|record| match &record.data {
            RData::CNAME(alias) => Some((alias.0.clone(), record.ttl)),
            _ => None,
        })
    }

    fn records<'a>(&self, answer: &'a Message) -> impl Iterator<Item = &'a Record> + use<'a> {
        let end = self.end.clone();
        let is_ours = move |record: &&Record| record.dns_class == DNSClass::IN && record.name == end;
        answer.answers.iter().filter(is_ours)
    }
}

/// RFC 2308, section 5: the shorter of the SOA's own lifetime and its last field, in seconds.
fn lifetime_of_nothing(answer: &Message) -> Option<u32> {
    answer.authorities.iter().find_map(|record| match &record.data {
        RData::SOA(soa) => Some(record.ttl.min(soa.minimum)),
        _ => None,
    })
}
