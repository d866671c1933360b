//! Many connections, none of which leaks anything; and the relay's own end.

use std::net::Shutdown;

use super::*;

/// Pipes that the relay keeps for reuse, two descriptors each.
const KEPT: usize = 2 * 16;

#[test]
fn three_hundred_connections_at_once() {
    let relay = Running::new();
    let before = relay.descriptors();
    let joined: Vec<_> = (0..300).map(|_| relay.joined()).collect();
    for (number, (client, server)) in joined.iter().enumerate() {
        check_way(client, server, format!("question {number}").as_bytes());
    }
    for (number, (client, server)) in joined.iter().enumerate().rev() {
        check_way(server, client, format!("answer {number}").as_bytes());
    }
    drop(joined);
    eventually("all are closed", || relay.descriptors() <= before + KEPT);
}

#[test]
fn two_thousand_connections_one_after_the_other() {
    let relay = Running::new();
    let before = relay.descriptors();
    for number in 0..2000_u32 {
        let (client, server) = relay.joined();
        check_way(&client, &server, &number.to_be_bytes());
        check_way(&server, &client, b"answer");
        match number % 3 {
            0 => reset(client),
            1 => drop(client),
            _ => {
                server.shutdown(Shutdown::Write).unwrap();
                assert_eq!(rest(&client), b"");
            }
        }
    }
    eventually("all are closed", || relay.descriptors() <= before + KEPT);
}

/// Each connection in turn ends with bytes in its pipe.
#[test]
fn connections_that_end_with_bytes_under_way_leave_no_pipes_behind() {
    let relay = Running::new();
    let before = relay.descriptors();
    for _ in 0..40 {
        let (client, server) = relay.joined();
        let flood = [1; 64 * 1024];
        client.set_write_timeout(Some(Duration::from_millis(30))).unwrap();
        while (&client).write_all(&flood).is_ok() {}
        reset(client);
        drop(server);
    }
    eventually("all are closed", || relay.descriptors() <= before + KEPT);
}

#[test]
fn the_relay_sleeps_while_nothing_happens() {
    let relay = Running::new();
    let (whole, of_whole) = relay.joined();
    check_way(&whole, &of_whole, b"x");
    let (half, of_half) = relay.joined();
    half.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&of_half), b"");
    let (_silent, _server) = relay.joined_on(443, ProtocolCheck::Checked);
    let (full, _of_full) = relay.joined();
    full.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    while (&full).write_all(&[1; 64 * 1024]).is_ok() {}
    // Announcements are kept for as long as unannounced connections may wait.
    thread::sleep(Duration::from_secs(3));
    let before = relay.wakes();
    thread::sleep(Duration::from_secs(1));
    assert_eq!(relay.wakes() - before, 0);
}

#[test]
fn the_relay_ends_with_its_last_caller() {
    let mut relay = Running::new();
    let (client, server) = relay.joined();
    check_way(&client, &server, b"x");
    let thread = relay.ring_off();
    eventually("the relay has ended", || thread.is_finished());
    thread.join().unwrap().unwrap();
    assert_eq!((rest(&client), rest(&server)), (Vec::new(), Vec::new()));
}
