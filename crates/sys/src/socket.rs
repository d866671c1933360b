//! Socket calls that std lacks, or has only for sockets that it created itself.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use super::check;

/// An integer option of a socket (getsockopt(2)).
fn option(socket: BorrowedFd<'_>, level: i32, name: i32) -> io::Result<i32> {
    let mut value: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel writes one `int` and its size.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw mut value).cast(),
            &raw mut length,
        )
    })?;
    Ok(value)
}

/// The address family.
pub fn domain(socket: BorrowedFd<'_>) -> io::Result<i32> {
    option(socket, libc::SOL_SOCKET, libc::SO_DOMAIN)
}

/// The socket type: `SOCK_STREAM` and its like.
pub fn kind(socket: BorrowedFd<'_>) -> io::Result<i32> {
    option(socket, libc::SOL_SOCKET, libc::SO_TYPE)
}

/// The user at the other end of a unix stream socket, the one that connected or listened (unix(7), `SO_PEERCRED`).
pub fn peer_user(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes one `struct ucred` and its size.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    })?;
    Ok(peer.uid)
}

/// A socket's inode number, as in `/proc/net/tcp` and its like.
pub fn number(socket: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(super::file::status(socket)?.st_ino)
}

/// Whether an IPv6 socket accepts no IPv4.
pub fn is_ipv6_only(socket: BorrowedFd<'_>) -> io::Result<bool> {
    option(socket, libc::IPPROTO_IPV6, libc::IPV6_V6ONLY).map(|value| value != 0)
}

/// Whether a TCP socket is neither connected nor connecting. `tcpi_state` is the first byte of `TCP_INFO` (tcp(7)).
pub fn is_unconnected(socket: BorrowedFd<'_>) -> io::Result<bool> {
    const CLOSED: u8 = 7;
    Ok(tcp_state(socket)? == CLOSED)
}

/// Whether a TCP socket listens.
pub fn is_listening(socket: BorrowedFd<'_>) -> io::Result<bool> {
    const LISTEN: u8 = 10;
    Ok(tcp_state(socket)? == LISTEN)
}

fn tcp_state(socket: BorrowedFd<'_>) -> io::Result<u8> {
    let mut state = [0_u8; 4];
    let mut length = state.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            state.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok(state[0])
}

/// A new socket, close-on-exec. `SOCK_NONBLOCK` may be part of the kind.
pub fn open(domain: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: integers only; the answer is a new descriptor.
    let made = check(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: the kernel just created it; it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

/// connect(2) with an address in the kernel's layout.
pub fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> io::Result<()> {
    let length = address.len() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes.
    check(unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) }).map(drop)
}

/// bind(2), like [`connect`].
pub fn bind(socket: BorrowedFd<'_>, address: &[u8]) -> io::Result<()> {
    let length = address.len() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes.
    check(unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), length) }).map(drop)
}

/// listen(2).
pub fn listen(socket: BorrowedFd<'_>, backlog: i32) -> io::Result<()> {
    // SAFETY: integers only.
    check(unsafe { libc::listen(socket.as_raw_fd(), backlog) }).map(drop)
}

/// Ends sending and receiving for good. On a datagram socket without a peer the answer is `ENOTCONN`, and it takes
/// effect all the same.
pub fn shut_down(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: integers only.
    match check(unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_RDWR) }) {
        Err(error) if error.raw_os_error() == Some(libc::ENOTCONN) => Ok(()),
        other => other.map(drop),
    }
}

/// Makes the kernel send a reset when the socket is closed (socket(7), `SO_LINGER`).
pub fn reset_on_close(socket: BorrowedFd<'_>) -> io::Result<()> {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    // SAFETY: the kernel reads one `struct linger`.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of::<libc::linger>() as libc::socklen_t,
        )
    })
    .map(drop)
}

/// Makes the kernel probe after two minutes of silence whether the other side is still there (tcp(7)).
pub fn keep_alive(socket: BorrowedFd<'_>) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
    set(socket, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, 120)?;
    set(socket, libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, 30)
}

fn set(socket: BorrowedFd<'_>, level: i32, name: i32, value: libc::c_int) -> io::Result<()> {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads one `int`.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), length) }).map(drop)
}

/// Delivers urgent bytes in line (`SO_OOBINLINE`).
pub fn keep_urgent_in_line(socket: BorrowedFd<'_>) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_OOBINLINE, 1)
}

/// The address that a socket is bound to; unspecified, with port 0, if it isn't.
pub fn local_address(socket: BorrowedFd<'_>) -> io::Result<SocketAddr> {
    let mut bytes = [0_u8; size_of::<libc::sockaddr_in6>()];
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes.
    check(unsafe { libc::getsockname(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), &raw mut length) })?;
    address(&bytes).ok_or_else(|| io::Error::from_raw_os_error(libc::EAFNOSUPPORT))
}

/// The timeout of a blocking send, and so of a connect (socket(7), `SO_SNDTIMEO`). `None`: for ever.
pub fn send_timeout(socket: BorrowedFd<'_>) -> io::Result<Option<Duration>> {
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let mut length = size_of::<libc::timeval>() as libc::socklen_t;
    // SAFETY: the kernel writes one `struct timeval` and its size.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_SNDTIMEO,
            (&raw mut time).cast(),
            &raw mut length,
        )
    })?;
    let whole = Duration::from_secs(time.tv_sec.unsigned_abs());
    let time = whole + Duration::from_micros(time.tv_usec.unsigned_abs());
    Ok((!time.is_zero()).then_some(time))
}

/// Parses an internet address in the kernel's layout (ip(7), ipv6(7)). IPv6 addresses may lack their scope.
pub fn address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    match i32::from(family) {
        libc::AF_INET => {
            // The whole structure must be there.
            let octets: [u8; 4] = bytes.get(..16)?[4..8].try_into().ok()?;
            Some(SocketAddrV4::new(Ipv4Addr::from(octets), port).into())
        }
        libc::AF_INET6 => {
            let flow = u32::from_be_bytes(bytes.get(4..8)?.try_into().ok()?);
            let octets: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            let scope = bytes
                .get(24..28)
                .map_or(0, |scope| u32::from_ne_bytes(scope.try_into().expect("four bytes")));
            Some(SocketAddrV6::new(Ipv6Addr::from(octets), port, flow, scope).into())
        }
        _ => None,
    }
}

/// An address in the kernel's layout.
pub fn bytes(address: SocketAddr) -> Vec<u8> {
    let family = match address {
        SocketAddr::V4(_) => libc::AF_INET,
        SocketAddr::V6(_) => libc::AF_INET6,
    };
    let mut bytes = (family as u16).to_ne_bytes().to_vec();
    bytes.extend(address.port().to_be_bytes());
    match address {
        SocketAddr::V4(address) => {
            bytes.extend(address.ip().octets());
            bytes.extend([0; 8]);
        }
        SocketAddr::V6(address) => {
            bytes.extend(address.flowinfo().to_be_bytes());
            bytes.extend(address.ip().octets());
            bytes.extend(address.scope_id().to_ne_bytes());
        }
    }
    bytes
}

/// The same address for a socket of this family: on an IPv6 socket IPv4 addresses are mapped.
pub fn for_domain(address: SocketAddr, domain: i32) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if domain == libc::AF_INET6 => (ip.to_ipv6_mapped(), address.port()).into(),
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_survives_the_way_through_the_kernel_s_bytes() {
        for text in ["127.0.0.1:80", "[::1]:65535", "[fe80::1%3]:443", "[::ffff:10.0.0.1]:1"] {
            let parsed: SocketAddr = text.parse().unwrap();
            assert_eq!(address(&bytes(parsed)), Some(parsed), "{text}");
        }
    }

    #[test]
    fn a_cut_address_is_none() {
        let whole = bytes("127.0.0.1:80".parse().unwrap());
        for length in 0..whole.len() {
            assert_eq!(address(&whole[..length]), None);
        }
        let whole = bytes("[::1]:80".parse().unwrap());
        for length in 0..24 {
            assert_eq!(address(&whole[..length]), None);
        }
        assert_eq!(address(&[1, 0, 0, 0]), None);
    }

    /// The socket that a run gets in place of a datagram socket relies on this.
    #[test]
    fn a_datagram_socket_that_was_shut_down_never_sends_again() {
        use std::net::UdpSocket;
        use std::os::fd::AsFd;
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = receiver.local_addr().unwrap();
        let whole = UdpSocket::from(open(libc::AF_INET, libc::SOCK_DGRAM, 0).unwrap());
        assert_eq!(whole.send_to(b"x", to).unwrap(), 1);
        let shut = UdpSocket::from(open(libc::AF_INET, libc::SOCK_DGRAM, 0).unwrap());
        shut_down(shut.as_fd()).unwrap();
        let refused = |result: io::Result<usize>| assert_eq!(result.unwrap_err().raw_os_error(), Some(libc::EPIPE));
        refused(shut.send_to(b"x", to));
        shut.connect(to).unwrap();
        refused(shut.send(b"x"));
        connect(shut.as_fd(), &[0; 16]).unwrap();
        refused(shut.send_to(b"x", to));
    }
}
