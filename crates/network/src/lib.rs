//! The network of a run with named hosts: a resolver and a relay, outside the confinement.
//!
//! The run looks up names (`names`) and gets synthetic addresses. When it connects to one, the supervisor connects the
//! socket to the relay instead and announces its source address and host ([`RunNetwork::expect`]). The host's real address is
//! dialled (`dial`) by the supervisor, or by the relay for a socket that doesn't wait; the relay checks which host the first
//! bytes name (`hello`, `request`) and moves bytes (`flow`). A connection that wasn't announced is closed.

mod connection;
mod dial;
mod flow;
mod hello;
mod http;
mod names;
mod relay;
mod request;

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::mutex::lock;
use crate::policy::{NetworkPolicy, ProtocolCheck};
use crate::profile::Name;
use crate::report::{Faults, Kind, Reason};
use stockade_policy::{mutex, policy, profile};
use stockade_report::{fault, report};
use stockade_sys::wire::{self, Message};

pub use dial::{Dial, Interrupted, addresses, why_closed, without_address};
pub use names::{Found, NAMESERVER, NameSource, NoAddress, Synthetic};
pub use relay::{Listeners, Relay};

use names::{Resolver, files};

/// The DNS port.
pub const NAMES_PORT: u16 = 53;

/// State shared by all parts that serve a run's network.
pub struct RunNetwork {
    /// The synthetic addresses.
    pub names: Synthetic,
    /// The listeners to which the run's connections are redirected.
    pub listeners: Listeners,
    resolver: Resolver,
    nsswitch: String,
    /// The machine's own hostname, if it is a valid host name.
    own_name: Option<Name>,
    announced: Mutex<HashMap<SocketAddr, (PendingConnection, Instant)>>,
    announcements: AtomicU32,
    questions: Mutex<VecDeque<Name>>,
    answered: Condvar,
    answers: Mutex<()>,
    /// Internal faults of the relay and the supervisor.
    pub faults: Arc<Faults>,
}

/// A client of the relay and its purpose.
pub struct PendingConnection {
    /// Its purpose.
    pub purpose: Purpose,
    /// The hosts and addresses that it may reach.
    pub acl: Box<dyn NetworkAcl>,
    /// Whether its host is already connected and handed over.
    pub has_host: bool,
    /// The announcement's number, which matches a host to its client. Set by [`RunNetwork::expect`].
    pub number: u32,
}

/// The purpose of a connection to the relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// Name lookups.
    Names,
    /// A host.
    Host(Destination),
}

/// A host that may be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Its name.
    pub name: Name,
    /// The port.
    pub port: u16,
    /// The protocol check.
    pub check: ProtocolCheck,
}

/// The network access of one process of the run, and the sink for its refusals.
pub trait NetworkAcl: Send {
    /// Whether a name may be resolved.
    fn knows(&self, name: &Name) -> bool;
    /// Whether a name may be approved later: the approver is asked when the run connects to it.
    fn may_be_asked_for(&self, name: &Name) -> bool {
        let _ = name;
        false
    }
    /// The protocol check for a name on a port; `None` if it may not be reached.
    fn name(&self, name: &Name, port: u16) -> Option<ProtocolCheck>;
    /// Whether an IP address may be reached without a name.
    fn address(&self, address: IpAddr, port: u16) -> bool;
    /// Records a refusal.
    fn refuse(&self, kind: Kind, target: &str, asked: &str, reason: Reason);
    /// Records an access that was allowed.
    fn let_pass(&self, kind: Kind, target: &str, asked: &str) {
        let _ = (kind, target, asked);
    }
}

/// Kinds of messages to the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Call {
    /// A pending connection was announced; its connected host may come along.
    PendingConnection = 1,
    /// A name is to be looked up.
    Question = 2,
    /// The run is over.
    Over = 3,
}

/// Tells the relay that the run is over. `control` is the control socket, as in [`RunNetwork::expect`].
///
/// # Errors
/// The relay is gone.
pub fn announce_end(control: BorrowedFd<'_>) -> io::Result<()> {
    wire::send(control.as_raw_fd(), &Message::new(Call::Over as u32, 0, 0))
}

impl RunNetwork {
    /// The network of one run. `listeners` are the relay's listeners.
    pub fn new(source: NameSource, listeners: Listeners) -> RunNetwork {
        RunNetwork {
            names: Synthetic::new(),
            listeners,
            resolver: Resolver::new(source),
            nsswitch: fs::read_to_string("/etc/nsswitch.conf").unwrap_or_default(),
            own_name: own_name(),
            announced: Mutex::default(),
            announcements: AtomicU32::new(0),
            questions: Mutex::default(),
            answered: Condvar::new(),
            answers: Mutex::default(),
            faults: Arc::default(),
        }
    }

    /// Announces a connection that was just made to the relay from this address. `control` is the caller's own descriptor
    /// of the relay's control socket.
    ///
    /// # Errors
    /// The relay is gone.
    pub fn expect(
        &self,
        control: BorrowedFd<'_>,
        from: SocketAddr,
        mut pending: PendingConnection,
        host: Option<TcpStream>,
    ) -> io::Result<()> {
        pending.number = self.announcements.fetch_add(1, Ordering::Relaxed);
        let message = relay::announcement(from, pending.number);
        lock(&self.announced).insert(from, (pending, Instant::now()));
        let sent = match host {
            Some(host) => wire::send_with(control.as_raw_fd(), &message, host.as_fd().as_raw_fd()),
            None => wire::send(control.as_raw_fd(), &message),
        };
        if sent.is_err() {
            drop(self.pending(from));
        }
        sent
    }

    /// The addresses of a name, for a thread that can't read the machine's files: the relay resolves on its behalf.
    ///
    /// # Errors
    /// There's no such name, or it couldn't be resolved before `gives_up` returned true.
    pub fn find(
        &self,
        control: BorrowedFd<'_>,
        name: &Name,
        gives_up: &mut dyn FnMut() -> bool,
    ) -> Result<Found, NoAddress> {
        /// Interval at which a waiting thread checks `gives_up`.
        const SLICE: Duration = Duration::from_millis(50);
        const PATIENCE: Duration = Duration::from_secs(15);
        if let Some(known) = self.resolver.cached(name) {
            return known;
        }
        lock(&self.questions).push_back(name.clone());
        let question = Message::new(Call::Question as u32, 0, 0);
        wire::send(control.as_raw_fd(), &question).map_err(|_| NoAddress::Failed)?;
        let deadline = Instant::now() + PATIENCE;
        let mut answers = lock(&self.answers);
        loop {
            if let Some(known) = self.resolver.cached(name) {
                return known;
            }
            if Instant::now() >= deadline || gives_up() {
                return Err(NoAddress::Failed);
            }
            let waited = self.answered.wait_timeout(answers, SLICE);
            answers = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The cached result for a name; sends no query.
    pub fn known(&self, name: &Name) -> Option<Result<Found, NoAddress>> {
        self.resolver.cached(name)
    }

    /// Looks a name up, on the relay's side, and wakes the threads that wait for it.
    fn look_up(&self, name: &Name) -> Result<Found, NoAddress> {
        let found = self.resolver.lookup(name);
        // A thread that finds nothing in the cache must be waiting before it is notified.
        drop(lock(&self.answers));
        self.answered.notify_all();
        found
    }

    fn pending(&self, from: SocketAddr) -> Option<PendingConnection> {
        lock(&self.announced).remove(&from).map(|(pending, _)| pending)
    }

    /// Whether an announced connection from this address hasn't arrived yet.
    fn expects(&self, from: SocketAddr) -> bool {
        lock(&self.announced).contains_key(&from)
    }

    /// Drops announcements whose connection is overdue. Their address may be another client's by now.
    fn forget(&self, is_late: impl Fn(&PendingConnection, Duration) -> bool) {
        lock(&self.announced).retain(|_, (pending, since)| !is_late(pending, since.elapsed()));
    }

    /// The text of `/etc/resolv.conf` and its like as the run sees them; `None` for other files. These are the paths
    /// that every C library and resolver opens.
    pub fn file(&self, path: &[u8], reach: &NetworkPolicy) -> Option<String> {
        match path {
            b"/etc/resolv.conf" => Some(files::resolv_conf(&self.resolver.known())),
            b"/etc/nsswitch.conf" => Some(files::nsswitch(&self.nsswitch)),
            b"/etc/hosts" => {
                let exact = reach.exact_names();
                let named = exact.filter_map(|name| Some((name, self.names.addresses(name)?.0)));
                // Programs resolve their own hostname; what they listen on is here.
                let own = self.own_name.iter().map(|name| (name, Ipv4Addr::LOCALHOST));
                Some(files::hosts(own.chain(named)))
            }
            _ => None,
        }
    }
}

/// Whether C libraries open this file to resolve names.
pub fn is_about_names(path: &[u8]) -> bool {
    [&b"/etc/resolv.conf"[..], b"/etc/nsswitch.conf", b"/etc/hosts"].contains(&path)
}

/// The file that a run without name resolution sees instead; `None` for the machine's own.
pub fn file_without_names(path: &[u8]) -> Option<String> {
    match path {
        b"/etc/resolv.conf" => Some(files::resolv_conf(&names::Machine::parse("", ""))),
        b"/etc/hosts" => {
            let own = own_name();
            Some(files::hosts(own.iter().map(|name| (name, Ipv4Addr::LOCALHOST))))
        }
        _ => None,
    }
}

/// A nameserver for one connection that resolves no name. Calls `refuse` for each name asked.
///
/// # Errors
/// The client fell silent or sent something that is no query.
pub fn know_nothing(stream: UnixStream, refuse: &mut dyn FnMut(&str)) -> io::Result<()> {
    names::serve(stream, names::QueryLimits::USUAL, &mut |name, _| {
        refuse(name.as_str());
        names::Reply::NoSuchName
    })
}

fn own_name() -> Option<Name> {
    let text = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Name::from_wire(text.trim().as_bytes()).filter(|name| name.as_str() != "localhost")
}

#[cfg(test)]
mod tests;
