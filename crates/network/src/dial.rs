//! Connects to a host: selects the addresses allowed and tries one after the other until one answers.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{Destination, Found, NetworkAcl};
use crate::policy::{AddressKind, kind_of};
use crate::report::{Kind, NO_ADDRESS, Reason};
use stockade_sys::socket;

/// How long an address may take to answer while there's another one. The kernel times out on the last.
const PATIENCE: Duration = Duration::from_secs(2);

/// The addresses of a host that may be connected to. A non-public one must also be granted as an address: the party that
/// answers for a name mustn't be able to lead the run to the user's own machines.
pub fn open_addresses(destination: &Destination, found: &Found, acl: &dyn NetworkAcl) -> VecDeque<SocketAddr> {
    let (open, closed) = addresses(destination, found, acl);
    if open.is_empty() {
        for address in closed {
            let asked = format!("{}:{}", destination.name.as_str(), destination.port);
            acl.refuse(Kind::Connect, &address.to_string(), &asked, why_closed(address.ip()));
        }
    }
    open
}

/// Splits a host's addresses into those that may be connected to and the others.
pub fn addresses(
    destination: &Destination,
    found: &Found,
    acl: &dyn NetworkAcl,
) -> (VecDeque<SocketAddr>, Vec<SocketAddr>) {
    let port = destination.port;
    let is_open =
        |address: &SocketAddr| kind_of(address.ip()) == AddressKind::Public || acl.address(address.ip(), port);
    let all = found.addresses.iter().map(|ip| SocketAddr::new(*ip, port));
    let (open, closed): (VecDeque<_>, VecDeque<_>) = all.partition(is_open);
    for address in open
        .iter()
        .filter(|address| kind_of(address.ip()) != AddressKind::Public)
    {
        let asked = format!("{}:{port}", destination.name.as_str());
        acl.let_pass(Kind::Connect, &address.to_string(), &asked);
    }
    (open, closed.into())
}

/// Records that a granted name has no address.
pub fn without_address(destination: &Destination, acl: &dyn NetworkAcl) {
    let asked = format!("{}:{}", destination.name.as_str(), destination.port);
    acl.refuse(Kind::Connect, &asked, &asked, Reason::Never(NO_ADDRESS.into()));
}

/// The reason that an address without a grant is closed.
pub fn why_closed(address: IpAddr) -> Reason {
    match kind_of(address) {
        AddressKind::Credentials => {
            Reason::Never("cloud metadata services hand out the machine's own credentials".into())
        }
        AddressKind::Public | AddressKind::Special(_) => Reason::NotGranted,
    }
}

/// A connection attempt in progress.
pub struct Dial {
    rest: VecDeque<SocketAddr>,
    begun: Option<(TcpStream, Instant)>,
    attempts: usize,
    failure: io::Error,
}

/// The state of a dial.
pub enum Progress {
    /// One of the addresses answered.
    Connected(TcpStream),
    /// None has answered yet.
    Waiting,
    /// None of them answers: the last one's error.
    Failed(io::Error),
}

impl Dial {
    /// Starts with the first of these.
    pub fn new(addresses: VecDeque<SocketAddr>) -> Dial {
        let mut dial = Dial {
            rest: addresses,
            begun: None,
            attempts: 0,
            failure: io::Error::from_raw_os_error(libc::EHOSTUNREACH),
        };
        dial.begin_next();
        dial
    }

    /// The socket that is connecting: wait until it is writable.
    pub fn socket(&self) -> Option<&TcpStream> {
        self.begun.as_ref().map(|(socket, _)| socket)
    }

    /// The number of addresses tried: another number means another socket, though its descriptor may be the same.
    pub fn attempts(&self) -> usize {
        self.attempts
    }

    fn begin_next(&mut self) {
        while self.begun.is_none()
            && let Some(address) = self.rest.pop_front()
        {
            self.attempts += 1;
            match begin(address) {
                Ok(socket) => self.begun = Some((socket, Instant::now())),
                Err(error) => self.failure = error,
            }
        }
    }

    /// Checks the current attempt, and goes on to the next address if it failed or timed out.
    pub fn advance(&mut self) -> Progress {
        loop {
            let Some((socket, since)) = self.begun.take() else {
                let failure = std::mem::replace(&mut self.failure, io::Error::from_raw_os_error(libc::EHOSTUNREACH));
                return Progress::Failed(failure);
            };
            match state(&socket) {
                Ok(true) => return Progress::Connected(socket),
                Ok(false) if self.rest.is_empty() || since.elapsed() < PATIENCE => {
                    self.begun = Some((socket, since));
                    return Progress::Waiting;
                }
                Ok(false) => {}
                Err(error) => self.failure = error,
            }
            self.begin_next();
        }
    }
}

fn begin(address: SocketAddr) -> io::Result<TcpStream> {
    let domain = match address {
        SocketAddr::V4(_) => libc::AF_INET,
        SocketAddr::V6(_) => libc::AF_INET6,
    };
    let made = socket::open(domain, libc::SOCK_STREAM | libc::SOCK_NONBLOCK, 0)?;
    match socket::connect(made.as_fd(), &socket::bytes(address)) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(TcpStream::from(made)),
    }
}

/// Whether the socket is connected.
fn state(socket: &TcpStream) -> io::Result<bool> {
    let mut polled = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
    poll(&mut polled, PollTimeout::ZERO)?;
    if !polled[0].any().unwrap_or(false) {
        return Ok(false);
    }
    match socket.take_error()? {
        Some(error) => Err(error),
        None => Ok(true),
    }
}

/// The reason that a dial was given up.
#[derive(Debug)]
pub enum Interrupted {
    /// None of the addresses answered.
    Failed(io::Error),
    /// The caller gave up.
    GivenUp,
}

impl Dial {
    /// Waits until one address answers or all have failed. `gives_up` is called after every slice.
    ///
    /// # Errors
    /// No address answered, or the caller gave up.
    pub fn wait(&mut self, slice_ms: u8, gives_up: &mut dyn FnMut() -> bool) -> Result<TcpStream, Interrupted> {
        loop {
            match self.advance() {
                Progress::Connected(socket) => return Ok(socket),
                Progress::Failed(error) => return Err(Interrupted::Failed(error)),
                Progress::Waiting => {}
            }
            if gives_up() {
                return Err(Interrupted::GivenUp);
            }
            if let Some(socket) = self.socket() {
                let mut polled = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
                // A signal counts as the end of the slice.
                let _ = poll(&mut polled, PollTimeout::from(slice_ms));
            }
        }
    }
}
