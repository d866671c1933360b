//! The answers of the run's nameserver to honest and to hostile queries.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name as WireName, RecordType};
use proptest::prelude::*;

use crate::names::answer::{Family, Reply, answer};
use crate::profile::Name;

const V4: Ipv4Addr = Ipv4Addr::new(198, 18, 1, 0);
const V6: Ipv6Addr = Ipv6Addr::new(0xfd73, 0x746f, 0x636b, 0, 0, 0, 0, 0x100);

/// `known.example` has both families, `v4.example` one, `slow.example` can't be looked up.
fn ask(name: &Name, family: Family) -> Reply {
    match (name.as_str(), family) {
        ("known.example" | "v4.example", Family::V4) => Reply::Address(V4.into(), Duration::from_secs(60)),
        ("known.example", Family::V6) => Reply::Address(V6.into(), Duration::MAX),
        ("v4.example", Family::V6) => Reply::NoData,
        ("slow.example", _) => Reply::Failed,
        _ => Reply::NoSuchName,
    }
}

fn query(name: WireName, query_type: RecordType) -> Message {
    let mut query = Message::query();
    query.metadata.recursion_desired = true;
    query.add_query(Query::query(name, query_type));
    query
}

fn query_for(name: &str, query_type: RecordType) -> Message {
    query(WireName::from_ascii(name).unwrap(), query_type)
}

fn answered(query: &Message) -> Message {
    let bytes = answer(&query.to_vec().unwrap(), &mut ask).unwrap();
    let response = Message::from_vec(&bytes).unwrap();
    assert_eq!(response.metadata.id, query.metadata.id);
    assert_eq!(response.metadata.message_type, MessageType::Response);
    assert!(response.metadata.recursion_available && !response.metadata.authentic_data);
    response
}

fn code(query: &Message) -> ResponseCode {
    answered(query).metadata.response_code
}

/// The response code and the one address, if any.
fn told(name: &str, query_type: RecordType) -> (ResponseCode, Option<IpAddr>) {
    let response = answered(&query_for(name, query_type));
    assert!(response.answers.len() <= 1);
    let address = response.answers.first().and_then(|record| record.data.ip_addr());
    (response.metadata.response_code, address)
}

#[test]
fn known_names_get_their_addresses() {
    assert_eq!(
        told("known.example.", RecordType::A),
        (ResponseCode::NoError, Some(V4.into()))
    );
    assert_eq!(
        told("known.example.", RecordType::AAAA),
        (ResponseCode::NoError, Some(V6.into()))
    );
    assert_eq!(told("v4.example.", RecordType::AAAA), (ResponseCode::NoError, None));
    assert_eq!(told("slow.example.", RecordType::A), (ResponseCode::ServFail, None));
    assert_eq!(told("unknown.example.", RecordType::A), (ResponseCode::NXDomain, None));
}

#[test]
fn the_question_comes_back_as_it_was_written() {
    let response = answered(&query_for("KnOwN.eXaMpLe.", RecordType::A));
    assert_eq!(response.queries[0].name.to_ascii(), "KnOwN.eXaMpLe.");
    assert_eq!(response.answers[0].name.to_ascii(), "KnOwN.eXaMpLe.");
    assert_eq!(
        (response.answers[0].ttl, response.answers[0].dns_class),
        (60, DNSClass::IN)
    );
    assert!(response.metadata.recursion_desired);
    let response = answered(&query_for("known.example.", RecordType::AAAA));
    assert_eq!(response.answers[0].ttl, i32::MAX as u32);
}

#[test]
fn other_types_tell_only_whether_there_is_such_a_name() {
    use RecordType::{ANY, AXFR, CNAME, HTTPS, MX, NS, PTR, SOA, SRV, SVCB, TXT};
    for other in [
        ANY,
        AXFR,
        CNAME,
        HTTPS,
        MX,
        NS,
        PTR,
        SOA,
        SRV,
        SVCB,
        TXT,
        RecordType::Unknown(4711),
    ] {
        assert_eq!(told("known.example.", other), (ResponseCode::NoError, None), "{other}");
        assert_eq!(
            told("unknown.example.", other),
            (ResponseCode::NXDomain, None),
            "{other}"
        );
        assert_eq!(told("slow.example.", other), (ResponseCode::ServFail, None), "{other}");
    }
}

#[test]
fn an_address_of_the_wrong_family_is_not_told() {
    let mut ask = |_: &Name, _| Reply::Address(V4.into(), Duration::ZERO);
    let bytes = answer(&query_for("a.example.", RecordType::AAAA).to_vec().unwrap(), &mut ask).unwrap();
    assert!(Message::from_vec(&bytes).unwrap().answers.is_empty());
}

#[test]
fn what_is_no_hosts_name_does_not_exist_and_is_not_asked_for() {
    let labels: [&[&[u8]]; 8] = [
        &[],
        &[b"known.example"],
        &[b"a b", b"example"],
        &[b"known\0", b"example"],
        &[b"caf\xc3\xa9", b"example"],
        &[b"1", b"2", b"3", b"4"],
        &[b"4", b"3", b"2", b"1", b"in-addr", b"arpa"],
        &[b"1", b"ip6", b"ARPA"],
    ];
    for labels in labels {
        let name = WireName::from_labels(labels.iter().copied()).unwrap();
        let mut never = |name: &Name, _| panic!("asked for {name:?}");
        let bytes = answer(&query(name, RecordType::A).to_vec().unwrap(), &mut never).unwrap();
        let response = Message::from_vec(&bytes).unwrap();
        assert_eq!(response.metadata.response_code, ResponseCode::NXDomain, "{labels:?}");
        assert_eq!(response.queries.len(), 1);
    }
}

#[test]
fn what_we_do_not_do_is_refused() {
    let good = query_for("known.example.", RecordType::A);
    for op_code in [OpCode::Status, OpCode::Notify, OpCode::Update, OpCode::Unknown(9)] {
        let mut other = good.clone();
        other.metadata.op_code = op_code;
        assert_eq!(code(&other), ResponseCode::NotImp);
    }
    for class in [DNSClass::CH, DNSClass::ANY, DNSClass::NONE, DNSClass::Unknown(9)] {
        let mut other = good.clone();
        other.queries[0].query_class = class;
        assert_eq!(code(&other), ResponseCode::Refused);
    }
    let mut two = good.clone();
    two.add_query(good.queries[0].clone());
    assert_eq!(code(&two), ResponseCode::FormErr);
    let mut none = good.clone();
    none.queries.clear();
    assert_eq!(code(&none), ResponseCode::FormErr);
}

#[test]
fn a_query_that_is_cut_off_is_malformed_and_without_a_header_nothing() {
    let bytes = query_for("known.example.", RecordType::A).to_vec().unwrap();
    for length in 0..bytes.len() {
        let response = answer(&bytes[..length], &mut ask);
        match length {
            0..12 => assert_eq!(response, None),
            _ => {
                let response = Message::from_vec(&response.unwrap()).unwrap();
                assert_eq!(response.metadata.response_code, ResponseCode::FormErr);
            }
        }
    }
}

#[test]
fn an_answer_has_no_answer() {
    let mut response = query_for("known.example.", RecordType::A);
    response.metadata.message_type = MessageType::Response;
    assert_eq!(answer(&response.to_vec().unwrap(), &mut ask), None);
}

#[test]
fn edns_is_answered_with_edns_and_only_then() {
    let mut query = query_for("known.example.", RecordType::A);
    assert_eq!(answered(&query).edns, None);
    let mut extensions = Edns::new();
    extensions.set_max_payload(4096).set_dnssec_ok(true);
    query.edns = Some(extensions.clone());
    let response = answered(&query);
    let echo = response.edns.unwrap();
    assert_eq!(
        (echo.version(), echo.max_payload(), echo.flags().dnssec_ok),
        (0, 1232, true)
    );
    assert_eq!(response.answers.len(), 1);

    extensions.set_version(1);
    query.edns = Some(extensions);
    let response = answered(&query);
    // The number 16 also stands for BADSIG, which is how it is read back.
    assert_eq!(
        u16::from(response.metadata.response_code),
        u16::from(ResponseCode::BADVERS)
    );
    assert_eq!((response.edns.unwrap().version(), response.answers.len()), (0, 0));
}

#[test]
fn two_edns_parts_are_malformed() {
    let mut query = query_for("known.example.", RecordType::A);
    query.edns = Some(Edns::new());
    query.add_additional((&Edns::new()).into());
    assert_eq!(code(&query), ResponseCode::FormErr);
}

#[test]
fn the_bits_about_signatures_change_nothing() {
    let mut query = query_for("known.example.", RecordType::A);
    query.metadata.authentic_data = true;
    query.metadata.checking_disabled = true;
    assert_eq!(answered(&query).answers.len(), 1);
}

/// Checks that every answer can be parsed, matches the query and fits a stream.
fn check(bytes: &[u8]) {
    let Some(response) = answer(bytes, &mut ask) else {
        return;
    };
    assert_eq!(response[..2], bytes[..2]);
    let response = Message::from_vec(&response).unwrap();
    assert_eq!(response.metadata.message_type, MessageType::Response);
    assert!(response.answers.len() <= 1);
}

fn some_query() -> impl Strategy<Value = Vec<u8>> {
    let label = prop_oneof![Just(b"known".to_vec()), prop::collection::vec(any::<u8>(), 1..20)];
    let labels = prop::collection::vec(label, 0..4);
    (labels, any::<u16>(), any::<u16>(), any::<bool>()).prop_map(|(mut labels, query_type, class, has_edns)| {
        labels.push(b"example".to_vec());
        let name = WireName::from_labels(labels.iter().map(Vec::as_slice)).unwrap();
        let mut query = query(name, RecordType::from(query_type));
        query.queries[0].query_class = if class < 0x8000 {
            DNSClass::IN
        } else {
            DNSClass::from(class)
        };
        query.edns = has_edns.then(Edns::new);
        query.to_vec().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }

    #[test]
    fn changed_queries_never_panic(
        mut bytes in some_query(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        check(&bytes);
    }
}
