//! Real addresses of names, asked for outside the run: of the machine's hosts file, then of its nameservers. Answers
//! are what strangers say; who connects judges every address by itself.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hickory_proto::rr::{Name as WireName, RecordType};

use super::cache::Cache;
use super::chain::Search;
use super::machine::Machine;
use super::outcome::{Found, Missing, Outcome};
use super::source::Source;
use crate::fault;
use crate::mutex::lock;
use crate::profile::Name;

/// All nameservers, attempts and aliases of one lookup together.
const LONGEST_LOOKUP: Duration = Duration::from_secs(10);

/// What a hosts file says holds until it changes, which programs should notice soon.
const LISTED: Duration = Duration::from_secs(10);

/// Resolves as the machine does. One for a run, shared by all who resolve in it.
#[derive(Debug)]
pub struct Resolver {
    source: Source,
    cache: Cache,
    /// As what `cache` holds was asked for.
    asked: Mutex<Arc<Machine>>,
    pub(super) longest_lookup: Duration,
}

impl Resolver {
    /// Nothing is read or asked yet but what `source` already did.
    pub fn new(source: Source) -> Resolver {
        let asked = Mutex::new(source.current());
        Resolver {
            source,
            cache: Cache::default(),
            asked,
            longest_lookup: LONGEST_LOOKUP,
        }
    }

    /// What is known without asking anybody: never waits for the network or for somebody else's lookup, and opens no
    /// file, so a confined thread may ask.
    pub fn cached(&self, name: &Name) -> Option<Result<Found, Missing>> {
        let machine = self.source.known();
        machine.listed(name).map(listed).or_else(|| self.cache.fresh(name))
    }

    /// The addresses of a name, which is taken as it is: the search list is applied by those who ask. Waits for
    /// nameservers, ten seconds at most.
    pub fn lookup(&self, name: &Name) -> Result<Found, Missing> {
        let machine = self.machine();
        if let Some(addresses) = machine.listed(name) {
            return listed(addresses);
        }
        // A little more than the asker has, so that its answer is never missed by a hair.
        let deadline = self.longest_lookup + Duration::from_secs(1);
        self.cache.answer(name, deadline, || self.ask(&machine, name))
    }

    /// The machine as it was known last, for threads that can't read its files.
    pub fn known(&self) -> Arc<Machine> {
        self.source.known()
    }

    /// The machine as it is now. Answers from before a change are forgotten: other nameservers may know other names.
    pub fn machine(&self) -> Arc<Machine> {
        let machine = self.source.current();
        let mut asked = lock(&self.asked);
        if !Arc::ptr_eq(&asked, &machine) {
            *asked = machine.clone();
            self.cache.clear();
        }
        machine
    }

    fn ask(&self, machine: &Machine, name: &Name) -> Outcome {
        fault::point("lookup", || name.as_str());
        let Some(name) = on_the_wire(name) else {
            return Outcome::missing(Missing::NoSuchName, 0);
        };
        let started = Instant::now();
        let search = Search {
            machine,
            started,
            deadline: started + self.longest_lookup,
        };
        if machine.wants_ipv6 {
            both_families(&search, &name)
        } else {
            search.addresses(&name, RecordType::A)
        }
    }
}

/// At the same time where there may be another thread, else one after the other.
fn both_families(search: &Search<'_>, name: &WireName) -> Outcome {
    thread::scope(|scope| {
        let ask_v6 = || search.addresses(name, RecordType::AAAA);
        let asking = thread::Builder::new()
            .name("resolve".into())
            .spawn_scoped(scope, move || fault::contain(ask_v6));
        let v4 = search.addresses(name, RecordType::A);
        let v6 = match asking {
            Ok(asking) => match asking.join() {
                Ok(Ok(v6)) => v6,
                Ok(Err(fault)) => fault::pass_on(fault),
                Err(_) => Outcome::failed(),
            },
            Err(_) => ask_v6(),
        };
        Outcome::joined(v4, v6)
    })
}

fn listed(addresses: &[IpAddr]) -> Result<Found, Missing> {
    Ok(Found {
        addresses: addresses.to_vec(),
        ttl: LISTED,
    })
}

/// Fully qualified. `None` is for names that are none in DNS, which `Name` doesn't allow.
fn on_the_wire(name: &Name) -> Option<WireName> {
    let mut wire = WireName::from_ascii(name.as_str()).ok()?;
    wire.set_fqdn(true);
    Some(wire)
}
