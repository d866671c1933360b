//! Servers of the tests, each on a loopback address of its own, and what they got.

mod http;
mod names;
mod secure;
mod streams;
mod witness;

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

pub use http::Http;
pub use names::{Answer, Names};
pub use secure::{Authority, Secure};
pub use streams::{Streams, checksum, echo, pattern};
pub use witness::Witness;

use crate::common::skipped;

/// A loopback address that no other test has.
pub fn address() -> IpAddr {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mine = (std::process::id() << 8 | number & 0xff) & 0x3f_ffff;
    Ipv4Addr::from_bits(Ipv4Addr::new(127, 64, 0, 0).to_bits() | mine).into()
}

/// A port of an address of its own, which the kernel chooses.
pub fn listener() -> TcpListener {
    TcpListener::bind((address(), 0)).expect("loopback addresses can be listened on")
}

/// A port of 127.0.0.1, with that of ::1 where there's one. Who connects to `localhost` tries the other first, which the kernel
/// could have given to another test's server.
pub fn listeners_of_localhost() -> (TcpListener, Option<TcpListener>) {
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback addresses can be listened on");
        let port = listener.local_addr().unwrap().port();
        match TcpListener::bind((Ipv6Addr::LOCALHOST, port)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            other => return (listener, other.ok()),
        }
    }
}

/// One of the ports that belong to root, where this user may have it; says aloud where not.
pub fn web_listener(port: u16) -> Option<TcpListener> {
    let listener = TcpListener::bind((address(), port)).ok();
    if listener.is_none() {
        skipped(&format!("this user can't serve port {port}"));
    }
    listener
}

/// An address without a listener.
pub fn unheard() -> SocketAddr {
    listener().local_addr().unwrap()
}
