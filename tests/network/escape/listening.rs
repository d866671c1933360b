//! Ports that a run opens: those that are granted, on loopback.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use super::attack::REFUSED;
use crate::common::{Probe, finish, run, skipped, until};
use crate::network::begun::Begun;
use crate::network::built::Built;
use crate::network::net::{Net, outcome};
use crate::network::servers::Witness;

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A port that is free on every address.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("0.0.0.0", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

fn reaches(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, Duration::from_secs(5)).is_ok()
}

// promise: network.16
#[test]
fn nothing_is_listened_on_without_a_grant() {
    let mut probe = Probe::new().flags(["--host", "api.shop.test"]);
    for bind in [
        "s = socket.socket(); s.bind(('127.0.0.1', 0))",
        "s = socket.socket(); s.bind(('', 0))",
        "s = socket.socket(); s.bind(('127.0.0.9', 0))",
        "s = socket.socket(socket.AF_INET6); s.bind(('::1', 0))",
        "s = socket.socket(socket.AF_INET6); s.bind(('::', 0))",
        "s = socket.socket(socket.AF_INET6); s.bind(('::ffff:127.0.0.1', 0))",
        "s = socket.socket()",
        "s = socket.socket(socket.AF_INET6)",
        "s = socket.socket(); s.setsockopt(1, 15, 1); s.bind(('127.0.0.1', 0))",
        "s = socket.socket(); call(49, s.fileno(), struct.pack('=HH12x', 0, 0), 16) # AF_UNSPEC",
        "s = socket.socket(); o = os.dup(s.fileno()); s.bind(('127.0.0.1', 0)); s = socket.socket(fileno=o)",
    ] {
        probe = probe
            .attempt_if_possible(&format!("{bind}; s.listen()"))
            .attempt_if_possible(&format!("{bind}; call(50, s.fileno() | 1 << 32, 5 | 1 << 32)"));
    }
    probe
        .attempt("import asyncio; asyncio.run(asyncio.start_server(print, '127.0.0.1', 0))")
        .attempt("socket.create_server(('', 0))")
        .refused("minimal", REFUSED);
}

#[test]
fn a_refused_port_is_named() {
    let port = free_port();
    let mut net = Net::new();
    net.host("api.shop.test");
    let code = format!(
        "import socket\n\
         try: socket.create_server(('127.0.0.1', {port})); print('listens')\n\
         except OSError: print('refused')"
    );
    let ran = net.python(&code);
    ran.prints("refused\n");
    ran.was_refused("listen", &format!("127.0.0.1:{port}"), &["--listen", &port.to_string()]);
}

#[test]
fn another_port_than_the_granted_is_refused() {
    let (granted, other) = (free_port(), free_port());
    let code = format!(
        "import socket\n\
         for port in {granted}, {other}, 0:\n  \
           try: print(socket.create_server(('127.0.0.1', port)).getsockname()[1] == port)\n  \
           except OSError: print('refused')"
    );
    let mut net = Net::new();
    net.flag(["--listen", &granted.to_string()]);
    net.python(&code).prints("True\nrefused\nrefused\n");
}

/// A server that asks for every address gets loopback alone.
// promise: network.17
#[test]
fn a_granted_port_is_open_on_loopback_alone() {
    for (family, any) in [("AF_INET", "0.0.0.0"), ("AF_INET6", "::")] {
        let port = free_port();
        let code = format!(
            "import socket, sys\n\
             s = socket.socket(socket.{family}); s.setsockopt(1, 2, 1); s.bind(('{any}', {port})); s.listen()\n\
             print(s.getsockname()[0], flush=True); sys.stdin.readline()"
        );
        let elsewhere = SocketAddr::new([127, 9, 9, 9].into(), port);
        let outside = own_address().map(|ip| SocketAddr::new(ip, port));
        {
            // Unconfined it is open everywhere.
            let free = TcpListener::bind((if family == "AF_INET" { "0.0.0.0" } else { "::" }, port)).unwrap();
            assert!(
                reaches(elsewhere) && outside.is_none_or(reaches),
                "so this proves nothing"
            );
            drop(free);
        }
        let mut begun = Begun::new(
            run()
                .profile("minimal")
                .flags(["--listen", &port.to_string()])
                .python(&code),
        );
        let address = begun.line();
        assert!(
            ["127.0.0.1", "::1", "::ffff:127.0.0.1"].contains(&&*address),
            "it listens on {address:?}"
        );
        assert!(reaches(SocketAddr::new(address.parse().unwrap(), port)), "{address}");
        assert!(!reaches(elsewhere), "{elsewhere} is open");
        match outside {
            Some(outside) => assert!(!reaches(outside), "{outside} is open"),
            None => skipped("this machine has loopback addresses alone"),
        }
    }
}

/// An address of this machine that others can reach; nothing is sent.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("203.0.113.1:9").ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
}

#[test]
fn an_address_that_is_not_loopback_is_refused() {
    let Some(ip) = own_address() else {
        return skipped("this machine has loopback addresses alone");
    };
    let port = free_port();
    Probe::new()
        .flags(["--listen", &port.to_string()])
        .attempt(&format!("socket.create_server(('{ip}', {port}))"))
        .attempt_if_possible(&format!(
            "socket.create_server(('::ffff:{ip}', {port}), family=socket.AF_INET6)"
        ))
        .works(&format!("socket.create_server(('127.0.0.1', {port}))"))
        .refused("minimal", "EACCES");
}

/// What the run listens on is open to the run, but not what others have under the same number.
#[test]
fn the_same_port_of_others_stays_closed() {
    let port = free_port();
    let Some(witness) = Witness::at([127, 9, 8, 7].into(), port) else {
        return skipped("the port was taken meanwhile");
    };
    let code = format!(
        "import socket\n\
         s = socket.create_server(('127.0.0.1', {port}))\n\
         c = socket.create_connection(('127.0.0.1', {port}), 10); c.send(b'x'); print(s.accept()[0].recv(1))\n\
         try: socket.create_connection(('127.9.8.7', {port}), 10); print('reached')\n\
         except OSError: print('refused')"
    );
    let mut net = Net::new();
    net.flag(["--listen", &port.to_string()]);
    net.python(&code).prints("b'x'\nrefused\n");
    witness.saw_none();
}

/// The run had the port, gave it up, and somebody else has it now.
#[test]
fn a_port_that_the_run_gave_up_is_closed_again() {
    let port = free_port();
    let code = format!(
        "import socket, sys\n\
         s = socket.create_server(('127.0.0.1', {port}))\n\
         socket.create_connection(('127.0.0.1', {port}), 10).close()\n\
         s.close()\n\
         print('closed', flush=True); sys.stdin.readline()\n\
         try: socket.create_connection(('127.0.0.1', {port}), 10); print('reached')\n\
         except OSError: print('refused')"
    );
    let mut begun = Begun::new(
        run()
            .profile("minimal")
            .flags(["--listen", &port.to_string()])
            .python(&code),
    );
    assert_eq!(begun.line(), "closed");
    let mut witness = None;
    let taken = until(Duration::from_secs(10), || {
        witness = Witness::at(LOCALHOST, port);
        witness.is_some()
    });
    assert!(taken, "the port isn't free");
    begun.say("");
    assert_eq!(begun.line(), "refused");
    witness.unwrap().saw_none();
}

/// A connected socket has the loopback's address only until another thread disconnects it.
#[test]
fn a_connection_that_is_taken_away_under_listen() {
    let Some(attacker) = Built::c("gcc", &["-O1", "-pthread"], "escape/attackers/relisten.c") else {
        return;
    };
    let free = finish(&mut std::process::Command::new(attacker.program()), b"");
    assert!(
        free.stdout().starts_with("everywhere "),
        "{}{}",
        free.stdout(),
        free.stderr()
    );
    let mut net = Net::new();
    net.flag(["--listen", "0"]);
    let ran = outcome(net.run("minimal").command([attacker.program().to_str().unwrap()]));
    assert_eq!(ran.stdout(), "nowhere\n", "{}", ran.told());
}

/// Programs find a free port by asking for any, and ask for it again.
#[test]
fn a_port_that_the_kernel_chose_may_be_asked_for_again() {
    let code = "import socket\n\
         s = socket.socket(); s.bind(('127.0.0.1', 0)); port = s.getsockname()[1]; s.close()\n\
         s = socket.create_server(('127.0.0.1', port)); c = socket.create_connection(('127.0.0.1', port)); c.send(b'x')\n\
         print(s.accept()[0].recv(1))\n\
         try: socket.create_server(('127.0.0.1', port - 1 if port > 2000 else port + 1)); print('made')\n\
         except PermissionError: print('refused')";
    let mut net = Net::new();
    net.flag(["--listen", "0"]);
    net.python(code).prints("b'x'\nrefused\n");
}

/// What is bound to another address with any port may be the near end of a connection, and listens nowhere.
#[test]
fn another_address_of_the_machine_with_any_port() {
    let outward = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        // Sends nothing; the kernel only chooses an address.
        socket.connect("203.0.113.1:9")?;
        socket.local_addr()
    });
    let Some(own) = outward.ok().filter(|own| !own.ip().is_loopback()) else {
        return skipped("this machine has no address but loopback's");
    };
    let probe = Probe::new().attempt(&format!("s = socket.socket(); s.bind(('{}', 0)); s.listen()", own.ip()));
    probe.flags(["--listen", "0"]).refused("minimal", REFUSED);
}
