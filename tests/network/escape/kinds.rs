//! Sockets of other kinds than TCP, and options that lead streams elsewhere.

use super::attack::Attack;
use crate::common::Probe;
use crate::network::net::Net;
use crate::network::servers::{Witness, address};

// promise: network.15
#[test]
fn sockets_of_no_other_kind_are_made() {
    Probe::new()
        .flags(["--host", "api.shop.test"])
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)")
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_RAW, 6)")
        .attempt_if_possible("socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58)")
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1) # ping")
        .attempt_if_possible("socket.socket(socket.AF_INET6, socket.SOCK_DGRAM, 58) # ping")
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) # MPTCP")
        .attempt_if_possible("socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 262) # MPTCP")
        .attempt_if_possible("call(41, 2, 1 | 1 << 32, 262 | 1 << 32) # MPTCP")
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132) # SCTP")
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET, 132) # SCTP")
        .attempt_if_possible("socket.socket(socket.AF_INET, 6, 33) # DCCP")
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136) # UDP-Lite")
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256) # SMC")
        .attempt_if_possible("socket.socket(43, socket.SOCK_STREAM) # AF_SMC")
        .attempt_if_possible("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)")
        .attempt_if_possible("socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 8)")
        .attempt_if_possible("socket.socket(socket.AF_INET, 10, 8) # SOCK_PACKET")
        .attempt_if_possible("socket.socket(40, socket.SOCK_STREAM) # AF_VSOCK")
        .attempt_if_possible("socket.socket(40, socket.SOCK_DGRAM) # AF_VSOCK")
        .attempt_if_possible("socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)")
        .attempt_if_possible("socket.socket(16, socket.SOCK_RAW, 4) # sock_diag")
        .attempt_if_possible("socket.socket(16, socket.SOCK_RAW, 9) # audit")
        .attempt_if_possible("socket.socket(16, socket.SOCK_RAW, 11) # connector")
        .attempt_if_possible("socket.socket(16, socket.SOCK_RAW, 12) # netfilter")
        .attempt_if_possible("socket.socket(16, socket.SOCK_RAW, 15) # uevents")
        .attempt_if_possible("socket.socket(16, socket.SOCK_RAW, 16) # generic")
        .attempt_if_possible("socket.socket(15, socket.SOCK_RAW, 2) # AF_KEY")
        .attempt_if_possible("socket.socket(21, socket.SOCK_SEQPACKET) # AF_RDS")
        .attempt_if_possible("socket.socket(30, socket.SOCK_STREAM) # AF_TIPC")
        .attempt_if_possible("socket.socket(31, socket.SOCK_RAW, 1) # AF_BLUETOOTH")
        .attempt_if_possible("socket.socket(41, socket.SOCK_DGRAM) # AF_KCM")
        .attempt_if_possible("socket.socket(42, socket.SOCK_DGRAM) # AF_QIPCRTR")
        .attempt_if_possible("socket.socket(44, socket.SOCK_RAW) # AF_XDP")
        .attempt_if_possible("call(425, 8, bytes(120)) # io_uring_setup")
        .works("socket.socket(socket.AF_INET); socket.socket(socket.AF_INET6)")
        .works("call(41, 2 | 1 << 32, 1 | 1 << 32, 6 | 1 << 32)")
        .works("expect((1, 'lo') in socket.if_nameindex())")
        .refused("minimal", "EPERM|EACCES|ENOSYS|EPROTONOSUPPORT");
}

#[test]
fn options_that_lead_elsewhere_are_refused() {
    let mut net = Net::new();
    net.host("api.shop.test");
    let source_route = "bytes([131, 7, 4]) + socket.inet_aton('127.0.0.1') + b'\\0'";
    Probe::new()
        .flags(net.flags().to_vec())
        .attempt_if_possible(&format!(
            "socket.socket().setsockopt(socket.IPPROTO_IP, 4, {source_route}) # IP_OPTIONS"
        ))
        .attempt_if_possible("socket.socket().setsockopt(6, 19, 1) # TCP_REPAIR")
        .attempt_if_possible("socket.socket().setsockopt(6, 23, 5) # TCP_FASTOPEN")
        .attempt_if_possible("socket.socket().setsockopt(6, 30, 1) # TCP_FASTOPEN_CONNECT")
        .attempt_if_possible("socket.socket().setsockopt(socket.IPPROTO_IP, 19, 1) # IP_TRANSPARENT")
        .attempt_if_possible("socket.socket().setsockopt(1, 36, 1) # SO_MARK")
        .attempt_if_possible(
            "socket.socket(socket.AF_INET6).setsockopt(41, 57, bytes([0, 2, 2, 1]) + bytes(20)) # IPV6_RTHDR",
        )
        .attempt_if_possible(
            "socket.socket(socket.AF_INET6).setsockopt(41, 57, bytes([0, 2, 4, 0]) + bytes(19) + b'\\1') # IPV6_RTHDR, segments",
        )
        .works("socket.socket().setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)")
        .works("socket.socket().setsockopt(6, 1, 1) # TCP_NODELAY")
        .refused("minimal", "EPERM|EACCES|ENOPROTOOPT");
}

/// A socket of IPv6 that becomes one of IPv4 keeps its rules.
#[test]
fn a_socket_that_changes_its_family() {
    let witness = Witness::at(address(), 0).unwrap();
    Attack::on(witness).fails(
        &[
            "?s = socket.socket(socket.AF_INET6); connect(s, sockaddr(*W))",
            "?s = socket.socket(socket.AF_INET6); s.setsockopt(41, 26, 0); connect(s, sockaddr('::ffff:' + HOST, PORT))",
        ],
        "EACCES|EAFNOSUPPORT|EINVAL",
    );
}
