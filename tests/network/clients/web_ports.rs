//! Hosts granted without a port: 80 and 443, which mostly only root can serve.

use super::{Client, GRANTED, OTHER};
use crate::common::python;
use crate::network::built::installed;
use crate::network::net::{Net, outcome};
use crate::network::servers::{Authority, Http, Secure, address, web_listener};

fn clients() -> Vec<Vec<&'static str>> {
    vec![
        vec!["curl", "-sS", "--max-time", "60"],
        vec![
            python(),
            "-I",
            "-c",
            "import sys, urllib.request as r; sys.stdout.write(r.urlopen(sys.argv[1], timeout=60).read().decode())",
        ],
        vec![
            "node",
            "-e",
            "const url = process.argv.at(-1);
             require(url.split(':')[0]).get(url, (answer) => answer.pipe(process.stdout))",
            "--",
        ],
    ]
}

#[test]
fn clients_reach_port_80_of_a_host() {
    let Some(listener) = web_listener(80) else {
        return;
    };
    let shop = Http::at(listener);
    let mut net = Net::new();
    net.grant_web(GRANTED, shop.address);
    for command in clients() {
        if installed(&command[..1]) {
            let client = Client::new(command);
            client
                .fetch(&net, &format!("http://{GRANTED}/hello"))
                .prints(Http::HELLO)
                .was_refused_nothing();
        }
    }
    assert!(shop.hosts().iter().all(|host| host == GRANTED), "{:?}", shop.hosts());
}

#[test]
fn clients_reach_port_443_of_a_host() {
    if !installed(&["openssl"]) {
        return;
    }
    let authority = Authority::new();
    let Some(shop) = Secure::new(&authority, &[GRANTED, OTHER], address(), 443) else {
        return;
    };
    let mut net = Net::new();
    net.grant_web(GRANTED, shop.address);
    for flag in authority.flags() {
        net.flag([flag.as_str()]);
    }
    for command in clients() {
        if installed(&command[..1]) {
            let client = Client::new(command);
            client
                .fetch(&net, &format!("https://{GRANTED}/hello"))
                .prints(Http::HELLO)
                .was_refused_nothing();
        }
    }
    assert!(shop.has_seen(&format!("host {GRANTED}")), "{:?}", shop.lines());
}

#[test]
fn the_hosts_of_network_api_are_reached_without_a_flag() {
    let Some(listener) = web_listener(80).filter(|_| installed(&["curl"])) else {
        return;
    };
    let shop = Http::at(listener);
    let mut net = Net::new();
    net.host(&shop.address.to_string());
    net.names.lead(GRANTED, shop.address.ip());
    net.names.lead(OTHER, shop.address.ip());
    let fetch = |name: &str| {
        outcome(
            net.run("network-api")
                .command(["curl", "-sS", &format!("http://{name}/hello")]),
        )
    };
    fetch(GRANTED).prints(Http::HELLO).was_refused_nothing();
    fetch(OTHER).was_refused("resolve", OTHER, &["--host", OTHER]);
    assert_eq!(shop.hosts(), [GRANTED]);
}

#[test]
fn http2_is_spoken_on_port_443() {
    if !installed(&["openssl", "node", "curl"]) {
        return;
    }
    let authority = Authority::new();
    let Some(shop) = Secure::http2(&authority, &[GRANTED], address(), 443) else {
        return;
    };
    let mut net = Net::new();
    net.grant_web(GRANTED, shop.address);
    for flag in authority.flags() {
        net.flag([flag.as_str()]);
    }
    let words = [
        "curl",
        "-sS",
        "--http2",
        "-w",
        "%{http_version}\n",
        &format!("https://{GRANTED}/[1-20]"),
    ];
    let ran = outcome(net.run("minimal").command(words));
    ran.prints(&format!("{}2\n", Http::HELLO).repeat(20));
    assert_eq!(shop.lines().iter().filter(|line| *line == "connected").count(), 1);
}

#[test]
fn a_port_that_is_not_granted_is_refused_and_named() {
    let shop = Http::new();
    let mut net = Net::new();
    net.host(GRANTED);
    net.names.lead(GRANTED, shop.address.ip());
    let code = format!(
        "import socket, errno\n\
         try: socket.create_connection(('{GRANTED}', {}))\n\
         except OSError as error: print(errno.errorcode[error.errno])",
        shop.port()
    );
    let target = format!("{GRANTED}:{}", shop.port());
    let ran = net.python(&code);
    ran.prints("EACCES\n")
        .was_refused("connect", &target, &["--host", &target]);
}
