//! A profile without network: unix streams that stay inside the run, and no other socket.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::common::{Place, Probe};

#[test]
fn no_socket_of_any_network_is_made() {
    Probe::new()
        .attempt("socket.socket(socket.AF_INET)")
        .attempt("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)")
        .attempt_if_possible("socket.socket(socket.AF_INET6)")
        .attempt_if_possible("socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)")
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) # MPTCP")
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)")
        .attempt("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)")
        .attempt_if_possible("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)")
        .attempt_if_possible("socket.socket(40, socket.SOCK_STREAM) # vsock")
        .attempt_if_possible("socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)")
        .attempt_if_possible("socket.socket(31, socket.SOCK_RAW, 1) # bluetooth")
        .refused("minimal", "EPERM");
}

#[test]
fn unix_datagrams_are_refused() {
    Probe::new()
        .attempt("socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)")
        .attempt("socket.socket(socket.AF_UNIX, socket.SOCK_RAW)")
        .attempt("socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)")
        .refused("minimal", "EPERM");
}

#[test]
fn a_pair_of_unix_streams_works() {
    Probe::new()
        .works("a, b = socket.socketpair(); a.send(b'x'); expect(b.recv(1) == b'x')")
        .works("a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET); a.send(b'x'); b.recv(1)")
        .works("import asyncio; asyncio.run(asyncio.sleep(0))")
        .works("a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [0]); socket.recv_fds(b, 1, 1)")
        .refused("minimal", "ok");
}

#[test]
fn sockets_of_others_cannot_be_connected() {
    let elsewhere = Place::new();
    let path = elsewhere.root.join("s");
    let _by_path = UnixListener::bind(&path).unwrap();
    let name = format!("stockade-test-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    Probe::new()
        .attempt(&format!("socket.socket(socket.AF_UNIX).connect('{}')", path.display()))
        .attempt(&format!("socket.socket(socket.AF_UNIX).connect('\\0{name}')"))
        .refused("minimal", "EPERM|EACCES");
}

#[test]
fn sockets_of_others_cannot_be_connected_by_a_wide_profile_on_abstract_names() {
    let name = format!("stockade-wide-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    Probe::new()
        .attempt(&format!("socket.socket(socket.AF_UNIX).connect('\\0{name}')"))
        .refused("trusted", "EPERM|EACCES");
}

#[test]
fn a_run_listens_in_its_own_directories_alone() {
    Probe::new()
        .works("s = socket.socket(socket.AF_UNIX); s.bind(os.environ.get('TMPDIR', '@HOME') + '/s'); s.listen()")
        .attempt("s = socket.socket(socket.AF_UNIX); s.bind('@ROOT/s'); s.listen()")
        .attempt("s = socket.socket(socket.AF_UNIX); s.bind('\\0stockade-own-%d' % os.getpid()); s.listen()")
        .refused("readonly", "EPERM|EACCES");
}

#[test]
fn a_send_never_connects() {
    // MSG_FASTOPEN; a pair ignores it unconfined.
    Probe::new()
        .attempt("a, b = socket.socketpair(); a.send(b'x', 0x20000000)")
        .attempt("a, b = socket.socketpair(); a.sendmsg([b'x'], [], 0x20000000)")
        .works("a, b = socket.socketpair(); a.send(b'x', socket.MSG_NOSIGNAL)")
        .refused("minimal", "EOPNOTSUPP|ENOTSUP");
}

#[test]
fn wide_profiles_make_network_sockets() {
    Probe::new()
        .works("socket.socket(socket.AF_INET)")
        .works("s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); socket.create_connection(s.getsockname())")
        .attempt_if_possible("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)")
        .attempt_if_possible("socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)")
        .attempt_if_possible("socket.socket(40, socket.SOCK_STREAM)")
        .attempt_if_possible("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9) # audit")
        .refused("mcp-standard", "EPERM");
}
