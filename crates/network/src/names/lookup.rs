//! Resolves names outside the run: from the machine's hosts file, then from its nameservers. Answers are untrusted;
//! the connecting code checks every address itself.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hickory_proto::rr::{Name as WireName, RecordType};

use super::cache::NameCache;
use super::chain::Search;
use super::machine::Machine;
use super::outcome::{Found, LookupOutcome, NoAddress};
use super::source::NameSource;
use crate::fault;
use crate::mutex::lock;
use crate::profile::Name;

/// The limit on one lookup: all nameservers, attempts and aliases together.
const MAX_LOOKUP: Duration = Duration::from_secs(10);

/// The TTL of hosts file entries. They hold until the file changes, which programs should notice soon.
const LISTED: Duration = Duration::from_secs(10);

/// Resolves as the machine does. One for each run, shared by all its lookups.
#[derive(Debug)]
pub struct Resolver {
    source: NameSource,
    cache: NameCache,
    /// The configuration that the cached answers come from.
    asked: Mutex<Arc<Machine>>,
    pub(super) longest_lookup: Duration,
}

impl Resolver {
    /// A resolver; reads and sends nothing beyond what `source` already has.
    pub fn new(source: NameSource) -> Resolver {
        let asked = Mutex::new(source.current());
        Resolver {
            source,
            cache: NameCache::default(),
            asked,
            longest_lookup: MAX_LOOKUP,
        }
    }

    /// The answer known without a query: never waits for the network or for another thread's lookup, and opens no
    /// file, so a confined thread may call it.
    pub fn cached(&self, name: &Name) -> Option<Result<Found, NoAddress>> {
        let machine = self.source.known();
        machine.listed(name).map(listed).or_else(|| self.cache.fresh(name))
    }

    /// The addresses of a name, which is taken as fully qualified: clients apply the search list. Waits for
    /// nameservers, ten seconds at most.
    pub fn lookup(&self, name: &Name) -> Result<Found, NoAddress> {
        let machine = self.machine();
        if let Some(addresses) = machine.listed(name) {
            return listed(addresses);
        }
        // A little longer than the lookup itself, so that its result is never missed by a hair.
        let deadline = self.longest_lookup + Duration::from_secs(1);
        self.cache.answer(name, deadline, || self.ask(&machine, name))
    }

    /// The configuration as last read, for threads that can't read the machine's files.
    pub fn known(&self) -> Arc<Machine> {
        self.source.known()
    }

    /// The current configuration. A change clears the cache: other nameservers may know other names.
    pub fn machine(&self) -> Arc<Machine> {
        let machine = self.source.current();
        let mut asked = lock(&self.asked);
        if !Arc::ptr_eq(&asked, &machine) {
            *asked = machine.clone();
            self.cache.clear();
        }
        machine
    }

    fn ask(&self, machine: &Machine, name: &Name) -> LookupOutcome {
        fault::point("lookup", || name.as_str());
        let Some(name) = on_the_wire(name) else {
            return LookupOutcome::missing(NoAddress::NoSuchName, 0);
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

/// Asks for both at the same time if a thread can be spawned, else one after the other.
fn both_families(search: &Search<'_>, name: &WireName) -> LookupOutcome {
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
                Err(_) => LookupOutcome::failed(),
            },
            Err(_) => ask_v6(),
        };
        LookupOutcome::joined(v4, v6)
    })
}

fn listed(addresses: &[IpAddr]) -> Result<Found, NoAddress> {
    Ok(Found {
        addresses: addresses.to_vec(),
        ttl: LISTED,
    })
}

/// The fully qualified name. `None` for names that are invalid in DNS, which `Name` doesn't allow.
fn on_the_wire(name: &Name) -> Option<WireName> {
    let mut wire = WireName::from_ascii(name.as_str()).ok()?;
    wire.set_fqdn(true);
    Some(wire)
}
