//! Heads: their hosts, and bytes that aren't heads at all.

use super::*;

const MAX: usize = head::MAX_FIELDS;

#[test]
fn hosts_are_names_or_addresses_with_or_without_port() {
    let host = |value: &str| match steps(PLAIN.replace("a.example", value)).remove(0) {
        ParseStep::Head { host, port, .. } => Some((host, port)),
        _ => None,
    };
    let address = |text: &str| RequestHost::Address(text.parse().unwrap());
    assert_eq!(host("a.example:8080"), Some((name("a.example"), Some(8080))));
    assert_eq!(host(" \ta.example \t"), Some((name("a.example"), None)));
    assert_eq!(host("10.0.0.5:80"), Some((address("10.0.0.5"), Some(80))));
    assert_eq!(host("[::1]"), Some((address("::1"), None)));
    assert_eq!(
        host("[::ffff:10.0.0.5]:81"),
        Some((address("::ffff:10.0.0.5"), Some(81)))
    );
    for bad in [
        "",
        ":80",
        "a.example:",
        "a.example:0",
        "a.example:080",
        "a.example:65536",
        "a.example:+80",
        "a.example:8 0",
        "a.example,b.example",
        "a.example b.example",
        "user@a.example",
        "a.example/",
        "a..example",
        "::1",
        "[::1",
        "::1]",
        "[::1]a",
        "[a.example]",
        "[10.0.0.5]",
        "[::1%lo]",
        "010.0.0.5",
        "0x7f000001",
        "2130706433",
        "127.1",
        "10.0.0.5.",
        "\u{e9}.example",
        "a.example:80:80",
        "a.example\\",
        "http://a.example",
    ] {
        assert_eq!(host(bad), None, "{bad}");
    }
}

#[test]
fn a_url_as_target_names_the_same_host() {
    let target = |target: &str| refusal(PLAIN.replacen('/', target, 1));
    for good in [
        "/",
        "/a?b",
        "//b.example/",
        "http://a.example",
        "HTTP://A.example/x",
        "http://a.example?b",
        "/http://x/",
    ] {
        assert_eq!(target(good), None, "{good}");
    }
    for bad in [
        "http://b.example/",
        "http://a.example:80/",
        "http://a.example@b.example/",
        "http://b.example#a.example",
        "http://a.example\\b",
        "https://a.example/",
        "http:/a.example",
        "a.example",
        "a.example:80",
        "*",
        "?",
        "http://",
    ] {
        assert!(target(bad).is_some(), "{bad}");
    }
    assert_eq!(refusal(PLAIN.replace("GET /", "OPTIONS *")), None);
    assert_eq!(
        refusal(PLAIN.replace("GET /", "CONNECT a.example:80")),
        Some("CONNECT asks for a tunnel")
    );
}

#[test]
fn heads_that_leave_host_or_end_open_are_refused() {
    for (lines, reason) in [
        ("Host: a.example\r\n", "it has several `Host`"),
        ("hOST: b.example\r\n", "it has several `Host`"),
        (
            "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
            "it has both `Content-Length` and `Transfer-Encoding`",
        ),
        (
            "Content-Length: 1\r\nContent-Length: 1\r\n",
            "it has several `Content-Length`",
        ),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            "it has several `Transfer-Encoding`",
        ),
        (
            "Connection: close, Host\r\n",
            "`Connection` names a field that proxies may not drop",
        ),
        (
            "Connection: close\r\nConnection: content-length\r\n",
            "`Connection` names a field that proxies may not drop",
        ),
    ] {
        assert_eq!(refusal(get(lines)), Some(reason), "{lines}");
    }
    for length in [
        "",
        "+1",
        "-1",
        "1,1",
        "1, 1",
        "0x1",
        "1 1",
        "1a",
        "1_0",
        "\u{b2}",
        "9223372036854775808",
        "\"1\"",
    ] {
        assert!(
            refusal(post(&format!("Content-Length: {length}\r\n"))).is_some(),
            "{length}"
        );
    }
    for encoding in [
        "",
        "gzip, chunked",
        "chunked, chunked",
        "identity",
        "Chunked",
        "xchunked",
        "chunked;q=1",
        "\"chunked\"",
    ] {
        assert!(
            refusal(post(&format!("Transfer-Encoding: {encoding}\r\n"))).is_some(),
            "{encoding}"
        );
    }
}

#[test]
fn old_versions_need_a_host_and_a_counted_body() {
    assert_eq!(refusal("GET / HTTP/1.0\r\n\r\n"), Some("it has no `Host`"));
    assert_eq!(refusal("GET / HTTP/1.1\r\n\r\n"), Some("it has no `Host`"));
    let old = |lines: &str| refusal(get(lines).replace("/1.1", "/1.0"));
    assert_eq!(old("Content-Length: 0\r\n"), None);
    assert!(old("Transfer-Encoding: chunked\r\n").is_some());
    assert!(old("Connection: upgrade\r\nUpgrade: websocket\r\n").is_some());
}

#[test]
fn lines_that_servers_split_differently_are_refused() {
    for bad in [
        "A: b\n",
        "A: b\r\r\n",
        "A: b\rB: c\r\n",
        "A: b\r\n c\r\n",
        "A: b\r\n\tc\r\n",
        "A : b\r\n",
        "A\r\n",
        ": b\r\n",
        "A: \0\r\n",
        "A: \x0b\r\n",
        "A: \x7f\r\n",
        "A\0: b\r\n",
        "A(: b\r\n",
        "\u{e9}: b\r\n",
        "A: b\n\r\n",
        "\0: b\r\n",
    ] {
        assert!(refusal(get(bad)).is_some(), "{}", bad.escape_debug());
        assert!(
            refusal(post("Transfer-Encoding: chunked\r\n") + "0\r\n" + bad + "\r\n").is_some(),
            "{}",
            bad.escape_debug()
        );
    }
    for bad in [
        "\r\nGET / HTTP/1.1\r\n",
        "\nGET / HTTP/1.1\r\n",
        " GET / HTTP/1.1\r\n",
        "GET / HTTP/1.1\n",
        "GET  / HTTP/1.1\r\n",
        "GET / HTTP/1.1 \r\n",
        "GET\t/ HTTP/1.1\r\n",
        "GET / HTTP/1.2\r\n",
        "GET / http/1.1\r\n",
        "GET /\r\n",
        "GET / / HTTP/1.1\r\n",
        "GET HTTP/1.1\r\n",
        "G(T / HTTP/1.1\r\n",
        "GET /\0 HTTP/1.1\r\n",
        "GET /\x7f HTTP/1.1\r\n",
        "HTTP/1.1 200 OK\r\n",
    ] {
        assert!(
            refusal(format!("{bad}Host: a.example\r\n\r\n")).is_some(),
            "{}",
            bad.escape_debug()
        );
    }
}

#[test]
fn other_protocols_are_told_before_they_wait() {
    for other in [
        &b"\x16"[..],
        b"\0",
        b"\xff",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"EHLO me\r\n",
        b"*1\r\n$4\r\nPING\r\n",
    ] {
        assert_eq!(refusal(other), Some("it isn't HTTP/1"), "{}", other.escape_ascii());
    }
    assert_eq!(refusal("PRI * HTTP/2.0\r\n"), Some("it is HTTP/2"));
    assert_eq!(
        refusal(PLAIN.to_owned() + "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Some("it is HTTP/2")
    );
}

#[test]
fn heads_and_trailers_are_bounded() {
    let fields = |count| "A: b\r\n".repeat(count);
    assert_eq!(refusal(get(&fields(MAX - 1))), None);
    assert_eq!(refusal(get(&fields(MAX))), Some("a head has more than 100 fields"));
    let chunked = post("Transfer-Encoding: chunked\r\n") + "0\r\n";
    assert_eq!(refusal(format!("{chunked}{}\r\n", fields(MAX))), None);
    assert!(refusal(format!("{chunked}{}\r\n", fields(MAX + 1))).is_some());

    let long = |length: usize| get(&format!("A: {}\r\n", "b".repeat(length - get("A: \r\n").len())));
    assert_eq!(steps(long(MAX_LENGTH)), [head(MAX_LENGTH, "a.example")]);
    assert_eq!(refusal(long(MAX_LENGTH + 1)), Some("a head is longer than 64 KiB"));
    assert_eq!(
        refusal(&long(MAX_LENGTH + 1)[..MAX_LENGTH]),
        Some("a head is longer than 64 KiB")
    );
    assert_eq!(refusal(&long(MAX_LENGTH + 1)[..MAX_LENGTH - 1]), None);
}

#[test]
fn bad_lines_are_told_with_their_first_bad_byte() {
    for (bytes, reason) in [
        ("GET / HTTP/1.1\n", "a line of a head doesn't end in CR LF"),
        ("GET / HTTP/1.1\r\nA: b\rc", "a line of a head doesn't end in CR LF"),
        ("GET / HTTP/1.1\r\nA: b\r\r", "a line of a head doesn't end in CR LF"),
        ("GET / HTTP/1.1\r\nA: b\r\n ", "a line of a head is folded"),
        ("GET / HTTP/1.1\r\nA: b\0", "a head has a control character"),
        ("GET / HTTP/1.1\r\n\0", "a line of a head begins with no name"),
        ("\r", "an empty line stands before a head"),
    ] {
        assert_eq!(refusal(bytes), Some(reason), "{}", bytes.escape_debug());
        assert_eq!(steps(&bytes[..bytes.len() - 1]), [], "{}", bytes.escape_debug());
    }
}
