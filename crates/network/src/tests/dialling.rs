//! Hosts that the relay resolves and connects to itself, as it does for non-blocking sockets.

use super::nameserver::Nameserver;
use super::*;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const HERE: &[[u8; 4]] = &[[127, 0, 0, 1]];

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// The next accepted connection, or a failure after a while.
fn accepted(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let mut stream = None;
    eventually("somebody comes", || {
        stream = listener.accept().ok();
        stream.is_some()
    });
    let (stream, _) = stream.unwrap();
    stream.set_nonblocking(false).unwrap();
    patient(stream)
}

#[test]
fn a_name_is_looked_up_and_its_address_connected_to() {
    let nameserver = Nameserver::knowing("api.test", HERE);
    let relay = Running::asking(Some(nameserver.address), &[LOOPBACK]);
    let (listener, port) = listener();
    // The second lookup is answered from the cache.
    for _ in 0..2 {
        let client = relay.connect(to("api.test", port, ProtocolCheck::Anything), None);
        (&client).write_all(b"early").unwrap();
        let server = accepted(&listener);
        assert_eq!(next(&server, 5), b"early");
        check_way(&server, &client, b"answer");
    }
    assert!(nameserver.asked.lock().unwrap().iter().all(|name| name == "api.test"));
}

#[test]
fn an_address_that_is_not_public_has_to_be_granted_as_one() {
    let nameserver = Nameserver::knowing("api.test", HERE);
    let relay = Running::asking(Some(nameserver.address), &[]);
    let (listener, port) = listener();
    let client = relay.connect(to("api.test", port, ProtocolCheck::Anything), None);
    until_reset(&client);
    let refused = (
        Kind::Connect,
        format!("127.0.0.1:{port}"),
        format!("api.test:{port}"),
        Reason::NotGranted,
    );
    assert_eq!(relay.refusals(), [refused]);
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
}

#[test]
fn the_addresses_of_credentials_are_never_connected_to() {
    let nameserver = Nameserver::knowing("api.test", &[[169, 254, 169, 254]]);
    let relay = Running::asking(Some(nameserver.address), &[]);
    let client = relay.connect(to("api.test", 80, ProtocolCheck::Checked), None);
    until_reset(&client);
    let refusals = relay.refusals();
    assert_eq!(refusals[0].1, "169.254.169.254:80");
    assert!(matches!(refusals[0].3, Reason::Never(_)), "{refusals:?}");
}

#[test]
fn a_server_that_is_down_and_a_name_that_is_none_are_resets() {
    let nameserver = Nameserver::knowing("api.test", HERE);
    let relay = Running::asking(Some(nameserver.address), &[LOOPBACK]);
    let before = relay.descriptors();
    let (listener, port) = listener();
    drop(listener);
    for name in ["api.test", "cdn.test", "api.test"] {
        let client = relay.connect(to(name, port, ProtocolCheck::Anything), None);
        until_reset(&client);
    }
    eventually("all are closed", || relay.descriptors() == before);
}

#[test]
fn dead_addresses_are_passed_over() {
    // Several, so that descriptor numbers are reused.
    const MOSTLY_DEAD: &[[u8; 4]] = &[
        [127, 0, 0, 2],
        [127, 0, 0, 3],
        [127, 0, 0, 4],
        [127, 0, 0, 5],
        [127, 0, 0, 1],
    ];
    let nameserver = Nameserver::knowing("api.test", MOSTLY_DEAD);
    let all: Vec<IpAddr> = MOSTLY_DEAD.iter().map(|octets| IpAddr::from(*octets)).collect();
    let relay = Running::asking(Some(nameserver.address), &all);
    let (listener, port) = listener();
    let client = relay.connect(to("api.test", port, ProtocolCheck::Anything), None);
    let server = accepted(&listener);
    check_way(&client, &server, b"x");
}

#[test]
fn many_who_want_one_name_at_once_all_get_it() {
    let nameserver = Nameserver::knowing("api.test", HERE);
    let relay = Running::asking(Some(nameserver.address), &[LOOPBACK]);
    let (listener, port) = listener();
    let clients: Vec<_> = (0..200)
        .map(|_| relay.connect(to("api.test", port, ProtocolCheck::Anything), None))
        .collect();
    let servers: Vec<_> = clients.iter().map(|_| accepted(&listener)).collect();
    clients.iter().for_each(|mut client| client.write_all(b"x").unwrap());
    servers.iter().for_each(|server| assert_eq!(next(server, 1), b"x"));
}

/// A query for an IPv4 address, preceded by its length, as on a stream.
fn query(name: &str) -> Vec<u8> {
    let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        query.push(label.len() as u8);
        query.extend(label.as_bytes());
    }
    query.extend([0, 0, 1, 0, 1]);
    [&(query.len() as u16).to_be_bytes()[..], &query].concat()
}

fn ask(stream: &TcpStream, name: &str) -> Vec<u8> {
    let mut stream = stream;
    stream.write_all(&query(name)).unwrap();
    let length = u16::from_be_bytes(next(stream, 2).try_into().unwrap());
    next(stream, length.into())
}

#[test]
fn names_are_told_as_synthetic_addresses_and_only_granted_ones_are_asked_for() {
    const NO_SUCH_NAME: u8 = 3;
    let nameserver = Nameserver::knowing("api.test", HERE);
    let relay = Running::asking(Some(nameserver.address), &[]);
    let client = relay.connect(Purpose::Names, None);
    let granted = ask(&client, "api.test");
    let address: [u8; 4] = granted[granted.len() - 4..].try_into().unwrap();
    let name = relay.network.names.name(IpAddr::from(address));
    assert_eq!(name, Name::parse("api.test"));

    assert_eq!(ask(&client, "secret.evil.test")[3] & 15, NO_SUCH_NAME);
    let refused = (
        Kind::Resolve,
        "secret.evil.test".to_string(),
        "secret.evil.test".to_string(),
        Reason::NotGranted,
    );
    assert_eq!(relay.refusals(), [refused]);
    assert!(nameserver.asked.lock().unwrap().iter().all(|name| name == "api.test"));
}

/// Like a program that looks up many names at once, on a connection each, and ends each after its answer.
#[test]
fn two_hundred_who_ask_for_names_at_once_are_all_answered() {
    let nameserver = Nameserver::knowing("api.test", HERE);
    let relay = Running::asking(Some(nameserver.address), &[]);
    let clients: Vec<_> = (0..200).map(|_| relay.connect(Purpose::Names, None)).collect();
    thread::scope(|scope| {
        for client in clients {
            scope.spawn(move || assert!(!ask(&client, "api.test").is_empty()));
        }
    });
}
