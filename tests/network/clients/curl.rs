//! curl.

use std::time::Duration;

use super::Client;
use crate::common::until;
use crate::network::built::installed;
use crate::network::net::{Net, outcome, outcome_of};
use crate::network::servers::{Http, Streams, checksum, pattern};

fn curl() -> Client {
    Client::new(["curl", "-sS", "--max-time", "60"]).complains("Could not resolve host: other.shop.test")
}

#[test]
fn curl_reaches_what_is_granted() {
    if installed(&["curl"]) {
        curl().reaches_what_is_granted();
    }
}

#[test]
fn curl_reaches_what_is_granted_by_tls() {
    if installed(&["curl"]) {
        curl().reaches_what_is_granted_by_tls();
    }
}

#[test]
fn curl_works_under_every_profile_that_is_given_a_host() {
    if installed(&["curl"]) {
        for profile in ["network-api", "readonly", "filesystem", "workspace"] {
            curl().profile(profile).reaches_what_is_granted();
        }
    }
}

#[test]
fn curl_keeps_a_connection_for_many_requests() {
    if !installed(&["curl"]) {
        return;
    }
    let shop = Http::new();
    let mut net = Net::new();
    net.grant("api.shop.test", shop.address);
    let url = format!("http://api.shop.test:{}/[1-50]", shop.port());
    let ran = outcome(
        net.run("minimal")
            .command(["curl", "-sS", "-w", "%{num_connects} ", "-o", "/dev/null", &url]),
    );
    ran.prints(&format!("1 {}", "0 ".repeat(49)));
    assert_eq!(shop.requests().len(), 50);
}

#[test]
fn curl_moves_large_files_both_ways() {
    if !installed(&["curl"]) {
        return;
    }
    const LENGTH: usize = 50 << 20;
    let shop = Http::new();
    let mut net = Net::new();
    net.grant("api.shop.test", shop.address);
    let url = |path: &str| format!("http://api.shop.test:{}{path}", shop.port());
    let content = pattern(LENGTH);

    let ran = outcome(
        net.run("minimal")
            .command(["curl", "-sS", &url(&format!("/bytes/{LENGTH}"))]),
    );
    assert!(
        ran.finished.stdout == content,
        "{} bytes: {}",
        ran.finished.stdout.len(),
        ran.stderr()
    );

    let upload = ["curl", "-sS", "-T", "-", "-X", "POST", &url("/sum")];
    let ran = outcome_of(net.run("minimal").command(upload), &content);
    ran.prints(&format!("{LENGTH} {}\n", checksum(&content)));
}

#[test]
fn curl_says_that_a_server_is_down_or_breaks_off() {
    if !installed(&["curl"]) {
        return;
    }
    let breaker = Streams::breaker();
    let mut net = Net::new();
    let down = crate::network::servers::unheard();
    net.grant("down.shop.test", down)
        .grant("breaker.shop.test", breaker.address);
    let fetch = |name: &str, port: u16| {
        outcome(
            net.run("minimal")
                .command(["curl", "-sS", &format!("http://{name}:{port}/")]),
        )
    };
    // 7: not connected. A connection in the background may be broken off late: 56, or 52 if that looks like an end.
    let ran = fetch("down.shop.test", down.port());
    assert!(
        [Some(7), Some(56)].contains(&ran.finished.status.code()),
        "{}",
        ran.told()
    );
    ran.was_refused_nothing();
    let ran = fetch("breaker.shop.test", breaker.address.port());
    assert_eq!(ran.finished.status.code(), Some(56), "{}", ran.told());
}

#[test]
fn a_connection_ends_with_the_run() {
    if !installed(&["curl"]) {
        return;
    }
    let server = Streams::listener_to_the_end();
    let mut net = Net::new();
    net.grant("api.shop.test", server.address);
    let url = format!("http://api.shop.test:{}/", server.address.port());
    let ran = outcome(net.run("minimal").command(["curl", "-sS", "--max-time", "1", &url]));
    assert_eq!(ran.finished.status.code(), Some(28), "{}", ran.told());
    assert!(
        until(Duration::from_secs(5), || server.ended() == 1),
        "the server still waits"
    );
}
