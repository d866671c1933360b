//! Split, changed and random streams.

use proptest::prelude::*;

use super::*;

/// A valid request and the steps it takes.
fn request() -> impl Strategy<Value = (Vec<u8>, Vec<ParseStep>)> {
    let host = prop::sample::select(vec!["a.example", "b.example", "c.example"]);
    let chunks = prop::collection::vec(prop::collection::vec(any::<u8>(), 1..20), 0..4);
    (
        host,
        prop::option::of(chunks),
        prop::collection::vec(any::<u8>(), 0..40),
        any::<bool>(),
    )
        .prop_map(|(host, chunks, body, trailer)| {
            let mut bytes = format!("POST /x HTTP/1.1\r\nHost: {host}\r\n").into_bytes();
            let mut steps = Vec::new();
            match chunks {
                None => {
                    bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
                    steps.push(head(bytes.len(), host));
                    steps.extend((!body.is_empty()).then_some(ParseStep::Pass(body.len() as u64)));
                    bytes.extend(body);
                }
                Some(chunks) => {
                    bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                    steps.push(head(bytes.len(), host));
                    for chunk in chunks {
                        let line = format!("{:x}\r\n", chunk.len());
                        steps.extend([ParseStep::Pass((line.len() + chunk.len()) as u64), ParseStep::Pass(2)]);
                        bytes.extend([line.as_bytes(), &chunk, b"\r\n"].concat());
                    }
                    let end: &[u8] = if trailer { b"Sum: 1\r\n\r\n" } else { b"\r\n" };
                    steps.extend([ParseStep::Pass(3), ParseStep::Pass(end.len() as u64)]);
                    bytes.extend([b"0\r\n", end].concat());
                }
            }
            (bytes, steps)
        })
}

fn requests() -> impl Strategy<Value = (Vec<u8>, Vec<ParseStep>)> {
    prop::collection::vec(request(), 1..5).prop_map(|requests| {
        let (bytes, steps): (Vec<_>, Vec<_>) = requests.into_iter().unzip();
        (bytes.concat(), steps.concat())
    })
}

fn length(step: &ParseStep) -> usize {
    match step {
        ParseStep::Pass(length) => usize::try_from(*length).unwrap(),
        ParseStep::Head { length, .. } | ParseStep::Upgrade { length, .. } => *length,
        _ => 0,
    }
}

/// Bytes that matter to HTTP, so that a change isn't only noise.
fn meaningful() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"\r",
        b"\n",
        b"\r\n",
        b"\r\n\r\n",
        b" ",
        b"\t",
        b"\0",
        b":",
        b",",
        b"0",
        b"5\r\n",
        b";a",
    ];
    let lines: Vec<&[u8]> = vec![
        b"Host: d.example\r\n",
        b"Content-Length: 3\r\n",
        b"Transfer-Encoding: chunked\r\n",
        SOCKET.as_bytes(),
    ];
    prop_oneof![
        prop::sample::select([pieces, lines].concat()).prop_map(<[u8]>::to_vec),
        prop::collection::vec(any::<u8>(), 0..3),
    ]
}

proptest! {
    #[test]
    fn valid_requests_take_the_same_steps_in_any_pieces(
        (stream, expected) in requests(), pieces in prop::collection::vec(0..60_usize, 0..30)
    ) {
        let relayed = relay(&stream, &pieces);
        prop_assert_eq!(relayed.steps, expected);
        prop_assert_eq!(relayed.passed, stream.len());
    }

    #[test]
    fn a_change_alters_no_step_before_it_and_reads_the_same_in_any_pieces(
        (stream, expected) in requests(), at in any::<prop::sample::Index>(), cut in 0..3_usize, new in meaningful(),
        pieces in prop::collection::vec(0..60_usize, 0..30)
    ) {
        let at = at.index(stream.len());
        let changed = [&stream[..at], &new, &stream[(at + cut).min(stream.len())..]].concat();
        let relayed = relay(&changed, &pieces);
        prop_assert_eq!(&relayed, &relay(&changed, &[]));
        let mut end = 0;
        for (step, unchanged) in relayed.steps.iter().zip(&expected) {
            end += length(unchanged);
            if end > at { break }
            prop_assert_eq!(step, unchanged);
        }
        if let Some(ParseStep::Refused(_)) = relayed.steps.last() {
            prop_assert_eq!(relayed.passed, relayed.steps.iter().map(length).sum::<usize>());
        }
    }

    #[test]
    fn random_bytes_read_the_same_in_any_pieces(
        stream in prop::collection::vec(meaningful(), 0..20), pieces in prop::collection::vec(0..9_usize, 0..30)
    ) {
        let stream = stream.concat();
        let stream = [b"GET / HTTP/1.1\r\nHost: a.example\r\n", &stream[..]].concat();
        prop_assert_eq!(relay(&stream, &pieces), relay(&stream, &[]));
        prop_assert_eq!(relay(&stream[33..], &pieces), relay(&stream[33..], &[]));
        read_reply(&stream);
        read_reply(&[b"HTTP/1.1 101 x\r\n", &stream[..]].concat());
    }
}
