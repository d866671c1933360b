//! Each side's bytes reach the other side, and the connection ends correctly.

use std::io::ErrorKind;
use std::net::Shutdown;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::*;

const MIB: usize = 1 << 20;

/// Bytes that depend on their position: a lost, doubled or moved piece changes them.
fn pattern(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Writes in pieces of odd sizes, then stops writing.
fn send_all(mut stream: &TcpStream, bytes: &[u8]) {
    let sizes = [1, 2, 7, 333, 1448, 4099, 65_537, 1_000_003];
    let mut rest = bytes;
    for size in sizes.into_iter().cycle() {
        let (piece, behind) = rest.split_at(size.min(rest.len()));
        stream.write_all(piece).unwrap();
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
    stream.shutdown(Shutdown::Write).unwrap();
}

#[test]
fn both_ways_at_once_bytes_arrive_unchanged() {
    let relay = Running::new();
    let (client, server) = relay.joined();
    let (up, down) = (pattern(8 * MIB + 12_347, 1), pattern(5 * MIB + 1, 2));
    thread::scope(|scope| {
        scope.spawn(|| send_all(&client, &up));
        scope.spawn(|| send_all(&server, &down));
        scope.spawn(|| assert!(rest(&server) == up, "the server got something else"));
        scope.spawn(|| assert!(rest(&client) == down, "the client got something else"));
    });
}

#[test]
fn who_has_stopped_writing_still_hears_the_other() {
    let relay = Running::new();
    let (client, server) = relay.joined();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&server), b"");
    check_way(&server, &client, b"late answer");

    let (client, server) = relay.joined();
    server.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&client), b"");
    check_way(&client, &server, b"late question");
}

#[test]
fn a_reset_of_one_side_is_a_reset_of_the_other() {
    let relay = Running::new();
    let (client, server) = relay.joined();
    check_way(&client, &server, b"x");
    reset(server);
    assert_eq!(until_reset(&client), b"");

    let (client, server) = relay.joined();
    check_way(&client, &server, b"x");
    reset(client);
    assert_eq!(until_reset(&server), b"");
}

#[test]
fn an_end_is_no_reset() {
    let relay = Running::new();
    let (client, server) = relay.joined();
    check_way(&client, &server, b"question");
    (&server).write_all(b"answer").unwrap();
    drop(server);
    assert_eq!(rest(&client), b"answer");
}

/// Fills the connection to a peer that doesn't read; returns the bytes written.
fn stuff(mut stream: &TcpStream) -> usize {
    stream.set_nonblocking(true).unwrap();
    let piece = [7; 64 * 1024];
    let mut sent = 0;
    let mut last = Instant::now();
    while last.elapsed() < Duration::from_millis(300) {
        match stream.write(&piece) {
            Ok(count) => {
                sent += count;
                last = Instant::now();
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(5)),
            Err(error) => panic!("{error}"),
        }
    }
    stream.set_nonblocking(false).unwrap();
    sent
}

#[test]
fn a_slow_reader_holds_its_writer_up_and_loses_nothing() {
    let relay = Running::new();
    let (client, server) = relay.joined();
    let sent = stuff(&client);
    assert!(sent < 64 * MIB, "{sent} bytes are somewhere");
    // The other direction isn't held up, and neither is another connection.
    check_way(&server, &client, b"meanwhile");
    let (other, of_other) = relay.joined();
    check_way(&other, &of_other, b"beside");
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&server).len(), sent);
}

#[test]
fn a_client_that_goes_while_its_bytes_are_held_up_is_a_reset_at_once() {
    let relay = Running::new();
    let (client, server) = relay.joined();
    stuff(&client);
    reset(client);
    let mut polled = [PollFd::new(server.as_fd(), PollFlags::empty())];
    assert_eq!(poll(&mut polled, PollTimeout::from(5000_u16)), Ok(1), "not told");
}

/// A server's last bytes are still delivered, even to a client that goes on sending.
#[test]
fn an_early_answer_is_heard_before_the_reset() {
    const ANSWER: &[u8] = b"HTTP/1.1 413 Too much\r\nContent-Length: 0\r\n\r\n";
    let relay = Running::new();
    for _ in 0..50 {
        let (client, server) = relay.joined();
        check_way(&client, &server, b"a long");
        (&server).write_all(ANSWER).unwrap();
        // With unread bytes the kernel resets.
        (&client).write_all(b"question").unwrap();
        drop(server);
        let mut heard = [0; ANSWER.len()];
        assert!((&client).read_exact(&mut heard).is_ok(), "the answer is lost");
    }
}
