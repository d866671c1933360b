//! Granted names that lead to addresses of the own machine, of the own network, or of the cloud's credentials.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use crate::network::net::Net;
use crate::network::servers::{Witness, address};

const ADDRESSES: &[&str] = &[
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "169.254.1.1",
    "0.0.0.0",
    "255.255.255.255",
    "224.0.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "127.0.0.1",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.1.2.3",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::1",
    "fd00:ec2::254",
    "fd12:3456::1",
    "fe80::1",
    "ff02::1",
];

// promise: network.11
#[test]
fn names_that_lead_to_special_addresses_are_refused() {
    let mut net = Net::new();
    net.host("*.shop.test:8080");
    for (number, ip) in ADDRESSES.iter().enumerate() {
        net.names.lead(&format!("n{number}.shop.test"), ip.parse().unwrap());
    }
    let code = format!(
        "import errno, socket\n\
         for number in range({}):\n  \
           try:\n    \
             for family, kind, _, _, address in socket.getaddrinfo('n%d.shop.test' % number, 8080, type=1):\n      \
               s = socket.socket(family, kind); s.settimeout(None); s.connect(address); print(number, 'reached')\n  \
           except socket.gaierror: print(number, 'EACCES')\n  \
           except OSError as error: print(number, errno.errorcode[error.errno])",
        ADDRESSES.len()
    );
    let begun = Instant::now();
    let ran = net.python(&code);
    let wanted: String = (0..ADDRESSES.len())
        .map(|number| format!("{number} EACCES\n"))
        .collect();
    assert_eq!(ran.stdout(), wanted, "{}", ran.told());
    assert!(begun.elapsed() < Duration::from_secs(60), "something was tried");
    ran.was_refused("connect", "n0.shop.test:8080", &[]);
}

/// With servers at the addresses, and ports without and with a number in the grant.
#[test]
fn names_that_lead_to_this_machine_reach_no_one() {
    for ip in [address(), IpAddr::V4([127, 0, 0, 1].into()), "::1".parse().unwrap()] {
        let Some(witness) = Witness::at(ip, 0) else {
            continue;
        };
        let mut net = Net::new();
        net.host(&format!("home.shop.test:{}", witness.address.port()))
            .host("home.shop.test");
        net.names.lead("home.shop.test", ip);
        let code = format!(
            "import select, socket\n\
             for timeout in None, 5:\n  \
               try: s = socket.create_connection(('home.shop.test', {}), timeout); s.sendall(b'x'); print(s.recv(1))\n  \
               except OSError: print('refused')",
            witness.address.port()
        );
        let ran = net.python(&code);
        let nothing = ran.stdout().lines().all(|line| ["refused", "b''"].contains(&line));
        assert!(nothing && ran.finished.status.success(), "{}", ran.told());
        witness.saw_none();
        let target = format!("home.shop.test:{}", witness.address.port());
        ran.was_refused("connect", &target, &[]);
    }
}

/// A pattern for any host opens no special address.
// promise: network.11
#[test]
fn a_wide_pattern_opens_no_special_address() {
    let witness = Witness::new();
    let port = witness.address.port();
    let mut net = Net::new();
    net.host(&format!("*.test:{port}")).host(&format!("0.0.0.0/0:{port}"));
    net.names.lead("home.shop.test", [169, 254, 169, 254].into());
    let code = format!(
        "import errno, socket\n\
         for host in 'home.shop.test', '169.254.169.254', '::ffff:169.254.169.254':\n  \
           try: socket.create_connection((host, {port}), 5); print('reached')\n  \
           except OSError as error: print(errno.errorcode.get(error.errno, error))"
    );
    net.python(&code).prints("EACCES\nEACCES\nEACCES\n");
}
