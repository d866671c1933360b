//! Ports 443 and 80 under grants without a port: TLS and HTTP that name granted hosts, and nothing else.

use std::net::Shutdown;

use super::*;

const UNRECOGNIZED_NAME: &[u8] = &[21, 3, 3, 0, 2, 2, 112];
const CDN: &str = "GET /2 HTTP/1.1\r\nHost: cdn.test\r\n\r\n";
const API: &str = "GET /1 HTTP/1.1\r\nHost: api.test\r\n\r\n";
const OTHER: &str = "GET /3 HTTP/1.1\r\nHost: other.test\r\n\r\n";
const UPGRADE: &str = "GET /chat HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                       Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const SWITCHED: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

fn measured(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat()
}

/// A client's hello in one record (RFC 8446, 4.1.2).
fn hello(name: Option<&str>) -> Vec<u8> {
    let server_name = name.map(|name| {
        let list = measured(&[&[0][..], &measured(name.as_bytes())].concat());
        [&[0, 0][..], &measured(&list)].concat()
    });
    let versions = [0, 43, 0, 3, 2, 3, 4];
    let extensions = [&server_name.unwrap_or_default()[..], &versions].concat();
    let body = [
        &[3, 3][..],
        &[7; 32],
        &[0],
        &[0, 2, 0x13, 1],
        &[1, 0],
        &measured(&extensions),
    ]
    .concat();
    let message = [&[1, 0][..], &measured(&body)].concat();
    [&[22, 3, 1][..], &measured(&message)].concat()
}

fn refused(target: &str, asked: &str) -> Vec<Refused> {
    vec![(Kind::Connect, target.into(), asked.into(), Reason::NotGranted)]
}

fn is_limited(refusals: &[Refused], target: &str) -> bool {
    matches!(refusals, [(Kind::Connect, of, _, Reason::Limited(_))] if of == target)
}

fn on_tls(relay: &Running) -> (TcpStream, TcpStream) {
    relay.joined_on(443, ProtocolCheck::Checked)
}

fn on_http(relay: &Running) -> (TcpStream, TcpStream) {
    relay.joined_on(80, ProtocolCheck::Checked)
}

fn say(mut stream: &TcpStream, text: impl AsRef<[u8]>) {
    stream.write_all(text.as_ref()).unwrap();
}

/// The bytes that a side got until its connection ended, however it ended.
fn whatever(mut stream: &TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

#[test]
fn tls_that_names_a_granted_host_passes() {
    let relay = Running::new();
    // Also with a granted host other than the one looked up: connections are shared that way.
    for name in ["api.test", "cdn.test"] {
        let (client, server) = on_tls(&relay);
        let hello = hello(Some(name));
        let (first, second) = hello.split_at(30);
        say(&client, first);
        thread::sleep(Duration::from_millis(20));
        say(&client, second);
        assert_eq!(next(&server, hello.len()), hello);
        check_way(&server, &client, b"hello of the server");
        check_way(&client, &server, b"anything");
    }
    assert!(relay.refusals.lock().unwrap().is_empty());
}

#[test]
fn tls_that_names_another_host_is_told_so_and_reaches_no_one() {
    let relay = Running::new();
    let (client, server) = on_tls(&relay);
    say(&client, hello(Some("other.test")));
    assert_eq!(rest(&client), UNRECOGNIZED_NAME);
    assert_eq!(whatever(&server), b"");
    assert_eq!(relay.refusals(), refused("other.test:443", "api.test:443"));
}

#[test]
fn tls_without_a_name_is_refused() {
    let relay = Running::new();
    let (client, server) = on_tls(&relay);
    say(&client, hello(None));
    assert_eq!(rest(&client), UNRECOGNIZED_NAME);
    assert_eq!(whatever(&server), b"");
    let refusals = relay.refusals();
    assert!(is_limited(&refusals, "api.test:443"), "{refusals:?}");
}

#[test]
fn what_is_not_tls_is_refused_on_its_port() {
    for text in [API, "SSH-2.0-OpenSSH_9.9\r\n", "\u{16}\u{3}\u{1}\u{0}\u{0}"] {
        let relay = Running::new();
        let (client, server) = on_tls(&relay);
        say(&client, text);
        assert_eq!(until_reset(&client), b"");
        assert_eq!(whatever(&server), b"");
        let refusals = relay.refusals();
        assert!(is_limited(&refusals, "api.test:443"), "{refusals:?}");
    }
}

#[test]
fn half_a_hello_and_an_end_is_refused_and_nothing_at_all_is_not() {
    let relay = Running::new();
    let (client, server) = on_tls(&relay);
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(whatever(&server), b"");
    assert!(relay.refusals.lock().unwrap().is_empty());

    let (client, server) = on_tls(&relay);
    say(&client, &hello(Some("api.test"))[..20]);
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(whatever(&server), b"");
    assert_eq!(relay.refusals().len(), 1);
}

#[test]
fn requests_to_granted_hosts_pass_also_without_waiting() {
    let relay = Running::new();
    let (client, server) = on_http(&relay);
    let both = format!("{API}{CDN}");
    say(&client, &both);
    assert_eq!(next(&server, both.len()), both.as_bytes());
    check_way(
        &server,
        &client,
        b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    );
    for byte in API.bytes() {
        say(&client, [byte]);
    }
    assert_eq!(next(&server, API.len()), API.as_bytes());
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&server), b"");
    check_way(&server, &client, b"HTTP/1.1 204 No Content\r\n\r\n");
    drop(server);
    assert_eq!(rest(&client), b"");
}

#[test]
fn a_request_to_another_host_gets_403_and_reaches_no_one() {
    let relay = Running::new();
    let (client, server) = on_http(&relay);
    say(&client, OTHER);
    let answer = String::from_utf8(rest(&client)).unwrap();
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    assert!(
        answer.ends_with("\r\n\r\nstockade: other.test:80 isn't granted\n"),
        "{answer}"
    );
    assert_eq!(whatever(&server), b"");
    assert_eq!(relay.refusals(), refused("other.test:80", "api.test:80"));
}

/// The kernel resets a connection that is closed with bytes unread, and the reply would be lost with them.
#[test]
fn the_403_is_heard_also_by_a_client_that_sends_much() {
    let relay = Running::new();
    for _ in 0..20 {
        let (client, _server) = on_http(&relay);
        let body = vec![b'x'; 200_000];
        let head = format!(
            "POST / HTTP/1.1\r\nHost: other.test\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        say(&client, head);
        let _ = (&client).write_all(&body);
        let answer = whatever(&client);
        assert!(answer.starts_with(b"HTTP/1.1 403 "), "{answer:?}");
    }
}

#[test]
fn a_later_request_to_another_host_ends_the_connection_and_nothing_of_it_gets_through() {
    for (first, second) in [(API.to_string(), OTHER), (API.repeat(3), OTHER)] {
        let relay = Running::new();
        let (client, server) = on_http(&relay);
        say(&client, format!("{first}{second}{API}"));
        let got = whatever(&server);
        assert!(
            first.as_bytes().starts_with(&got),
            "{:?}",
            String::from_utf8_lossy(&got)
        );
        whatever(&client);
        assert_eq!(relay.refusals(), refused("other.test:80", "api.test:80"));
    }
}

#[test]
fn a_request_after_a_long_body_is_still_looked_at() {
    let relay = Running::new();
    let (client, server) = on_http(&relay);
    let body: Vec<u8> = (0..3_000_001_u32).map(|number| (number % 251) as u8).collect();
    let head = format!(
        "POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    thread::scope(|scope| {
        scope.spawn(|| {
            say(&client, &head);
            say(&client, &body);
        });
        assert_eq!(next(&server, head.len()), head.as_bytes());
        assert!(next(&server, body.len()) == body, "the server got something else");
    });
    say(&client, OTHER);
    assert_eq!(whatever(&server), b"");
    until_reset(&client);
    assert_eq!(relay.refusals(), refused("other.test:80", "api.test:80"));
}

#[test]
fn what_is_not_http_is_refused_on_its_port() {
    for text in [
        "SSH-2.0-OpenSSH_9.9\r\n\r\n",
        "CONNECT api.test:80 HTTP/1.1\r\nHost: api.test\r\n\r\n",
    ] {
        let relay = Running::new();
        let (client, server) = on_http(&relay);
        say(&client, text);
        whatever(&client);
        assert_eq!(whatever(&server), b"");
        let refusals = relay.refusals();
        assert!(is_limited(&refusals, "api.test:80"), "{refusals:?}");
    }
}

#[test]
fn a_websocket_may_say_anything_once_the_server_agreed() {
    let relay = Running::new();
    let (client, server) = on_http(&relay);
    say(&client, UPGRADE);
    assert_eq!(next(&server, UPGRADE.len()), UPGRADE.as_bytes());
    say(&server, format!("{SWITCHED}first frame"));
    let answer = next(&client, SWITCHED.len() + 11);
    assert!(answer.ends_with(b"first frame"));
    check_way(&client, &server, b"\x81\x05frame");
    check_way(&client, &server, OTHER.as_bytes());
    check_way(&server, &client, b"\x81\x05other");
}

#[test]
fn what_follows_an_upgrade_waits_for_the_answer() {
    let relay = Running::new();
    let (client, server) = on_http(&relay);
    say(&client, format!("{UPGRADE}{OTHER}"));
    assert_eq!(next(&server, UPGRADE.len()), UPGRADE.as_bytes());
    // It stays HTTP, so the next bytes are a request.
    say(&server, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(whatever(&server), b"");
    whatever(&client);
    assert_eq!(relay.refusals(), refused("other.test:80", "api.test:80"));
}

#[test]
fn an_upgrade_to_something_else_is_no_way_out() {
    for answer in [
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        "nonsense\r\n\r\n",
    ] {
        let relay = Running::new();
        let (client, server) = on_http(&relay);
        say(&client, UPGRADE);
        assert_eq!(next(&server, UPGRADE.len()), UPGRADE.as_bytes());
        say(&server, answer);
        whatever(&client);
        assert_eq!(whatever(&server), b"");
        let refusals = relay.refusals();
        assert!(is_limited(&refusals, "api.test:80"), "{refusals:?}");
    }
}

#[test]
fn a_server_that_ends_before_it_answers_an_upgrade_ends_the_connection() {
    let relay = Running::new();
    let (client, server) = on_http(&relay);
    say(&client, UPGRADE);
    assert_eq!(next(&server, UPGRADE.len()), UPGRADE.as_bytes());
    drop(server);
    assert_eq!(whatever(&client), b"");
}
