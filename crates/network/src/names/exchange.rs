//! One query to one nameserver, and the check of its answer. A host that can send datagrams here must not be able to
//! answer in the nameserver's place, so a fresh socket (a random port), a random id and the echoed question
//! are all compared (RFC 5452).

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Instant;

use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};

use super::frame;
use super::machine::Carrier;
use stockade_sys::random;

/// The largest answer requested by datagram, small enough never to be fragmented (DNS flag day 2020).
const MAX_ANSWER: u16 = 1232;
/// The receive buffer: some servers send more than was asked for.
const MAX_DATAGRAM: usize = 4096;

/// A nameserver and the deadline for its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nameserver {
    pub address: SocketAddr,
    pub carrier: Carrier,
    pub deadline: Instant,
}

impl Nameserver {
    /// The answer to a query, whatever its code. A server older than EDNS is asked again without it (RFC 6891,
    /// section 6.2.2).
    pub fn ask(&self, query: &Query) -> io::Result<Message> {
        let answer = self.exchange(&request(query, Some(extensions()))?)?;
        match answer.metadata.response_code {
            ResponseCode::FormErr | ResponseCode::NotImp => self.exchange(&request(query, None)?),
            _ => Ok(answer),
        }
    }

    fn exchange(&self, request: &Message) -> io::Result<Message> {
        if self.carrier == Carrier::Datagrams {
            let answer = self.exchange_datagrams(request)?;
            if !answer.metadata.truncation {
                return Ok(answer);
            }
        }
        self.exchange_stream(request)
    }

    /// The first datagram that is an answer. Others are skipped without an error: one may be an attempt to answer
    /// faster than the nameserver.
    fn exchange_datagrams(&self, request: &Message) -> io::Result<Message> {
        let any: IpAddr = match self.address {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind((any, 0))?;
        // Connected: the kernel drops datagrams from other addresses, and reports when there's no listener.
        socket.connect(self.address)?;
        socket.send(&encoded(request)?)?;
        let mut bytes = [0; MAX_DATAGRAM];
        loop {
            socket.set_read_timeout(Some(frame::remaining(self.deadline)?))?;
            let length = match socket.recv(&mut bytes) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            match Message::from_vec(&bytes[..length]) {
                Ok(answer) if is_answer(&answer, request) => return Ok(answer),
                _ => {}
            }
        }
    }

    fn exchange_stream(&self, request: &Message) -> io::Result<Message> {
        let mut stream = TcpStream::connect_timeout(&self.address, frame::remaining(self.deadline)?)?;
        frame::write(&mut stream, &encoded(request)?, frame::remaining(self.deadline)?)?;
        let bytes = frame::read(&mut stream, self.deadline)?.ok_or(ErrorKind::UnexpectedEof)?;
        let answer = Message::from_vec(&bytes).map_err(io::Error::other)?;
        if !is_answer(&answer, request) {
            return Err(io::Error::other("the nameserver answered another question"));
        }
        Ok(answer)
    }
}

/// A query with an unpredictable id. `Message::query` would choose one too, but see [`random`] for how.
fn request(query: &Query, extensions: Option<Edns>) -> io::Result<Message> {
    let mut request = Message::new(random::number()?, MessageType::Query, OpCode::Query);
    request.metadata.recursion_desired = true;
    request.add_query(query.clone());
    request.edns = extensions;
    Ok(request)
}

fn extensions() -> Edns {
    let mut extensions = Edns::new();
    extensions.set_max_payload(MAX_ANSWER);
    extensions
}

fn encoded(message: &Message) -> io::Result<Vec<u8>> {
    message.to_vec().map_err(io::Error::other)
}

/// Whether a message answers the request. A server that can't parse a request need not repeat its question.
fn is_answer(answer: &Message, request: &Message) -> bool {
    let is_unreadable = answer.queries.is_empty() && answer.metadata.response_code == ResponseCode::FormErr;
    answer.metadata.id == request.metadata.id
        && answer.metadata.message_type == MessageType::Response
        && answer.metadata.op_code == OpCode::Query
        && (is_unreadable || answer.queries == request.queries)
}
