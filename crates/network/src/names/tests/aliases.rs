//! Names that are aliases of others.

use std::time::{Duration, Instant};

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::{Name as WireName, RData, Record, RecordType, rdata};

use super::server::{Asked, FakeServer, record};
use super::{look_up, look_up_at, machine, resolver};
use crate::names::chain::Search;
use crate::names::outcome::NoAddress;

fn soa(minimum: u32) -> Record {
    let root = WireName::root();
    Record::from_rdata(
        root.clone(),
        900,
        RData::SOA(rdata::SOA::new(root.clone(), root, 1, 1, 1, 1, minimum)),
    )
}

/// `a0` is an alias of `a1` and so on; the last has the address. Each answer has `in_one_answer` aliases.
fn aliases(asked: &Asked, last: usize, in_one_answer: usize) -> Message {
    let first: usize = asked
        .name
        .trim_start_matches('a')
        .trim_end_matches(".example.")
        .parse()
        .unwrap();
    let mut reply = asked.reply(ResponseCode::NoError);
    for number in first..last.min(first + in_one_answer) {
        reply.add_answer(record(
            &format!("a{number}.example."),
            300,
            &format!("a{}.example.", number + 1),
        ));
    }
    if first + in_one_answer >= last && asked.family == RecordType::A {
        reply.add_answer(record(&format!("A{last}.Example."), 300, "192.0.2.1"));
    } else if first + in_one_answer >= last {
        reply.add_authority(soa(60));
    }
    reply
}

#[test]
fn aliases_are_followed_inside_an_answer_and_by_asking_again() {
    for in_one_answer in [1, 2, 3, 8] {
        let server = FakeServer::saying(move |asked| aliases(asked, 8, in_one_answer));
        assert_eq!(
            look_up_at(&server, "a0.example").unwrap(),
            ["192.0.2.1"],
            "{in_one_answer}"
        );
    }
}

#[test]
fn too_many_aliases_are_given_up() {
    for in_one_answer in [1, 9] {
        let server = FakeServer::saying(move |asked| aliases(asked, 9, in_one_answer));
        assert_eq!(
            look_up_at(&server, "a0.example"),
            Err(NoAddress::Failed),
            "{in_one_answer}"
        );
        assert!(server.log().len() <= 18);
    }
}

#[test]
fn aliases_in_a_circle_are_given_up() {
    let server = FakeServer::saying(|asked| {
        let mut reply = asked.reply(ResponseCode::NoError);
        match asked.name.as_str() {
            "self.example." => reply.add_answer(record("self.example.", 300, "self.example.")),
            "one.example." => reply.add_answer(record("one.example.", 300, "two.example.")),
            _ => reply.add_answer(record("two.example.", 300, "one.example.")),
        };
        reply
    });
    let resolver = resolver(machine(&[&server]));
    assert_eq!(look_up(&resolver, "self.example"), Err(NoAddress::Failed));
    assert_eq!(look_up(&resolver, "one.example"), Err(NoAddress::Failed));
    assert!(server.log().len() <= 20);
}

#[test]
fn an_alias_that_leads_nowhere_says_so() {
    let server = FakeServer::saying(|asked| {
        let code = if asked.name == "gone.example." {
            ResponseCode::NXDomain
        } else {
            ResponseCode::NoError
        };
        let mut reply = asked.reply(code);
        reply.add_answer(record(&asked.name, 300, "target.example."));
        reply.add_authority(soa(60));
        reply
    });
    let resolver = resolver(machine(&[&server]));
    assert_eq!(look_up(&resolver, "gone.example"), Err(NoAddress::NoSuchName));
    assert_eq!(look_up(&resolver, "bare.example"), Err(NoAddress::NoAddresses));
    assert_eq!(server.log().len(), 4);
}

#[test]
fn addresses_of_other_names_are_not_taken() {
    let server = FakeServer::saying(|asked| {
        let mut reply = asked.reply(ResponseCode::NoError);
        reply.add_answer(record("other.example.", 300, "192.0.2.66"));
        reply
    });
    assert_eq!(look_up_at(&server, "a.example"), Err(NoAddress::NoAddresses));
}

#[test]
fn an_answer_holds_as_long_as_the_shortest_lived_part_of_it() {
    let server = FakeServer::saying(|asked| {
        let mut reply = asked.reply(ResponseCode::NoError);
        match asked.name.as_str() {
            "alias.example." => {
                reply.add_answer(record("alias.example.", 20, "target.example."));
                reply.add_answer(record("target.example.", 300, "192.0.2.1"));
            }
            "nothing.example." => {
                reply.add_authority(soa(7));
            }
            _ => {}
        }
        reply
    });
    let machine = machine(&[&server]);
    let started = Instant::now();
    let deadline = started + Duration::from_secs(5);
    let search = Search {
        machine: &machine,
        started,
        deadline,
    };
    for (name, seconds) in [
        ("alias.example.", 20),
        ("nothing.example.", 7),
        ("silent-about-it.example.", 1),
    ] {
        let outcome = search.addresses(&WireName::from_ascii(name).unwrap(), RecordType::A);
        assert_eq!(outcome.lifetime, Duration::from_secs(seconds), "{name}");
    }
}
