//! Every request's host is returned before the request, and input that two servers could parse differently is refused.

use super::*;

mod bodies;
mod heads;
mod properties;
mod upgrades;

/// The behaviour of a relay that grants every host: its steps except `NeedMore`, and the bytes passed on.
#[derive(Debug, PartialEq, Eq)]
struct Relayed {
    steps: Vec<ParseStep>,
    passed: usize,
}

/// Feeds a stream in pieces of the given lengths, the rest at once.
fn relay(stream: &[u8], pieces: &[usize]) -> Relayed {
    let mut requests = Requests::new();
    let mut relayed = Relayed {
        steps: Vec::new(),
        passed: 0,
    };
    let (mut come, mut granted) = (0, 0);
    for piece in pieces.iter().copied().chain([stream.len()]) {
        come = (come + piece).min(stream.len());
        loop {
            relayed.passed = granted.min(come);
            if granted > come {
                break;
            }
            let step = requests.step(&stream[granted..come]);
            match step {
                ParseStep::NeedMore => break,
                ParseStep::Pass(length) => granted += usize::try_from(length).unwrap(),
                ParseStep::Head { length, .. } | ParseStep::Upgrade { length, .. } => granted += length,
                ParseStep::AwaitReply | ParseStep::Unchecked | ParseStep::Refused(_) => {
                    assert_eq!(requests.step(b"GET / HTTP/1.1\r\n"), step);
                    relayed.steps.push(step);
                    return relayed;
                }
            }
            relayed.steps.push(step);
        }
    }
    relayed
}

/// The steps for these bytes, the same at once and one by one.
fn steps(stream: impl AsRef<[u8]>) -> Vec<ParseStep> {
    let stream = stream.as_ref();
    let at_once = relay(stream, &[]);
    assert_eq!(
        at_once,
        relay(stream, &vec![1; stream.len()]),
        "{}",
        stream.escape_ascii()
    );
    at_once.steps
}

fn refusal(stream: impl AsRef<[u8]>) -> Option<RequestRefusal> {
    match steps(stream).pop() {
        Some(ParseStep::Refused(reason)) => Some(reason),
        _ => None,
    }
}

fn name(text: &str) -> RequestHost {
    RequestHost::Name(Name::from_wire(text.as_bytes()).unwrap())
}

fn head(length: usize, host: &str) -> ParseStep {
    ParseStep::Head {
        length,
        host: name(host),
        port: None,
    }
}

/// A GET with these lines after `Host`.
fn get(lines: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: a.example\r\n{lines}\r\n")
}

fn post(lines: &str) -> String {
    get(lines).replacen("GET", "POST", 1)
}

const PLAIN: &str = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";

const SOCKET: &str = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n";
