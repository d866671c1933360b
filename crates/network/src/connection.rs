//! One connection of the run to a host: resolved, dialled, checked and then relayed.

use std::borrow::Cow;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::dial::{Dial, Progress, open_addresses, without_address};
use super::flow::{Flow, Moved, PipePool, read_more};
use super::hello::{self, Hello};
use super::http::{Ends, HeadVerdict, Http, Refused};
use super::{Destination, Found, NetworkAcl, NoAddress};
use crate::policy::ProtocolCheck;
use crate::profile::Name;
use crate::report::{Kind, Reason};

/// The port on which TLS has to name a granted host; on other checked ports, every HTTP request has to.
const TLS_PORT: u16 = 443;

/// The most bytes of a hello that are buffered. Real ones have a tenth of it; unfinished ones take the relay's memory.
const MAX_HELLO: usize = 16 * 1024;

/// The reason for a refusal on 443 under a grant without a port.
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
    /// The host is connected and will be handed over.
    AwaitsHost(u32),
    /// The host is being connected to.
    Dialling(Dial),
    /// The first bytes have to name a granted host.
    Hello(Vec<u8>),
    /// Every request has to name a granted host.
    Requests(Box<Http>),
    /// Anything is let through.
    Open,
}

/// The next action for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Call again when one of its sockets is ready.
    Wait,
    /// Call again soon.
    Again,
    /// Watch its new socket to the host.
    Watch,
    /// Close it.
    Close,
    /// Reset it: both sides see a failure.
    Reset,
}

impl Connection {
    /// A connection whose host isn't resolved yet.
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

    /// The socket to the host, connected or connecting.
    pub fn host(&self) -> Option<&TcpStream> {
        match &self.stage {
            Stage::Dialling(dial) => dial.socket(),
            _ => self.host.as_ref(),
        }
    }

    /// Whether bytes from the client may still be in transit to the host.
    pub fn has_more_to_send(&self) -> bool {
        match self.stage {
            // The client sees an established connection, so it may have sent bytes.
            Stage::Finding | Stage::AwaitsHost(_) | Stage::Dialling(_) => {
                self.client.peek(&mut [0]).is_ok_and(|got| got > 0)
            }
            Stage::Hello(_) | Stage::Requests(_) | Stage::Open => !self.up.is_finished(),
        }
    }

    /// Whether time alone may advance it: an address that doesn't answer is given up.
    pub fn is_dialling(&self) -> bool {
        matches!(self.stage, Stage::Dialling(_))
    }

    /// Whether its host isn't looked up yet.
    pub fn is_to_be_found(&self) -> bool {
        matches!(self.stage, Stage::Finding)
    }

    /// Notes that the host is connected and will be handed over under this number.
    pub fn await_host(&mut self, number: u32) {
        self.stage = Stage::AwaitsHost(number);
    }

    pub fn awaits_host(&self, number: u32) -> bool {
        matches!(self.stage, Stage::AwaitsHost(awaited) if awaited == number)
    }

    /// Notes that one of the sockets has urgent bytes.
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

    /// Notes the result of the lookup.
    pub fn found(&mut self, found: &Result<Found, NoAddress>) -> Next {
        let Ok(found) = found else {
            without_address(&self.destination, self.acl.as_ref());
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

    /// Notes that the host is connected.
    pub fn connected(&mut self, host: TcpStream) {
        self.host = Some(host);
        self.stage = match (self.destination.check, self.destination.port) {
            (ProtocolCheck::Anything, _) => Stage::Open,
            (ProtocolCheck::Checked, TLS_PORT) => Stage::Hello(Vec::new()),
            (ProtocolCheck::Checked, port) => Stage::Requests(Box::new(Http::new(port))),
        };
    }

    /// Does all that can be done without blocking.
    pub fn advance(&mut self, pipes: &mut PipePool) -> Next {
        let step = match self.stage {
            Stage::Finding | Stage::AwaitsHost(_) => return Next::Wait,
            Stage::Dialling(_) => return self.dial(),
            Stage::Hello(_) => self.hear_hello(pipes),
            Stage::Requests(_) => self.hear_requests(pipes),
            Stage::Open => self.shift(pipes),
        };
        // A failure on one side becomes a failure on the other.
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

    /// Moves bytes both ways, the host's first: they may answer a client that is still sending, and would be lost
    /// once that fails.
    fn shift(&mut self, pipes: &mut PipePool) -> io::Result<Next> {
        let host = self.host.as_ref().expect("connected");
        let down = self.down.advance(host, &self.client, pipes)?;
        let up = self.up.advance(&self.client, host, pipes)?;
        Ok(both(up, down))
    }

    fn hear_hello(&mut self, pipes: &mut PipePool) -> io::Result<Next> {
        let Stage::Hello(bytes) = &mut self.stage else {
            return Ok(Next::Wait);
        };
        let verdict = loop {
            match hello::read(bytes) {
                Hello::Incomplete if bytes.len() < MAX_HELLO => {}
                other => break other,
            }
            match read_more(&self.client, bytes)? {
                Some(0) if bytes.is_empty() => {
                    // The client sent nothing, so it gets nothing.
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

    /// Sends a TLS client the alert that a server would send.
    fn alert(&mut self) {
        let _ = (&self.client).write(&UNRECOGNIZED_NAME);
        let _ = self.client.shutdown(Shutdown::Write);
    }

    fn hear_requests(&mut self, pipes: &mut PipePool) -> io::Result<Next> {
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
            HeadVerdict::Moved(up, down) => Ok(both(up, down)),
            HeadVerdict::LeftHttp => {
                self.stage = Stage::Open;
                self.shift(pipes)
            }
            HeadVerdict::Refused(Refused { target, reason, reply }) => {
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

    /// The host as the run named it.
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
