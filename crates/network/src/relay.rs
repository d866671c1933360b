//! The relay: one thread that accepts the run's connections and moves their bytes.
//!
//! It listens on loopback, where any process on the machine can connect. It therefore serves only connections that a
//! worker announced, by their source address, and closes all others. Names are looked up and answered on separate
//! threads, because that may take long.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};

use super::connection::{Connection, Next};
use super::flow::PipePool;
use super::names::{self, Family, QueryLimits, Reply};
use super::{Call, Found, NetworkAcl, NoAddress, PendingConnection, Purpose, RunNetwork};
use crate::fault;
use crate::mutex::lock;
use crate::profile::Name;
use crate::report::{Faults, FaultyPart, Kind, Reason};
use stockade_sys::{socket, wire};

/// How long an accepted connection may wait for its announcement.
const GRACE: Duration = Duration::from_secs(2);
/// Unannounced connections that may wait at once.
const MAX_UNANNOUNCED: usize = 64;
/// Interval of the timer for state that only time changes.
const TICK: Duration = Duration::from_millis(200);
/// How long an announced connection may take to arrive. The kernel retries after one second and after three if the
/// accept queue of a listener is full.
const LATE: Duration = Duration::from_secs(10);
/// Threads that look up or answer names.
const MAX_THREADS: usize = 64;
/// Tasks that may wait for such a thread.
const MAX_TASKS: usize = 256;
/// How long the run's last bytes may take to be delivered after its end.
const DRAIN_TIME: Duration = Duration::from_secs(2);
/// Backlog of the listening sockets.
const BACKLOG: i32 = 1024;
/// Concurrent connections, whatever the limit on open files: bytes checked before they are relayed take memory.
const MAX_CONNECTIONS: usize = 1024;
/// Descriptors reserved for all else: unannounced connections, threads with two each, pipes, the relay's own.
const SPARE_FILES: u64 = (MAX_UNANNOUNCED + 2 * MAX_THREADS + 2 * PipePool::MAX + 16) as u64;

const LISTENER_V4: u64 = u64::MAX;
const LISTENER_V6: u64 = u64::MAX - 1;
const INBOX: u64 = u64::MAX - 2;
const DONE: u64 = u64::MAX - 3;

/// The addresses of the relay's listeners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listeners {
    /// Listener on 127.0.0.1.
    pub v4: SocketAddr,
    /// Listener on ::1, where the machine has it.
    pub v6: Option<SocketAddr>,
}

/// The sockets of a relay that isn't running yet.
pub struct Relay {
    v4: TcpListener,
    v6: Option<TcpListener>,
    inbox: OwnedFd,
}

impl Relay {
    /// Opens the listeners. Also returns the control socket on which workers announce connections.
    ///
    /// # Errors
    /// No listener or no socket can be made.
    pub fn open() -> io::Result<(Relay, Listeners, OwnedFd)> {
        let v4 = listener(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let v6 = listener(SocketAddr::from((Ipv6Addr::LOCALHOST, 0))).ok();
        let listeners = Listeners {
            v4: v4.local_addr()?,
            v6: v6.as_ref().and_then(|listener| listener.local_addr().ok()),
        };
        let (inbox, control) = wire::pair()?;
        Ok((Relay { v4, v6, inbox }, listeners, control))
    }

    /// Duplicates the descriptors.
    ///
    /// # Errors
    /// The table of descriptors is full.
    pub fn try_clone(&self) -> io::Result<Relay> {
        Ok(Relay {
            v4: self.v4.try_clone()?,
            v6: self.v6.as_ref().map(TcpListener::try_clone).transpose()?,
            inbox: self.inbox.try_clone()?,
        })
    }

    /// The descriptors that the relay's thread needs.
    pub fn numbers(&self) -> Vec<RawFd> {
        let v6 = self.v6.as_ref().map(AsRawFd::as_raw_fd);
        [self.v4.as_raw_fd(), self.inbox.as_raw_fd()]
            .into_iter()
            .chain(v6)
            .collect()
    }

    /// Serves until no worker is left.
    ///
    /// # Errors
    /// The kernel refuses what waiting needs.
    pub fn serve(self, network: &Arc<RunNetwork>) -> io::Result<()> {
        Serving::begin(self, network)?.run()
    }
}

fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let domain = if address.is_ipv6() {
        libc::AF_INET6
    } else {
        libc::AF_INET
    };
    let made = socket::open(domain, libc::SOCK_STREAM | libc::SOCK_NONBLOCK, 0)?;
    socket::bind(made.as_fd(), &socket::bytes(address))?;
    socket::listen(made.as_fd(), BACKLOG)?;
    Ok(TcpListener::from(made))
}

/// A running relay.
struct Serving {
    network: Arc<RunNetwork>,
    relay: Relay,
    epoll: Epoll,
    connections: Connections,
    /// Connections with more to move; a set, so that each has one turn a round however many events it gets.
    ready: BTreeSet<u64>,
    unannounced: VecDeque<(TcpStream, SocketAddr, Instant)>,
    /// Connected host sockets whose pending connection hasn't arrived yet.
    hosts: HashMap<(SocketAddr, u32), (TcpStream, Instant)>,
    pipes: PipePool,
    completions: Arc<Completions>,
    dialling: usize,
    /// Whether the listeners are paused for lack of descriptors.
    is_full: bool,
    /// The deadline for the last bytes, once the run is over.
    ends: Option<Instant>,
}

/// Results that the worker threads hand to the relay.
struct Completions {
    found: Mutex<Vec<(u64, Result<Found, NoAddress>)>>,
    done: EventFd,
    faults: Arc<Faults>,
    /// The task queue and the number of threads.
    tasks: Mutex<Tasks>,
}

#[derive(Default)]
struct Tasks {
    waiting: VecDeque<RelayTask>,
    threads: usize,
}

type RelayTask = Box<dyn FnOnce(&Completions) + Send>;

impl Serving {
    fn begin(relay: Relay, network: &Arc<RunNetwork>) -> io::Result<Serving> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let completions = Completions {
            found: Mutex::default(),
            done: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?,
            faults: Arc::clone(&network.faults),
            tasks: Mutex::default(),
        };
        let readable = |token| EpollEvent::new(EpollFlags::EPOLLIN, token);
        epoll.add(&relay.v4, readable(LISTENER_V4))?;
        if let Some(listener) = &relay.v6 {
            epoll.add(listener, readable(LISTENER_V6))?;
        }
        epoll.add(&relay.inbox, readable(INBOX))?;
        epoll.add(&completions.done, readable(DONE))?;
        Ok(Serving {
            network: Arc::clone(network),
            relay,
            epoll,
            connections: Connections::new(),
            ready: BTreeSet::new(),
            unannounced: VecDeque::new(),
            hosts: HashMap::new(),
            pipes: PipePool::default(),
            completions: Arc::new(completions),
            dialling: 0,
            is_full: false,
            ends: None,
        })
    }

    fn run(mut self) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); 128];
        let mut looked = Instant::now();
        loop {
            let count = match self.epoll.wait(&mut events, self.timeout()) {
                Err(nix::Error::EINTR) => 0,
                other => other?,
            };
            for event in &events[..count] {
                self.contain(None, |serving| serving.handle(event));
            }
            for token in std::mem::take(&mut self.ready) {
                self.advance(token);
            }
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                self.contain(None, Serving::tick);
            }
            if self.has_ended() {
                return Ok(());
            }
        }
    }

    fn handle(&mut self, event: &EpollEvent) {
        match event.data() {
            LISTENER_V4 => self.accept(false),
            LISTENER_V6 => self.accept(true),
            INBOX => self.hear(),
            DONE => self.collect(),
            token => {
                if event.events().contains(EpollFlags::EPOLLPRI)
                    && let Some(connection) = self.connections.get_mut(token)
                {
                    connection.note_urgent();
                }
                self.advance(token);
                if event.events().contains(EpollFlags::EPOLLERR) {
                    self.look_after(token);
                }
            }
        }
    }

    /// Runs a task, perhaps for one connection. If it panics, that connection is reset; all others go on.
    fn contain(&mut self, token: Option<u64>, task: impl FnOnce(&mut Serving)) {
        if let Err(fault) = fault::contain(|| task(self)) {
            self.network.faults.note(FaultyPart::Relay, &fault);
            if let Some(token) = token {
                self.close(token, Next::Reset);
            }
            self.dialling = self.connections.dialling().len();
        }
    }

    fn timeout(&self) -> EpollTimeout {
        if !self.ready.is_empty() {
            EpollTimeout::ZERO
        } else if self.waits_for_time() {
            EpollTimeout::try_from(TICK).expect("a short time")
        } else {
            EpollTimeout::NONE
        }
    }

    /// Whether a timer is needed: something ends or proceeds by time alone.
    fn waits_for_time(&self) -> bool {
        self.is_full
            || self.dialling > 0
            || self.ends.is_some()
            || !self.unannounced.is_empty()
            || !self.hosts.is_empty()
            || !lock(&self.network.announced).is_empty()
    }

    fn accept(&mut self, is_v6: bool) {
        loop {
            let listener = if is_v6 {
                self.relay.v6.as_ref()
            } else {
                Some(&self.relay.v4)
            };
            let (stream, from) = match listener.map(TcpListener::accept) {
                Some(Ok(accepted)) => accepted,
                Some(Err(error)) if is_want(&error) => return self.turn_doors(EpollFlags::empty()),
                _ => return,
            };
            match self.network.pending(from) {
                Some(pending) => self.welcome(stream, from, pending),
                None => self.keep_waiting(stream, from),
            }
        }
    }

    /// Sets the listeners' events: none while descriptors are short, or epoll would report waiting clients endlessly.
    fn turn_doors(&mut self, watched: EpollFlags) {
        self.is_full = watched.is_empty();
        let _ = self
            .epoll
            .modify(&self.relay.v4, &mut EpollEvent::new(watched, LISTENER_V4));
        if let Some(listener) = &self.relay.v6 {
            let _ = self.epoll.modify(listener, &mut EpollEvent::new(watched, LISTENER_V6));
        }
    }

    fn keep_waiting(&mut self, stream: TcpStream, from: SocketAddr) {
        if self.unannounced.len() >= MAX_UNANNOUNCED {
            self.unannounced.pop_front();
        }
        self.unannounced.push_back((stream, from, Instant::now()));
    }

    /// Handles one message from a worker or the launcher.
    fn hear(&mut self) {
        let Ok(Some((message, host))) = wire::receive_with(self.relay.inbox.as_raw_fd()) else {
            // No client is left.
            let _ = self.epoll.delete(&self.relay.inbox);
            self.end();
            return;
        };
        if message.kind == Call::Question as u32 {
            let question = lock(&self.network.questions).pop_front();
            if let Some(name) = question {
                let network = Arc::clone(&self.network);
                self.spawn(move |_| drop(network.look_up(&name)));
            }
        } else if message.kind == Call::PendingConnection as u32 {
            self.announced(&message, host.map(TcpStream::from));
        } else if message.kind == Call::Over as u32 {
            self.end();
        }
    }

    /// The run is over: its last bytes are still delivered, as the kernel would.
    fn end(&mut self) {
        self.accept(false);
        self.accept(true);
        self.ends.get_or_insert(Instant::now() + DRAIN_TIME);
    }

    fn has_ended(&self) -> bool {
        self.ends
            .is_some_and(|ends| Instant::now() >= ends || !self.connections.have_more_to_send())
    }

    fn announced(&mut self, message: &wire::Message, host: Option<TcpStream>) {
        let (from, number) = from_message(message);
        if let Some(host) = host {
            self.hosts.insert((from, number), (host, Instant::now()));
        }
        let waiting = self.unannounced.iter().position(|(_, other, _)| *other == from);
        if let Some((stream, from, _)) = waiting.and_then(|at| self.unannounced.remove(at)) {
            if let Some(pending) = self.network.pending(from) {
                self.welcome(stream, from, pending);
            }
            return;
        }
        if self.network.expects(from) {
            return;
        }
        // The pending connection was accepted before its host arrived.
        let host = self.hosts.remove(&(from, number));
        let Some(token) = self.connections.awaiting(from, number) else {
            return;
        };
        match host {
            Some((host, _)) => {
                self.connections.connected(token, host);
                self.watch_host(token);
                self.advance(token);
            }
            // Its descriptor was lost in transit, for lack of descriptors.
            None => self.close(token, Next::Reset),
        }
    }

    fn welcome(&mut self, stream: TcpStream, from: SocketAddr, pending: PendingConnection) {
        let _ = stream.set_nodelay(true);
        let _ = socket::keep_alive(stream.as_fd());
        let _ = socket::keep_urgent_in_line(stream.as_fd());
        match pending.purpose {
            Purpose::Names => self.answer_names(stream, pending.acl),
            Purpose::Host(destination) => {
                let host = self.hosts.remove(&(from, pending.number));
                let mut connection = Connection::new(stream, destination, pending.acl);
                match host {
                    Some((host, _)) => connection.connected(host),
                    None if pending.has_host => connection.await_host(pending.number),
                    None => {}
                }
                self.take_on(connection, from);
            }
        }
    }

    fn take_on(&mut self, connection: Connection, from: SocketAddr) {
        let Some(token) = self.connections.add(connection, from) else {
            return;
        };
        self.contain(Some(token), |serving| serving.begin_connection(token));
    }

    fn begin_connection(&mut self, token: u64) {
        let connection = self.connections.get(token).expect("just added");
        let (has_host, is_to_be_found) = (connection.host().is_some(), connection.is_to_be_found());
        if connection.client().set_nonblocking(true).is_err() || self.watch(token).is_err() {
            self.close(token, Next::Reset);
            return;
        }
        if has_host {
            self.watch_host(token);
            self.advance(token);
        } else if is_to_be_found {
            self.find(token);
        }
    }

    fn watch(&self, token: u64) -> io::Result<()> {
        let connection = self.connections.get(token).expect("a live one");
        self.epoll.add(connection.client(), edges(token))?;
        Ok(())
    }

    /// Prepares a new host socket and watches it.
    fn watch_host(&mut self, token: u64) {
        let Some(host) = self.connections.get(token).and_then(Connection::host) else {
            return;
        };
        let _ = host.set_nonblocking(true);
        let _ = host.set_nodelay(true);
        let _ = socket::keep_alive(host.as_fd());
        let _ = socket::keep_urgent_in_line(host.as_fd());
        // A socket that is already watched stays watched.
        match self.epoll.add(host, edges(token)) {
            Ok(()) | Err(nix::Error::EEXIST) => {}
            Err(_) => self.close(token, Next::Reset),
        }
    }

    fn find(&mut self, token: u64) {
        let Some(connection) = self.connections.get(token) else {
            return;
        };
        let name = connection.destination().name.clone();
        if let Some(found) = self.network.resolver.cached(&name) {
            self.found(token, &found);
            return;
        }
        let network = Arc::clone(&self.network);
        let begun = self.spawn(move |completions| {
            // A panic counts as a failed lookup; the client mustn't wait for ever.
            let found = fault::contain(|| network.look_up(&name)).unwrap_or_else(|fault| {
                completions.faults.note(FaultyPart::Names, &fault);
                Err(NoAddress::Failed)
            });
            lock(&completions.found).push((token, found));
            let _ = completions.done.write(1);
        });
        if !begun {
            self.close(token, Next::Reset);
        }
    }

    /// Takes the results of finished lookups.
    fn collect(&mut self) {
        let _ = self.completions.done.read();
        let found = std::mem::take(&mut *lock(&self.completions.found));
        for (token, found) in found {
            self.found(token, &found);
        }
    }

    fn found(&mut self, token: u64, found: &Result<Found, NoAddress>) {
        self.contain(Some(token), |serving| {
            if let Some(connection) = serving.connections.get_mut(token) {
                let next = connection.found(found);
                serving.dialling += usize::from(connection.is_dialling());
                serving.act(token, next);
            }
        });
    }

    fn advance(&mut self, token: u64) {
        self.contain(Some(token), |serving| {
            let Some(connection) = serving.connections.get_mut(token) else {
                return;
            };
            fault::point("relay", || connection.destination().name.as_str());
            let was_dialling = connection.is_dialling();
            let next = connection.advance(&mut serving.pipes);
            if was_dialling && !connection.is_dialling() {
                serving.dialling -= 1;
            }
            serving.act(token, next);
        });
    }

    /// Closes a connection whose client was reset, even while its bytes are held up and nothing is read from it.
    fn look_after(&mut self, token: u64) {
        if self.connections.get(token).is_some_and(Connection::has_lost_client) {
            self.close(token, Next::Reset);
        }
    }

    fn act(&mut self, token: u64, next: Next) {
        match next {
            Next::Wait => {}
            Next::Again => drop(self.ready.insert(token)),
            Next::Watch => {
                self.watch_host(token);
                self.ready.insert(token);
            }
            Next::Close | Next::Reset => self.close(token, next),
        }
    }

    fn close(&mut self, token: u64, how: Next) {
        let Some(connection) = self.connections.remove(token) else {
            return;
        };
        self.dialling = self.dialling.saturating_sub(usize::from(connection.is_dialling()));
        if how == Next::Reset {
            let _ = socket::reset_on_close(connection.client().as_fd());
            if let Some(host) = connection.host() {
                let _ = socket::reset_on_close(host.as_fd());
            }
        }
    }

    fn tick(&mut self) {
        self.unannounced.retain(|(_, _, since)| since.elapsed() < GRACE);
        self.hosts.retain(|_, (_, since)| since.elapsed() < GRACE);
        // If there is a host, the client is connected already.
        let deadline = |pending: &PendingConnection| if pending.has_host { GRACE } else { LATE };
        self.network.forget(|pending, waited| waited >= deadline(pending));
        if self.is_full {
            self.turn_doors(EpollFlags::EPOLLIN);
        }
        if self.dialling > 0 {
            for token in self.connections.dialling() {
                self.advance(token);
            }
        }
    }

    fn answer_names(&self, stream: TcpStream, acl: Box<dyn NetworkAcl>) {
        let network = Arc::clone(&self.network);
        // If too many tasks wait, the stream is closed.
        self.spawn(move |completions| {
            if stream
                .set_nonblocking(false)
                .and_then(|()| stream.set_nodelay(true))
                .is_ok()
            {
                let mut reply = |name: &Name, family| {
                    let replied = fault::contain(|| network.reply(name, family, acl.as_ref()));
                    replied.unwrap_or_else(|fault| {
                        completions.faults.note(FaultyPart::Names, &fault);
                        Reply::Failed
                    })
                };
                // A client that stops asking is ignored.
                let _ = names::serve(stream, QueryLimits::USUAL, &mut reply);
            }
        });
    }

    /// Runs a task on a thread that shares this one's descriptors, or queues it for the next free one; `false` if too
    /// many tasks wait.
    fn spawn(&self, task: impl FnOnce(&Completions) + Send + 'static) -> bool {
        let mut tasks = lock(&self.completions.tasks);
        if tasks.waiting.len() >= MAX_TASKS {
            return false;
        }
        tasks.waiting.push_back(Box::new(task));
        if tasks.threads >= MAX_THREADS {
            return true;
        }
        let completions = Arc::clone(&self.completions);
        let begun = thread::Builder::new()
            .name("stockade-names".into())
            .stack_size(256 * 1024)
            .spawn(move || completions.work());
        tasks.threads += usize::from(begun.is_ok());
        if tasks.threads == 0 {
            tasks.waiting.pop_back();
        }
        tasks.threads > 0
    }
}

impl Completions {
    /// Runs queued tasks until none is left.
    fn work(&self) {
        loop {
            let mut tasks = lock(&self.tasks);
            let Some(task) = tasks.waiting.pop_front() else {
                tasks.threads -= 1;
                return;
            };
            drop(tasks);
            if let Err(fault) = fault::contain(|| task(self)) {
                self.faults.note(FaultyPart::Names, &fault);
            }
        }
    }
}

/// Whether the error is a shortage that may pass when others release resources.
fn is_want(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)
    )
}

/// The message that announces a connection from this address. A client may have any local address, so all of it is sent;
/// the message's two 64-bit fields have room for IPv6.
pub fn announcement(from: SocketAddr, number: u32) -> wire::Message {
    let ip = match from.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let bits = ip.to_bits();
    wire::Message {
        cpu_us: (bits >> 64) as i64,
        max_rss: bits as i64,
        ..wire::Message::new(Call::PendingConnection as u32, i32::from(from.port()), number as i32)
    }
}

fn from_message(message: &wire::Message) -> (SocketAddr, u32) {
    let bits = u128::from(message.cpu_us as u64) << 64 | u128::from(message.max_rss as u64);
    let from = SocketAddr::new(Ipv6Addr::from_bits(bits).to_canonical(), message.first as u16);
    (from, message.second as u32)
}

/// All events of a connection, edge-triggered.
fn edges(token: u64) -> EpollEvent {
    let read = EpollFlags::EPOLLIN | EpollFlags::EPOLLPRI | EpollFlags::EPOLLRDHUP;
    let flags = read | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
    EpollEvent::new(flags, token)
}

impl RunNetwork {
    /// The answer to the run's query for a name.
    fn reply(&self, name: &Name, family: Family, acl: &dyn NetworkAcl) -> Reply {
        fault::point("names", || name.as_str());
        if !acl.knows(name) && acl.may_be_asked_for(name) {
            return self.made_up(name, family);
        }
        if !acl.knows(name) {
            acl.refuse(Kind::Resolve, name.as_str(), name.as_str(), Reason::NotGranted);
            return Reply::NoSuchName;
        }
        acl.let_pass(Kind::Resolve, name.as_str(), name.as_str());
        let found = match self.look_up(name) {
            Ok(found) => found,
            Err(NoAddress::NoSuchName) => return Reply::NoSuchName,
            Err(NoAddress::NoAddresses) => return Reply::NoData,
            Err(NoAddress::Failed) => return Reply::Failed,
        };
        let Some((v4, v6)) = self.names.addresses(name) else {
            return Reply::Failed;
        };
        match family {
            Family::V4 if found.addresses.iter().any(IpAddr::is_ipv4) => Reply::Address(v4.into(), found.ttl),
            Family::V6 if found.addresses.iter().any(IpAddr::is_ipv6) => Reply::Address(v6.into(), found.ttl),
            Family::V4 | Family::V6 => Reply::NoData,
        }
    }
}

impl RunNetwork {
    /// Answers with a synthetic address for a name that isn't granted yet. It is resolved outside only after approval.
    fn made_up(&self, name: &Name, family: Family) -> Reply {
        const TTL: Duration = Duration::from_secs(60);
        match (self.names.addresses(name), family) {
            (Some((v4, _)), Family::V4) => Reply::Address(v4.into(), TTL),
            (Some(_), Family::V6) => Reply::NoData,
            (None, _) => Reply::Failed,
        }
    }
}

/// The live connections, by tokens that are never reused.
struct Connections {
    by_token: HashMap<u64, (Connection, SocketAddr)>,
    by_address: HashMap<SocketAddr, u64>,
    next: u64,
    most: usize,
}

impl Connections {
    fn new() -> Connections {
        Connections {
            by_token: HashMap::new(),
            by_address: HashMap::new(),
            next: 0,
            most: most_connections(),
        }
    }

    /// `None` if there are too many: the connection is closed.
    fn add(&mut self, connection: Connection, from: SocketAddr) -> Option<u64> {
        if self.by_token.len() >= self.most {
            let _ = socket::reset_on_close(connection.client().as_fd());
            return None;
        }
        let token = self.next;
        self.next += 1;
        self.by_token.insert(token, (connection, from));
        self.by_address.insert(from, token);
        Some(token)
    }

    fn get(&self, token: u64) -> Option<&Connection> {
        self.by_token.get(&token).map(|(connection, _)| connection)
    }

    fn get_mut(&mut self, token: u64) -> Option<&mut Connection> {
        self.by_token.get_mut(&token).map(|(connection, _)| connection)
    }

    /// Whether bytes from the run are still in transit.
    fn have_more_to_send(&self) -> bool {
        self.by_token
            .values()
            .any(|(connection, _)| connection.has_more_to_send())
    }

    /// The connection from this address that waits for its host.
    fn awaiting(&self, from: SocketAddr, number: u32) -> Option<u64> {
        let token = self.by_address.get(&from).copied()?;
        self.get(token)?.awaits_host(number).then_some(token)
    }

    fn connected(&mut self, token: u64, host: TcpStream) {
        if let Some(connection) = self.get_mut(token) {
            connection.connected(host);
        }
    }

    fn dialling(&self) -> Vec<u64> {
        let dialling = self
            .by_token
            .iter()
            .filter(|(_, (connection, _))| connection.is_dialling());
        dialling.map(|(token, _)| *token).collect()
    }

    fn remove(&mut self, token: u64) -> Option<Connection> {
        let (connection, from) = self.by_token.remove(&token)?;
        if self.by_address.get(&from) == Some(&token) {
            self.by_address.remove(&from);
        }
        Some(connection)
    }
}

/// Each connection has two sockets, and a pipe only while bytes wait in it.
fn most_connections() -> usize {
    let files =
        nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE).map_or(1024, |limit| limit.0);
    usize::try_from(files.saturating_sub(SPARE_FILES) / 2)
        .unwrap_or(usize::MAX)
        .clamp(16, MAX_CONNECTIONS)
}
