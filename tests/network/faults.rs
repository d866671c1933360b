//! A panic in the relay or in a name lookup costs one connection or one name.

use serde_json::json;

use crate::common::{PANIC, injects_panics};
use crate::network::net::{Net, outcome};
use crate::network::servers::Streams;

/// Speaks to both hosts, twice.
const BOTH: &str = "import socket\n\
    for name in (BOOM, OTHER, BOOM, OTHER):\n  \
      try:\n    \
        s = socket.create_connection((name, PORT), 30); s.settimeout(30)\n    \
        s.sendall(b'ping'); print(s.recv(4).decode() or 'end')\n  \
      except TimeoutError: print('hangs')\n  \
      except OSError: print('fails')";

/// In `point` there's a panic for one of two hosts, which the report says of `part`.
fn costs_one_host(point: &str, part: &str, hosts: [&str; 2]) {
    let echo = Streams::echo();
    let port = echo.address.port();
    let mut net = Net::new();
    net.host(&format!("boom.shop.test:{port}"))
        .host(&format!("api.shop.test:{port}"))
        .host(&format!("*.wild.test:{port}"))
        .host(&echo.address.to_string());
    hosts.iter().for_each(|name| net.names.lead(name, echo.address.ip()));
    let [boom, other] = hosts;
    let code = format!("PORT, BOOM, OTHER = {port}, '{boom}', '{other}'\n{BOTH}");
    let run = net
        .run("minimal")
        .variable(PANIC, format!("{point}:boom"))
        .python(&code);
    let ended = outcome(run);
    ended.prints("fails\nping\nfails\nping\n");
    let (told, fault) = (ended.told(), &ended.report["faults"][0]);
    assert_eq!(fault["part"], json!(part), "{told}");
    assert!(
        fault["message"].as_str().unwrap().starts_with("injected at `"),
        "{told}"
    );
    assert!(ended.stderr().contains("stockade: internal error in "), "{told}");
}

#[test]
fn a_panic_in_the_relay_resets_one_connection() {
    if injects_panics() {
        costs_one_host("relay", "relay", ["boom.shop.test", "api.shop.test"]);
    }
}

#[test]
fn a_panic_in_a_lookup_is_a_name_that_was_not_found() {
    if injects_panics() {
        costs_one_host("lookup", "names", ["boom.shop.test", "api.shop.test"]);
    }
}

#[test]
fn a_panic_in_the_dns_server_is_a_name_that_was_not_found() {
    if injects_panics() {
        costs_one_host("names", "names", ["boom.wild.test", "api.wild.test"]);
    }
}
