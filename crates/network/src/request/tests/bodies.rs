//! The boundary between one request and the next.

use super::*;

#[test]
fn requests_follow_each_other_and_each_names_its_host() {
    let other = PLAIN.replace("a.example", "B.example.");
    assert_eq!(
        steps(PLAIN.to_owned() + &other),
        [head(PLAIN.len(), "a.example"), head(PLAIN.len() + 1, "b.example")]
    );
    let post = "POST /x HTTP/1.1\r\nhost:a.example\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(
        steps(format!("{post}GET /{PLAIN}")),
        [
            head(post.len(), "a.example"),
            ParseStep::Pass(5),
            head(PLAIN.len(), "a.example")
        ]
    );
}

#[test]
fn a_body_that_a_server_may_leave_unread_is_refused() {
    for method in ["GET", "HEAD", "TRACE", "get"] {
        for lines in ["Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"] {
            let request = get(lines).replacen("GET", method, 1) + "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
            assert!(
                refusal(&request).is_some_and(|why| why.contains("with a body")),
                "{request}"
            );
        }
        assert_eq!(refusal(get("Content-Length: 0\r\n").replacen("GET", method, 1)), None);
    }
    assert_eq!(refusal(get("Content-Length: 5\r\n").replacen("GET", "DELETE", 1)), None);
}

#[test]
fn a_body_may_be_passed_on_before_it_comes() {
    let stream = post("Content-Length: 123456789\r\n") + "abc";
    let relayed = relay(stream.as_bytes(), &[]);
    assert_eq!(relayed.steps[1], ParseStep::Pass(123_456_789));
    assert_eq!(relayed.passed, stream.len());
}

#[test]
fn chunks_and_trailers_are_followed() {
    let lengths = |stream: &str| {
        let mut steps = steps(post("Transfer-Encoding: chunked\r\n") + stream + PLAIN);
        assert_eq!(steps.pop(), Some(head(PLAIN.len(), "a.example")));
        steps.split_off(1)
    };
    assert_eq!(
        lengths("5\r\nGET /\r\n00a\r\n0123456789\r\n0\r\n\r\n"),
        [
            ParseStep::Pass(8),
            ParseStep::Pass(2),
            ParseStep::Pass(15),
            ParseStep::Pass(2),
            ParseStep::Pass(3),
            ParseStep::Pass(2)
        ]
    );
    assert_eq!(
        lengths("0\r\nX-Sum: 1\r\n\r\n"),
        [ParseStep::Pass(3), ParseStep::Pass(12)]
    );
}

#[test]
fn chunks_that_servers_measure_differently_are_refused() {
    for bad in [
        "\r\n",
        "\n",
        "g\r\n",
        "5\n",
        "5\r5",
        "5 \r\n",
        " 5\r\n",
        "+5\r\n",
        "-5\r\n",
        "0x5\r\n",
        "5;a\r\n",
        "5;a=b\r\n",
        "5\0\r\n",
        "0000000000000005\r\n",
        "ffffffffffffffff\r\n",
        "5\r\nhello!",
        "5\r\nhello\n",
        "5\r\nhello\r\r",
        "5\r\nhello0\r\n",
        "0\r\nHost: b.example\r\n\r\n",
        "0\r\ncontent-length: 5\r\n\r\n",
        "0\r\nUpgrade: websocket\r\n\r\n",
        "0\r\nGET / HTTP/1.1\r\n\r\n",
    ] {
        let steps = steps(post("Transfer-Encoding: chunked\r\n") + bad);
        assert!(
            matches!(steps.last(), Some(ParseStep::Refused(_))),
            "{} {steps:?}",
            bad.escape_debug()
        );
    }
}
