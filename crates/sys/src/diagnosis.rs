//! Queries the kernel's table of sockets for one of them (sock_diag(7)).

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};

use super::socket;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const LISTEN: u8 = 10;
/// `struct nlmsghdr`.
const HEADER: usize = 16;
/// `struct inet_diag_req_v2`.
const REQUEST: usize = 56;
/// The offsets of `idiag_state` and `idiag_inode` in `struct inet_diag_msg`.
const STATE_AT: usize = 1;
const INODE_AT: usize = 68;

/// The inode number of the TCP socket that listens at this address; `None` if none does.
pub fn listener(address: SocketAddr) -> io::Result<Option<u64>> {
    let asked = socket::open(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_SOCK_DIAG)?;
    let mut asked = File::from(asked);
    asked.write_all(&request(address))?;
    let mut answer = [0_u8; 1024];
    let length = asked.read(&mut answer)?;
    Ok(inode(&answer[..length]))
}

fn request(address: SocketAddr) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + REQUEST);
    bytes.extend(((HEADER + REQUEST) as u32).to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend((libc::NLM_F_REQUEST as u16).to_ne_bytes());
    bytes.extend([0; 8]);
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    bytes.extend([family as u8, libc::IPPROTO_TCP as u8, 0, 0]);
    bytes.extend((1_u32 << LISTEN).to_ne_bytes());
    bytes.extend(address.port().to_be_bytes());
    bytes.extend([0; 2]);
    match address.ip() {
        IpAddr::V4(ip) => {
            bytes.extend(ip.octets());
            bytes.extend([0; 12]);
        }
        IpAddr::V6(ip) => bytes.extend(ip.octets()),
    }
    // From any peer, on any interface, with any cookie.
    bytes.extend([0; 16 + 4]);
    bytes.extend([0xff; 8]);
    bytes
}

/// A reply of another kind is the error that there's no such socket.
fn inode(answer: &[u8]) -> Option<u64> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let message = answer.get(HEADER..)?;
    let state = *message.get(STATE_AT)?;
    let inode = u32::from_ne_bytes(message.get(INODE_AT..INODE_AT + 4)?.try_into().ok()?);
    (kind == SOCK_DIAG_BY_FAMILY && state == LISTEN).then_some(u64::from(inode))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_listener_is_found_while_it_listens_at_its_own_address_alone() {
        for ip in ["127.0.0.1", "127.0.0.9", "::1"] {
            let listener = TcpListener::bind((ip.parse::<IpAddr>().unwrap(), 0)).unwrap();
            let address = listener.local_addr().unwrap();
            let number = socket::number(listener.as_fd()).unwrap();
            assert_eq!(super::listener(address).unwrap(), Some(number), "{address}");
            let elsewhere = SocketAddr::new("127.0.0.77".parse().unwrap(), address.port());
            assert_eq!(super::listener(elsewhere).unwrap(), None);
            drop(listener);
            assert_eq!(super::listener(address).unwrap(), None);
        }
    }

    #[test]
    fn a_socket_of_both_families_is_found_by_its_mapped_address() {
        let made = socket::open(libc::AF_INET6, libc::SOCK_STREAM, 0).unwrap();
        socket::bind(made.as_fd(), &socket::bytes("[::ffff:127.0.0.1]:0".parse().unwrap())).unwrap();
        socket::listen(made.as_fd(), 1).unwrap();
        let port = socket::local_address(made.as_fd()).unwrap().port();
        let number = socket::number(made.as_fd()).unwrap();
        let address = SocketAddr::new("127.0.0.1".parse().unwrap(), port);
        assert_eq!(listener(address).unwrap(), Some(number));
    }
}
