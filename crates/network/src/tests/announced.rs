//! Which connections are served: the announced ones, for their announced purpose.

use super::*;

/// A client at a chosen address.
fn from_address(from: SocketAddr, listener: SocketAddr) -> TcpStream {
    let made = socket::open(libc::AF_INET, libc::SOCK_STREAM, 0).unwrap();
    socket::bind(made.as_fd(), &socket::bytes(from)).unwrap();
    socket::connect(made.as_fd(), &socket::bytes(listener)).unwrap();
    patient(TcpStream::from(made))
}

/// An address that the kernel assigns to no socket by itself, so that no other test takes the port.
fn free_address() -> SocketAddr {
    let own = Ipv4Addr::new(127, 0, 77, 1);
    TcpListener::bind((own, 0)).unwrap().local_addr().unwrap()
}

#[test]
fn strangers_get_nothing_and_are_closed_after_a_while() {
    let relay = Running::new();
    let before = relay.descriptors();
    let started = Instant::now();
    let other = patient(TcpStream::connect(relay.network.listeners.v4).unwrap());
    assert_eq!(rest(&other), b"");
    let waited = started.elapsed();
    assert!(waited > Duration::from_secs(1), "{waited:?}");
    eventually("its descriptor is closed", || relay.descriptors() == before);
}

#[test]
fn a_stranger_that_is_announced_late_is_served() {
    let relay = Running::new();
    let before = relay.descriptors();
    let client = patient(TcpStream::connect(relay.network.listeners.v4).unwrap());
    (&client).write_all(b"early").unwrap();
    eventually("it is let in", || relay.descriptors() > before);
    let (host, server) = pair();
    let purpose = to("api.test", 5000, ProtocolCheck::Anything);
    relay.announce(client.local_addr().unwrap(), purpose, Some(host));
    assert_eq!(next(&server, 5), b"early");
    check_way(&server, &client, b"answer");
}

#[test]
fn who_comes_from_another_address_of_the_machine_is_served_too() {
    let relay = Running::new();
    let from = SocketAddr::from((Ipv4Addr::new(127, 0, 0, 9), 0));
    let before = relay.descriptors();
    let client = from_address(from, relay.network.listeners.v4);
    eventually("it is let in", || relay.descriptors() > before);
    let (host, server) = pair();
    let purpose = to("api.test", 5000, ProtocolCheck::Anything);
    relay.announce(client.local_addr().unwrap(), purpose, Some(host));
    check_way(&client, &server, b"x");
}

#[test]
fn somebody_over_ipv6_is_served() {
    let relay = Running::new();
    let Some(listener) = relay.network.listeners.v6 else {
        println!("skipped: no IPv6 on loopback");
        return;
    };
    let client = patient(TcpStream::connect(listener).unwrap());
    let (host, server) = pair();
    let purpose = to("api.test", 5000, ProtocolCheck::Anything);
    relay.announce(client.local_addr().unwrap(), purpose, Some(host));
    check_way(&client, &server, b"x");
}

#[test]
fn the_host_of_a_client_that_never_comes_is_let_go_and_given_to_no_other() {
    let relay = Running::new();
    let before = relay.descriptors();
    let from = free_address();
    let (host, server) = pair();
    let purpose = || to("api.test", 5000, ProtocolCheck::Anything);
    relay.announce(from, purpose(), Some(host));
    assert_eq!(rest(&server), b"");
    eventually("its descriptor is closed", || relay.descriptors() == before);

    let client = from_address(from, relay.network.listeners.v4);
    let (other, of_other) = pair();
    relay.announce(from, purpose(), Some(other));
    check_way(&client, &of_other, b"for the second");
}

#[test]
fn one_address_after_the_other_gets_its_own_host() {
    let relay = Running::new();
    let from = free_address();
    for round in 0..50_u8 {
        let client = from_address(from, relay.network.listeners.v4);
        let (host, server) = pair();
        relay.announce(from, to("api.test", 5000, ProtocolCheck::Anything), Some(host));
        check_way(&client, &server, &[round]);
        // Without a reset the kernel would keep the address for a minute.
        reset(client);
        until_reset(&server);
    }
}

#[test]
fn an_announcement_before_the_connection_is_kept() {
    let relay = Running::new();
    let from = free_address();
    let (host, server) = pair();
    relay.announce(from, to("api.test", 5000, ProtocolCheck::Anything), Some(host));
    // Only waiting shows that it isn't forgotten.
    thread::sleep(Duration::from_millis(300));
    let client = from_address(from, relay.network.listeners.v4);
    check_way(&client, &server, b"x");
}
