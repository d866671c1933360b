//! The run's nameserver as a function: query bytes in, answer bytes out. Nothing is ever forwarded: it returns only
//! addresses, and those are the caller's synthetic ones. The bytes come from the run and may be anything.

use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::op::{Edns, Header, Message, MessageType, Metadata, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name as WireName, RData, Record, RecordType, rdata};
use hickory_proto::serialize::binary::{BinDecodable, BinDecoder};

use crate::profile::Name;

/// The datagram size that answers to EDNS must advertise (RFC 6891, section 6.2.5), though none is received.
const MAX_DATAGRAM: u16 = 1232;

/// The longest TTL that every resolver reads as positive (RFC 2181, section 8).
const MAX_TTL_SECONDS: u64 = i32::MAX as u64;

/// The address family asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// A
    V4,
    /// AAAA
    V6,
}

/// The answer to the run for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Its address, of the family asked for.
    Address(IpAddr, Duration),
    /// It exists, but not in this family.
    NoData,
    /// It doesn't exist, or this run may not resolve it.
    NoSuchName,
    /// It can't be resolved just now.
    Failed,
}

/// Answers one message. `ask` is called at most once, with host names only. `None` if the message gets no answer (it
/// lacks a header, or is itself an answer).
pub fn answer(query: &[u8], ask: &mut dyn FnMut(&Name, Family) -> Reply) -> Option<Vec<u8>> {
    let mut decoder = BinDecoder::new(query);
    let header = Header::read(&mut decoder).ok()?;
    if header.metadata.message_type == MessageType::Response {
        return None;
    }
    let mut response = blank(&header.metadata);
    response.metadata.response_code = respond(&header, &mut decoder, &mut response, ask);
    response.to_vec().ok()
}

/// Fills in the answer and returns its response code.
fn respond(
    header: &Header,
    decoder: &mut BinDecoder<'_>,
    response: &mut Message,
    ask: &mut dyn FnMut(&Name, Family) -> Reply,
) -> ResponseCode {
    if header.metadata.op_code != OpCode::Query {
        return ResponseCode::NotImp;
    }
    if header.counts.queries != 1 {
        return ResponseCode::FormErr;
    }
    let Ok(question) = Query::read(decoder) else {
        return ResponseCode::FormErr;
    };
    response.add_query(question.clone());
    let Ok(extensions) = extensions(header, decoder) else {
        return ResponseCode::FormErr;
    };
    response.edns = extensions.as_ref().map(echo);
    if extensions.is_some_and(|extensions| extensions.version() != 0) {
        return ResponseCode::BADVERS;
    }
    if question.query_class != DNSClass::IN {
        return ResponseCode::Refused;
    }
    answer_question(&question, response, ask)
}

fn answer_question(
    question: &Query,
    response: &mut Message,
    ask: &mut dyn FnMut(&Name, Family) -> Reply,
) -> ResponseCode {
    let Some(name) = host_name(&question.name) else {
        return ResponseCode::NXDomain;
    };
    // Queries of other types call `ask` for an address, only to learn whether the name exists.
    let family = if question.query_type == RecordType::AAAA {
        Family::V6
    } else {
        Family::V4
    };
    match ask(&name, family) {
        Reply::Address(address, ttl) => {
            response.answers.extend(record(question, address, ttl));
            ResponseCode::NoError
        }
        Reply::NoData => ResponseCode::NoError,
        Reply::NoSuchName => ResponseCode::NXDomain,
        Reply::Failed => ResponseCode::ServFail,
    }
}

/// `None` for another record type or another family.
fn record(question: &Query, address: IpAddr, ttl: Duration) -> Option<Record> {
    let data = match (question.query_type, address) {
        (RecordType::A, IpAddr::V4(address)) => RData::A(rdata::A(address)),
        (RecordType::AAAA, IpAddr::V6(address)) => RData::AAAA(rdata::AAAA(address)),
        _ => return None,
    };
    let ttl_seconds = u32::try_from(ttl.as_secs().min(MAX_TTL_SECONDS)).ok()?;
    Some(Record::from_rdata(question.name.clone(), ttl_seconds, data))
}

/// A valid host name. Names of addresses (`….in-addr.arpa`) are excluded: they aren't granted, and programs that look
/// up their peers would fill the report with them. A label with a dot in it is one label, never two.
fn host_name(name: &WireName) -> Option<Name> {
    let labels: Vec<&[u8]> = name.iter().collect();
    if labels.iter().any(|label| label.contains(&b'.')) {
        return None;
    }
    let name = Name::from_wire(&labels.join(&b'.'))?;
    let is_below = |domain: &str| name.as_str() == domain || name.as_str().ends_with(&format!(".{domain}"));
    (!is_below("in-addr.arpa") && !is_below("ip6.arpa")).then_some(name)
}

/// The query's EDNS record, which is among the additional records. The other records are ignored.
fn extensions(header: &Header, decoder: &mut BinDecoder<'_>) -> Result<Option<Edns>, ResponseCode> {
    let op_code = header.metadata.op_code;
    let mut read = |count: u16, is_additional| {
        let records = Message::read_records(decoder, count.into(), is_additional, op_code);
        records
            .map(|(_, extensions, _)| extensions)
            .map_err(|_| ResponseCode::FormErr)
    };
    read(header.counts.answers, false)?;
    read(header.counts.authorities, false)?;
    read(header.counts.additionals, true)
}

/// The EDNS record of the answer: version 0, no options, the DO bit as received (RFC 3225, section 3).
fn echo(extensions: &Edns) -> Edns {
    let mut echo = Edns::new();
    echo.set_max_payload(MAX_DATAGRAM);
    echo.set_dnssec_ok(extensions.flags().dnssec_ok);
    echo
}

/// Sets RA: Go treats an empty answer without it as one from a server that knows nothing.
fn blank(query: &Metadata) -> Message {
    let mut response = Message::response(query.id, query.op_code);
    response.metadata = Metadata::response_from_request(query);
    response.metadata.recursion_available = true;
    response
}
