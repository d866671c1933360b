//! The rules for creating, setting and sending through sockets.
//!
//! Addresses are in memory, so a filter can only restrict the kinds of sockets. Datagrams name their receiver in every
//! message, so a run without network gets streams alone, also as pairs.

use super::super::filter::{Action, Case, Condition, Test, Verdict};
use super::rule::EPERM;
use super::{Maker, Sockets, errno};

const AF_UNIX: u32 = libc::AF_UNIX as u32;
const AF_NETLINK: u32 = libc::AF_NETLINK as u32;
const INTERNET: &[u32] = &[libc::AF_INET as u32, libc::AF_INET6 as u32];

/// The bits that the kernel reads as the type, without `SOCK_CLOEXEC` and `SOCK_NONBLOCK`.
const TYPE_MASK: u32 = 0xf;

const STREAM: Test = Test::Masked {
    mask: TYPE_MASK,
    value: libc::SOCK_STREAM as u32,
};
const DATAGRAM: Test = Test::Masked {
    mask: TYPE_MASK,
    value: libc::SOCK_DGRAM as u32,
};

/// `SOCK_STREAM` (1) or `SOCK_SEQPACKET` (5). Not `SOCK_RAW` (3), which as a Unix socket is a datagram one.
const CONNECTED: Test = Test::Masked {
    mask: TYPE_MASK & !4,
    value: 1,
};

/// `SOCK_DGRAM` (2) or `SOCK_RAW` (3), which are equivalent for netlink.
const NETLINK_TYPE: Test = Test::Masked {
    mask: TYPE_MASK & !1,
    value: 2,
};

/// The verdict on `socket`.
pub(super) fn socket(sockets: Sockets) -> &'static Verdict {
    match sockets {
        // Hosts couldn't be told apart.
        Sockets::None | Sockets::Hosts => &UNIX_STREAM,
        Sockets::All => &NETWORK,
    }
}

/// The verdict on `socket` under a supervisor, which records refusals. Unix sockets are streams, so that every peer is
/// named in a `connect`.
pub(super) fn seen(sockets: Sockets, maker: Maker) -> &'static Verdict {
    match (maker, sockets) {
        (Maker::Supervisor, _) => &super::rule::SEEN,
        (Maker::Run, Sockets::None) => &SEEN_UNIX_STREAM,
        (Maker::Run, Sockets::Hosts) => &SEEN_HOSTS,
        (Maker::Run, Sockets::All) => &SEEN_NETWORK,
    }
}

/// The verdict on `socket` under the supervisor of an outer run.
pub(super) fn streams(sockets: Sockets) -> &'static Verdict {
    match sockets {
        Sockets::None | Sockets::Hosts => &UNIX_STREAM,
        Sockets::All => &NETWORK_STREAMS,
    }
}

/// The verdict on `socketpair`.
pub(super) fn pair(sockets: Sockets) -> &'static Verdict {
    match sockets {
        Sockets::None | Sockets::Hosts => &UNIX_STREAM,
        Sockets::All => &UNIX,
    }
}

/// The verdict on `setsockopt`.
pub(super) fn options(sockets: Sockets) -> &'static Verdict {
    match sockets {
        Sockets::None => &UNIX_OPTIONS,
        Sockets::Hosts => &HOSTS_OPTIONS,
        Sockets::All => &NETWORK_OPTIONS,
    }
}

const ANY_UNIX: Case = Case {
    when: &[Condition::low(0, Test::Equals(AF_UNIX))],
    then: Action::Allow,
};

const UNIX_STREAMS: Case = Case {
    when: &[Condition::low(0, Test::Equals(AF_UNIX)), Condition::low(1, CONNECTED)],
    then: Action::Allow,
};

const TCP: Case = Case {
    when: &[
        Condition::low(0, Test::OneOf(INTERNET)),
        Condition::low(1, STREAM),
        Condition::low(2, Test::OneOf(&[0, libc::IPPROTO_TCP as u32])),
    ],
    then: Action::Allow,
};

const UDP: Case = Case {
    when: &[
        Condition::low(0, Test::OneOf(INTERNET)),
        Condition::low(1, DATAGRAM),
        Condition::low(2, Test::OneOf(&[0, libc::IPPROTO_UDP as u32])),
    ],
    then: Action::Allow,
};

const ROUTE: Case = Case {
    when: &[
        Condition::low(0, Test::Equals(AF_NETLINK)),
        Condition::low(1, NETLINK_TYPE),
        Condition::low(2, Test::Equals(0)),
    ],
    then: Action::Allow,
};

static UNIX: Verdict = Verdict {
    cases: &[ANY_UNIX],
    otherwise: EPERM,
};

static UNIX_STREAM: Verdict = Verdict {
    cases: &[UNIX_STREAMS],
    otherwise: EPERM,
};

/// Neither MPTCP, SCTP and UDP-Lite, which the rules for TCP and UDP don't cover, nor ping and raw sockets; of netlink
/// only the route protocol (0).
static NETWORK: Verdict = Verdict {
    cases: &[ANY_UNIX, TCP, UDP, ROUTE],
    otherwise: EPERM,
};

static NETWORK_STREAMS: Verdict = Verdict {
    cases: &[UNIX_STREAMS, TCP, UDP, ROUTE],
    otherwise: EPERM,
};

static SEEN_NETWORK: Verdict = Verdict {
    cases: &[UNIX_STREAMS, TCP, UDP, ROUTE],
    otherwise: Action::Notify,
};

static SEEN_HOSTS: Verdict = Verdict {
    cases: &[UNIX_STREAMS, TCP, ROUTE],
    otherwise: Action::Notify,
};

static SEEN_UNIX_STREAM: Verdict = Verdict {
    cases: &[UNIX_STREAMS],
    otherwise: Action::Notify,
};

/// `MSG_FASTOPEN` connects while it sends, past every check of `connect`. The answer is the kernel's own when the
/// feature is off, so programs then connect first and send.
const FAST_OPEN: Test = Test::AnyBit(0x2000_0000);

/// `sendto` and `sendmmsg`: the flags are argument 3.
pub(super) static SEND: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(3, FAST_OPEN)],
        then: errno(libc::EOPNOTSUPP),
    }],
    otherwise: Action::Allow,
};

/// `sendmsg`: the flags are argument 2.
pub(super) static SEND_MESSAGE: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(2, FAST_OPEN)],
        then: errno(libc::EOPNOTSUPP),
    }],
    otherwise: Action::Allow,
};

/// `SOL_SOCKET`. No filters (`SO_ATTACH_*`), no marks, no other device. Read-only options are listed if they join two
/// ranges: the kernel refuses to set them.
const SOCKET_OPTIONS: &[u32] = &[
    2, 3, 4, 5, 6, 7, 8, // SO_REUSEADDR (TYPE ERROR) DONTROUTE BROADCAST SNDBUF RCVBUF
    9, 10, 11, 12, 13, 14, // SO_KEEPALIVE OOBINLINE NO_CHECK PRIORITY LINGER BSDCOMPAT
    15, 16, 17, 18, 19, 20, 21, // SO_REUSEPORT PASSCRED (PEERCRED) RCVLOWAT SNDLOWAT RCVTIMEO SNDTIMEO
    29, // SO_TIMESTAMP
    34, 35, // SO_PASSSEC TIMESTAMPNS
    37, 38, 39, 40, 41, 42, // SO_TIMESTAMPING (PROTOCOL DOMAIN) RXQ_OVFL WIFI_STATUS PEEK_OFF
    60, // SO_ZEROCOPY
    63, 64, 65, 66, 67, // SO_TIMESTAMP_NEW to SO_SNDTIMEO_NEW
];

/// `IPPROTO_TCP`. Not `TCP_REPAIR`, `TCP_ULP`, `TCP_MD5SIG` and the two `TCP_FASTOPEN`.
const TCP_OPTIONS: &[u32] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, // TCP_NODELAY to TCP_WINDOW_CLAMP
    11, 12, 13, // (TCP_INFO) QUICKACK CONGESTION
    18, 25, // TCP_USER_TIMEOUT NOTSENT_LOWAT
];

/// `IPPROTO_UDP`, as QUIC uses it.
const UDP_OPTIONS: &[u32] = &[
    103, 104, // UDP_SEGMENT GRO
];

/// `IPPROTO_IP`. Not `IP_HDRINCL`, `IP_OPTIONS` (source routes) and `IP_TRANSPARENT`.
const IP_OPTIONS: &[u32] = &[
    1, 2, // IP_TOS TTL
    6, 7, 8, 9, 10, 11, // IP_RECVOPTS RETOPTS PKTINFO (PKTOPTIONS) MTU_DISCOVER RECVERR
    12, 13, 14, 15, // IP_RECVTTL RECVTOS (MTU) FREEBIND
    24, // IP_BIND_ADDRESS_NO_PORT
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, // IP_MULTICAST_IF to IP_MSFILTER
    42, 43, 44, 45, 46, 47, 48, // MCAST_JOIN_GROUP to MCAST_MSFILTER
    49, 50, 51, // IP_MULTICAST_ALL UNICAST_IF LOCAL_PORT_RANGE
];

/// The same without multicast memberships, which are announced to the local network, and without the choice of a port
/// (`IP_LOCAL_PORT_RANGE`), which is the kernel's. Java sets multicast sending and receiving options on each datagram socket.
const IP_OPTIONS_OF_STREAMS: &[u32] = &[
    1, 2, // IP_TOS TTL
    6, 7, 8, 9, 10, 11, // IP_RECVOPTS RETOPTS PKTINFO (PKTOPTIONS) MTU_DISCOVER RECVERR
    12, 13, 14, 15, // IP_RECVTTL RECVTOS (MTU) FREEBIND
    24, // IP_BIND_ADDRESS_NO_PORT
    33, 34, 49, // IP_MULTICAST_TTL LOOP ALL
];

/// Like [`IP_OPTIONS_OF_STREAMS`].
const IPV6_OPTIONS_OF_STREAMS: &[u32] = &[
    16, 18, 19, // IPV6_UNICAST_HOPS MULTICAST_HOPS LOOP
    23, 24, 25, 26, // IPV6_MTU_DISCOVER MTU RECVERR V6ONLY
    29, // IPV6_MULTICAST_ALL
    49, 50, 51, 52, // IPV6_RECVPKTINFO PKTINFO RECVHOPLIMIT HOPLIMIT
    62, 66, 67, 72, // IPV6_DONTFRAG RECVTCLASS TCLASS ADDR_PREFERENCES
];

/// `IPPROTO_IPV6`. Not `IPV6_ADDRFORM` and the extension headers; `IPV6_ROUTER_ALERT` (22) works on raw sockets alone.
const IPV6_OPTIONS: &[u32] = &[
    16, 17, 18, 19, 20, 21, // IPV6_UNICAST_HOPS to IPV6_LEAVE_GROUP
    22, 23, 24, 25, 26, // (IPV6_ROUTER_ALERT) MTU_DISCOVER MTU RECVERR V6ONLY
    29, // IPV6_MULTICAST_ALL
    42, 43, 44, 45, 46, 47, 48, // MCAST_JOIN_GROUP to MCAST_MSFILTER
    49, 50, 51, 52, // IPV6_RECVPKTINFO PKTINFO RECVHOPLIMIT HOPLIMIT
    62, 66, 67, 72, // IPV6_DONTFRAG RECVTCLASS TCLASS ADDR_PREFERENCES
];

/// The options of one level.
macro_rules! level {
    ($level:expr, $options:expr) => {
        Case {
            when: &[
                Condition::low(1, Test::Equals($level as u32)),
                Condition::low(2, Test::OneOf($options)),
            ],
            then: Action::Allow,
        }
    };
}

/// Levels at which a unix socket has no options.
const LEVELS_OF_TCP: &[u32] = &[libc::IPPROTO_TCP as u32, libc::IPPROTO_IPV6 as u32];

const UNIX_OPTION: Case = level!(libc::SOL_SOCKET, SOCKET_OPTIONS);

/// Success without effect.
const DONE: Action = errno(0);

static UNIX_OPTIONS: Verdict = Verdict {
    cases: &[UNIX_OPTION],
    otherwise: errno(libc::ENOPROTOOPT),
};

/// Programs set a TCP socket up before they connect it; on the stand-in these options have no effect.
pub(super) static STAND_IN_OPTIONS: Verdict = Verdict {
    cases: &[
        Case {
            when: &[
                Condition::low(1, Test::Equals(libc::SOL_SOCKET as u32)),
                Condition::low(2, Test::Equals(libc::SO_REUSEPORT as u32)),
            ],
            then: DONE,
        },
        UNIX_OPTION,
        Case {
            when: &[Condition::low(1, Test::OneOf(LEVELS_OF_TCP))],
            then: DONE,
        },
    ],
    otherwise: errno(libc::ENOPROTOOPT),
};

static HOSTS_OPTIONS: Verdict = Verdict {
    cases: &[
        level!(libc::SOL_SOCKET, SOCKET_OPTIONS),
        level!(libc::IPPROTO_TCP, TCP_OPTIONS),
        level!(libc::IPPROTO_IP, IP_OPTIONS_OF_STREAMS),
        level!(libc::IPPROTO_IPV6, IPV6_OPTIONS_OF_STREAMS),
    ],
    otherwise: errno(libc::ENOPROTOOPT),
};

static NETWORK_OPTIONS: Verdict = Verdict {
    cases: &[
        level!(libc::SOL_SOCKET, SOCKET_OPTIONS),
        level!(libc::IPPROTO_TCP, TCP_OPTIONS),
        level!(libc::IPPROTO_IP, IP_OPTIONS),
        level!(libc::IPPROTO_IPV6, IPV6_OPTIONS),
        level!(libc::IPPROTO_UDP, UDP_OPTIONS),
    ],
    otherwise: errno(libc::ENOPROTOOPT),
};
