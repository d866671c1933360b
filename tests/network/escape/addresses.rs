//! Addresses that nothing grants, in every form that a program can write them.

use std::net::{IpAddr, Ipv6Addr};

use super::attack::{Attack, NAME};
use crate::common::skipped;
use crate::network::built::installed;
use crate::network::net::outcome;
use crate::network::servers::{Http, Witness, address};

// promise: network.4
#[test]
fn a_literal_address() {
    Attack::new().fails(
        &[
            "socket.create_connection(W)",
            "of(HOST).connect(W)",
            "connect(of(HOST), sockaddr(*W))",
            "connect(of(HOST), sockaddr(*W), 16 | 1 << 32)",
            "connect(of(HOST), sockaddr(*W) + bytes(112))",
            "s = of(HOST); connect(s.fileno() | 1 << 32, sockaddr(*W))",
            "begun(of(HOST), W)",
            "socket.socket(socket.AF_INET, TCP | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC).connect_ex(W) in (0, 115) \
             or connect(of(HOST), sockaddr(*W))",
            "s = of(HOST); d = os.dup(s.fileno()); s.close(); connect(d, sockaddr(*W))",
            "t = threading.Thread(target=lambda: connect(of(HOST), sockaddr(*W))); s = of(HOST); connect(s, sockaddr(*W))",
            "import asyncio; asyncio.run(asyncio.open_connection(*W))",
        ],
        "EACCES",
    );
}

#[test]
fn numbers_that_libraries_take_for_addresses() {
    let number = "n = int.from_bytes(socket.inet_aton(HOST), 'big')";
    Attack::new().fails(
        &[
            &format!("{number}; socket.create_connection((str(n), PORT))"),
            &format!("{number}; socket.create_connection((hex(n), PORT))"),
            "socket.create_connection(('.'.join('0%o' % int(x) for x in HOST.split('.')), PORT))",
            "socket.create_connection(('.'.join(hex(int(x)) for x in HOST.split('.')), PORT))",
            &format!("{number}; socket.create_connection(('127.%d' % (n & 0xffffff), PORT))"),
            "socket.create_connection((socket.gethostbyname(HOST), PORT))",
        ],
        "EACCES",
    );
}

// promise: network.4
#[test]
fn ipv4_inside_ipv6() {
    let witness = Witness::new();
    Attack::on(witness).fails(
        &[
            "?socket.create_connection(('::ffff:' + HOST, PORT))",
            "?connect(socket.socket(socket.AF_INET6), sockaddr('::ffff:' + HOST, PORT))",
            "?connect(socket.socket(socket.AF_INET6), sockaddr('::ffff:' + HOST, PORT), 24)",
            "?begun(socket.socket(socket.AF_INET6), ('::ffff:' + HOST, PORT))",
        ],
        "EACCES",
    );
}

#[test]
fn the_loopback_address_of_ipv6() {
    let Some(witness) = Witness::at(Ipv6Addr::LOCALHOST.into(), 0) else {
        return skipped("there's no IPv6 here");
    };
    Attack::on(witness).fails(
        &[
            "socket.create_connection(W)",
            "connect(of(HOST), sockaddr(*W))",
            "connect(of(HOST), sockaddr(*W), 24)",
            "connect(of(HOST), sockaddr(*W) + bytes(100))",
            "begun(of(HOST), W)",
            "?connect(of(HOST), sockaddr('::', PORT))",
        ],
        "EACCES",
    );
}

#[test]
fn no_address_is_this_machine() {
    let localhost: IpAddr = [127, 0, 0, 1].into();
    let witness = Witness::at(localhost, 0).unwrap();
    Attack::on(witness).fails(
        &[
            "socket.create_connection(('0.0.0.0', PORT))",
            "socket.create_connection(('0', PORT))",
            "connect(of(HOST), sockaddr('0.0.0.0', PORT))",
            "socket.create_connection(('localhost', PORT))",
            "socket.create_connection(('127.1', PORT))",
            "socket.create_connection(('2130706433', PORT))",
            "socket.create_connection(('017700000001', PORT))",
            "?socket.create_connection(('::ffff:0:0', PORT))",
            "?socket.create_connection((socket.gethostname(), PORT))",
        ],
        // Whatever the run's names lead to. A machine's own name needn't be known in it.
        "EACCES|[Errno -2] Name or service not known|ENETUNREACH|-2",
    );
}

// promise: network.5
#[test]
fn another_port_of_what_is_granted() {
    // The witness listens at the granted address.
    let attack = Attack::new();
    let witness = Witness::at(attack.granted.address.ip(), 0).unwrap();
    let attack = Attack { witness, ..attack };
    attack.fails(
        &[
            "socket.create_connection((GRANTED[0], PORT))",
            "socket.create_connection(W)",
            "begun(of(HOST), W)",
            "import asyncio; asyncio.run(asyncio.open_connection(GRANTED[0], PORT))",
            // From the granted connection's own address, whatever that is in the run.
            "s = socket.create_connection(GRANTED); socket.create_connection((s.getpeername()[0], PORT))",
        ],
        "EACCES",
    );
    attack.works(&[
        "echoes(socket.create_connection(GRANTED))",
        "echoes(socket.create_connection(LITERAL))",
    ]);
}

#[test]
fn curl_takes_no_form_of_an_address() {
    if !installed(&["curl"]) {
        return;
    }
    let (granted, other) = (Http::new(), Http::new());
    let mut net = crate::network::net::Net::new();
    net.grant(NAME, granted.address);
    let IpAddr::V4(ip) = other.address.ip() else {
        unreachable!()
    };
    let [a, b, c, d] = ip.octets();
    let forms = [
        ip.to_string(),
        ip.to_bits().to_string(),
        format!("0x{:x}", ip.to_bits()),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a}.{}", ip.to_bits() & 0xff_ffff),
        format!("[::ffff:{ip}]"),
    ];
    for form in forms {
        let url = format!("http://{form}:{}/{form}", other.port());
        let words = ["curl", "-sS", "-g", "--max-time", "20", &url];
        let free = crate::common::finish(std::process::Command::new(words[0]).args(&words[1..]), b"");
        assert_eq!(free.stdout(), Http::HELLO, "unconfined {url}: {}", free.stderr());
        let seen = other.requests().len();
        let ran = outcome(net.run("minimal").command(words));
        assert_eq!(ran.finished.status.code(), Some(7), "{}", ran.told());
        assert_eq!(other.requests().len(), seen, "{url} was reached");
        ran.was_refused("connect", &other.address.to_string(), &[]);
    }
    // A name that is granted, and an address that isn't, given by the program itself.
    let resolve = format!("{NAME}:{}:{ip}", other.port());
    let url = format!("http://{NAME}:{}/", other.port());
    let ran = outcome(net.run("minimal").command(["curl", "-sS", "--resolve", &resolve, &url]));
    assert_eq!(ran.finished.status.code(), Some(7), "{}", ran.told());
}

#[test]
fn a_range_of_addresses_ends_where_it_ends() {
    let attack = Attack::new();
    let mut net = crate::network::net::Net::new();
    // The granted address alone, as a range of one.
    net.host(&format!(
        "{}/32:{}",
        attack.granted.address.ip(),
        attack.granted.address.port()
    ));
    net.names.lead(NAME, attack.granted.address.ip());
    let attack = Attack { net, ..attack };
    attack.works(&["echoes(socket.create_connection(LITERAL))"]);
    attack.fails(
        &[
            "socket.create_connection(W)",
            "socket.create_connection((LITERAL[0], PORT)) if HOST == LITERAL[0] \
         else socket.create_connection(W)",
        ],
        "EACCES",
    );
}

/// Of an address that names none the kernel makes the one that the socket is bound to.
#[test]
fn no_address_from_a_bound_source() {
    let witness = Witness::at(address(), 0).unwrap();
    let port = witness.address.port();
    let mut attack = Attack::on(witness);
    attack.net.host(&format!("localhost:{port}"));
    attack.fails(
        &[
            "s = socket.socket(); s.bind((HOST, 0)); s.connect(('0.0.0.0', PORT)); s.send(b'x')",
            "s = socket.socket(socket.AF_INET6); s.bind(('::ffff:' + HOST, 0)); s.connect(('::ffff:0.0.0.0', PORT)); \
             s.send(b'x')",
        ],
        "ECONNREFUSED",
    );
}
