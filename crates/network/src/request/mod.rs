//! Follows the client's side of an HTTP/1 connection, so that the host of every request is known before a byte of the
//! request is passed on.
//!
//! It decides where each request begins and ends, and nothing else: the caller decides whether a host is granted. A
//! target may write its requests so that Stockade and the server disagree on where one ends, and hide a second one in
//! the gap. Anything that two parsers could understand differently is therefore refused, though the standard may allow
//! it. Bodies are counted, never parsed. Sources: RFC 9110, RFC 9112; RFC 6455, 4 for WebSocket.

mod head;
mod lines;
mod reply;

use std::net::IpAddr;

use self::{
    head::{Body, RequestHead},
    lines::{HeaderSection, Lines},
};
use crate::profile::Name;

pub use self::reply::{HttpReply, read_reply};
#[cfg(test)]
use lines::MAX_LENGTH;

/// The reason for a refusal, in words that complete "refused because".
pub type RequestRefusal = &'static str;

/// The host in a request's `Host`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestHost {
    /// A name.
    Name(Name),
    /// An address, IPv6 in brackets. Not yet judged: an IPv4-mapped one is still IPv6 here.
    Address(IpAddr),
}

/// The next action for the bytes at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseStep {
    /// A head, a chunk-size line or a trailer isn't complete. Never returned for [`lines::MAX_LENGTH`] bytes or more.
    NeedMore,
    /// Pass on the next `n` bytes of the stream, including those that haven't been read yet (splice them).
    Pass(u64),
    /// The first `length` bytes are a head. Pass it on if this host is granted; if not, end the connection.
    Head {
        /// The length, including the empty line.
        length: usize,
        /// The host that it names.
        host: RequestHost,
        /// The port in `Host`, where one is written.
        port: Option<u16>,
    },
    /// The same, but it asks to switch to a WebSocket. It is always a connection's first request, so that the server's
    /// reply is the first thing that the server sends: read that with [`read_reply`] from its first byte.
    Upgrade {
        /// The length, including the empty line.
        length: usize,
        /// The host that it names.
        host: RequestHost,
        /// The port in `Host`, where one is written.
        port: Option<u16>,
    },
    /// Pass on nothing until [`Requests::answered`] has been given the reply to the upgrade.
    AwaitReply,
    /// It is a WebSocket now: pass on everything that follows.
    Unchecked,
    /// Pass on nothing more, and end the connection.
    Refused(RequestRefusal),
}

/// The state of one connection, client to server.
#[derive(Debug)]
pub struct Requests {
    state: State,
    /// Whether a head has been read.
    begun: bool,
}

#[derive(Debug)]
enum State {
    Head(Lines),
    Body { length: u64, may_be_http2: bool },
    ChunkSize,
    ChunkEnd,
    Trailer(Lines),
    AwaitReply,
    Unchecked,
    Refused(RequestRefusal),
}

/// The result of a check; the error is the reason for a refusal.
type Checked<T> = Result<T, RequestRefusal>;

impl Requests {
    /// The state at a connection's beginning.
    pub fn new() -> Requests {
        Requests {
            state: State::Head(Lines::new(HeaderSection::Request)),
            begun: false,
        }
    }

    /// Examines the bytes that aren't passed on yet, from the first. Every step except `NeedMore` and `AwaitReply`
    /// is assumed to be carried out: the next call must begin after the bytes that it named. After `NeedMore`, pass the
    /// same bytes again, and more.
    pub fn step(&mut self, bytes: &[u8]) -> ParseStep {
        self.advance(bytes).unwrap_or_else(|reason| {
            self.state = State::Refused(reason);
            ParseStep::Refused(reason)
        })
    }

    fn advance(&mut self, bytes: &[u8]) -> Checked<ParseStep> {
        match &mut self.state {
            State::Head(lines) => match lines.end(bytes)? {
                Some(length) => self.head(&bytes[..length]),
                None => Ok(ParseStep::NeedMore),
            },
            &mut State::Body { length, may_be_http2 } => Ok(match may_be_http2 && begins_http2(bytes, length)? {
                true => ParseStep::NeedMore,
                false => self.body(length),
            }),
            State::ChunkSize => self.chunk_size(bytes),
            State::ChunkEnd => self.chunk_end(bytes),
            State::Trailer(lines) => match lines.end(bytes)? {
                Some(length) => self.trailer(&bytes[..length]),
                None => Ok(ParseStep::NeedMore),
            },
            State::AwaitReply => Ok(ParseStep::AwaitReply),
            State::Unchecked => Ok(ParseStep::Unchecked),
            State::Refused(reason) => Err(*reason),
        }
    }

    /// Takes the server's reply to an upgrade.
    pub fn answered(&mut self, reply: HttpReply) {
        if !matches!(self.state, State::AwaitReply) {
            return;
        }
        match reply {
            HttpReply::Incomplete => {}
            HttpReply::WebSocket => self.state = State::Unchecked,
            HttpReply::Stays => self.state = State::Head(Lines::new(HeaderSection::Request)),
            HttpReply::Refused(reason) => self.state = State::Refused(reason),
        }
    }

    fn head(&mut self, bytes: &[u8]) -> Checked<ParseStep> {
        let RequestHead {
            host,
            port,
            body,
            websocket,
        } = RequestHead::read(bytes)?;
        let length = bytes.len();
        let first = !std::mem::replace(&mut self.begun, true);
        if websocket {
            // After other replies, which aren't parsed, a 101 may be part of a page that the target had echoed.
            if !first {
                return Err("a WebSocket is asked for on a connection that was used before");
            }
            self.state = State::AwaitReply;
            return Ok(ParseStep::Upgrade { length, host, port });
        }
        self.state = match body {
            Body::Counted { length: 0, .. } => State::Head(Lines::new(HeaderSection::Request)),
            Body::Counted { length, may_be_http2 } => State::Body { length, may_be_http2 },
            Body::Chunked => State::ChunkSize,
        };
        Ok(ParseStep::Head { length, host, port })
    }

    fn body(&mut self, length: u64) -> ParseStep {
        self.state = State::Head(Lines::new(HeaderSection::Request));
        ParseStep::Pass(length)
    }

    /// Parses a chunk-size line; the step covers line and data. Extensions are refused: clients don't send them, and
    /// servers disagree on where one ends.
    fn chunk_size(&mut self, bytes: &[u8]) -> Checked<ParseStep> {
        let digits = bytes.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits > MAX_CHUNK_DIGITS {
            return Err("a chunk is too long");
        }
        match &bytes[digits..] {
            [] | [b'\r'] if digits > 0 || bytes.is_empty() => Ok(ParseStep::NeedMore),
            [b'\r', b'\n', ..] if digits > 0 => {
                let text = str::from_utf8(&bytes[..digits]).map_err(|_| BAD_CHUNK_SIZE)?;
                let size = u64::from_str_radix(text, 16).map_err(|_| BAD_CHUNK_SIZE)?;
                self.state = if size == 0 {
                    State::Trailer(Lines::new(HeaderSection::Trailer))
                } else {
                    State::ChunkEnd
                };
                Ok(ParseStep::Pass(digits as u64 + 2 + size))
            }
            _ => Err(BAD_CHUNK_SIZE),
        }
    }

    fn chunk_end(&mut self, bytes: &[u8]) -> Checked<ParseStep> {
        match bytes {
            [] | [b'\r'] => Ok(ParseStep::NeedMore),
            [b'\r', b'\n', ..] => {
                self.state = State::ChunkSize;
                Ok(ParseStep::Pass(2))
            }
            _ => Err("a chunk is longer than its size"),
        }
    }

    fn trailer(&mut self, bytes: &[u8]) -> Checked<ParseStep> {
        head::check_trailer(bytes)?;
        self.state = State::Head(Lines::new(HeaderSection::Request));
        Ok(ParseStep::Pass(bytes.len() as u64))
    }
}

impl Default for Requests {
    fn default() -> Requests {
        Requests::new()
    }
}

/// Whether a body may still turn out to begin as HTTP/2 does; an error once it did.
fn begins_http2(bytes: &[u8], length: u64) -> Checked<bool> {
    let begun = &bytes[..bytes.len().min(HTTP2_PREFACE.len())];
    if length < HTTP2_PREFACE.len() as u64 || !HTTP2_PREFACE.starts_with(begun) {
        return Ok(false);
    }
    if begun.len() < HTTP2_PREFACE.len() {
        Ok(true)
    } else {
        Err("it goes on as HTTP/2")
    }
}

/// The part of the HTTP/2 client preface that no HTTP/1 request begins with (RFC 9113, 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n";
/// Sixty bits: no parser takes such a size for a negative one.
const MAX_CHUNK_DIGITS: usize = 15;
const BAD_CHUNK_SIZE: RequestRefusal = "a chunk's size isn't a plain hexadecimal number";

#[cfg(test)]
mod tests;
