//! Which messages count as a nameserver's answer to a query, and which don't.

use std::collections::HashSet;
use std::net::{Ipv4Addr, UdpSocket};

use hickory_proto::op::{MessageType, ResponseCode};
use hickory_proto::rr::{Name as WireName, RecordType};

use super::server::{Asked, FakeServer};
use super::{look_up, look_up_at, machine, resolver};
use crate::names::machine::Carrier;
use crate::names::outcome::NoAddress;

#[test]
fn a_truncated_answer_is_asked_for_by_stream() {
    let server = FakeServer::saying(|asked| {
        let mut reply = asked.addresses(&["192.0.2.1", "2001:db8::1"]);
        if asked.carrier == Carrier::Datagrams {
            reply.metadata.truncation = true;
            reply.answers.clear();
        }
        reply
    });
    assert_eq!(
        look_up_at(&server, "big.example").unwrap(),
        ["192.0.2.1", "2001:db8::1"]
    );
    assert_eq!(server.log().len(), 4);
}

#[test]
fn the_machines_options_are_kept_to() {
    let server = FakeServer::saying(|asked| asked.addresses(&["192.0.2.1", "2001:db8::1"]));
    let mut machine = machine(&[&server]);
    machine.carrier = Carrier::Streams;
    machine.wants_ipv6 = false;
    assert_eq!(look_up(&resolver(machine), "a.example").unwrap(), ["192.0.2.1"]);
    let log = server.log();
    assert_eq!((log.len(), log[0].carrier), (1, Carrier::Streams));
}

#[test]
fn a_server_from_before_edns_is_asked_without_it() {
    let server = FakeServer::saying(|asked| match asked.request.edns {
        Some(_) => {
            let mut reply = asked.reply(ResponseCode::FormErr);
            reply.queries.clear();
            reply
        }
        None => asked.addresses(&["192.0.2.1"]),
    });
    assert_eq!(look_up_at(&server, "a.example").unwrap(), ["192.0.2.1"]);
}

/// Messages that an attacker might send in the nameserver's place, or the nameserver to another client.
fn spoofed(asked: &Asked) -> Vec<Vec<u8>> {
    let wrong = asked.addresses(&["192.0.2.66", "2001:db8::66"]);
    let mut other_id = wrong.clone();
    other_id.metadata.id ^= 1;
    let mut other_question = wrong.clone();
    other_question.queries[0].name = WireName::from_ascii("other.example.").unwrap();
    let mut other_type = wrong.clone();
    other_type.queries[0].query_type = RecordType::TXT;
    let mut no_question = wrong.clone();
    no_question.queries.clear();
    let mut no_response = wrong.clone();
    no_response.metadata.message_type = MessageType::Query;
    let messages = [other_id, other_question, other_type, no_question, no_response];
    let mut bytes: Vec<Vec<u8>> = messages.iter().map(|message| message.to_vec().unwrap()).collect();
    bytes.extend([
        b"".to_vec(),
        b"nonsense".to_vec(),
        wrong.to_vec().unwrap()[..20].to_vec(),
    ]);
    bytes
}

#[test]
fn answers_that_are_not_the_servers_are_passed_over() {
    let server = FakeServer::sending(|asked| {
        let wrong = asked.addresses(&["192.0.2.66", "2001:db8::66"]).to_vec().unwrap();
        let elsewhere = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        elsewhere.send_to(&wrong, asked.client).unwrap();
        let mut messages = spoofed(asked);
        messages.push(asked.addresses(&["192.0.2.1", "2001:db8::1"]).to_vec().unwrap());
        messages
    });
    assert_eq!(look_up_at(&server, "a.example").unwrap(), ["192.0.2.1", "2001:db8::1"]);
    assert_eq!(server.log().len(), 2);
}

#[test]
fn a_wrong_answer_by_stream_is_none() {
    let server = FakeServer::sending(|asked| spoofed(asked)[asked.before..].to_vec());
    let mut machine = machine(&[&server]);
    machine.carrier = Carrier::Streams;
    machine.attempts = 5;
    assert_eq!(look_up(&resolver(machine), "a.example"), Err(NoAddress::Failed));
    assert_eq!(server.log().len(), 10);
}

#[test]
fn questions_have_ids_that_differ() {
    let server = FakeServer::saying(|asked| asked.addresses(&["192.0.2.1"]));
    let resolver = resolver(machine(&[&server]));
    for number in 0..4 {
        look_up(&resolver, &format!("n{number}.example")).unwrap();
    }
    let ids: HashSet<u16> = server.log().iter().map(|asked| asked.request.metadata.id).collect();
    assert!(ids.len() > 4, "{ids:?} of 8");
}
