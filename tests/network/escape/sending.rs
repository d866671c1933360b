//! Fast open: calls that connect while they send.

use super::attack::{Attack, REFUSED};

// promise: network.7
#[test]
fn a_send_that_connects() {
    Attack::new().fails(
        &[
            "of(HOST).sendto(b'x', FASTOPEN, W)",
            "of(HOST).sendmsg([b'x'], [], FASTOPEN, W)",
            "of(HOST).sendto(b'', FASTOPEN, W)",
            "s = of(HOST); s.setblocking(False)\ntry: s.sendto(b'x', FASTOPEN, W)\nexcept BlockingIOError: pass",
            "sendmsg(of(HOST), *W, FASTOPEN)",
            "sendmmsg(of(HOST), *W, FASTOPEN)",
            "s = of(HOST); a = sockaddr(*W); call(44, s.fileno(), b'x', 1, FASTOPEN | 1 << 32, a, len(a))",
            "s = of(HOST); a = sockaddr(*W); call(44, s.fileno(), b'x', 1, FASTOPEN | 0x4000, a, len(a))",
            "?s = socket.socket(socket.AF_INET6); a = sockaddr('::ffff:' + HOST, PORT); call(44, s.fileno(), b'x', 1, FASTOPEN, a, 28)",
            "?s = of(HOST); s.setsockopt(6, 30, 1); s.connect(W); s.send(b'x') # TCP_FASTOPEN_CONNECT",
            "?s = of(HOST); s.setsockopt(6, 30, 1); s.connect(W); os.write(s.fileno(), b'x')",
        ],
        REFUSED,
    );
}

#[test]
fn what_is_granted_is_no_way_round_either() {
    // After a granted connection was begun, ended, or broken off.
    Attack::new().fails(
        &[
            "s = of(HOST); s.connect(GRANTED); connect(s, struct.pack('=H14x', 0)); s.sendto(b'x', FASTOPEN, W)",
            "s = of(HOST); s.connect(GRANTED); connect(s, struct.pack('=H14x', 0)); sendmmsg(s, *W, FASTOPEN)",
        ],
        REFUSED,
    );
}
