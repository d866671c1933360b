//! What a pattern of hosts lets through, and what it doesn't.

use crate::common::run;
use crate::network::net::Net;
use crate::network::servers::{Streams, Witness};

/// Which of some hosts answer under a pattern; `@P` is the server's port.
fn reached(patterns: &[&str], hosts: &[&str]) -> String {
    let echo = Streams::echo();
    let port = echo.address.port().to_string();
    let mut net = Net::new();
    net.host(&echo.address.to_string());
    for pattern in patterns {
        net.host(
            &pattern
                .replace("@P", &port)
                .replace("@A", &echo.address.ip().to_string()),
        );
    }
    net.names.answer(
        "*.test",
        crate::network::servers::Answer::Addresses(vec![echo.address.ip()]),
    );
    let hosts: Vec<String> = hosts
        .iter()
        .map(|host| host.replace("@A", &echo.address.ip().to_string()))
        .collect();
    let code = format!(
        "import socket\n\
         for host in {hosts:?}:\n  \
           try: s = socket.create_connection((host, {port}), 20); s.sendall(b'x'); s.recv(1); print(host)\n  \
           except (OSError, UnicodeError): pass"
    );
    let ran = net.python(&code);
    assert!(ran.finished.status.success(), "{}", ran.told());
    ran.stdout().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_exact_name_in_any_writing() {
    let hosts = [
        "api.shop.test",
        "API.Shop.TEST",
        "api.shop.test.",
        "xapi.shop.test",
        "www.api.shop.test",
        "shop.test",
    ];
    for pattern in ["api.shop.test:@P", "API.shop.Test:@P", "api.shop.test.:@P"] {
        assert_eq!(
            reached(&[pattern], &hosts),
            "api.shop.test API.Shop.TEST api.shop.test.",
            "{pattern}"
        );
    }
}

#[test]
fn all_names_below_one() {
    let hosts = ["a.shop.test", "b.a.shop.test", "xshop.test", "a.shop.test.evil.test"];
    assert_eq!(reached(&["*.shop.test:@P"], &hosts), "a.shop.test b.a.shop.test");
}

#[test]
fn all_names_that_begin_so() {
    let hosts = [
        "api.shop.test",
        "api.other.test",
        "xapi.shop.test",
        "apix.shop.test",
        "www.api.test",
    ];
    assert_eq!(reached(&["api.*:@P"], &hosts), "api.shop.test api.other.test");
}

#[test]
fn international_names() {
    let hosts = ["xn--bcher-kva.test", "bücher.test", "bucher.test"];
    for pattern in ["bücher.test:@P", "xn--bcher-kva.test:@P", "BÜCHER.test:@P"] {
        assert_eq!(
            reached(&[pattern], &hosts),
            "xn--bcher-kva.test bücher.test",
            "{pattern}"
        );
    }
}

#[test]
fn addresses_ranges_and_this_machine() {
    let witness = Witness::at([127, 0, 0, 1].into(), 0).unwrap();
    let port = witness.address.port();
    let tries = |pattern: &str, host: &str| {
        let mut net = Net::new();
        net.host(&pattern.replace("@P", &port.to_string()));
        let code = format!(
            "import socket\n\
             try: socket.create_connection(('{host}', {port}), 20); print('reached')\n\
             except OSError: print('refused')"
        );
        net.python(&code).stdout()
    };
    assert_eq!(tries("127.0.0.1:@P", "127.0.0.1"), "reached\n");
    assert_eq!(tries("127.0.0.1:@P", "::ffff:127.0.0.1"), "reached\n");
    assert_eq!(tries("[::ffff:127.0.0.1]:@P", "127.0.0.1"), "reached\n");
    assert_eq!(tries("127.0.0.0/8:@P", "127.0.0.1"), "reached\n");
    assert_eq!(tries("localhost:@P", "localhost"), "reached\n");
    assert_eq!(tries("localhost:@P", "127.0.0.1"), "reached\n");
    assert_eq!(tries("localhost:1", "127.0.0.1"), "refused\n");
    assert_eq!(tries("127.0.0.2:@P", "127.0.0.1"), "refused\n");
    assert_eq!(tries("128.0.0.0/8:@P", "127.0.0.1"), "refused\n");
    assert_eq!(tries("127.0.0.1", "127.0.0.1"), "refused\n");
}

#[test]
fn a_refused_loopback_port_is_called_localhost() {
    let witness = Witness::at([127, 0, 0, 1].into(), 0).unwrap();
    let mut net = Net::new();
    net.host("api.shop.test");
    let code = format!(
        "import socket\n\
         try: socket.create_connection(('127.0.0.1', {0}))\n\
         except PermissionError: print('refused')",
        witness.address.port()
    );
    let ran = net.python(&code);
    ran.prints("refused\n");
    let grant = format!("localhost:{}", witness.address.port());
    ran.was_refused("connect", &witness.address.to_string(), &["--host", &grant]);
}

#[test]
fn ranges_of_ports() {
    let echo = Streams::echo();
    let port = echo.address.port();
    for (ports, answer) in [
        (format!("{}-{}", port - 1, port + 1), "b'x'\n"),
        (format!("{}-{}", port - 2, port - 1), "refused\n"),
    ] {
        let mut net = Net::new();
        net.names.lead("api.shop.test", echo.address.ip());
        net.host(&format!("api.shop.test:{ports}"))
            .host(&echo.address.to_string());
        let code = format!(
            "import socket\n\
             try: s = socket.create_connection(('api.shop.test', {port}), 20); s.sendall(b'x'); print(s.recv(1))\n\
             except PermissionError: print('refused')"
        );
        net.python(&code).prints(answer);
    }
}

#[test]
fn a_pattern_that_is_none_is_refused_at_the_start() {
    for pattern in [
        "",
        "http://api.shop.test",
        "api.shop.test/path",
        "a b",
        "api..test",
        "*.*.test",
        "a*.test",
        "api.test:0",
        "api.test:65536",
        "api.test:9-1",
        "api.test:",
        "10.0.0.0/33",
        "user@api.test",
        "api.test:80:90",
    ] {
        let ran = run().flags(["--host", pattern]).status(125).stderr_has("--host").ends();
        assert_eq!(ran.stdout(), "", "{pattern}");
    }
}
