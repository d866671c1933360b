//! Names, as libraries look them up.

use std::net::IpAddr;

use crate::network::net::Net;
use crate::network::servers::{Answer, Streams, address};

#[test]
fn every_way_to_look_a_name_up_works() {
    let mut net = Net::new();
    net.host("api.shop.test:80").host("*.wide.test:80");
    for name in ["api.shop.test", "www.wide.test"] {
        net.names.lead(name, address());
    }
    let code = "import socket\n\
        for name in 'api.shop.test', 'www.wide.test':\n  \
          print(socket.gethostbyname(name) != '', socket.gethostbyname_ex(name)[2] != [])\n  \
          for flags in 0, socket.AI_ADDRCONFIG, socket.AI_CANONNAME, socket.AI_V4MAPPED | socket.AI_ADDRCONFIG:\n    \
            for family in socket.AF_UNSPEC, socket.AF_INET:\n      \
              found = socket.getaddrinfo(name, 80, family, socket.SOCK_STREAM, 0, flags); assert found, (name, flags, family)\n  \
          assert socket.getaddrinfo(name, 'http')[0][4][1] == 80\n  \
          assert socket.gethostbyname(name.upper()) == socket.gethostbyname(name) == socket.gethostbyname(name + '.')\n\
        assert socket.gethostbyname('localhost') == '127.0.0.1'\n\
        print(socket.gethostbyname('api.shop.test') != socket.gethostbyname('www.wide.test'))\n";
    net.python(code)
        .prints("True True\nTrue True\nTrue\n")
        .was_refused_nothing();
}

/// What the run sees of them, and no address from outside.
#[test]
fn addresses_are_made_up() {
    let ip: IpAddr = address();
    let mut net = Net::new();
    net.host("*.shop.test:80");
    net.names.lead("api.shop.test", ip);
    let code = "import ipaddress, socket\n\
        a = ipaddress.ip_address(socket.gethostbyname('api.shop.test'))\n\
        print(a in ipaddress.ip_network('198.18.0.0/15'), a == ipaddress.ip_address(socket.gethostbyname('api.shop.test')))\n\
        print('198.18.0.1' in open('/etc/resolv.conf').read(), 'use-vc' in open('/etc/resolv.conf').read())\n";
    net.python(code).prints("True True\nTrue True\n");
}

#[test]
fn aliases_and_truncated_answers_are_followed() {
    let echo = Streams::echo();
    let port = echo.address.port();
    let mut net = Net::new();
    net.host(&echo.address.to_string()).host(&format!("*.shop.test:{port}"));
    net.names.lead("real.elsewhere.test", echo.address.ip());
    net.names
        .answer("one.shop.test", Answer::Alias("two.elsewhere.test".into()));
    net.names
        .answer("two.elsewhere.test", Answer::Alias("real.elsewhere.test".into()));
    net.names
        .answer("large.shop.test", Answer::StreamOnly(echo.address.ip()));
    net.names
        .answer("loop.shop.test", Answer::Alias("loop.shop.test".into()));
    let code = format!(
        "import socket\n\
         for name in 'one.shop.test', 'large.shop.test':\n  \
           try: s = socket.create_connection((name, {port}), 30); s.sendall(b'x'); print(s.recv(1))\n  \
           except OSError: print('failed')"
    );
    net.python(&code).prints("b'x'\nb'x'\n");
}

/// The run's files name no server of the machine's.
#[test]
fn the_machines_configuration_is_not_seen() {
    let mut net = Net::new();
    net.host("api.shop.test:80");
    let code = "for name in 'resolv.conf', 'hosts', 'nsswitch.conf': print(open('/etc/' + name).read())";
    let ran = net.python(code);
    let said = ran.stdout();
    assert!(
        said.contains("nameserver 198.18.0.1") && said.contains("api.shop.test"),
        "{}",
        ran.told()
    );
    let foreign = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    for server in foreign.lines().filter_map(|line| line.strip_prefix("nameserver ")) {
        assert!(!said.contains(server.trim()), "{server}\n{}", ran.told());
    }
}

/// Nothing is written, should it be opened after all: as root these are the machine's own files.
#[test]
fn the_configuration_cannot_be_opened_for_writing() {
    let mut net = Net::new();
    net.host("api.shop.test:80");
    let code = "import os\n\
        for name in 'resolv.conf', 'hosts', 'nsswitch.conf':\n  \
          for flags in os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND:\n    \
            try: os.open('/etc/' + name, flags); print('opened')\n    \
            except OSError: pass\n\
        print('tried')";
    net.python(code).prints("tried\n");
}

/// A list that grants a name asks for it outside, and never for more than that.
#[test]
fn a_name_with_one_family_has_one() {
    let mut net = Net::new();
    net.host("*.shop.test:80");
    net.names.lead("four.shop.test", address());
    net.names.lead("six.shop.test", "2001:db8::1".parse().unwrap());
    let code = "import socket\n\
        def families(name): return sorted({a[0].name for a in socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)})\n\
        print(families('four.shop.test'), families('six.shop.test'))";
    net.python(code).prints("['AF_INET'] ['AF_INET6']\n");
}
