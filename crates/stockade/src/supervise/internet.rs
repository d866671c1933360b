//! Internet sockets: `socket`, `connect`, `bind` and `listen`, on the target's own socket or one made for it.
//!
//! Addresses are read once, parsed, judged, and given to the kernel as they were parsed. Where hosts are named, a
//! connection goes to the relay of [`crate::network`], to a port of the run's own, or to an address that is granted as
//! one.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::answer::{Answer, Errno};
use super::approvals::Opened;
use super::desk::Desk;
use super::judge::CLOSED;
use super::labels::Label;
use super::refuse::Attempt;
use super::shared::{Made, Shared};
use super::stand_in;
use crate::audit::{Record, Seen};
use crate::network::{
    self, Clearance, Destination, Dial, Errand, Found, Interrupted, Missing, NAMES_PORT, NAMESERVER, Network,
    Synthetic, Visitor,
};
use crate::policy::{Asks, Policy, Reach, Speech};
use crate::profile::Name;
use crate::report::{Kind, Reason, Refusal};
use stockade_sys::notify::OnExecute;
use stockade_sys::{diagnosis, file, other, socket};

/// What a refused peer looks like: what a firewall's rule does (connect(2)).
pub const REFUSED: Errno = CLOSED;

/// The length of an IPv6 address without its scope (`SIN6_LEN_RFC2133`).
const SHORTEST_IPV6: usize = 24;

/// What an address stands for.
enum Peer {
    /// The resolver.
    Names,
    /// A name that was looked up.
    Host(Name),
    /// Itself.
    Address,
}

fn peer(network: Option<&Network>, address: SocketAddr) -> Result<Peer, Errno> {
    let (Some(network), ip) = (network, address.ip()) else {
        return Ok(Peer::Address);
    };
    if ip == IpAddr::V4(NAMESERVER) {
        return if address.port() == NAMES_PORT {
            Ok(Peer::Names)
        } else {
            Err(Errno(libc::ECONNREFUSED))
        };
    }
    match network.names.name(ip) {
        Some(name) => Ok(Peer::Host(name)),
        None if Synthetic::is_synthetic(ip) => Err(Errno(libc::EHOSTUNREACH)),
        None => Ok(Peer::Address),
    }
}

/// `connect` of an internet socket. `bytes` is the address as it was read.
pub fn connect(desk: &Desk<'_>, target: OwnedFd, domain: i32, bytes: &[u8]) -> Result<Answer, Errno> {
    let given = socket::address(bytes).ok_or_else(|| wrong_address(bytes))?;
    if domain == libc::AF_INET6 && bytes.len() < SHORTEST_IPV6 {
        return Err(Errno(libc::EINVAL));
    }
    if domain == libc::AF_INET && given.is_ipv6() || domain == libc::AF_INET6 && given.is_ipv4() {
        return Err(Errno(libc::EAFNOSUPPORT));
    }
    let address = canonical(given);
    if socket::kind(target.as_fd())? != libc::SOCK_STREAM {
        return connect_datagrams(desk, &target, domain, address);
    }
    let network = desk.shared().network.as_deref();
    if let Some(network) = network
        && !socket::is_unconnected(target.as_fd())?
    {
        // The kernel says which it is: in progress, connected, listening. No new connection comes of it.
        let door = socket::for_domain(network.doors.v4, domain);
        socket::connect(target.as_fd(), &socket::bytes(door))?;
        return Ok(Answer::Value(0));
    }
    let clearance = Cleared::of(desk);
    match peer(network, address)? {
        Peer::Names => {
            visit(desk, &target, domain, Errand::Names, clearance, None)?;
            Ok(Answer::Value(0))
        }
        Peer::Host(name) => {
            let port = address.port();
            let Some(speech) = clearance.name(&name, port) else {
                let host = format!("{}:{port}", name.as_str());
                desk.refuse(clearance.refusal(Kind::Connect, &host, &host, Reason::NotGranted));
                return Err(REFUSED);
            };
            let host = format!("{}:{port}", name.as_str());
            clearance.let_pass(Kind::Connect, &host, &host);
            connect_host(desk, target, domain, Destination { name, port, speech }, clearance)
        }
        Peer::Address => {
            require_address(desk, &clearance, address)?;
            connect_directly(desk, target, judged(given, address, domain))
        }
    }
}

/// An address as bytes, in its own family's form.
pub fn parse(bytes: &[u8]) -> Result<SocketAddr, Errno> {
    socket::address(bytes)
        .map(canonical)
        .ok_or_else(|| wrong_address(bytes))
}

/// What the kernel says of an address that is too short, or of another family.
fn wrong_address(bytes: &[u8]) -> Errno {
    let family = bytes.get(..2).map(|family| u16::from_ne_bytes([family[0], family[1]]));
    match family.map(i32::from) {
        Some(libc::AF_INET | libc::AF_INET6) | None => Errno(libc::EINVAL),
        Some(_) => Errno(libc::EAFNOSUPPORT),
    }
}

/// The address that is meant: IPv4 where it is mapped, loopback where none is named.
fn canonical(given: SocketAddr) -> SocketAddr {
    let ip = match given.ip().to_canonical() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, given.port())
}

/// The address that was judged, for the kernel. Of an unspecified one the kernel makes the address that the socket is
/// bound to.
fn judged(given: SocketAddr, address: SocketAddr, domain: i32) -> SocketAddr {
    if given.ip().to_canonical() == address.ip() {
        given
    } else {
        socket::for_domain(address, domain)
    }
}

/// That an address may be reached as one.
fn require_address(desk: &Desk<'_>, clearance: &Cleared, address: SocketAddr) -> Result<(), Errno> {
    let (ip, port) = (address.ip(), address.port());
    if ip.is_loopback() && is_own(desk, address) {
        return Ok(());
    }
    if clearance.address(ip, port) {
        let text = address.to_string();
        clearance.let_pass(Kind::Connect, &text, &text);
        return Ok(());
    }
    if ip.is_loopback() && listens_beside(desk, port) {
        // A server that takes both families is asked on the other one first.
        return Err(Errno(libc::ECONNREFUSED));
    }
    let text = address.to_string();
    desk.refuse(clearance.refusal(Kind::Connect, &text, &text, network::why_closed(ip)));
    Err(REFUSED)
}

/// Connects to an address. Where that may block, on a thread of its own: a server of the run whose queue is full, too, may
/// need the worker before it accepts.
fn connect_directly(desk: &Desk<'_>, target: OwnedFd, address: SocketAddr) -> Result<Answer, Errno> {
    let blocks = is_blocking(&target)? && socket::kind(target.as_fd())? != libc::SOCK_DGRAM;
    let bytes = socket::bytes(address);
    let connect = move |desk: &Desk<'_>| {
        let connected = socket::connect(target.as_fd(), &bytes);
        if has_begun(&connected) {
            desk.release_socket(desk.caller().registers.int(0));
        }
        connected?;
        Ok(Answer::Value(0))
    };
    if blocks { desk.later(connect) } else { connect(desk) }
}

/// Whether there is a connection now, or will be.
fn has_begun(connected: &io::Result<()>) -> bool {
    match connected {
        Ok(()) => true,
        Err(error) => error.raw_os_error() == Some(libc::EINPROGRESS),
    }
}

fn is_blocking(target: &OwnedFd) -> Result<bool, Errno> {
    Ok(file::open_flags(target.as_fd())? & libc::O_NONBLOCK == 0)
}

/// Connects to a host through the relay. A blocking socket hears how it went; for others the relay goes on alone, and a
/// failure is a reset.
fn connect_host(
    desk: &Desk<'_>,
    target: OwnedFd,
    domain: i32,
    destination: Destination,
    clearance: Cleared,
) -> Result<Answer, Errno> {
    let blocks = is_blocking(&target)?;
    let way = known_way(desk, &destination, &clearance)?;
    let dial = match way.filter(|way| blocks || is_here(way)).map(quickly) {
        Some(Quick::Connected(host)) => {
            visit(desk, &target, domain, Errand::Host(destination), clearance, Some(host))?;
            return Ok(Answer::Value(0));
        }
        Some(Quick::Failed(errno)) => return Err(errno),
        Some(Quick::NotYet(dial)) => Some(dial),
        None => None,
    };
    if !blocks {
        return connect_in_the_background(desk, target, domain, destination, clearance);
    }
    desk.later(move |desk| {
        let (host, answer) = match reach(desk, &target, &destination, &clearance, dial) {
            Ok(host) => (Some(host), Ok(Answer::Value(0))),
            // Who is kept from waiting finds the connection made, or failed, afterwards (connect(2)).
            Err(Errno(errno @ (libc::EINTR | libc::EINPROGRESS))) => (None, Err(Errno(errno))),
            Err(errno) => return Err(errno),
        };
        visit(desk, &target, domain, Errand::Host(destination), clearance, host)?;
        answer
    })
}

/// Leaves the rest to the relay. A name that wasn't asked for yet (it stood in the hosts file) is looked up first, for a
/// moment: whether there's such a host is better said here than by a reset.
fn connect_in_the_background(
    desk: &Desk<'_>,
    target: OwnedFd,
    domain: i32,
    destination: Destination,
    clearance: Cleared,
) -> Result<Answer, Errno> {
    const MOMENT: Duration = Duration::from_millis(300);
    let (network, _) = desk.network().ok_or(Errno(libc::ENETUNREACH))?;
    if network.known(&destination.name).is_some() {
        visit(desk, &target, domain, Errand::Host(destination), clearance, None)?;
        return Ok(Answer::Value(0));
    }
    desk.later(move |desk| {
        let (network, bell) = desk.network().ok_or(Errno(libc::ENETUNREACH))?;
        let begun = Instant::now();
        let mut gives_up = || begun.elapsed() > MOMENT || desk.caller().is_interrupted();
        let _ = network.find(bell, &destination.name, &mut gives_up);
        let way = known_way(desk, &destination, &clearance)?;
        let host = match way.filter(is_here).map(quickly) {
            Some(Quick::Connected(host)) => Some(host),
            Some(Quick::Failed(errno)) => return Err(errno),
            Some(Quick::NotYet(_)) | None => None,
        };
        visit(desk, &target, domain, Errand::Host(destination), clearance, host)?;
        Ok(Answer::Value(0))
    })
}

/// The way to a host whose addresses are known; an error where it is known that there's none.
fn known_way(desk: &Desk<'_>, destination: &Destination, clearance: &Cleared) -> Result<Option<Way>, Errno> {
    let (network, _) = desk.network().ok_or(Errno(libc::ENETUNREACH))?;
    match network.known(&destination.name) {
        Some(Ok(found)) => way(desk, destination, &found, clearance).map(Some),
        Some(Err(Missing::NoSuchName | Missing::NoAddresses)) => Err(Errno(libc::EHOSTUNREACH)),
        Some(Err(Missing::Failed)) | None => Ok(None),
    }
}

/// The addresses of a host that may be connected to.
type Way = VecDeque<SocketAddr>;

/// Whether a host is this machine, which answers at once. Who asks another one for a moment and gives up has it see a
/// connection that breaks off.
fn is_here(way: &Way) -> bool {
    way.iter().all(|address| address.ip().is_loopback())
}

fn way(desk: &Desk<'_>, destination: &Destination, found: &Found, clearance: &Cleared) -> Result<Way, Errno> {
    let (open, closed) = network::addresses(destination, found, clearance);
    if !open.is_empty() {
        return Ok(open);
    }
    for address in closed {
        let asked = format!("{}:{}", destination.name.as_str(), destination.port);
        let reason = network::why_closed(address.ip());
        desk.refuse(clearance.refusal(Kind::Connect, &address.to_string(), &asked, reason));
    }
    Err(REFUSED)
}

/// What came of a short try.
enum Quick {
    Connected(TcpStream),
    Failed(Errno),
    NotYet(Dial),
}

/// A host nearby answers sooner than another thread starts.
fn quickly(way: Way) -> Quick {
    const SLICE_MS: u8 = 1;
    let mut dial = Dial::new(way);
    let mut slices = 0;
    let mut gives_up = || {
        slices += 1;
        slices > 1
    };
    match dial.wait(SLICE_MS, &mut gives_up) {
        Ok(host) => Quick::Connected(host),
        Err(Interrupted::Failed(error)) => Quick::Failed(Errno::from(error)),
        Err(Interrupted::GivenUp) => Quick::NotYet(dial),
    }
}

/// The host's own answer to a connection, as the target would have heard it.
fn reach(
    desk: &Desk<'_>,
    target: &OwnedFd,
    destination: &Destination,
    clearance: &Cleared,
    dial: Option<Dial>,
) -> Result<TcpStream, Errno> {
    const SLICE_MS: u8 = 50;
    let (network, bell) = desk.network().ok_or(Errno(libc::ENETUNREACH))?;
    let deadline = socket::send_timeout(target.as_fd())?.map(|time| Instant::now() + time);
    let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let mut gives_up = || is_late() || desk.caller().is_interrupted();
    let why = || if is_late() { libc::EINPROGRESS } else { libc::EINTR };
    let mut dial = match dial {
        Some(dial) => dial,
        None => match network.find(bell, &destination.name, &mut gives_up) {
            Ok(found) => Dial::new(way(desk, destination, &found, clearance)?),
            Err(Missing::Failed) if gives_up() => return Err(Errno(why())),
            Err(_) => return Err(Errno(libc::EHOSTUNREACH)),
        },
    };
    dial.wait(SLICE_MS, &mut gives_up)
        .map_err(|interrupted| match interrupted {
            Interrupted::Failed(error) => Errno::from(error),
            Interrupted::GivenUp => Errno(why()),
        })
}

/// Connects the target's socket to the relay and announces it there.
fn visit(
    desk: &Desk<'_>,
    target: &OwnedFd,
    domain: i32,
    errand: Errand,
    clearance: Cleared,
    host: Option<TcpStream>,
) -> Result<(), Errno> {
    let (network, bell) = desk.network().ok_or(Errno(libc::ENETUNREACH))?;
    let door = match network.doors.v6 {
        Some(door) if domain == libc::AF_INET6 && socket::is_ipv6_only(target.as_fd())? => door,
        _ => socket::for_domain(network.doors.v4, domain),
    };
    desk.caller().confirm()?;
    // Another thread may have connected it meanwhile, somewhere else.
    if !socket::is_unconnected(target.as_fd())? {
        return Err(Errno(libc::EISCONN));
    }
    let connected = socket::connect(target.as_fd(), &socket::bytes(door));
    if has_begun(&connected) {
        desk.release_socket(desk.caller().registers.int(0));
        let from = socket::local_address(target.as_fd())?;
        let from = SocketAddr::new(from.ip().to_canonical(), from.port());
        let visitor = Visitor {
            errand,
            clearance: Box::new(clearance),
            has_host: host.is_some(),
            number: 0,
        };
        network.expect(bell, from, visitor, host)?;
    }
    Ok(connected?)
}

/// A datagram socket of the run's never sends; connecting it only tells which families there are, and how the machine
/// would go. To that the answer is loopback's for a host, and none for everything else.
fn connect_datagrams(desk: &Desk<'_>, target: &OwnedFd, domain: i32, address: SocketAddr) -> Result<Answer, Errno> {
    let clearance = Cleared::of(desk);
    if clearance.reaches_everything() {
        require_address(desk, &clearance, address)?;
        socket::connect(target.as_fd(), &socket::bytes(socket::for_domain(address, domain)))?;
        return Ok(Answer::Value(0));
    }
    let is_host = Synthetic::is_synthetic(address.ip());
    if !is_host && !address.ip().is_loopback() {
        let text = address.to_string();
        let reason = Reason::Never("where hosts are named nothing is sent in datagrams".into());
        clearance.refuse(Kind::Connect, &text, &text, reason);
        return Err(REFUSED);
    }
    let address = SocketAddr::new(loopback_of(address.ip()), address.port());
    socket::connect(target.as_fd(), &socket::bytes(socket::for_domain(address, domain)))?;
    Ok(Answer::Value(0))
}

/// `bind` of an internet socket. Who listens does so on loopback alone: a server that names no address gets that.
pub fn bind(desk: &Desk<'_>, target: &OwnedFd, domain: i32, bytes: &[u8]) -> Result<Answer, Errno> {
    let clearance = Cleared::of(desk);
    let given = socket::address(bytes).ok_or_else(|| wrong_address(bytes))?;
    if clearance.reaches_everything() {
        socket::bind(target.as_fd(), &socket::bytes(given))?;
        return Ok(Answer::Value(0));
    }
    if socket::kind(target.as_fd())? != libc::SOCK_STREAM {
        let reason = Reason::Never(
            "where hosts are named there are no datagrams; programs linked with musl ask for names by them, and find exact \
             grants only"
                .into(),
        );
        clearance.refuse(Kind::Socket, "datagrams", &given.to_string(), reason);
        return Err(REFUSED);
    }
    let ip = given.ip().to_canonical();
    let may_listen = may_listen_on(desk, &clearance, given.port());
    // What is bound to no address at all is a server's.
    let is_near_end = given.port() == 0 && !(ip.is_unspecified() && desk.shared().approvals.is_some());
    if !is_near_end && !may_listen || !ip.is_loopback() && !ip.is_unspecified() && given.port() != 0 {
        let asked = given.to_string();
        let on_loopback = SocketAddr::new(loopback_of(given.ip()), given.port()).to_string();
        let (target, reason) = if may_listen {
            (&asked, Reason::Never("a run listens on loopback alone".into()))
        } else {
            (&on_loopback, why_not_granted(given.port()))
        };
        desk.refuse(clearance.refusal(Kind::Listen, target, &asked, reason));
        return Err(REFUSED);
    }
    // With port 0 and no grant it can only be the near end of a connection.
    let address = match ip.is_unspecified() && may_listen {
        true => SocketAddr::new(on_loopback(target, given.ip())?, given.port()),
        false => given,
    };
    let bound = socket::bind(target.as_fd(), &socket::bytes(socket::for_domain(address, domain)));
    if bound
        .as_ref()
        .is_err_and(|error| error.raw_os_error() == Some(libc::EACCES))
    {
        let reason = kept_port();
        clearance.refuse(Kind::Listen, &address.to_string(), &given.to_string(), reason);
    }
    bound?;
    if address.ip().to_canonical().is_loopback() {
        note_bound(desk, target)?;
    }
    if given.port() == 0 && may_listen {
        note_chosen(desk, target)?;
    }
    Ok(Answer::Value(0))
}

/// Why a port isn't granted. A run has no capability, so no grant opens a port that needs one (`ip_unprivileged_port_start`
/// of the kernel's ip-sysctl.rst).
pub fn why_not_granted(port: u16) -> Reason {
    let first = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    let first: Option<u16> = first.ok().and_then(|text| text.trim().parse().ok());
    match first.is_some_and(|first| (1..first).contains(&port)) {
        true => kept_port(),
        false => Reason::NotGranted,
    }
}

fn kept_port() -> Reason {
    Reason::Never("the kernel keeps the lowest ports for the administrator".into())
}

/// Whether a port is granted, or one that the kernel chose before where that is.
fn may_listen_on(desk: &Desk<'_>, clearance: &Cleared, port: u16) -> bool {
    let was_chosen = || desk.judge.made(|made| made.chosen_ports.contains(&port));
    clearance.may_listen(port) || clearance.may_listen(0) && was_chosen()
}

/// A port that the kernel chose for the run is the run's to ask for again: that is how programs find a free one.
fn note_chosen(desk: &Desk<'_>, target: &OwnedFd) -> Result<(), Errno> {
    let port = socket::local_address(target.as_fd())?.port();
    desk.judge
        .note_made(|made| Made::keep(&mut made.chosen_ports, port, Made::MOST));
    Ok(())
}

fn loopback_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

/// Loopback for a socket that takes both families is IPv4's: that is where most look first.
fn on_loopback(target: &OwnedFd, unspecified: IpAddr) -> Result<IpAddr, Errno> {
    if unspecified.is_ipv4() {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    Ok(if socket::is_ipv6_only(target.as_fd())? {
        Ipv6Addr::LOCALHOST.into()
    } else {
        Ipv4Addr::LOCALHOST.to_ipv6_mapped().into()
    })
}

/// `listen`, of a socket of any family: what is bound may, if its port is granted.
pub fn listen(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let registers = desk.caller().registers;
    let target = desk.socket(registers.int(0))?;
    desk.caller().confirm()?;
    let domain = socket::domain(target.as_fd())?;
    let is_internet = domain == libc::AF_INET || domain == libc::AF_INET6;
    if !is_internet {
        socket::listen(target.as_fd(), registers.int(1))?;
        return Ok(Answer::Value(0));
    }
    let clearance = Cleared::of(desk);
    let is_limited = !clearance.reaches_everything();
    if is_limited {
        bind_to_listen(desk, &clearance, &target, domain)?;
    }
    socket::listen(target.as_fd(), registers.int(1))?;
    if is_limited {
        end_unless_on_loopback(&target)?;
    }
    let number = socket::number(target.as_fd())?;
    let address = canonical(socket::local_address(target.as_fd())?);
    desk.judge.note_made(|made| {
        if made.listeners.len() < Made::MOST {
            made.listeners.insert(number, address);
        }
    });
    let_listen(desk, &clearance, address);
    desk.release_socket(registers.int(0));
    Ok(Answer::Value(0))
}

/// Tells of a port that is listened on, as it would be granted: 0 where the kernel chose it.
fn let_listen(desk: &Desk<'_>, clearance: &Cleared, address: SocketAddr) {
    let was_chosen = desk.judge.made(|made| made.chosen_ports.contains(&address.port()));
    let granted = SocketAddr::new(address.ip(), if was_chosen { 0 } else { address.port() });
    clearance.let_pass(Kind::Listen, &granted.to_string(), &address.to_string());
}

/// What can't be is looked at once more.
fn end_unless_on_loopback(target: &OwnedFd) -> Result<(), Errno> {
    let bound = socket::local_address(target.as_fd())?;
    if bound.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    socket::shut_down(target.as_fd())?;
    Err(REFUSED)
}

/// That a socket listens on loopback, on a port that is granted. It has to have been bound there: what is only connected
/// has an address that another thread can take away, and one that isn't bound would get any port of any address.
fn bind_to_listen(desk: &Desk<'_>, clearance: &Cleared, target: &OwnedFd, domain: i32) -> Result<(), Errno> {
    if socket::kind(target.as_fd())? != libc::SOCK_STREAM {
        return Ok(());
    }
    if !socket::is_unconnected(target.as_fd())? && !socket::is_listening(target.as_fd())? {
        return Err(Errno(libc::EINVAL));
    }
    let bound = socket::local_address(target.as_fd())?;
    if bound.port() == 0 && clearance.may_listen(0) {
        let ip = on_loopback(target, bound.ip())?;
        let address = socket::for_domain(SocketAddr::new(ip, 0), domain);
        socket::bind(target.as_fd(), &socket::bytes(address))?;
        note_bound(desk, target)?;
    }
    let number = socket::number(target.as_fd())?;
    if desk.judge.made(|made| made.bound.contains(&number)) && may_listen_on(desk, clearance, bound.port()) {
        return Ok(());
    }
    let wanted = SocketAddr::new(loopback_of(bound.ip().to_canonical()), bound.port()).to_string();
    desk.refuse(clearance.refusal(Kind::Listen, &wanted, &bound.to_string(), Reason::NotGranted));
    Err(REFUSED)
}

/// Takes note of a socket that was bound to a loopback address, which it keeps, and may listen.
fn note_bound(desk: &Desk<'_>, target: &OwnedFd) -> Result<(), Errno> {
    let number = socket::number(target.as_fd())?;
    desk.judge
        .note_made(|made| Made::keep(&mut made.bound, number, Made::MOST));
    Ok(())
}

/// Whether the run itself listens there, and still does.
fn is_own(desk: &Desk<'_>, address: SocketAddr) -> bool {
    let is_noted = |number: u64| desk.judge.made(|made| made.listeners.get(&number) == Some(&address));
    let has_any = desk
        .judge
        .made(|made| made.listeners.values().any(|own| *own == address));
    has_any && diagnosis::listener(address).is_ok_and(|number| number.is_some_and(is_noted))
}

/// Whether the run listens on this port of another loopback address.
fn listens_beside(desk: &Desk<'_>, port: u16) -> bool {
    desk.judge
        .made(|made| made.listeners.values().any(|address| address.port() == port))
}

/// A socket that the filter doesn't let through by itself: one that never sends, one that has to be made for the run
/// because no copy could be taken of its own, or one that is never used.
pub fn socket(desk: &Desk<'_>) -> Result<Answer, Errno> {
    const FLAGS: i32 = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    let registers = desk.caller().registers;
    let (domain, kind, protocol) = (registers.int(0), registers.int(1), registers.int(2));
    let made = match making(desk, domain, kind & !FLAGS, protocol) {
        Making::No => return refuse(desk, domain, kind),
        // What a kernel without MPTCP says; programs go on with TCP.
        Making::Unknown => return Err(Errno(libc::EPROTONOSUPPORT)),
        Making::Whole => socket::open(domain, kind & !libc::SOCK_CLOEXEC, protocol)?,
        Making::StandIn => socket::open(libc::AF_UNIX, kind & !libc::SOCK_CLOEXEC, 0)?,
        Making::Mute => {
            let made = socket::open(domain, kind & !libc::SOCK_CLOEXEC, protocol)?;
            socket::shut_down(made.as_fd())?;
            made
        }
    };
    if !other::takes_descriptors() {
        desk.keep_socket(&made)?;
    }
    let on_execute = if kind & libc::SOCK_CLOEXEC != 0 {
        OnExecute::Close
    } else {
        OnExecute::Keep
    };
    Ok(Answer::Descriptor(made, on_execute))
}

/// What is made where a socket is asked for.
enum Making {
    /// What was asked for.
    Whole,
    /// The same, that never sends.
    Mute,
    /// A unix stream that is never connected, and tells what for.
    StandIn,
    /// Nothing.
    No,
    /// Nothing, as if the kernel didn't know it.
    Unknown,
}

fn making(desk: &Desk<'_>, domain: i32, kind: i32, protocol: i32) -> Making {
    let has_network = !stand_in::is_needed(desk);
    match (domain, kind, protocol) {
        (libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_SEQPACKET, _) => Making::Whole,
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_STREAM, libc::IPPROTO_MPTCP) => Making::Unknown,
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_STREAM, 0 | libc::IPPROTO_TCP) if !has_network => Making::StandIn,
        _ if !has_network => Making::No,
        (libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_DGRAM, libc::NETLINK_ROUTE) => Making::Whole,
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_STREAM, 0 | libc::IPPROTO_TCP) => Making::Whole,
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_DGRAM, 0 | libc::IPPROTO_UDP) => {
            let mut realms = desk.judge.realms();
            if realms.all(|realm| realm.brief.policy.reach == Reach::Everything) {
                Making::Whole
            } else {
                Making::Mute
            }
        }
        _ => Making::No,
    }
}

/// A socket that the policy has no place for.
fn refuse(desk: &Desk<'_>, domain: i32, kind: i32) -> Result<Answer, Errno> {
    let is_internet = domain == libc::AF_INET || domain == libc::AF_INET6;
    let is_plain = [libc::SOCK_STREAM, libc::SOCK_DGRAM].contains(&(kind & 0xf));
    let lacks_network = stand_in::refusing(desk, Reason::NotGranted).filter(|_| is_internet && is_plain);
    let (kind, target, reason) = match lacks_network {
        Some(reason) => (Kind::Connect, "internet".to_string(), reason),
        None => (
            Kind::Socket,
            format!("socket family {domain}, type {}", kind & 0xf),
            Reason::Never("no profile allows sockets of this kind".into()),
        ),
    };
    desk.note(&Attempt::on(kind, b""), target.as_bytes(), reason);
    Err(Errno(libc::EPERM))
}

/// What a caller may reach: what its run may, and every inner run that it is in.
pub struct Cleared {
    shared: Arc<Shared>,
    /// Granted for this connection alone.
    once: Opened,
    labels: Vec<Arc<Label>>,
    process: i32,
    program: Vec<u8>,
    syscall: Cow<'static, str>,
}

impl Cleared {
    pub fn of(desk: &Desk<'_>) -> Cleared {
        Cleared {
            shared: Arc::clone(&desk.worker.shared),
            once: desk.once().clone(),
            labels: desk.judge.labels.list.clone(),
            process: desk.caller().process(),
            program: desk.caller().program(),
            syscall: desk.call_name().into(),
        }
    }

    fn policies(&self) -> impl Iterator<Item = &Policy> {
        let inner = self.labels.iter().map(|label| &label.realm.brief.policy);
        std::iter::once(&self.shared.run.brief.policy).chain(inner)
    }

    fn reaches_everything(&self) -> bool {
        self.policies().all(|policy| policy.reach == Reach::Everything)
    }

    /// Port 0 is one that the kernel chooses.
    fn may_listen(&self, port: u16) -> bool {
        let grants =
            |policy: &Policy| policy.reach == Reach::Everything || policy.listen.iter().any(|grant| grant.port == port);
        self.every(grants, |opened| opened.may_listen(port))
    }

    /// Whether all policies grant something; of the run's own counts what was granted on answers too.
    fn every(&self, grants: impl Fn(&Policy) -> bool, is_opened: impl Fn(&Opened) -> bool) -> bool {
        let mut policies = self.policies();
        let own = policies.next().is_some_and(&grants) || self.is_opened(is_opened);
        own && policies.all(grants)
    }

    fn is_opened(&self, is: impl Fn(&Opened) -> bool) -> bool {
        let approvals = self.shared.approvals.as_deref();
        is(&self.once) || approvals.is_some_and(|approvals| is(&approvals.opened()))
    }

    /// What may be spoken with a host by what was granted on answers.
    fn opened_speech(&self, name: &Name, port: u16) -> Option<Speech> {
        let approvals = self.shared.approvals.as_deref();
        let lasting = approvals.and_then(|approvals| approvals.opened().name(name, port));
        self.once.name(name, port).max(lasting)
    }

    fn refusal(&self, kind: Kind, target: &str, asked: &str, reason: Reason) -> Refusal {
        Refusal {
            kind,
            asked: asked.as_bytes().to_vec(),
            target: target.as_bytes().to_vec(),
            exists: true,
            is_directory: false,
            syscall: self.syscall.clone(),
            pid: self.process,
            program: self.program.clone(),
            at: self.shared.started.elapsed(),
            reason,
        }
    }
}

impl Clearance for Cleared {
    fn knows(&self, name: &Name) -> bool {
        self.every(|policy| policy.reach.knows(name), |opened| opened.knows(name))
    }

    fn may_be_asked_for(&self, name: &Name) -> bool {
        let mut policies = self.policies();
        let asks = policies.next().is_some_and(|policy| policy.asks == Asks::All);
        // That one is in the hosts file, and no grant of a name means it.
        let is_askable = asks && name.as_str() != "localhost";
        is_askable && self.shared.approvals.is_some() && policies.all(|policy| policy.reach.knows(name))
    }

    fn name(&self, name: &Name, port: u16) -> Option<Speech> {
        let mut policies = self.policies();
        let own = policies.next().and_then(|policy| policy.reach.name(name, port));
        let mut all = own.max(self.opened_speech(name, port))?;
        for policy in policies {
            all = all.min(policy.reach.name(name, port)?);
        }
        Some(all)
    }

    fn address(&self, address: IpAddr, port: u16) -> bool {
        self.every(
            |policy| policy.reach.address(address, port),
            |opened| opened.address(address, port),
        )
    }

    fn refuse(&self, kind: Kind, target: &str, asked: &str, reason: Reason) {
        self.shared.note(self.refusal(kind, target, asked, reason));
    }

    fn let_pass(&self, kind: Kind, target: &str, asked: &str) {
        if self.shared.tells_all() {
            let seen = Seen::of(&self.refusal(kind, target, asked, Reason::NotGranted));
            self.shared.tell(|| Record::Allowed(seen));
        }
    }
}
