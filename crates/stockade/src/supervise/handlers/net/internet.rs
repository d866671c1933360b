//! Internet sockets: `socket`, `connect`, `bind` and `listen`, on the target's own socket or one made for it.
//!
//! Addresses are read once, parsed, judged, and passed to the kernel as parsed. Where the policy names hosts, a
//! connection goes to the relay of [`crate::network`], to a port that the run listens on, or to an address that is
//! granted as such.
//!
//! A socket that waits is to hear the host's own answer. So the worker dials, for a moment itself and then on a thread
//! of its own, and hands the connected socket to the relay with the announcement. A socket that doesn't wait is left to
//! the relay.
//!
//! Resolvers make a datagram socket and connect it to learn which families there are, and musl fails without one. Where
//! hosts are named the supervisor makes it and calls `shutdown(SHUT_RDWR)` before it hands the socket over: no later
//! `connect` takes that back, and every sending is `EPIPE`.
//!
//! `bind` changes an unspecified address into loopback and notes the socket. With port 0 and no grant it may be the
//! near end of a connection, so `listen` takes only noted ones, and binds what isn't bound. `listen` notes the socket's
//! inode and address. A connect to that address passes while the kernel (sock_diag(7)) has that inode listening there,
//! so a port that was closed and taken by somebody else isn't the run's any more.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use super::acl::Cleared;
use super::address::{REFUSED, canonical, judged, kept_port, loopback_of, why_not_granted, wrong_address};
use super::stand_in;
use crate::network::{
    self, Destination, Dial, Found, Interrupted, NAMES_PORT, NAMESERVER, NetworkAcl, NoAddress, PendingConnection,
    Purpose, RunNetwork, Synthetic,
};
use crate::policy::NetworkPolicy;
use crate::profile::Name;
use crate::report::{Kind, Reason};
use crate::supervise::call::errno::Errno;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::handlers::stop::Stop;
use crate::supervise::state::made::Made;
use stockade_sys::notify::OnExecute;
use stockade_sys::{diagnosis, file, other, socket};

/// The length of an IPv6 address without its scope (`SIN6_LEN_RFC2133`).
const MIN_IPV6: usize = 24;

/// The peer that an address stands for.
enum Peer {
    /// The resolver.
    Names,
    /// A host name that was looked up.
    Host(Name),
    /// The address itself.
    Address,
}

fn peer(network: Option<&RunNetwork>, address: SocketAddr) -> Handled<Peer> {
    let (Some(network), ip) = (network, address.ip()) else {
        return Ok(Peer::Address);
    };
    if ip == IpAddr::V4(NAMESERVER) {
        return if address.port() == NAMES_PORT {
            Ok(Peer::Names)
        } else {
            fail(libc::ECONNREFUSED)
        };
    }
    match network.names.name(ip) {
        Some(name) => Ok(Peer::Host(name)),
        None if Synthetic::is_synthetic(ip) => fail(libc::EHOSTUNREACH),
        None => Ok(Peer::Address),
    }
}

/// `connect` of an internet socket. `bytes` is the address as it was read.
pub fn connect(context: &NotifyContext<'_>, target: OwnedFd, domain: i32, bytes: &[u8]) -> Handled {
    let given = socket::address(bytes).ok_or_else(|| wrong_address(bytes))?;
    if domain == libc::AF_INET6 && bytes.len() < MIN_IPV6 {
        return fail(libc::EINVAL);
    }
    if domain == libc::AF_INET && given.is_ipv6() || domain == libc::AF_INET6 && given.is_ipv4() {
        return fail(libc::EAFNOSUPPORT);
    }
    let address = canonical(given);
    if socket::kind(target.as_fd())? != libc::SOCK_STREAM {
        return connect_datagrams(context, &target, domain, address);
    }
    let network = context.run().network.as_deref();
    if let Some(network) = network
        && !socket::is_unconnected(target.as_fd())?
    {
        // The kernel returns the right error: in progress, connected or listening. No new connection is made.
        let listener = socket::for_domain(network.listeners.v4, domain);
        socket::connect(target.as_fd(), &socket::bytes(listener))?;
        return Ok(CallAnswer::Value(0));
    }
    let acl = Cleared::of(context);
    match peer(network, address)? {
        Peer::Names => {
            connect_to_relay(context, &target, domain, Purpose::Names, acl, None)?;
            Ok(CallAnswer::Value(0))
        }
        Peer::Host(name) => {
            let port = address.port();
            let Some(check) = acl.name(&name, port) else {
                let host = format!("{}:{port}", name.as_str());
                return Err(context.refuse(acl.refusal(Kind::Connect, &host, &host, Reason::NotGranted), REFUSED));
            };
            let host = format!("{}:{port}", name.as_str());
            acl.let_pass(Kind::Connect, &host, &host);
            connect_host(context, target, domain, Destination { name, port, check }, acl)
        }
        Peer::Address => {
            require_address(context, &acl, address)?;
            connect_directly(context, target, judged(given, address, domain))
        }
    }
}

/// Requires that the caller may reach an address by its number.
fn require_address(context: &NotifyContext<'_>, acl: &Cleared, address: SocketAddr) -> Handled<()> {
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
        return fail(libc::ECONNREFUSED);
    }
    let text = address.to_string();
    Err(context.refuse(
        acl.refusal(Kind::Connect, &text, &text, network::why_closed(ip)),
        REFUSED,
    ))
}

/// Connects to an address: on a thread of its own if that may block, since a server of the run whose queue is full may
/// need the worker before it accepts.
fn connect_directly(context: &NotifyContext<'_>, target: OwnedFd, address: SocketAddr) -> Handled {
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
        Ok(CallAnswer::apart(connect))
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

fn is_blocking(target: &OwnedFd) -> Handled<bool> {
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
) -> Handled {
    let blocks = is_blocking(&target)?;
    let way = known_way(context, &destination, &acl)?;
    let dial = match way.filter(|way| blocks || is_here(way)).map(quickly) {
        Some(Quick::Connected(host)) => {
            connect_to_relay(context, &target, domain, Purpose::Host(destination), acl, Some(host))?;
            return Ok(CallAnswer::Value(0));
        }
        Some(Quick::Failed(errno)) => return Err(errno.into()),
        Some(Quick::NotYet(dial)) => Some(dial),
        None => None,
    };
    if !blocks {
        return connect_in_the_background(context, target, domain, destination, acl);
    }
    Ok(CallAnswer::apart(move |context| {
        let (host, answer) = match reach(context, &target, &destination, &acl, dial) {
            Ok(host) => (Some(host), Ok(CallAnswer::Value(0))),
            // A caller that stops waiting finds the connection made, or failed, afterwards (connect(2)).
            Err(Stop::Errno(Errno(errno @ (libc::EINTR | libc::EINPROGRESS)))) => (None, fail(errno)),
            Err(errno) => return Err(errno),
        };
        connect_to_relay(context, &target, domain, Purpose::Host(destination), acl, host)?;
        answer
    }))
}

/// Leaves the connection to the relay. A name that wasn't looked up yet (it was in the hosts file) is looked up first,
/// for a moment: a missing host is better reported here than by a reset.
fn connect_in_the_background(
    context: &NotifyContext<'_>,
    target: OwnedFd,
    domain: i32,
    destination: Destination,
    acl: Cleared,
) -> Handled {
    const MOMENT: Duration = Duration::from_millis(300);
    let (network, _) = context.network().ok_or(Errno(libc::ENETUNREACH))?;
    if network.known(&destination.name).is_some() {
        connect_to_relay(context, &target, domain, Purpose::Host(destination), acl, None)?;
        return Ok(CallAnswer::Value(0));
    }
    Ok(CallAnswer::apart(move |context| {
        let (network, control) = context.network().ok_or(Errno(libc::ENETUNREACH))?;
        let begun = Instant::now();
        let mut gives_up = || begun.elapsed() > MOMENT || context.caller().is_interrupted();
        let _ = network.find(control, &destination.name, &mut gives_up);
        let way = known_way(context, &destination, &acl)?;
        let host = match way.filter(is_here).map(quickly) {
            Some(Quick::Connected(host)) => Some(host),
            Some(Quick::Failed(errno)) => return Err(errno.into()),
            Some(Quick::NotYet(_)) | None => None,
        };
        connect_to_relay(context, &target, domain, Purpose::Host(destination), acl, host)?;
        Ok(CallAnswer::Value(0))
    }))
}

/// The way to a host whose addresses are known; an error if it is known to have none.
fn known_way(context: &NotifyContext<'_>, destination: &Destination, acl: &Cleared) -> Handled<Option<Way>> {
    let (network, _) = context.network().ok_or(Errno(libc::ENETUNREACH))?;
    match network.known(&destination.name) {
        Some(Ok(found)) => way(context, destination, &found, acl).map(Some),
        Some(Err(NoAddress::NoSuchName | NoAddress::NoAddresses)) => {
            network::without_address(destination, acl);
            fail(libc::EHOSTUNREACH)
        }
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

fn way(context: &NotifyContext<'_>, destination: &Destination, found: &Found, acl: &Cleared) -> Handled<Way> {
    let (open, closed) = network::addresses(destination, found, acl);
    if !open.is_empty() {
        return Ok(open);
    }
    for address in closed {
        let asked = format!("{}:{}", destination.name.as_str(), destination.port);
        let reason = network::why_closed(address.ip());
        let refused = context.refuse(
            acl.refusal(Kind::Connect, &address.to_string(), &asked, reason),
            REFUSED,
        );
        if matches!(refused, Stop::Ask(..)) {
            return Err(refused);
        }
    }
    Err(REFUSED.into())
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
) -> Handled<TcpStream> {
    const SLICE_MS: u8 = 50;
    let (network, control) = context.network().ok_or(Errno(libc::ENETUNREACH))?;
    let deadline = socket::send_timeout(target.as_fd())?.map(|time| Instant::now() + time);
    let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let mut gives_up = || is_late() || context.caller().is_interrupted();
    let why = || if is_late() { libc::EINPROGRESS } else { libc::EINTR };
    let mut dial = match dial {
        Some(dial) => dial,
        None => match network.find(control, &destination.name, &mut gives_up) {
            Ok(found) => Dial::new(way(context, destination, &found, acl)?),
            Err(NoAddress::Failed) if gives_up() => return fail(why()),
            Err(_) => {
                network::without_address(destination, acl);
                return fail(libc::EHOSTUNREACH);
            }
        },
    };
    dial.wait(SLICE_MS, &mut gives_up)
        .map_err(|interrupted| match interrupted {
            Interrupted::Failed(error) => Stop::from(error),
            Interrupted::GivenUp => Stop::Errno(Errno(why())),
        })
}

/// Connects the target's socket to the relay and announces it there.
fn connect_to_relay(
    context: &NotifyContext<'_>,
    target: &OwnedFd,
    domain: i32,
    purpose: Purpose,
    acl: Cleared,
    host: Option<TcpStream>,
) -> Handled<()> {
    let (network, control) = context.network().ok_or(Errno(libc::ENETUNREACH))?;
    let listener = match network.listeners.v6 {
        Some(listener) if domain == libc::AF_INET6 && socket::is_ipv6_only(target.as_fd())? => listener,
        _ => socket::for_domain(network.listeners.v4, domain),
    };
    context.caller().confirm()?;
    // Another thread may have connected the socket somewhere else meanwhile.
    if !socket::is_unconnected(target.as_fd())? {
        return fail(libc::EISCONN);
    }
    let connected = socket::connect(target.as_fd(), &socket::bytes(listener));
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
        network.expect(control, from, pending, host)?;
    }
    Ok(connected?)
}

/// Connects a datagram socket. Where hosts are named it never sends: connecting only tells which families there are,
/// and the machine's route. The answer is loopback's for a host, and a refusal for other addresses.
fn connect_datagrams(context: &NotifyContext<'_>, target: &OwnedFd, domain: i32, address: SocketAddr) -> Handled {
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
        return Err(REFUSED.into());
    }
    let address = SocketAddr::new(loopback_of(address.ip()), address.port());
    socket::connect(target.as_fd(), &socket::bytes(socket::for_domain(address, domain)))?;
    Ok(CallAnswer::Value(0))
}

/// `bind` of an internet socket. A run listens on loopback alone: a server that names no address gets loopback.
pub fn bind(context: &NotifyContext<'_>, target: &OwnedFd, domain: i32, bytes: &[u8]) -> Handled {
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
        return Err(REFUSED.into());
    }
    let ip = given.ip().to_canonical();
    let may_listen = may_listen_on(context, &acl, given.port());
    // A socket bound to no address at all is taken for a server's.
    let is_near_end = given.port() == 0 && !(ip.is_unspecified() && context.run().approvals.is_some());
    if !is_near_end && !may_listen || !ip.is_loopback() && !ip.is_unspecified() && given.port() != 0 {
        let asked = given.to_string();
        let on_loopback = SocketAddr::new(loopback_of(given.ip()), given.port()).to_string();
        let (target, reason) = if may_listen {
            (&asked, Reason::Never("a run listens on loopback alone".into()))
        } else {
            (&on_loopback, why_not_granted(given.port()))
        };
        return Err(context.refuse(acl.refusal(Kind::Listen, target, &asked, reason), REFUSED));
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

/// Whether a port is granted, or was chosen by the kernel under a grant of port 0.
fn may_listen_on(context: &NotifyContext<'_>, acl: &Cleared, port: u16) -> bool {
    let was_chosen = || context.judge.made(|made| made.chosen_ports.contains(&port));
    acl.may_listen(port) || acl.may_listen(0) && was_chosen()
}

/// Records a port that the kernel chose. The run may ask for it again: that is how programs find a free one.
fn note_chosen(context: &NotifyContext<'_>, target: &OwnedFd) -> Handled<()> {
    let port = socket::local_address(target.as_fd())?.port();
    context
        .judge
        .note_made(|made| Made::keep(&mut made.chosen_ports, port, Made::MAX));
    Ok(())
}

/// The loopback address for an unspecified one. A socket of both families gets IPv4's, where most clients look first.
fn on_loopback(target: &OwnedFd, unspecified: IpAddr) -> Handled<IpAddr> {
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
pub fn listen(context: &NotifyContext<'_>) -> Handled {
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
        if made.listeners.len() < Made::MAX {
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
fn end_unless_on_loopback(target: &OwnedFd) -> Handled<()> {
    let bound = socket::local_address(target.as_fd())?;
    if bound.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    socket::shut_down(target.as_fd())?;
    Err(REFUSED.into())
}

/// Requires that a socket listens on loopback, on a granted port. It must have been bound there: a merely connected
/// socket has an address that another thread can take away, and an unbound one would get any port of any address.
fn bind_to_listen(context: &NotifyContext<'_>, acl: &Cleared, target: &OwnedFd, domain: i32) -> Handled<()> {
    if socket::kind(target.as_fd())? != libc::SOCK_STREAM {
        return Ok(());
    }
    if !socket::is_unconnected(target.as_fd())? && !socket::is_listening(target.as_fd())? {
        return fail(libc::EINVAL);
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
    Err(context.refuse(
        acl.refusal(Kind::Listen, &wanted, &bound.to_string(), Reason::NotGranted),
        REFUSED,
    ))
}

/// Records a socket that was bound to a loopback address, which it keeps, so that it may listen.
fn note_bound(context: &NotifyContext<'_>, target: &OwnedFd) -> Handled<()> {
    let number = socket::number(target.as_fd())?;
    context
        .judge
        .note_made(|made| Made::keep(&mut made.bound, number, Made::MAX));
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
pub fn socket(context: &NotifyContext<'_>) -> Handled {
    const FLAGS: i32 = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    let registers = context.caller().registers;
    let (domain, kind, protocol) = (registers.int(0), registers.int(1), registers.int(2));
    let made = match making(context, domain, kind & !FLAGS, protocol) {
        Making::No => return refuse(context, domain, kind),
        // The error of a kernel without MPTCP; programs fall back to TCP.
        Making::Unknown => return fail(libc::EPROTONOSUPPORT),
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
            let mut policies = context.judge.policies();
            if policies.all(|run_policy| run_policy.run_config.policy.reach == NetworkPolicy::Everything) {
                Making::Whole
            } else {
                Making::Mute
            }
        }
        _ => Making::No,
    }
}

/// Refuses a socket that no policy allows.
fn refuse(context: &NotifyContext<'_>, domain: i32, kind: i32) -> Handled {
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
    context.note(&Attempt::on(kind, b""), target.as_bytes(), reason);
    fail(libc::EPERM)
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
