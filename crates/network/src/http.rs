//! A connection on port 80: each request is let through once its `Host` is known.

use std::borrow::Cow;
use std::io;
use std::net::{SocketAddr, TcpStream};

use super::NetworkAcl;
use super::dial::why_closed;
use super::flow::{Flow, Moved, PipePool, read_more};
use super::request::{HttpReply, ParseStep, RequestHost, Requests, read_reply};
use crate::report::Reason;

/// Rounds that one connection is served before the others have their turn.
const ROUNDS: usize = 32;

/// The reason for a refusal on 80 under a grant without a port.
const ONLY_HTTP: Reason = Reason::Limited(Cow::Borrowed(
    "on port 80 only plain HTTP/1 requests to granted hosts are let through",
));

/// The two sockets of a connection and its flows.
pub struct Ends<'a> {
    pub client: &'a TcpStream,
    pub host: &'a TcpStream,
    pub up: &'a mut Flow,
    pub down: &'a mut Flow,
    pub pipes: &'a mut PipePool,
}

/// The requests of one connection.
pub struct Http {
    port: u16,
    requests: Requests,
    /// Bytes from the client that aren't judged yet.
    unread: Vec<u8>,
    /// The number of bytes that may still be passed on without parsing.
    passing: u64,
    /// The host's reply to an upgrade request, while that is awaited.
    reply: Option<Vec<u8>>,
    /// Whether a request was let through: after that, a reply from Stockade could be taken for the host's.
    has_begun: bool,
}

/// The result of one step.
pub enum HeadVerdict {
    /// Bytes moved, up and down.
    Moved(Moved, Moved),
    /// Both sides agreed to switch to another protocol.
    LeftHttp,
    /// A request that isn't granted.
    Refused(Refused),
}

/// A request that isn't granted.
pub struct Refused {
    /// The host that it named, if that isn't the connection's.
    pub target: Option<String>,
    /// Why.
    pub reason: Reason,
    /// The reply to the client, where HTTP still allows one.
    pub reply: Option<String>,
}

impl Http {
    pub fn new(port: u16) -> Http {
        Http {
            port,
            requests: Requests::new(),
            unread: Vec::new(),
            passing: 0,
            reply: None,
            has_begun: false,
        }
    }

    /// Does all that can be done without blocking.
    pub fn advance(&mut self, ends: &mut Ends<'_>, acl: &dyn NetworkAcl) -> io::Result<HeadVerdict> {
        // The host's bytes come first: they may answer a client that is still sending, and are lost once that fails.
        if self.reply.is_none() {
            ends.down.advance(ends.host, ends.client, ends.pipes)?;
        }
        let up = match self.send_up(ends, acl)? {
            Sent::Moved(moved) => moved,
            Sent::LeftHttp => return Ok(HeadVerdict::LeftHttp),
            Sent::Refused(target, reason) => return Ok(HeadVerdict::Refused(self.refused(target, reason))),
        };
        // The host's reply to an upgrade request is checked before the client gets it.
        let down = match self.reply {
            Some(_) => Moved::Waiting,
            None => ends.down.advance(ends.host, ends.client, ends.pipes)?,
        };
        Ok(HeadVerdict::Moved(up, down))
    }

    fn send_up(&mut self, ends: &mut Ends<'_>, acl: &dyn NetworkAcl) -> io::Result<Sent> {
        for _ in 0..ROUNDS {
            if ends.up.is_finished() {
                return Ok(Sent::Moved(Moved::Finished));
            }
            if !ends.up.flush(ends.host, ends.pipes)? {
                return Ok(Sent::Moved(Moved::Waiting));
            }
            let has_moved = match self.next(ends, acl)? {
                Stepped::On => true,
                Stepped::NeedMore => self.read(ends)?,
                Stepped::AwaitReply => self.hear_reply(ends)?,
                Stepped::Done(sent) => return Ok(sent),
            };
            if !has_moved {
                return Ok(Sent::Moved(Moved::Waiting));
            }
        }
        Ok(Sent::Moved(Moved::More))
    }

    /// Takes one step with the bytes read.
    fn next(&mut self, ends: &mut Ends<'_>, acl: &dyn NetworkAcl) -> io::Result<Stepped> {
        if self.passing > 0 && self.unread.is_empty() {
            return self.splice_body(ends);
        }
        if self.passing > 0 {
            let here = usize::try_from(self.passing)
                .unwrap_or(usize::MAX)
                .min(self.unread.len());
            self.pass(here, ends);
            self.passing -= here as u64;
            return Ok(if here > 0 { Stepped::On } else { Stepped::NeedMore });
        }
        let step = self.requests.step(&self.unread);
        let awaits_reply = matches!(step, ParseStep::Upgrade { .. });
        Ok(match step {
            ParseStep::NeedMore => Stepped::NeedMore,
            ParseStep::AwaitReply => Stepped::AwaitReply,
            ParseStep::Pass(length) => {
                self.passing = length;
                Stepped::On
            }
            ParseStep::Head { length, host, port } | ParseStep::Upgrade { length, host, port } => {
                if let Some((target, reason)) = self.refusal(&host, port, acl) {
                    return Ok(Stepped::Done(Sent::Refused(target, reason)));
                }
                self.has_begun = true;
                self.reply = awaits_reply.then(Vec::new);
                self.pass(length, ends);
                Stepped::On
            }
            ParseStep::Unchecked => {
                self.pass(self.unread.len(), ends);
                Stepped::Done(Sent::LeftHttp)
            }
            ParseStep::Refused(_) => Stepped::Done(Sent::Refused(None, ONLY_HTTP)),
        })
    }

    /// Splices bytes that are passed on without parsing.
    fn splice_body(&mut self, ends: &mut Ends<'_>) -> io::Result<Stepped> {
        match ends.up.take_some(ends.client, self.passing, ends.pipes)? {
            // The client ended in the middle of a request.
            Some(0) => {
                ends.up.advance(ends.client, ends.host, ends.pipes)?;
                Ok(Stepped::On)
            }
            Some(count) => {
                self.passing -= count;
                Ok(Stepped::On)
            }
            None => Ok(Stepped::Done(Sent::Moved(Moved::Waiting))),
        }
    }

    fn pass(&mut self, length: usize, ends: &mut Ends<'_>) {
        ends.up.push(&self.unread[..length]);
        self.unread.drain(..length);
    }

    /// Reads more from the client; `false` if nothing is there yet. At its end, an incomplete request is dropped.
    fn read(&mut self, ends: &mut Ends<'_>) -> io::Result<bool> {
        let got = read_more(ends.client, &mut self.unread)?;
        if got == Some(0) {
            ends.up.end();
            ends.up.advance(ends.client, ends.host, ends.pipes)?;
        }
        Ok(got.is_some())
    }

    /// Reads the host's reply to an upgrade request; `false` while it isn't complete.
    fn hear_reply(&mut self, ends: &mut Ends<'_>) -> io::Result<bool> {
        let Some(reply) = &mut self.reply else {
            return Ok(false);
        };
        let heard = loop {
            match read_reply(reply) {
                HttpReply::Incomplete => {}
                heard => break heard,
            }
            match read_more(ends.host, reply)? {
                // The client gets the bytes received so far, and the end.
                Some(0) => break HttpReply::Refused("the server ended before it answered"),
                Some(_) => {}
                None => return Ok(false),
            }
        };
        ends.down.push(reply);
        self.reply = None;
        self.requests.answered(heard);
        Ok(true)
    }

    /// The reason that a request may not be passed on, and the host that it names.
    fn refusal(&self, host: &RequestHost, port: Option<u16>, acl: &dyn NetworkAcl) -> Option<(Option<String>, Reason)> {
        if port.is_some_and(|port| port != self.port) {
            return Some((None, ONLY_HTTP));
        }
        let port = self.port;
        match host {
            RequestHost::Name(name) if acl.name(name, port).is_some() => None,
            RequestHost::Name(name) => Some((Some(format!("{}:{port}", name.as_str())), Reason::NotGranted)),
            RequestHost::Address(address) => {
                let address = SocketAddr::new(address.to_canonical(), port);
                let is_open = acl.address(address.ip(), port);
                (!is_open).then(|| (Some(address.to_string()), why_closed(address.ip())))
            }
        }
    }

    fn refused(&self, target: Option<String>, reason: Reason) -> Refused {
        let what = target.as_deref().unwrap_or("this request");
        let text = format!("stockade: {what} isn't granted\n");
        let reply = format!(
            "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{text}",
            text.len()
        );
        Refused {
            target,
            reason,
            reply: (!self.has_begun).then_some(reply),
        }
    }
}

enum Sent {
    Moved(Moved),
    LeftHttp,
    Refused(Option<String>, Reason),
}

enum Stepped {
    On,
    NeedMore,
    AwaitReply,
    Done(Sent),
}
