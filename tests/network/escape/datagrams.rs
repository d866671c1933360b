//! Datagrams: a socket for them may be had, so that resolvers learn which addresses would do, and nothing leaves it.

use std::net::Ipv6Addr;

use super::attack::{Attack, REFUSED};
use crate::common::{Probe, skipped};
use crate::network::net::Net;
use crate::network::servers::Witness;

// promise: network.14
#[test]
fn a_datagram_to_an_address() {
    Attack::new().fails(FORMS, REFUSED);
}

#[test]
fn a_datagram_to_an_address_of_ipv6() {
    let Some(witness) = Witness::at(Ipv6Addr::LOCALHOST.into(), 0) else {
        return skipped("there's no IPv6 here");
    };
    Attack::on(witness).fails(FORMS, REFUSED);
}

/// Everything that sends.
const FORMS: &[&str] = &[
    "of(HOST, UDP).sendto(b'x', W)",
    "of(HOST, UDP).sendmsg([b'x'], [], 0, W)",
    "s = of(HOST, UDP); s.connect(W); s.send(b'x')",
    "s = of(HOST, UDP); s.connect(W); os.write(s.fileno(), b'x')",
    "s = of(HOST, UDP); s.connect(W); os.writev(s.fileno(), [b'x', b'y'])",
    "s = of(HOST, UDP); s.connect(W); s.sendmsg([b'x'])",
    "s = of(HOST, UDP); s.connect(W); s.sendto(b'x', W)",
    "s = of(HOST, UDP); s.connect(W); s.send(b'')",
    "sendmsg(of(HOST, UDP), *W)",
    "sendmmsg(of(HOST, UDP), *W)",
    "s = of(HOST, UDP); s.connect(W); h, k = message(None, 0); call(307, s.fileno(), h, 1, 0)",
    "s = of(HOST, UDP); s.connect(W); r, w = os.pipe(); os.write(w, b'x'); os.splice(r, s.fileno(), 1)",
    "s = of(HOST, UDP); s.connect(W); f = os.open('/etc/passwd', 0); os.sendfile(s.fileno(), f, 0, 1)",
    "s = of(HOST, UDP); s.connect(W); connect(s, struct.pack('=H14x', 0)); s.connect(W); s.send(b'x')",
    "s = of(HOST, UDP); s.connect(W); connect(s, struct.pack('=H14x', 0)); s.sendto(b'x', W)",
    "s = of(HOST, UDP); s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1); s.sendto(b'x', W)",
    "s = of(HOST, UDP); d = os.dup(s.fileno()); connect(d, sockaddr(*W)); os.write(d, b'x')",
    "s = of(HOST, UDP); s.connect(W)\nif os.fork() == 0:\n try: os.write(s.fileno(), b'x'); os._exit(0)\n except OSError as e: os._exit(e.errno)\n\
     code = os.waitstatus_to_exitcode(os.wait()[1])\nif code: raise OSError(code, '')",
    "a, b = socket.socketpair(); s = of(HOST, UDP); socket.send_fds(a, [b'x'], [s.fileno()]); \
     f = socket.recv_fds(b, 1, 1)[1][0]; connect(f, sockaddr(*W)); os.write(f, b'x')",
    "s = of(HOST, UDP); s.connect(W); p = '/proc/self/fd/%d' % s.fileno(); s.send(b'x', socket.MSG_DONTWAIT)",
    "s = of(HOST, UDP); s.connect(W); s.send(b'x', socket.MSG_MORE); s.send(b'y')",
    "?s = of(HOST, UDP); s.connect(W); s.setsockopt(17, 103, 512); s.send(b'x' * 1024) # UDP_SEGMENT",
    "?s = of(HOST, UDP); s.connect(W); s.setsockopt(1, 60, 1); s.send(b'x', 0x4000000) # MSG_ZEROCOPY",
    "?s = of(HOST, UDP); s.bind((HOST, 0)); s.sendto(b'x', W)",
];

#[test]
fn a_datagram_to_the_granted_and_to_the_runs_resolver() {
    // No grant is for datagrams. The witness has the granted address.
    let attack = Attack::new();
    let witness = Witness::at(attack.granted.address.ip(), 0).unwrap();
    let mut net = Net::new();
    net.grant("api.shop.test", witness.address);
    let attack = Attack { witness, net, ..attack };
    attack.fails(
        &[
            "of(HOST, UDP).sendto(b'x', W)",
            "s = of(HOST, UDP); s.connect(W); s.send(b'x')",
            "s = of(HOST, UDP); s.connect(W); os.write(s.fileno(), b'x')",
        ],
        REFUSED,
    );
}

#[test]
fn a_resolver_learns_which_addresses_would_do() {
    let mut net = Net::new();
    net.host("api.shop.test");
    let code = "import socket\n\
         s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('198.18.0.1', 53))\n\
         print(s.getsockname()[0] != '0.0.0.0')\n";
    net.python(code).prints("True\n");
}

#[test]
fn unix_datagrams() {
    let probe = Probe::new()
        .attempt("socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)")
        .attempt("socket.socket(socket.AF_UNIX, socket.SOCK_RAW)")
        .attempt("socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)")
        .works("a, b = socket.socketpair(); a.send(b'x'); expect(b.recv(1) == b'x')");
    probe
        .flags(["--host", "api.shop.test"])
        .refused("minimal", "EPERM|EACCES");
}
