//! Promises about sockets, one test for each promise, named after it.

use super::*;

#[test]
fn a_run_without_network_makes_only_unix_streams() {
    let [unix, inet, inet6, netlink, packet, vsock] = each![
        libc::AF_UNIX,
        libc::AF_INET,
        libc::AF_INET6,
        libc::AF_NETLINK,
        libc::AF_PACKET,
        libc::AF_VSOCK
    ];
    let [stream, datagram, raw, seqpacket] = each![
        libc::SOCK_STREAM,
        libc::SOCK_DGRAM,
        libc::SOCK_RAW,
        libc::SOCK_SEQPACKET
    ];
    let [flags] = each![libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK];
    let posture = Posture {
        sockets: Sockets::None,
        ..open()
    };
    for call in ["socket", "socketpair"] {
        for kind in [stream, seqpacket] {
            assert_allowed(&posture, call, &[unix, kind | flags, 0]);
        }
        // The kernel makes a raw Unix socket a datagram one.
        for kind in [datagram, raw, 4, 6, 9, 13] {
            assert_refused(&posture, call, &[unix, kind, 0]);
        }
        for family in [inet, inet6, netlink, packet, vsock, 38] {
            for kind in [stream, datagram | flags, raw] {
                assert_refused(&posture, call, &[family, kind, 0]);
            }
        }
    }
}

#[test]
fn a_run_with_a_network_makes_no_other_sockets_than_it_needs() {
    let [unix, inet, inet6, netlink, packet] = each![
        libc::AF_UNIX,
        libc::AF_INET,
        libc::AF_INET6,
        libc::AF_NETLINK,
        libc::AF_PACKET
    ];
    let [stream, datagram, raw] = each![libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_RAW];
    let [cloexec] = each![libc::SOCK_CLOEXEC];
    for family in [inet, inet6] {
        for (kind, protocol) in [(stream, 0), (stream, 6), (datagram, 0), (datagram, 17)] {
            assert_allowed(&open(), "socket", &[family, kind | cloexec, protocol]);
        }
        // ICMP, MPTCP, SCTP, UDP-Lite.
        for (kind, protocol) in [
            (datagram, 1),
            (datagram, 58),
            (stream, 262),
            (stream, 132),
            (datagram, 136),
        ] {
            assert_refused(&open(), "socket", &[family, kind, protocol]);
        }
        assert_refused(&open(), "socket", &[family, raw, 6]);
        assert_refused(&open(), "socketpair", &[family, stream, 0]);
    }
    for kind in [datagram, raw] {
        assert_allowed(&open(), "socket", &[netlink, kind | cloexec, 0]);
        assert_refused(&open(), "socket", &[netlink, kind, 9]);
        assert_refused(&open(), "socket", &[packet, kind, 0]);
        assert_allowed(&open(), "socketpair", &[unix, kind, 0]);
        assert_allowed(&open(), "socket", &[unix, kind, 0]);
    }
}

#[test]
fn a_run_with_named_hosts_makes_streams_and_has_everything_else_of_sockets_seen() {
    let [unix, inet, inet6, netlink, packet] = each![
        libc::AF_UNIX,
        libc::AF_INET,
        libc::AF_INET6,
        libc::AF_NETLINK,
        libc::AF_PACKET
    ];
    let [stream, datagram, raw] = each![libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_RAW];
    let posture = Posture {
        unjudged: Unjudged::Supervised,
        sockets: Sockets::Hosts,
        ..strict()
    };
    let seen = |call: &str, arguments: &[u64]| assert_answer(&posture, call, arguments, Action::Notify);
    for family in [inet, inet6] {
        assert_allowed(&posture, "socket", &[family, stream, 0]);
        assert_allowed(&posture, "socket", &[family, stream, 6]);
        // Datagrams, MPTCP, SCTP, raw.
        for (kind, protocol) in [(datagram, 0), (datagram, 17), (stream, 262), (stream, 132), (raw, 6)] {
            seen("socket", &[family, kind, protocol]);
        }
    }
    seen("socket", &[unix, datagram, 0]);
    seen("socket", &[packet, raw, 0]);
    assert_allowed(&posture, "socket", &[unix, stream, 0]);
    assert_allowed(&posture, "socket", &[netlink, raw, 0]);
    for call in ["connect", "bind", "listen"] {
        seen(call, &[3]);
    }
    assert_allowed(&posture, "accept4", &[3]);
    // Memberships are announced to the local network.
    let [ip, join] = each![libc::IPPROTO_IP, libc::IP_ADD_MEMBERSHIP];
    assert_int_answer(&posture, "setsockopt", &[3, ip, join], errno(libc::ENOPROTOOPT));
    let [ipv6, interface, every, hops] = each![
        libc::IPPROTO_IPV6,
        libc::IP_MULTICAST_IF,
        libc::IP_MULTICAST_ALL,
        libc::IPV6_MULTICAST_HOPS
    ];
    assert_int_answer(&posture, "setsockopt", &[3, ip, interface], errno(libc::ENOPROTOOPT));
    for (level, option) in [(ip, every), (ipv6, hops)] {
        assert_allowed(&posture, "setsockopt", &[3, level, option]);
    }
    let made = Posture {
        maker: Maker::Supervisor,
        ..posture.clone()
    };
    assert_answer(&made, "socket", &[inet, stream, 0], Action::Notify);
}

#[test]
fn addresses_are_refused_where_they_can_not_be_judged() {
    for call in ["connect", "bind", "listen", "accept", "accept4"] {
        assert_allowed(&open(), call, &[3]);
        assert_refused(
            &Posture {
                sockets: Sockets::None,
                ..open()
            },
            call,
            &[3],
        );
        assert_refused(
            &Posture {
                unjudged: Unjudged::Refused,
                ..open()
            },
            call,
            &[3],
        );
    }
}

#[test]
fn nothing_connects_while_it_sends() {
    let [fast_open, no_signal] = each![libc::MSG_FASTOPEN, libc::MSG_NOSIGNAL];
    for posture in [strict(), open()] {
        for (call, place) in [("sendto", 3), ("sendmmsg", 3), ("sendmsg", 2)] {
            let mut arguments = [0; 4];
            arguments[place] = fast_open | no_signal;
            assert_int_answer(&posture, call, &arguments, errno(libc::EOPNOTSUPP));
            arguments[place] = no_signal;
            assert_allowed(&posture, call, &arguments);
        }
    }
}

#[test]
fn socket_options_without_need_are_unknown_ones() {
    let [socket, tcp, ip, ipv6] = each![
        libc::SOL_SOCKET,
        libc::IPPROTO_TCP,
        libc::IPPROTO_IP,
        libc::IPPROTO_IPV6
    ];
    let refused = [
        (socket, each![libc::SO_ATTACH_FILTER][0]),
        (socket, each![libc::SO_ATTACH_BPF][0]),
        (socket, each![libc::SO_BINDTODEVICE][0]),
        (socket, each![libc::SO_MARK][0]),
        (tcp, each![libc::TCP_ULP][0]),
        (tcp, each![libc::TCP_REPAIR][0]),
        (tcp, each![libc::TCP_FASTOPEN_CONNECT][0]),
        (tcp, each![libc::TCP_FASTOPEN][0]),
        (ip, each![libc::IP_TRANSPARENT][0]),
        (ip, 4),
        (ipv6, each![libc::IPV6_ADDRFORM][0]),
        (270, 1),
        (u64::from(u32::MAX), 1),
    ];
    for (level, option) in refused {
        assert_int_answer(&open(), "setsockopt", &[3, level, option], errno(libc::ENOPROTOOPT));
    }
    let allowed = [
        (socket, each![libc::SO_REUSEADDR][0]),
        (socket, each![libc::SO_RCVTIMEO][0]),
        (tcp, each![libc::TCP_NODELAY][0]),
        (tcp, each![libc::TCP_USER_TIMEOUT][0]),
        (ip, each![libc::IP_BIND_ADDRESS_NO_PORT][0]),
        (ip, each![libc::IP_RECVERR][0]),
        (ipv6, each![libc::IPV6_V6ONLY][0]),
    ];
    for (level, option) in allowed {
        assert_allowed(&open(), "setsockopt", &[3, level, option]);
    }
    assert_allowed(&strict(), "setsockopt", &[3, socket, each![libc::SO_SNDBUF][0]]);
    assert_int_answer(&strict(), "setsockopt", &[3, tcp, 1], errno(libc::ENOPROTOOPT));
}
