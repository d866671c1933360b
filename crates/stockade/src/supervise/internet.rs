//! Internet sockets: `socket`, `connect`, `bind` and `listen`, on the target's own socket or one made for it.
//!
//! Addresses are read once, parsed, judged, and passed to the kernel as parsed. Where the policy names hosts, a
//! connection goes to the relay of [`crate::network`], to a port that the run listens on, or to an address that is
//! granted as such.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::allowing;
use super::answer::{CallAnswer, Errno};
use super::approvals::ApprovedGrants;
use super::judge::CLOSED;
use super::nested_runs::NestedRun;
use super::notify_context::NotifyContext;
use super::refuse::RefusedAttempt;
use super::shared::{Made, Shared};
use super::stand_in;
use crate::audit::{Record, Seen};
use crate::network::{
    self, Destination, Dial, Found, Interrupted, NAMES_PORT, NAMESERVER, NetworkAcl, NoAddress, PendingConnection,
    Purpose, RunNetwork, Synthetic,
};
use crate::policy::{Asks, NetworkPolicy, Policy, ProtocolCheck};
use crate::profile::Name;
use crate::report::{Kind, Reason, Refusal};
use stockade_sys::notify::OnExecute;
use stockade_sys::{diagnosis, file, other, socket};

/// The errno for a refused peer, as from a firewall rule (connect(2)).
pub const REFUSED: Errno = CLOSED;

/// The length of an IPv6 address without its scope (`SIN6_LEN_RFC2133`).
const SHORTEST_IPV6: usize = 24;

/// The peer that an address stands for.
enum Peer {
    /// The resolver.
    Names,
    /// A host name that was looked up.
    Host(Name),
    /// The address itself.
    Address,
}

fn peer(network: Option<&RunNetwork>, address: SocketAddr) -> Result<Peer, Errno> {
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
pub fn connect(context: &NotifyContext<'_>, target: OwnedFd, domain: i32, bytes: &[u8]) -> Result<CallAnswer, Errno> {
    let given = socket::address(bytes).ok_or_else(|| wrong_address(bytes))?;
    if domain == libc::AF_INET6 && bytes.len() < SHORTEST_IPV6 {
        return Err(Errno(libc::EINVAL));
    }
    if domain == libc::AF_INET && given.is_ipv6() || domain == libc::AF_INET6 && given.is_ipv4() {
        return Err(Errno(libc::EAFNOSUPPORT));
    }
    let address = canonical(given);
    if socket::kind(target.as_fd())? != libc::SOCK_STREAM {
        return connect_datagrams(context, &target, domain, address);
    }
    let network = context.shared().network.as_deref();
    if let Some(network) = network
        && !socket::is_unconnected(target.as_fd())?
    {
        // The kernel returns the right error: in progress, connected or listening. No new connection is made.
        let door = socket::for_domain(network.doors.v4, domain);
        socket::connect(target.as_fd(), &socket::bytes(door))?;
        return Ok(CallAnswer::Value(0));
    }
    let acl = Cleared::of(context);
    match peer(network, address)? {
        Peer::Names => {
            visit(context, &target, domain, Purpose::Names, acl, None)?;
            Ok(CallAnswer::Value(0))
        }
        Peer::Host(name) => {
            let port = address.port();
            let Some(speech) = acl.name(&name, port) else {
                let host = format!("{}:{port}", name.as_str());
                context.refuse(acl.refusal(Kind::Connect, &host, &host, Reason::NotGranted));
                return Err(REFUSED);
            };
            let host = format!("{}:{port}", name.as_str());
            acl.let_pass(Kind::Connect, &host, &host);
            connect_host(context, target, domain, Destination { name, port, speech }, acl)
        }
        Peer::Address => {
            require_address(context, &acl, address)?;
            connect_directly(context, target, judged(given, address, domain))
        }
    }
}

/// Parses an address into its canonical form.
pub fn parse(bytes: &[u8]) -> Result<SocketAddr, Errno> {
    socket::address(bytes)
        .map(canonical)
        .ok_or_else(|| wrong_address(bytes))
}

/// The kernel's error for an address that is too short, or of another family.
fn wrong_address(bytes: &[u8]) -> Errno {
    let family = bytes.get(..2).map(|family| u16::from_ne_bytes([family[0], family[1]]));
    match family.map(i32::from) {
        Some(libc::AF_INET | libc::AF_INET6) | None => Errno(libc::EINVAL),
        Some(_) => Errno(libc::EAFNOSUPPORT),
    }
}

/// The address that is meant: IPv4 if it is mapped, loopback if it is unspecified.
fn canonical(given: SocketAddr) -> SocketAddr {
    let ip = match given.ip().to_canonical() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, given.port())
}

/// The judged address for the kernel, which would turn an unspecified one into the address that the socket has been
/// bound to.
fn judged(given: SocketAddr, address: SocketAddr, domain: i32) -> SocketAddr {
    if given.ip().to_canonical() == address.ip() {
        given
    } else {
        socket::for_domain(address, domain)
    }
}

/// Requires that the caller may reach an address by its number.
fn require_address(context: &NotifyContext<'_>, acl: &Cleared, address: SocketAddr) -> Result<(), Errno> {
    let (ip, port) = (address.ip(), address.port());
    if ip.is_loopback() && is_own(context, address) {
        return Ok(());
    }
    if acl.address(ip, port) {
        let text = address.to_string();
        acl.let_pass(Kind::Connect, &text, &text);
        return Ok(());
    }
    if ip.is_loopback() && listens_beside(context, port) {
        // Clients of a server that takes both families try the other one first.
        return Err(Errno(libc::ECONNREFUSED));
    }
    let text = address.to_string();
    context.refuse(acl.refusal(Kind::Connect, &text, &text, network::why_closed(ip)));
    Err(REFUSED)
}

/// Connects to an address: on a thread of its own if that may block, since a server of the run whose queue is full may
/// need the worker before it accepts.
fn connect_directly(context: &NotifyContext<'_>, target: OwnedFd, address: SocketAddr) -> Result<CallAnswer, Errno> {
    let blocks = is_blocking(&target)? && socket::kind(target.as_fd())? != libc::SOCK_DGRAM;
    let bytes = socket::bytes(address);
    let connect = move |context: &NotifyContext<'_>| {
        let connected = socket::connect(target.as_fd(), &bytes);
        if has_begun(&connected) {
            context.release_socket(context.caller().registers.int(0));
        }
        connected?;
        Ok(CallAnswer::Value(0))
    };
    if blocks {
        context.later(connect)
    } else {
        connect(context)
    }
}

/// Whether the connection is established or in progress.
fn has_begun(connected: &io::Result<()>) -> bool {
    match connected {
        Ok(()) => true,
        Err(error) => error.raw_os_error() == Some(libc::EINPROGRESS),
    }
}

fn is_blocking(target: &OwnedFd) -> Result<bool, Errno> {
    Ok(file::open_flags(target.as_fd())? & libc::O_NONBLOCK == 0)
}

/// Connects to a host through the relay. A blocking socket gets the result; for others the relay continues alone, and a
/// failure is a reset.
fn connect_host(
    context: &NotifyContext<'_>,
    target: OwnedFd,
    domain: i32,
    destination: Destination,
    acl: Cleared,
) -> Result<CallAnswer, Errno> {
    let blocks = is_blocking(&target)?;
    let way = known_way(context, &destination, &acl)?;
    let dial = match way.filter(|way| blocks || is_here(way)).map(quickly) {
        Some(Quick::Connected(host)) => {
            visit(context, &target, domain, Purpose::Host(destination), acl, Some(host))?;
            return Ok(CallAnswer::Value(0));
        }
        Some(Quick::Failed(errno)) => return Err(errno),
        Some(Quick::NotYet(dial)) => Some(dial),
        None => None,
    };
    if !blocks {
        return connect_in_the_background(context, target, domain, destination, acl);
    }
    context.later(move |context| {
        let (host, answer) = match reach(context, &target, &destination, &acl, dial) {
            Ok(host) => (Some(host), Ok(CallAnswer::Value(0))),
            // A caller that stops waiting finds the connection made, or failed, afterwards (connect(2)).
            Err(Errno(errno @ (libc::EINTR | libc::EINPROGRESS))) => (None, Err(Errno(errno))),
            Err(errno) => return Err(errno),
        };
        visit(context, &target, domain, Purpose::Host(destination), acl, host)?;
        answer
    })
}

/// Leaves the connection to the relay. A name that wasn't looked up yet (it was in the hosts file) is looked up first,
/// for a moment: a missing host is better reported here than by a reset.
fn connect_in_the_background(
    context: &NotifyContext<'_>,
    target: OwnedFd,
    domain: i32,
    destination: Destination,
    acl: Cleared,
) -> Result<CallAnswer, Errno> {
    const MOMENT: Duration = Duration::from_millis(300);
    let (network, _) = context.network().ok_or(Errno(libc::ENETUNREACH))?;
    if network.known(&destination.name).is_some() {
        visit(context, &target, domain, Purpose::Host(destination), acl, None)?;
        return Ok(CallAnswer::Value(0));
    }
    context.later(move |context| {
        let (network, bell) = context.network().ok_or(Errno(libc::ENETUNREACH))?;
        let begun = Instant::now();
        let mut gives_up = || begun.elapsed() > MOMENT || context.caller().is_interrupted();
        let _ = network.find(bell, &destination.name, &mut gives_up);
        let way = known_way(context, &destination, &acl)?;
        let host = match way.filter(is_here).map(quickly) {
            Some(Quick::Connected(host)) => Some(host),
            Some(Quick::Failed(errno)) => return Err(errno),
            Some(Quick::NotYet(_)) | None => None,
        };
        visit(context, &target, domain, Purpose::Host(destination), acl, host)?;
        Ok(CallAnswer::Value(0))
    })
}

/// The way to a host whose addresses are known; an error if it is known to have none.
fn known_way(context: &NotifyContext<'_>, destination: &Destination, acl: &Cleared) -> Result<Option<Way>, Errno> {
    let (network, _) = context.network().ok_or(Errno(libc::ENETUNREACH))?;
    match network.known(&destination.name) {
        Some(Ok(found)) => way(context, destination, &found, acl).map(Some),
        Some(Err(NoAddress::NoSuchName | NoAddress::NoAddresses)) => Err(Errno(libc::EHOSTUNREACH)),
        Some(Err(NoAddress::Failed)) | None => Ok(None),
    }
}

/// The addresses of a host that may be connected to.
type Way = VecDeque<SocketAddr>;

/// Whether a host is this machine, which answers at once. Another machine would see a connection break off if the short
/// attempt were given up.
fn is_here(way: &Way) -> bool {
    way.iter().all(|address| address.ip().is_loopback())
}

fn way(context: &NotifyContext<'_>, destination: &Destination, found: &Found, acl: &Cleared) -> Result<Way, Errno> {
    let (open, closed) = network::addresses(destination, found, acl);
    if !open.is_empty() {
        return Ok(open);
    }
    for address in closed {
        let asked = format!("{}:{}", destination.name.as_str(), destination.port);
        let reason = network::why_closed(address.ip());
        context.refuse(acl.refusal(Kind::Connect, &address.to_string(), &asked, reason));
    }
    Err(REFUSED)
}

/// The result of a short attempt.
enum Quick {
    Connected(TcpStream),
    Failed(Errno),
    NotYet(Dial),
}

/// Tries to connect for a moment: a host nearby answers sooner than another thread starts.
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

/// Connects to the host and returns its own answer, as the target would have received it.
fn reach(
    context: &NotifyContext<'_>,
    target: &OwnedFd,
    destination: &Destination,
    acl: &Cleared,
    dial: Option<Dial>,
) -> Result<TcpStream, Errno> {
    const SLICE_MS: u8 = 50;
    let (network, bell) = context.network().ok_or(Errno(libc::ENETUNREACH))?;
    let deadline = socket::send_timeout(target.as_fd())?.map(|time| Instant::now() + time);
    let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let mut gives_up = || is_late() || context.caller().is_interrupted();
    let why = || if is_late() { libc::EINPROGRESS } else { libc::EINTR };
    let mut dial = match dial {
        Some(dial) => dial,
        None => match network.find(bell, &destination.name, &mut gives_up) {
            Ok(found) => Dial::new(way(context, destination, &found, acl)?),
            Err(NoAddress::Failed) if gives_up() => return Err(Errno(why())),
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
    context: &NotifyContext<'_>,
    target: &OwnedFd,
    domain: i32,
    purpose: Purpose,
    acl: Cleared,
    host: Option<TcpStream>,
) -> Result<(), Errno> {
    let (network, bell) = context.network().ok_or(Errno(libc::ENETUNREACH))?;
    let door = match network.doors.v6 {
        Some(door) if domain == libc::AF_INET6 && socket::is_ipv6_only(target.as_fd())? => door,
        _ => socket::for_domain(network.doors.v4, domain),
    };
    context.caller().confirm()?;
    // Another thread may have connected the socket somewhere else meanwhile.
    if !socket::is_unconnected(target.as_fd())? {
        return Err(Errno(libc::EISCONN));
    }
    let connected = socket::connect(target.as_fd(), &socket::bytes(door));
    if has_begun(&connected) {
        context.release_socket(context.caller().registers.int(0));
        let from = socket::local_address(target.as_fd())?;
        let from = SocketAddr::new(from.ip().to_canonical(), from.port());
        let pending = PendingConnection {
            purpose,
            acl: Box::new(acl),
            has_host: host.is_some(),
            number: 0,
        };
        network.expect(bell, from, pending, host)?;
    }
    Ok(connected?)
}

/// Connects a datagram socket. Where hosts are named it never sends: connecting only tells which families there are,
/// and the machine's route. The answer is loopback's for a host, and a refusal for other addresses.
fn connect_datagrams(
    context: &NotifyContext<'_>,
    target: &OwnedFd,
    domain: i32,
    address: SocketAddr,
) -> Result<CallAnswer, Errno> {
    let acl = Cleared::of(context);
    if acl.reaches_everything() {
        require_address(context, &acl, address)?;
        socket::connect(target.as_fd(), &socket::bytes(socket::for_domain(address, domain)))?;
        return Ok(CallAnswer::Value(0));
    }
    let is_host = Synthetic::is_synthetic(address.ip());
    if !is_host && !address.ip().is_loopback() {
        let text = address.to_string();
        let reason = Reason::Never("where hosts are named nothing is sent in datagrams".into());
        acl.refuse(Kind::Connect, &text, &text, reason);
        return Err(REFUSED);
    }
    let address = SocketAddr::new(loopback_of(address.ip()), address.port());
    socket::connect(target.as_fd(), &socket::bytes(socket::for_domain(address, domain)))?;
    Ok(CallAnswer::Value(0))
}

/// `bind` of an internet socket. A run listens on loopback alone: a server that names no address gets loopback.
pub fn bind(context: &NotifyContext<'_>, target: &OwnedFd, domain: i32, bytes: &[u8]) -> Result<CallAnswer, Errno> {
    let acl = Cleared::of(context);
    let given = socket::address(bytes).ok_or_else(|| wrong_address(bytes))?;
    if acl.reaches_everything() {
        socket::bind(target.as_fd(), &socket::bytes(given))?;
        return Ok(CallAnswer::Value(0));
    }
    if socket::kind(target.as_fd())? != libc::SOCK_STREAM {
        let reason = Reason::Never(
            "where hosts are named there are no datagrams; programs linked with musl ask for names by them, and find exact \
             grants only"
                .into(),
        );
        acl.refuse(Kind::Socket, "datagrams", &given.to_string(), reason);
        return Err(REFUSED);
    }
    let ip = given.ip().to_canonical();
    let may_listen = may_listen_on(context, &acl, given.port());
    // A socket bound to no address at all is taken for a server's.
    let is_near_end = given.port() == 0 && !(ip.is_unspecified() && context.shared().approvals.is_some());
    if !is_near_end && !may_listen || !ip.is_loopback() && !ip.is_unspecified() && given.port() != 0 {
        let asked = given.to_string();
        let on_loopback = SocketAddr::new(loopback_of(given.ip()), given.port()).to_string();
        let (target, reason) = if may_listen {
            (&asked, Reason::Never("a run listens on loopback alone".into()))
        } else {
            (&on_loopback, why_not_granted(given.port()))
        };
        context.refuse(acl.refusal(Kind::Listen, target, &asked, reason));
        return Err(REFUSED);
    }
    // With port 0 and no grant it can only be the local end of a connection.
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
        acl.refuse(Kind::Listen, &address.to_string(), &given.to_string(), reason);
    }
    bound?;
    if address.ip().to_canonical().is_loopback() {
        note_bound(context, target)?;
    }
    if given.port() == 0 && may_listen {
        note_chosen(context, target)?;
    }
    Ok(CallAnswer::Value(0))
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

/// Whether a port is granted, or was chosen by the kernel under a grant of port 0.
fn may_listen_on(context: &NotifyContext<'_>, acl: &Cleared, port: u16) -> bool {
    let was_chosen = || context.judge.made(|made| made.chosen_ports.contains(&port));
    acl.may_listen(port) || acl.may_listen(0) && was_chosen()
}

/// Records a port that the kernel chose. The run may ask for it again: that is how programs find a free one.
fn note_chosen(context: &NotifyContext<'_>, target: &OwnedFd) -> Result<(), Errno> {
    let port = socket::local_address(target.as_fd())?.port();
    context
        .judge
        .note_made(|made| Made::keep(&mut made.chosen_ports, port, Made::MOST));
    Ok(())
}

fn loopback_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

/// The loopback address for an unspecified one. A socket of both families gets IPv4's, where most clients look first.
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

/// `listen` on a socket of any family: a bound socket may listen, if its port is granted.
pub fn listen(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    let registers = context.caller().registers;
    let target = context.socket(registers.int(0))?;
    context.caller().confirm()?;
    let domain = socket::domain(target.as_fd())?;
    let is_internet = domain == libc::AF_INET || domain == libc::AF_INET6;
    if !is_internet {
        socket::listen(target.as_fd(), registers.int(1))?;
        return Ok(CallAnswer::Value(0));
    }
    let acl = Cleared::of(context);
    let is_limited = !acl.reaches_everything();
    if is_limited {
        bind_to_listen(context, &acl, &target, domain)?;
    }
    socket::listen(target.as_fd(), registers.int(1))?;
    if is_limited {
        end_unless_on_loopback(&target)?;
    }
    let number = socket::number(target.as_fd())?;
    let address = canonical(socket::local_address(target.as_fd())?);
    context.judge.note_made(|made| {
        if made.listeners.len() < Made::MOST {
            made.listeners.insert(number, address);
        }
    });
    let_listen(context, &acl, address);
    context.release_socket(registers.int(0));
    Ok(CallAnswer::Value(0))
}

/// Reports a port that is listened on, as it would be granted: 0 if the kernel chose it.
fn let_listen(context: &NotifyContext<'_>, acl: &Cleared, address: SocketAddr) {
    let was_chosen = context.judge.made(|made| made.chosen_ports.contains(&address.port()));
    let granted = SocketAddr::new(address.ip(), if was_chosen { 0 } else { address.port() });
    acl.let_pass(Kind::Listen, &granted.to_string(), &address.to_string());
}

/// Checks once more that the socket listens on loopback, which can't be otherwise.
fn end_unless_on_loopback(target: &OwnedFd) -> Result<(), Errno> {
    let bound = socket::local_address(target.as_fd())?;
    if bound.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    socket::shut_down(target.as_fd())?;
    Err(REFUSED)
}

/// Requires that a socket listens on loopback, on a granted port. It must have been bound there: a merely connected
/// socket has an address that another thread can take away, and an unbound one would get any port of any address.
fn bind_to_listen(context: &NotifyContext<'_>, acl: &Cleared, target: &OwnedFd, domain: i32) -> Result<(), Errno> {
    if socket::kind(target.as_fd())? != libc::SOCK_STREAM {
        return Ok(());
    }
    if !socket::is_unconnected(target.as_fd())? && !socket::is_listening(target.as_fd())? {
        return Err(Errno(libc::EINVAL));
    }
    let bound = socket::local_address(target.as_fd())?;
    if bound.port() == 0 && acl.may_listen(0) {
        let ip = on_loopback(target, bound.ip())?;
        let address = socket::for_domain(SocketAddr::new(ip, 0), domain);
        socket::bind(target.as_fd(), &socket::bytes(address))?;
        note_bound(context, target)?;
    }
    let number = socket::number(target.as_fd())?;
    if context.judge.made(|made| made.bound.contains(&number)) && may_listen_on(context, acl, bound.port()) {
        return Ok(());
    }
    let wanted = SocketAddr::new(loopback_of(bound.ip().to_canonical()), bound.port()).to_string();
    context.refuse(acl.refusal(Kind::Listen, &wanted, &bound.to_string(), Reason::NotGranted));
    Err(REFUSED)
}

/// Records a socket that was bound to a loopback address, which it keeps, so that it may listen.
fn note_bound(context: &NotifyContext<'_>, target: &OwnedFd) -> Result<(), Errno> {
    let number = socket::number(target.as_fd())?;
    context
        .judge
        .note_made(|made| Made::keep(&mut made.bound, number, Made::MOST));
    Ok(())
}

/// Whether the run itself listens on this address, and still does.
fn is_own(context: &NotifyContext<'_>, address: SocketAddr) -> bool {
    let is_noted = |number: u64| context.judge.made(|made| made.listeners.get(&number) == Some(&address));
    let has_any = context
        .judge
        .made(|made| made.listeners.values().any(|own| *own == address));
    has_any && diagnosis::listener(address).is_ok_and(|number| number.is_some_and(is_noted))
}

/// Whether the run listens on this port of another loopback address.
fn listens_beside(context: &NotifyContext<'_>, port: u16) -> bool {
    context
        .judge
        .made(|made| made.listeners.values().any(|address| address.port() == port))
}

/// Creates a socket that the filter doesn't let through by itself: one that never sends, one that is created for the
/// run because its own couldn't be copied, or one that is never used.
pub fn socket(context: &NotifyContext<'_>) -> Result<CallAnswer, Errno> {
    const FLAGS: i32 = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    let registers = context.caller().registers;
    let (domain, kind, protocol) = (registers.int(0), registers.int(1), registers.int(2));
    let made = match making(context, domain, kind & !FLAGS, protocol) {
        Making::No => return refuse(context, domain, kind),
        // The error of a kernel without MPTCP; programs fall back to TCP.
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
        context.keep_socket(&made)?;
    }
    let on_execute = if kind & libc::SOCK_CLOEXEC != 0 {
        OnExecute::Close
    } else {
        OnExecute::Keep
    };
    Ok(CallAnswer::Descriptor(made, on_execute))
}

/// The kind of socket to create.
enum Making {
    /// The requested socket.
    Whole,
    /// The requested socket, shut down so that it never sends.
    Mute,
    /// A unix stream that is never connected; its `connect` and `bind` show what it is for.
    StandIn,
    /// None.
    No,
    /// None, as if the kernel didn't support it.
    Unknown,
}

fn making(context: &NotifyContext<'_>, domain: i32, kind: i32, protocol: i32) -> Making {
    let has_network = !stand_in::is_needed(context);
    match (domain, kind, protocol) {
        (libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_SEQPACKET, _) => Making::Whole,
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_STREAM, libc::IPPROTO_MPTCP) => Making::Unknown,
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_STREAM, 0 | libc::IPPROTO_TCP) if !has_network => Making::StandIn,
        _ if !has_network => Making::No,
        (libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_DGRAM, libc::NETLINK_ROUTE) => Making::Whole,
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_STREAM, 0 | libc::IPPROTO_TCP) => Making::Whole,
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_DGRAM, 0 | libc::IPPROTO_UDP) => {
            let mut realms = context.judge.realms();
            if realms.all(|run_policy| run_policy.run_config.policy.reach == NetworkPolicy::Everything) {
                Making::Whole
            } else {
                Making::Mute
            }
        }
        _ => Making::No,
    }
}

/// Refuses a socket that no policy allows.
fn refuse(context: &NotifyContext<'_>, domain: i32, kind: i32) -> Result<CallAnswer, Errno> {
    let is_internet = domain == libc::AF_INET || domain == libc::AF_INET6;
    let is_plain = [libc::SOCK_STREAM, libc::SOCK_DGRAM].contains(&(kind & 0xf));
    let lacks_network = stand_in::refusing(context, Reason::NotGranted).filter(|_| is_internet && is_plain);
    let (kind, target, reason) = match lacks_network {
        Some(reason) => (Kind::Connect, "internet".to_string(), reason),
        None => (
            Kind::Socket,
            family(domain),
            Reason::Never("no profile allows sockets of this kind".into()),
        ),
    };
    context.note(&RefusedAttempt::on(kind, b""), target.as_bytes(), reason);
    Err(Errno(libc::EPERM))
}

/// The name of an address family (address_families(7)); a socket of the internet that gets here is none of a usual type.
fn family(domain: i32) -> String {
    match domain {
        libc::AF_INET | libc::AF_INET6 => "raw internet".into(),
        libc::AF_NETLINK => "netlink".into(),
        libc::AF_PACKET => "packet".into(),
        libc::AF_ALG => "kernel cryptography".into(),
        libc::AF_VSOCK => "vsock".into(),
        libc::AF_BLUETOOTH => "bluetooth".into(),
        _ => format!("family {domain}"),
    }
}

/// The network access of a caller: what its run and every nested run that it is in allow.
pub struct Cleared {
    shared: Arc<Shared>,
    /// Granted for this connection alone.
    once: ApprovedGrants,
    nested_runs: Vec<Arc<NestedRun>>,
    process: i32,
    program: Vec<u8>,
    syscall: Cow<'static, str>,
}

impl Cleared {
    pub fn of(context: &NotifyContext<'_>) -> Cleared {
        Cleared {
            shared: Arc::clone(&context.worker.shared),
            once: context.once().clone(),
            nested_runs: context.judge.nested_runs.list.clone(),
            process: context.caller().process(),
            program: context.caller().program(),
            syscall: context.call_name().into(),
        }
    }

    fn policies(&self) -> impl Iterator<Item = &Policy> {
        let inner = self
            .nested_runs
            .iter()
            .map(|nested_run| &nested_run.run_policy.run_config.policy);
        std::iter::once(&self.shared.run.run_config.policy).chain(inner)
    }

    fn reaches_everything(&self) -> bool {
        self.policies().all(|policy| policy.reach == NetworkPolicy::Everything)
    }

    /// Whether a port may be listened on. Port 0 stands for one that the kernel chooses.
    fn may_listen(&self, port: u16) -> bool {
        let grants = |policy: &Policy| {
            policy.reach == NetworkPolicy::Everything || policy.listen.iter().any(|grant| grant.port == port)
        };
        self.every(grants, |opened| opened.may_listen(port))
    }

    /// Whether all policies grant something; for the run's own policy, approved grants count too.
    fn every(&self, grants: impl Fn(&Policy) -> bool, is_opened: impl Fn(&ApprovedGrants) -> bool) -> bool {
        let mut policies = self.policies();
        let own = policies.next().is_some_and(&grants) || self.is_opened(is_opened);
        own && policies.all(grants)
    }

    fn is_opened(&self, is: impl Fn(&ApprovedGrants) -> bool) -> bool {
        let approvals = self.shared.approvals.as_deref();
        is(&self.once) || approvals.is_some_and(|approvals| is(&approvals.opened()))
    }

    /// The protocol check for a host by the approved grants.
    fn opened_speech(&self, name: &Name, port: u16) -> Option<ProtocolCheck> {
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

impl NetworkAcl for Cleared {
    fn knows(&self, name: &Name) -> bool {
        self.every(|policy| policy.reach.knows(name), |opened| opened.knows(name))
    }

    fn may_be_asked_for(&self, name: &Name) -> bool {
        let mut policies = self.policies();
        let asks = policies.next().is_some_and(|policy| policy.asks == Asks::All);
        // `localhost` is in the hosts file, and no grant of a name covers it.
        let is_askable = asks && name.as_str() != "localhost";
        is_askable && self.shared.approvals.is_some() && policies.all(|policy| policy.reach.knows(name))
    }

    fn name(&self, name: &Name, port: u16) -> Option<ProtocolCheck> {
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
            let access = self.refusal(kind, target, asked, Reason::NotGranted);
            let granted = allowing::of_network(&self.shared.run.run_config.policy, &access);
            let is_answered = || self.shared.approvals.is_some() && kind != Kind::Resolve;
            let rule = granted.or_else(|| is_answered().then(|| allowing::ANSWERED.to_string()));
            let seen = Seen::allowed(&access, rule);
            self.shared.tell(|| Record::Allowed(seen));
        }
    }
}
