//! One connection of the run to a host: found, dialled, looked at, and then moved.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::dial::{Dial, Progress, open_addresses};
use super::flow::{Flow, Moved, Pipes, unless_blocked};
use super::hello::{self, Hello};
use super::http::{Ends, Http, Judged, Refused};
use super::{Destination, Found, Missing, NetworkAcl};
use crate::policy::ProtocolCheck;
use crate::profile::Name;
use crate::report::{Kind, Reason};

/// The port on which TLS has to name a granted host, and the one on which every request has to.
const TLS_PORT: u16 = 443;

/// Bytes of a hello that are waited for. Real ones have a tenth of it; what isn't read yet takes our memory.
const MOST_HELLO: usize = 16 * 1024;

/// What a grant without a port lets through on 443.
const ONLY_TLS: Reason = Reason::Limited(Cow::Borrowed(
    "on port 443 only TLS that names a granted host is let through",
));

/// A fatal TLS alert, `unrecognized_name` (RFC 8446, 6.2).
const UNRECOGNIZED_NAME: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// One connection.
pub struct Connection {
    client: TcpStream,
    host: Option<TcpStream>,
    destination: Destination,
    acl: Box<dyn NetworkAcl>,
    stage: Stage,
    up: Flow,
    down: Flow,
}

enum Stage {
    /// The name is being looked up.
    Finding,
    /// The host is connected and on its way here.
    Promised(u32),
    /// The host is being connected to.
    Dialling(Dial),
    /// The first bytes have to name a granted host.
    Hello(Vec<u8>),
    /// Every request has to.
    Requests(Box<Http>),
    /// Anything may be said.
    Open,
}

/// What to do with a connection next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Come again when one of its sockets is ready.
    Wait,
    /// Come again soon.
    Again,
    /// It has a new socket to its host, to be watched.
    Watch,
    /// It is over.
    Close,
    /// It is over, and both sides are to hear of a failure.
    Reset,
}

impl Connection {
    /// A connection whose host is still to be found.
    pub fn new(client: TcpStream, destination: Destination, acl: Box<dyn NetworkAcl>) -> Connection {
        Connection {
            client,
            host: None,
            destination,
            acl,
            stage: Stage::Finding,
            up: Flow::default(),
            down: Flow::default(),
        }
    }

    pub fn destination(&self) -> &Destination {
        &self.destination
    }

    pub fn client(&self) -> &TcpStream {
        &self.client
    }

    /// The socket to the host, or the one that is being connected.
    pub fn host(&self) -> Option<&TcpStream> {
        match &self.stage {
            Stage::Dialling(dial) => dial.socket(),
            _ => self.host.as_ref(),
        }
    }

    /// Whether something of the client's may be on its way to the host.
    pub fn has_more_to_send(&self) -> bool {
        match self.stage {
            // To the client it is connected already, so it may have spoken.
            Stage::Finding | Stage::Promised(_) | Stage::Dialling(_) => {
                self.client.peek(&mut [0]).is_ok_and(|got| got > 0)
            }
            Stage::Hello(_) | Stage::Requests(_) | Stage::Open => !self.up.is_finished(),
        }
    }

    /// Whether time alone may move it on: an address that keeps silent is given up.
    pub fn is_dialling(&self) -> bool {
        matches!(self.stage, Stage::Dialling(_))
    }

    /// Whether its host isn't looked up yet.
    pub fn is_to_be_found(&self) -> bool {
        matches!(self.stage, Stage::Finding)
    }

    /// That the host is connected and will be handed over, under this number.
    pub fn promise(&mut self, number: u32) {
        self.stage = Stage::Promised(number);
    }

    pub fn is_promised(&self, number: u32) -> bool {
        matches!(self.stage, Stage::Promised(promised) if promised == number)
    }

    /// That one of the sockets has urgent bytes.
    pub fn note_urgent(&mut self) {
        self.up.copy_from_now_on();
        self.down.copy_from_now_on();
    }

    /// Whether the client's connection was reset.
    pub fn has_lost_client(&self) -> bool {
        let mut polled = [PollFd::new(self.client.as_fd(), PollFlags::empty())];
        let told = poll(&mut polled, PollTimeout::ZERO);
        let flags = polled[0].revents().unwrap_or(PollFlags::empty());
        told.is_ok() && flags.contains(PollFlags::POLLERR)
    }

    /// That the name was looked up.
    pub fn found(&mut self, found: &Result<Found, Missing>) -> Next {
        let Ok(found) = found else {
            return Next::Reset;
        };
        let addresses = open_addresses(&self.destination, found, self.acl.as_ref());
        if addresses.is_empty() {
            return Next::Reset;
        }
        self.stage = Stage::Dialling(Dial::new(addresses));
        match self.dial() {
            Next::Wait => Next::Watch,
            other => other,
        }
    }

    /// That the host is connected.
    pub fn connected(&mut self, host: TcpStream) {
        self.host = Some(host);
        self.stage = match (self.destination.speech, self.destination.port) {
            (ProtocolCheck::Anything, _) => Stage::Open,
            (ProtocolCheck::Checked, TLS_PORT) => Stage::Hello(Vec::new()),
            (ProtocolCheck::Checked, port) => Stage::Requests(Box::new(Http::new(port))),
        };
    }

    /// Does what can be done now.
    pub fn advance(&mut self, pipes: &mut Pipes) -> Next {
        let step = match self.stage {
            Stage::Finding | Stage::Promised(_) => return Next::Wait,
            Stage::Dialling(_) => return self.dial(),
            Stage::Hello(_) => self.hear_hello(pipes),
            Stage::Requests(_) => self.hear_requests(pipes),
            Stage::Open => self.shift(pipes),
        };
        // What failed on one side is a failure on the other.
        step.unwrap_or(Next::Reset)
    }

    fn dial(&mut self) -> Next {
        let Stage::Dialling(dial) = &mut self.stage else {
            return Next::Wait;
        };
        let before = dial.attempts();
        match dial.advance() {
            Progress::Connected(host) => {
                self.connected(host);
                Next::Watch
            }
            Progress::Waiting if before == dial.attempts() => Next::Wait,
            Progress::Waiting => Next::Watch,
            Progress::Failed(_) => Next::Reset,
        }
    }

    /// Moves bytes both ways. What the host said comes first: it may be an answer to a client that is still talking, and
    /// is no longer heard once that fails.
    fn shift(&mut self, pipes: &mut Pipes) -> io::Result<Next> {
        let host = self.host.as_ref().expect("connected");
        let down = self.down.advance(host, &self.client, pipes)?;
        let up = self.up.advance(&self.client, host, pipes)?;
        Ok(both(up, down))
    }

    fn hear_hello(&mut self, pipes: &mut Pipes) -> io::Result<Next> {
        let Stage::Hello(bytes) = &mut self.stage else {
            return Ok(Next::Wait);
        };
        let verdict = loop {
            match hello::read(bytes) {
                Hello::Incomplete if bytes.len() < MOST_HELLO => {}
                other => break other,
            }
            match read_more(&self.client, bytes)? {
                Some(0) if bytes.is_empty() => {
                    // It asked nothing, so it gets nothing.
                    return Ok(Next::Close);
                }
                Some(0) => break Hello::NotTls,
                Some(_) => {}
                None => return Ok(Next::Wait),
            }
        };
        let port = self.destination.port;
        match verdict {
            Hello::Names(name) if self.acl.name(&name, port).is_some() => {
                let bytes = std::mem::take(bytes);
                self.up.push(&bytes);
                self.stage = Stage::Open;
                self.shift(pipes)
            }
            Hello::Names(name) => {
                let target = target(&name, port);
                self.acl
                    .refuse(Kind::Connect, &target, &self.asked(), Reason::NotGranted);
                self.alert();
                Ok(Next::Close)
            }
            Hello::Unnamed | Hello::Hidden | Hello::NotTls | Hello::Incomplete => {
                let is_tls = !matches!(verdict, Hello::NotTls | Hello::Incomplete);
                let asked = self.asked();
                self.acl.refuse(Kind::Connect, &asked, &asked, ONLY_TLS);
                if is_tls {
                    self.alert();
                    return Ok(Next::Close);
                }
                Ok(Next::Reset)
            }
        }
    }

    /// Tells a TLS client why, as a server would.
    fn alert(&mut self) {
        let _ = (&self.client).write(&UNRECOGNIZED_NAME);
        let _ = self.client.shutdown(Shutdown::Write);
    }

    fn hear_requests(&mut self, pipes: &mut Pipes) -> io::Result<Next> {
        let Stage::Requests(http) = &mut self.stage else {
            return Ok(Next::Wait);
        };
        let mut ends = Ends {
            client: &self.client,
            host: self.host.as_ref().expect("connected"),
            up: &mut self.up,
            down: &mut self.down,
            pipes,
        };
        match http.advance(&mut ends, self.acl.as_ref())? {
            Judged::Moved(up, down) => Ok(both(up, down)),
            Judged::LeftHttp => {
                self.stage = Stage::Open;
                self.shift(pipes)
            }
            Judged::Refused(Refused { target, reason, reply }) => {
                let asked = self.asked();
                let target = target.unwrap_or_else(|| asked.clone());
                self.acl.refuse(Kind::Connect, &target, &asked, reason);
                let Some(reply) = reply else {
                    return Ok(Next::Reset);
                };
                let _ = (&self.client).write(reply.as_bytes());
                let _ = self.client.shutdown(Shutdown::Write);
                Ok(Next::Close)
            }
        }
    }

    /// The host as the run asked for it.
    fn asked(&self) -> String {
        target(&self.destination.name, self.destination.port)
    }
}

fn target(name: &Name, port: u16) -> String {
    format!("{}:{port}", name.as_str())
}

fn both(up: Moved, down: Moved) -> Next {
    match (up, down) {
        (Moved::Finished, Moved::Finished) => Next::Close,
        (Moved::More, _) | (_, Moved::More) => Next::Again,
        _ => Next::Wait,
    }
}

/// Reads once: how much, 0 at the end, `None` where there's nothing yet.
pub fn read_more(mut from: &TcpStream, bytes: &mut Vec<u8>) -> io::Result<Option<usize>> {
    const PIECE: usize = 16 * 1024;
    let length = bytes.len();
    bytes.resize(length + PIECE, 0);
    let got = unless_blocked(from.read(&mut bytes[length..]));
    bytes.truncate(length + got.as_ref().map_or(0, |got| got.unwrap_or(0)));
    got
}
