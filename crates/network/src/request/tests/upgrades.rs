//! Protocol switches away from HTTP/1.

use super::*;

#[test]
fn a_websocket_waits_for_the_answer() {
    let upgrade = get(SOCKET);
    assert_eq!(
        steps(upgrade.clone() + PLAIN),
        [
            ParseStep::Upgrade {
                length: upgrade.len(),
                host: name("a.example"),
                port: None
            },
            ParseStep::AwaitReply
        ]
    );
    let after = |reply| {
        let mut requests = Requests::new();
        requests.step(upgrade.as_bytes());
        requests.answered(reply);
        requests.step(PLAIN.as_bytes())
    };
    assert_eq!(after(HttpReply::Incomplete), ParseStep::AwaitReply);
    assert_eq!(after(HttpReply::WebSocket), ParseStep::Unchecked);
    assert_eq!(after(HttpReply::Stays), head(PLAIN.len(), "a.example"));
    assert_eq!(after(HttpReply::Refused("no")), ParseStep::Refused("no"));
}

#[test]
fn an_answer_that_was_not_asked_for_opens_nothing() {
    let mut requests = Requests::new();
    requests.answered(HttpReply::WebSocket);
    assert_eq!(requests.step(PLAIN.as_bytes()), head(PLAIN.len(), "a.example"));
}

#[test]
fn no_upgrade_but_the_first_request_to_a_websocket() {
    assert!(refusal(PLAIN.to_owned() + &get(SOCKET)).is_some());
    for bad in [
        "Upgrade: websocket\r\n",
        "Connection: close\r\nUpgrade: websocket\r\n",
        "Connection: upgrade\r\nUpgrade: h2\r\n",
        "Connection: upgrade\r\nUpgrade: websocket, h2c\r\n",
        "Connection: upgrade\r\nUpgrade: TLS/1.0\r\n",
        "Connection: upgrade\r\nUpgrade: websocket\r\nUpgrade: websocket\r\n",
        "Connection: upgrade\r\nUpgrade:\r\n",
    ] {
        assert!(refusal(get(bad)).is_some(), "{bad}");
    }
    assert!(refusal(get(&format!("{SOCKET}Content-Length: 1\r\n"))).is_some());
    assert!(refusal(get(&format!("{SOCKET}Transfer-Encoding: chunked\r\n"))).is_some());
}

#[test]
fn the_offer_of_http2_that_java_makes_is_passed_over() {
    let offer = "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAEA\r\nUpgrade: h2c\r\n";
    assert_eq!(steps(get(offer) + PLAIN).len(), 2);
    assert_eq!(
        refusal(get(offer) + "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Some("it is HTTP/2")
    );
    let with_body = |length, body: &str| {
        steps(format!(
            "{}{body}",
            post(&format!("{offer}Content-Length: {length}\r\n"))
        ))
    };
    assert_eq!(
        with_body(100, "PRI * HTTP/2.0\r\n")[1..],
        [ParseStep::Refused("it goes on as HTTP/2")]
    );
    assert_eq!(with_body(100, "PRI * HTTP/1")[1..], [ParseStep::Pass(100)]);
    assert_eq!(with_body(100, "PRI")[1..], []);
    assert_eq!(with_body(3, "PRI")[1..], [ParseStep::Pass(3)]);
    assert!(matches!(
        with_body(3, "PRI * HTTP/2.0\r\n")[1..],
        [ParseStep::Pass(3), ParseStep::Refused(_)]
    ));
}

#[test]
fn replies_are_read_up_to_the_last_one() {
    let switched = "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nConnection: Upgrade\r\n\r\n";
    let early = "HTTP/1.1 103 Early Hints\r\nUpgrade: websocket\r\n\r\n";
    for (bytes, reply) in [
        (switched.to_owned() + "\x01\x05hello", HttpReply::WebSocket),
        (
            early.to_owned() + "HTTP/1.1 100 Continue\r\n\r\n" + switched,
            HttpReply::WebSocket,
        ),
        (
            "HTTP/1.1 200 OK\r\nUpgrade: websocket\r\n\r\n".to_owned() + switched,
            HttpReply::Stays,
        ),
        ("HTTP/1.0 404 \r\n\r\n".to_owned(), HttpReply::Stays),
        (early.to_owned(), HttpReply::Incomplete),
        (
            switched.replace("WebSocket", "h2c"),
            HttpReply::Refused("the server goes on as something else than a WebSocket"),
        ),
        (
            switched.replace("upgrade: WebSocket\r\n", ""),
            HttpReply::Refused("the server goes on as something else than a WebSocket"),
        ),
        (
            early.repeat(2000),
            HttpReply::Refused("the server's answer is too long"),
        ),
        ("SSH-2.0-OpenSSH\r\n".to_owned(), HttpReply::Refused("it isn't HTTP/1")),
    ] {
        assert_eq!(read_reply(bytes.as_bytes()), reply, "{bytes:.200}");
    }
    for length in 0..switched.len() {
        assert_eq!(read_reply(&switched.as_bytes()[..length]), HttpReply::Incomplete);
    }
}
