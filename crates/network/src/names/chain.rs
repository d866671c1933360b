//! Resolves the addresses of one name in one family: tries nameserver after nameserver until one answers, and follows
//! aliases (CNAME) until there are addresses.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use hickory_proto::op::{Message, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name as WireName, RData, Record, RecordType};

use super::exchange::Nameserver;
use super::machine::Machine;
use super::outcome::{LookupOutcome, NoAddress};

/// The limit on alias chains: unbound follows 11, dnsmasq 10, a few are enough.
const MAX_ALIASES: usize = 8;

/// Far more than any program tries to connect to.
const MAX_ADDRESSES: usize = 64;

/// The nameservers to ask, and the deadline for all aliases and attempts together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search<'a> {
    pub machine: &'a Machine,
    pub started: Instant,
    pub deadline: Instant,
}

impl Search<'_> {
    /// `family` is A or AAAA.
    pub fn addresses(&self, name: &WireName, family: RecordType) -> LookupOutcome {
        let mut chain = Chain {
            end: name.clone(),
            aliases: 0,
            ttl_seconds: u32::MAX,
        };
        loop {
            let Some(answer) = self.ask(&Query::query(chain.end.clone(), family)) else {
                return LookupOutcome::failed();
            };
            match chain.follow(&answer, family) {
                ChainStep::Ended(outcome) => return outcome,
                // Each round follows at least one more alias, so this loop ends.
                ChainStep::AskAgain => {}
            }
        }
    }

    /// The first definite answer about the name; other answers (SERVFAIL, REFUSED) count as none.
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

    /// The time for one nameserver: the machine's timeout, shortened so that each is asked once before the deadline.
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

/// The aliases followed so far.
struct Chain {
    end: WireName,
    aliases: usize,
    /// The shortest TTL of the chain.
    ttl_seconds: u32,
}

enum ChainStep {
    Ended(LookupOutcome),
    /// The answer ends with an alias whose target it lacks.
    AskAgain,
}

impl Chain {
    fn follow(&mut self, answer: &Message, family: RecordType) -> ChainStep {
        let asked = self.end.clone();
        loop {
            let addresses = self.addresses(answer, family);
            if !addresses.is_empty() {
                return ChainStep::Ended(LookupOutcome::found(addresses, self.ttl_seconds));
            }
            let Some((alias, ttl_seconds)) = self.alias(answer) else {
                break;
            };
            self.aliases += 1;
            self.ttl_seconds = self.ttl_seconds.min(ttl_seconds);
            self.end = alias;
            if self.aliases > MAX_ALIASES {
                return ChainStep::Ended(LookupOutcome::failed());
            }
        }
        self.nothing(answer, self.end != asked)
    }

    /// The outcome if there are no addresses at the end. NXDOMAIN refers to the last alias (RFC 6604). A server that
    /// stops at an alias without a negative answer for its target (SOA, RFC 2308) knows nothing about it.
    fn nothing(&self, answer: &Message, is_alias: bool) -> ChainStep {
        let lifetime = lifetime_of_nothing(answer);
        let ttl_seconds = lifetime.unwrap_or(0).min(self.ttl_seconds);
        if answer.metadata.response_code == ResponseCode::NXDomain {
            ChainStep::Ended(LookupOutcome::missing(NoAddress::NoSuchName, ttl_seconds))
        } else if is_alias && lifetime.is_none() {
            ChainStep::AskAgain
        } else {
            ChainStep::Ended(LookupOutcome::missing(NoAddress::NoAddresses, ttl_seconds))
        }
    }

    /// The answer's addresses for the end of the chain. An IPv4-mapped IPv6 address becomes IPv4, so that it is judged
    /// as IPv4.
    fn addresses(&mut self, answer: &Message, family: RecordType) -> Vec<IpAddr> {
        let mut addresses = Vec::new();
        for record in self
            .records(answer)
            .filter(|record| record.record_type() == family)
            .take(MAX_ADDRESSES)
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

/// The TTL of a negative answer (RFC 2308, section 5): the lesser of the SOA's own TTL and its last field, in seconds.
fn lifetime_of_nothing(answer: &Message) -> Option<u32> {
    answer.authorities.iter().find_map(|record| match &record.data {
        RData::SOA(soa) => Some(record.ttl.min(soa.minimum)),
        _ => None,
    })
}
