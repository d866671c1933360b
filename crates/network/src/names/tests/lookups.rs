//! The servers that a lookup asks, their order, its timeouts, and the cache.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;

use super::server::FakeServer;
use super::{look_up, look_up_at, machine, named, resolver};
use crate::names::lookup::Resolver;
use crate::names::outcome::NoAddress;
use crate::names::source::NameSource;

/// The timeout for tests that wait for one. Long enough for honest answers on a busy machine.
const SHORT: Duration = Duration::from_millis(300);

/// Longer than anything takes unless it hangs.
const LONG: Duration = Duration::from_secs(30);

#[test]
fn both_families_are_found_and_remembered() {
    let server = FakeServer::saying(|asked| asked.addresses(&["2001:db8::1", "192.0.2.1", "192.0.2.2"]));
    let resolver = resolver(machine(&[&server]));
    let name = named("api.example.com");
    assert_eq!(resolver.cached(&name), None);
    let expected = ["192.0.2.1", "192.0.2.2", "2001:db8::1"];
    assert_eq!(look_up(&resolver, "api.example.com").unwrap(), expected);
    assert_eq!(look_up(&resolver, "API.example.com.").unwrap(), expected);
    assert_eq!(resolver.cached(&name).unwrap().unwrap().addresses.len(), 3);
    let log = server.log();
    assert_eq!(log.len(), 2);
    let request = &log[0].request;
    assert_eq!(request.edns.as_ref().unwrap().max_payload(), 1232);
    assert!(request.metadata.recursion_desired);
}

#[test]
fn one_family_is_enough() {
    let server = FakeServer::saying(|asked| asked.addresses(&["192.0.2.1"]));
    assert_eq!(look_up_at(&server, "v4.example").unwrap(), ["192.0.2.1"]);
    let server = FakeServer::saying(|asked| match asked.family {
        RecordType::A => asked.reply(ResponseCode::ServFail),
        _ => asked.addresses(&["2001:db8::1"]),
    });
    assert_eq!(look_up_at(&server, "v6.example").unwrap(), ["2001:db8::1"]);
}

#[test]
fn an_ipv4_address_in_the_form_of_ipv6_comes_out_as_ipv4() {
    let server = FakeServer::saying(|asked| asked.addresses(&["::ffff:127.0.0.1"]));
    assert_eq!(look_up_at(&server, "mapped.example").unwrap(), ["127.0.0.1"]);
}

#[test]
fn a_name_that_does_not_exist_is_told_from_one_without_addresses() {
    let server = FakeServer::saying(|asked| match asked.name.as_str() {
        "none.example." => asked.reply(ResponseCode::NXDomain),
        _ => asked.reply(ResponseCode::NoError),
    });
    let resolver = resolver(machine(&[&server]));
    assert_eq!(look_up(&resolver, "none.example"), Err(NoAddress::NoSuchName));
    assert_eq!(look_up(&resolver, "empty.example"), Err(NoAddress::NoAddresses));
    assert_eq!(
        resolver.cached(&named("none.example")),
        Some(Err(NoAddress::NoSuchName))
    );
}

#[test]
fn what_the_machine_lists_itself_is_never_asked() {
    let server = FakeServer::saying(|asked| asked.addresses(&["192.0.2.1"]));
    let resolver = resolver(machine(&[&server]));
    assert_eq!(look_up(&resolver, "db.internal").unwrap(), ["10.0.0.5"]);
    assert_eq!(look_up(&resolver, "app.localhost").unwrap(), ["127.0.0.1", "::1"]);
    assert!(resolver.cached(&named("localhost")).unwrap().is_ok());
    assert!(server.log().is_empty());
}

#[test]
fn a_server_that_fails_is_followed_by_the_next() {
    for code in [ResponseCode::ServFail, ResponseCode::Refused] {
        let broken = FakeServer::saying(move |asked| asked.reply(code));
        let good = FakeServer::saying(|asked| asked.addresses(&["192.0.2.1"]));
        assert_eq!(
            look_up(&resolver(machine(&[&broken, &good])), "a.example").unwrap(),
            ["192.0.2.1"]
        );
        assert_eq!(broken.log().len(), 2);
        assert_eq!(look_up_at(&broken, "a.example"), Err(NoAddress::Failed));
    }
}

#[test]
fn a_server_that_is_down_is_followed_by_the_next_at_once() {
    let down = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let good = FakeServer::saying(|asked| asked.addresses(&["192.0.2.1"]));
    let mut machine = machine(&[&good]);
    machine.nameservers.insert(0, down);
    // A lookup that waits for an answer of the first has no time left for the next.
    machine.timeout = LONG;
    let mut resolver = resolver(machine);
    resolver.longest_lookup = LONG;
    assert_eq!(look_up(&resolver, "a.example").unwrap(), ["192.0.2.1"]);
}

#[test]
fn a_lost_answer_is_asked_for_again() {
    let server = FakeServer::sending(|asked| match asked.before {
        0 => vec![],
        _ => vec![asked.addresses(&["192.0.2.1"]).to_vec().unwrap()],
    });
    let mut machine = machine(&[&server]);
    machine.timeout = SHORT;
    machine.attempts = 3;
    assert_eq!(look_up(&resolver(machine), "a.example").unwrap(), ["192.0.2.1"]);
}

#[test]
fn a_lookup_ends_in_time_whatever_the_server_does() {
    let silent = FakeServer::sending(|_| vec![]);
    let babbling = FakeServer::sending(|_| vec![b"nonsense".to_vec(); 3]);
    for server in [&silent, &babbling] {
        let mut machine = machine(&[server, server, server]);
        machine.attempts = 5;
        let mut resolver = resolver(machine);
        resolver.longest_lookup = SHORT;
        let started = Instant::now();
        assert_eq!(look_up(&resolver, "a.example"), Err(NoAddress::Failed));
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "all are asked as often as they may be"
        );
    }
}

#[test]
fn a_silent_server_leaves_time_for_the_next() {
    let silent = FakeServer::sending(|_| vec![]);
    let good = FakeServer::saying(|asked| asked.addresses(&["192.0.2.1"]));
    let mut resolver = resolver(machine(&[&silent, &good]));
    resolver.longest_lookup = Duration::from_secs(1);
    assert_eq!(look_up(&resolver, "a.example").unwrap(), ["192.0.2.1"]);
}

#[test]
fn lookups_of_one_name_at_the_same_time_share_one_question() {
    let server = FakeServer::saying(|asked| {
        thread::sleep(Duration::from_millis(50));
        asked.addresses(&["192.0.2.1"])
    });
    let resolver = resolver(machine(&[&server]));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(look_up(&resolver, "a.example").unwrap(), ["192.0.2.1"]));
        }
    });
    assert_eq!(server.log().len(), 2);
}

#[test]
fn answers_are_forgotten_when_the_machines_files_change() {
    let server = FakeServer::saying(|asked| asked.addresses(&["192.0.2.1"]));
    let dir = tempfile::tempdir().unwrap();
    let (resolv_conf, hosts) = (dir.path().join("resolv.conf"), dir.path().join("hosts"));
    let resolver = Resolver::new(NameSource::at(&resolv_conf, &hosts, Some(server.address)));
    let name = named("a.example");
    assert!(resolver.lookup(&name).is_ok() && resolver.cached(&name).is_some());
    fs::write(&resolv_conf, "nameserver 10.0.0.1").unwrap();
    // Looking up a cached name opens no file.
    assert!(resolver.cached(&name).is_some());
    assert!(resolver.lookup(&name).is_ok() && server.log().len() == 4);
    fs::write(&hosts, "10.0.0.5 a.example").unwrap();
    assert_eq!(look_up(&resolver, "a.example").unwrap(), ["10.0.0.5"]);
    assert_eq!(server.log().len(), 4);
}
