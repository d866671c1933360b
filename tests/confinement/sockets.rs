//! A profile without network: unix streams that stay inside the run, and no other socket. One stands in for TCP, so that
//! `connect` and `bind` tell what the program wanted.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use std::net::{TcpListener, UdpSocket};

use crate::common::{Place, Probe, run};

// promise: network.1
#[test]
fn no_socket_of_any_network_is_made() {
    Probe::new()
        .attempt("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)")
        .attempt_if_possible("socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)")
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)")
        .attempt("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)")
        .attempt_if_possible("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)")
        .attempt_if_possible("socket.socket(40, socket.SOCK_STREAM) # vsock")
        .attempt_if_possible("socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)")
        .attempt_if_possible("socket.socket(31, socket.SOCK_RAW, 1) # bluetooth")
        .refused("minimal", "EPERM");
}

// promise: network.2
#[test]
fn what_stands_in_for_a_tcp_socket_reaches_nothing() {
    let domain = "print(s.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN))";
    run()
        .profile("minimal")
        .python(&format!(
            "import socket\nfor family in socket.AF_INET, socket.AF_INET6:\n  s = socket.socket(family); {domain}"
        ))
        .stdout(&format!("{0}\n{0}\n", nix::libc::AF_UNIX))
        .ends();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let beside = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (port, datagrams) = (
        listener.local_addr().unwrap().port(),
        beside.local_addr().unwrap().port(),
    );
    let to = |address: &str| address.replace("@PORT", &port.to_string());
    let mut probe = Probe::new();
    for attempt in [
        "socket.create_connection(('127.0.0.1', @PORT), 5)",
        "s = socket.socket(); s.connect(('localhost', @PORT))",
        "s = socket.socket(); s.setblocking(False); s.connect_ex(('127.0.0.1', @PORT)) in (0, 115) or denied()",
        "s = socket.socket(); s.setsockopt(6, 1, 1); s.connect(('127.0.0.1', @PORT))",
        "s = socket.socket(); s.connect(('0.0.0.0', @PORT))",
        "s = socket.socket(); s.sendto(b'x', 0x20000000, ('127.0.0.1', @PORT)) # MSG_FASTOPEN",
        "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.connect(('127.0.0.1', @PORT))",
        "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()",
        "s = socket.socket(); s.bind(('', 0))",
        "s = socket.socket(); s.listen()",
    ] {
        let attempt = to(attempt).replace("denied()", "(_ for _ in ()).throw(PermissionError(13, 'x'))");
        probe = probe.attempt(&attempt);
    }
    probe
        .attempt(&format!(
            "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {datagrams}))"
        ))
        .attempt_if_possible(&to(
            "s = socket.socket(socket.AF_INET6); s.connect(('::ffff:127.0.0.1', @PORT))",
        ))
        .attempt_if_possible("socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).listen() # MPTCP")
        .refused("minimal", "EACCES|EPERM|EINVAL|ENOTSUP|EPROTONOSUPPORT");
    listener.set_nonblocking(true).unwrap();
    // The unconfined tries came; no other did, so what waits ends.
    while listener.accept().is_ok() {}
    run()
        .profile("minimal")
        .python(&to("import socket; socket.socket().connect_ex(('127.0.0.1', @PORT))"))
        .ends();
    assert!(listener.accept().is_err());
}

#[test]
fn a_run_without_network_says_what_it_wanted() {
    for (code, access, target, flags) in [
        (
            "socket.create_connection(('127.0.0.1', 9))",
            "connect",
            "127.0.0.1:9",
            "--host localhost:9",
        ),
        (
            "socket.create_connection(('localhost', 9))",
            "connect",
            "127.0.0.1:9",
            "--host localhost:9",
        ),
        (
            "socket.create_connection(('192.0.2.7', 443))",
            "connect",
            "192.0.2.7:443",
            "--host 192.0.2.7:443",
        ),
        (
            "socket.create_connection(('host.example.com', 443))",
            "resolve",
            "host.example.com",
            "--host host.example.com",
        ),
        (
            "socket.socket().bind(('', 8000))",
            "listen",
            "127.0.0.1:8000",
            "--listen 8000",
        ),
    ] {
        let ran = run()
            .profile("minimal")
            .python(&format!("import socket; {code}"))
            .status(1)
            .any_stderr()
            .reporting()
            .ends();
        let report = ran.report();
        let first = &report["denials"][0];
        assert_eq!(
            (&first["access"], &first["target"]),
            (&access.into(), &target.into()),
            "{report:#}"
        );
        let suggestion = &report["suggestion"];
        // Not each of Python's messages names the address.
        let flags_of = match first["explains"] == "yes" {
            true => suggestion,
            false => &suggestion["candidates"][0],
        };
        let suggested = flags_of["flags"].as_array().map(|flags| {
            let words: Vec<_> = flags.iter().filter_map(serde_json::Value::as_str).collect();
            words.join(" ")
        });
        assert_eq!(suggested.as_deref(), Some(flags), "{report:#}");
    }
}

// promise: sockets.4
#[test]
fn unix_datagrams_are_refused() {
    Probe::new()
        .attempt("socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)")
        .attempt("socket.socket(socket.AF_UNIX, socket.SOCK_RAW)")
        .attempt("socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)")
        .refused("minimal", "EPERM");
}

#[test]
fn a_pair_of_unix_streams_works() {
    Probe::new()
        .works("a, b = socket.socketpair(); a.send(b'x'); expect(b.recv(1) == b'x')")
        .works("a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET); a.send(b'x'); b.recv(1)")
        .works("import asyncio; asyncio.run(asyncio.sleep(0))")
        .works("a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [0]); socket.recv_fds(b, 1, 1)")
        .refused("minimal", "ok");
}

#[test]
fn sockets_of_others_cannot_be_connected() {
    let elsewhere = Place::new();
    let path = elsewhere.root.join("s");
    let _by_path = UnixListener::bind(&path).unwrap();
    let name = format!("stockade-test-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    Probe::new()
        .attempt(&format!("socket.socket(socket.AF_UNIX).connect('{}')", path.display()))
        .attempt(&format!("socket.socket(socket.AF_UNIX).connect('\\0{name}')"))
        .refused("minimal", "EPERM|EACCES");
}

#[test]
fn sockets_of_others_cannot_be_connected_by_a_wide_profile_on_abstract_names() {
    let name = format!("stockade-wide-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    Probe::new()
        .attempt(&format!("socket.socket(socket.AF_UNIX).connect('\\0{name}')"))
        .refused("trusted", "EPERM|EACCES");
}

// promise: sockets.3
#[test]
fn a_run_listens_in_its_own_directories_alone() {
    Probe::new()
        .works("s = socket.socket(socket.AF_UNIX); s.bind(os.environ.get('TMPDIR', '@HOME') + '/s'); s.listen()")
        .attempt("s = socket.socket(socket.AF_UNIX); s.bind('@ROOT/s'); s.listen()")
        .attempt("s = socket.socket(socket.AF_UNIX); s.bind('\\0stockade-own-%d' % os.getpid()); s.listen()")
        .refused("readonly", "EPERM|EACCES");
}

#[test]
fn a_send_never_connects() {
    // MSG_FASTOPEN; a pair ignores it unconfined.
    Probe::new()
        .attempt("a, b = socket.socketpair(); a.send(b'x', 0x20000000)")
        .attempt("a, b = socket.socketpair(); a.sendmsg([b'x'], [], 0x20000000)")
        .works("a, b = socket.socketpair(); a.send(b'x', socket.MSG_NOSIGNAL)")
        .refused("minimal", "EOPNOTSUPP|ENOTSUP");
}

#[test]
fn wide_profiles_make_network_sockets() {
    Probe::new()
        .works("socket.socket(socket.AF_INET)")
        .works("s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); socket.create_connection(s.getsockname())")
        .attempt_if_possible("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)")
        .attempt_if_possible("socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)")
        .attempt_if_possible("socket.socket(40, socket.SOCK_STREAM)")
        .attempt_if_possible("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9) # audit")
        .refused("mcp-standard", "EPERM");
}

#[test]
fn package_managers_do_not_try_again_without_network() {
    let code = "echo $npm_config_fetch_retries $PIP_RETRIES";
    let without = || run().profile("workspace").bash(code);
    without().stdout("0 0\n").ends();
    without().flags(["--env", "PIP_RETRIES=2"]).stdout("0 2\n").ends();
    without().flags(["--host", "host.example.com"]).stdout("\n").ends();
}
