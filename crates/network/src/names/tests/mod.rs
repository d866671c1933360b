//! Lookups from nameservers that are slow, broken or lie, and answers to such queries.

mod aliases;
mod answers;
mod lookups;
mod server;
mod spoofing;

use self::server::FakeServer;
use super::lookup::Resolver;
use super::machine::Machine;
use super::outcome::NoAddress;
use super::source::NameSource;
use crate::profile::Name;

/// A configuration with these servers, in this order, and the timeout of a usual machine.
fn machine(servers: &[&FakeServer]) -> Machine {
    let mut machine = Machine::parse("", "10.0.0.5 db.internal");
    machine.nameservers = servers.iter().map(|server| server.address).collect();
    machine
}

fn resolver(machine: Machine) -> Resolver {
    Resolver::new(NameSource::unchanging(machine))
}

fn named(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn look_up(resolver: &Resolver, name: &str) -> Result<Vec<String>, NoAddress> {
    let found = resolver.lookup(&named(name))?;
    Ok(found.addresses.iter().map(ToString::to_string).collect())
}

fn look_up_at(server: &FakeServer, name: &str) -> Result<Vec<String>, NoAddress> {
    look_up(&resolver(machine(&[server])), name)
}
