//! What is said on 80 and 443 of a host that is granted without a port: it has to name the host.
//!
//! Many sites share an address, so a connection that is allowed by name could ask for another site there.

use std::fmt::Write as _;

use super::attack::NAME;
use crate::common::{finish, python};
use crate::network::net::{Net, outcome};
use crate::network::servers::{Http, Witness, address, web_listener};

/// Says the pieces of `forms` on connections of their own, each to its end.
const SAY: &str = r#"
import socket, sys, time
def say(pieces):
    s = socket.create_connection((HOST, PORT), 20); s.settimeout(3); heard = b""
    try:
        for piece in pieces:
            if piece == "answer":
                heard += s.recv(65536)
            elif piece == "pause":
                time.sleep(0.03)
            else:
                s.sendall(piece)
        s.shutdown(socket.SHUT_WR)
        while more := s.recv(65536):
            heard += more
    except OSError:
        pass
    return heard
def each(data):
    return [piece for i in range(len(data)) for piece in (data[i:i+1], "pause")][:-1]
GOOD = b"GET /hello HTTP/1.1\r\nHost: api.shop.test\r\n\r\n"
EVIL = b"GET /evil HTTP/1.1\r\nHost: evil.test\r\n\r\n"
CHUNKED = b"POST /sum HTTP/1.1\r\nHost: api.shop.test\r\nTransfer-Encoding: chunked\r\n"
"#;

/// Each names `evil` in something that isn't the body of a granted request.
const EVIL_REQUESTS: &[&str] = &[
    "[EVIL]",
    "each(EVIL)",
    "[GOOD, 'answer', EVIL]",
    "[GOOD + EVIL]",
    "[GOOD * 5 + EVIL]",
    "[GOOD + EVIL[:20], 'pause', EVIL[20:]]",
    "[b'GET /evil HTTP/1.1\\r\\n\\r\\n']",
    "[b'GET /evil HTTP/1.0\\r\\n\\r\\n']",
    "[b'GET /evil\\r\\n']",
    "[b'GET /evil HTTP/1.1\\r\\nHost:\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: api.shop.test\\r\\nHost: evil.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: evil.test\\r\\nHost: api.shop.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: api.shop.test\\r\\nhOST: evil.test\\r\\n\\r\\n']",
    "[b'GET http://evil.test/ HTTP/1.1\\r\\nHost: api.shop.test\\r\\n\\r\\n']",
    "[b'GET http://api.shop.test@evil.test/ HTTP/1.1\\r\\nHost: api.shop.test\\r\\n\\r\\n']",
    "[b'GET HTTP://EVIL.test/ HTTP/1.1\\r\\nHost: api.shop.test\\r\\n\\r\\n'.replace(b'EVIL', b'evil')]",
    "[b'GET //evil.test/ HTTP/1.1\\r\\nHost: evil.test\\r\\n\\r\\n']",
    "[b'CONNECT evil.test:443 HTTP/1.1\\r\\nHost: api.shop.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost : evil.test\\r\\nHost: api.shop.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: api.shop.test\\r\\n evil.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\n Host: evil.test\\r\\nHost: api.shop.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost:\\r\\n evil.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\nHost: evil.test\\n\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: api.shop.test\\nHost: evil.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nX: a\\rHost: evil.test\\r\\nHost: api.shop.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nX: a\\0Host: evil.test\\r\\nHost: api.shop.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: api.shop.test@evil.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: api.shop.test.evil.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: api.shop.test, evil.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: api.shop.test evil.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: evil.test\\0.api.shop.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: api.shop.test:80:evil.test\\r\\n\\r\\n']",
    "[b'GET / HTTP/1.1\\r\\nHost: evil.test#.api.shop.test\\r\\n\\r\\n']",
    "[b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\nevil.test']",
    "[b'evil.test\\r\\n\\r\\n']",
    "[b'\\x16\\3\\1\\0\\x20evil.test']",
    "[b'SSH-2.0-evil\\r\\n']",
    "[b'\\r\\n' * 3 + EVIL]",
    "[b'GET / HTTP/1.1\\r\\nX: ' + b'x' * 100000 + b'\\r\\nHost: evil.test\\r\\n\\r\\n']",
    // Where a body ends, if one may doubt it.
    "[b'POST /sum HTTP/1.1\\r\\nHost: api.shop.test\\r\\nContent-Length: 3\\r\\n\\r\\nabc' + EVIL]",
    "[CHUNKED + b'\\r\\n0\\r\\n\\r\\n' + EVIL]",
    "[CHUNKED + b'\\r\\n3\\r\\nabc\\r\\n0\\r\\n\\r\\n' + EVIL]",
    "[CHUNKED + b'\\r\\n3;x=y\\r\\nabc\\r\\n0\\r\\nTrailer: x\\r\\n\\r\\n' + EVIL]",
    "[CHUNKED + b'Content-Length: %d\\r\\n\\r\\n0\\r\\n\\r\\n' % (5 + len(EVIL)) + EVIL]",
    "[CHUNKED.replace(b'chunked', b'chunked, identity') + b'\\r\\n0\\r\\n\\r\\n' + EVIL]",
    "[b'POST /sum HTTP/1.1\\r\\nHost: api.shop.test\\r\\nContent-Length: 0\\r\\nContent-Length: %d\\r\\n\\r\\n' % len(EVIL) + EVIL]",
    "[b'POST /sum HTTP/1.1\\r\\nHost: api.shop.test\\r\\nContent-Length: %d\\r\\nContent-Length: 0\\r\\n\\r\\n' % len(EVIL) + EVIL]",
    "[b'POST /sum HTTP/1.1\\r\\nHost: api.shop.test\\r\\nContent-Length: 0, %d\\r\\n\\r\\n' % len(EVIL) + EVIL]",
    "[b'POST /sum HTTP/1.1\\r\\nHost: api.shop.test\\r\\nContent-Length: +%d\\r\\n\\r\\n' % len(EVIL) + EVIL]",
    "[b'POST /sum HTTP/1.1\\r\\nHost: api.shop.test\\r\\nContent-Length : %d\\r\\n\\r\\n' % len(EVIL) + EVIL]",
    "[b'POST /sum HTTP/1.1\\r\\nHost: api.shop.test\\r\\nContent-Length: 0x%x\\r\\n\\r\\n' % len(EVIL) + EVIL]",
    "[CHUNKED + b'\\r\\n10000000000000000\\r\\n' + EVIL]",
    "[CHUNKED + b'\\r\\n0 \\r\\n\\r\\n' + EVIL]",
    "[CHUNKED + b'\\r\\n0x0\\r\\n\\r\\n' + EVIL]",
    "[CHUNKED + b'\\r\\n-1\\r\\n\\r\\n' + EVIL]",
    // An upgrade that the server doesn't take.
    "[b'GET /no-upgrade HTTP/1.1\\r\\nHost: api.shop.test\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n', 'answer', EVIL]",
    "[b'GET /no-upgrade HTTP/1.1\\r\\nHost: api.shop.test\\r\\nConnection: Upgrade\\r\\nUpgrade: h2c\\r\\n\\r\\n' + EVIL]",
    "[b'POST /sum HTTP/1.1\\r\\nHost: api.shop.test\\r\\nExpect: 100-continue\\r\\nContent-Length: 0\\r\\n\\r\\n' + EVIL]",
];

// promise: network.12
#[test]
fn requests_for_another_host_are_not_passed_on() {
    let (Some(free), Some(held)) = (web_listener(80), web_listener(80)) else {
        return;
    };
    let (free, held) = (Witness::around(free), Witness::around(held));
    let mut script = String::new();
    for form in EVIL_REQUESTS {
        let _ = writeln!(script, "say({form})");
    }
    script.push_str("print('said')");
    // The witness never answers, and a form that waits for an answer needs one: both wait for it in vain.
    let unconfined = format!("HOST, PORT = '{}', 80\n{SAY}\n{script}", free.address.ip());
    let ended = finish(
        std::process::Command::new(python()).args(["-I", "-c", &unconfined]),
        b"",
    );
    assert_eq!(ended.stdout(), "said\n", "{}", ended.stderr());
    let heard = String::from_utf8_lossy(&free.heard()).matches("evil").count();
    assert!(
        heard >= EVIL_REQUESTS.len() - 3,
        "{heard} were heard, so this proves nothing"
    );

    let mut net = Net::new();
    net.grant_web(NAME, held.address);
    let ran = net.python(&format!("HOST, PORT = '{NAME}', 80\n{SAY}\n{script}"));
    ran.prints("said\n");
    let heard = String::from_utf8_lossy(&held.heard()).into_owned();
    assert!(
        heard.contains("GET /hello"),
        "nothing was let through, so this proves nothing"
    );
    assert!(!heard.contains("evil"), "{}", around(&heard, "evil"));
    ran.was_refused("connect", "evil.test:80", &["--host", "evil.test"]);
}

/// The same with a server that answers, so that second requests are judged after a first one.
// promise: network.12
#[test]
fn second_requests_for_another_host_are_not_passed_on() {
    let Some(listener) = web_listener(80) else {
        return;
    };
    let shop = Http::at(listener);
    let mut net = Net::new();
    net.grant_web(NAME, shop.address);
    let mut script = format!("HOST, PORT = '{NAME}', 80\n{SAY}\n");
    let seconds = EVIL_REQUESTS.iter().filter(|form| form.contains("EVIL"));
    for form in seconds {
        let _ = writeln!(script, "say({form})");
    }
    script.push_str("print(b'hello' in say([GOOD, 'answer', EVIL]))");
    net.python(&script).prints("True\n");
    assert!(shop.hosts().iter().all(|host| host == NAME), "{:?}", shop.hosts());
    assert!(!shop.raw().contains("evil"), "{}", around(&shop.raw(), "evil"));
}

#[test]
fn requests_for_the_granted_host_are_passed_on() {
    let Some(listener) = web_listener(80) else {
        return;
    };
    let shop = Http::at(listener);
    let mut net = Net::new();
    net.grant_web(NAME, shop.address);
    let forms = [
        "[GOOD]",
        "each(GOOD)",
        "[GOOD, 'answer', GOOD]",
        "[GOOD * 20]",
        "[GOOD.replace(b'api.shop.test', b'API.Shop.Test:80')]",
        "[GOOD.replace(b'Host: ', b'host:')]",
        "[GOOD.replace(b'/hello', b'http://api.shop.test/hello')]",
        "[GOOD.replace(b'1.1', b'1.0')]",
        "[b'POST /sum HTTP/1.1\\r\\nHost: api.shop.test\\r\\nContent-Length: %d\\r\\n\\r\\n' % len(EVIL) + EVIL + GOOD]",
        "[CHUNKED + b'\\r\\n%x\\r\\n%s\\r\\n0\\r\\n\\r\\n' % (len(EVIL), EVIL) + GOOD]",
        "[CHUNKED + b'\\r\\n1\\r\\na\\r\\n2\\r\\nbc\\r\\n0\\r\\nX: y\\r\\n\\r\\n', 'answer', GOOD]",
        "[GOOD.replace(b'\\r\\n\\r\\n', b'\\r\\nX: ' + b'x' * 7000 + b'\\r\\n\\r\\n')]",
        "[GOOD.replace(b'\\r\\n\\r\\n', b'\\r\\nReferer: http://evil.test/\\r\\n\\r\\n')]",
    ];
    let mut script = format!("HOST, PORT = '{NAME}', 80\n{SAY}\n");
    for form in forms {
        let _ = writeln!(
            script,
            "print(say({form}).count(b'hello from'), {})",
            serde_json::Value::from(form)
        );
    }
    let ran = net.python(&script);
    let refused: Vec<String> = ran
        .stdout()
        .lines()
        .filter(|line| line.starts_with('0'))
        .map(String::from)
        .collect();
    assert!(
        refused.is_empty() && ran.stdout().lines().count() == forms.len(),
        "{refused:?}\n{}",
        ran.told()
    );
    assert!(ran.stdout().contains("20 [GOOD * 20]"), "{}", ran.told());
}

#[test]
fn an_upgraded_connection_may_say_anything() {
    let Some(listener) = web_listener(80) else {
        return;
    };
    let shop = Http::at(listener);
    let mut net = Net::new();
    net.grant_web(NAME, shop.address);
    let code = format!(
        "import socket\n\
         s = socket.create_connection(('{NAME}', 80), 20)\n\
         s.sendall(b'GET /ws HTTP/1.1\\r\\nHost: {NAME}\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n')\n\
         print(s.recv(4096)[:12])\n\
         for i in range(100): s.sendall(b'\\x81\\x04evil'); assert s.recv(6) == b'\\x81\\x04evil'\n\
         s.shutdown(socket.SHUT_WR); print(s.recv(1))"
    );
    net.python(&code).prints("b'HTTP/1.1 101'\nb''\n");
}

/// A ClientHello (RFC 8446, 4.1.2) of one's own making.
const HELLO: &str = r#"
import struct
def sni(*names, kind=0):
    body = b"".join(struct.pack(">BH", kind, len(n)) + n for n in names)
    return extension(0, struct.pack(">H", len(body)) + body)
def extension(number, data):
    return struct.pack(">HH", number, len(data)) + data
def hello(*extensions, kind=1):
    more = extension(43, b"\2\3\4") + extension(10, b"\0\2\0\x1d") + extension(13, b"\0\2\4\3")
    all = b"".join(extensions) + more
    body = b"\3\3" + bytes(32) + b"\0" + b"\0\2\x13\1" + b"\1\0" + struct.pack(">H", len(all)) + all
    return bytes([kind]) + struct.pack(">I", len(body))[1:] + body
def record(data, kind=22):
    return struct.pack(">BHH", kind, 0x301, len(data)) + data
OWN, EVIL_NAME = b"api.shop.test", b"evil.test"
MINE, EVIL_HELLO = record(hello(sni(OWN))), record(hello(sni(EVIL_NAME)))
def records(data, size):
    return b"".join(record(data[i:i+size]) for i in range(0, len(data), size))
"#;

const EVIL_HELLOS: &[&str] = &[
    "[EVIL_HELLO]",
    "each(EVIL_HELLO)[:400]",
    "[EVIL_HELLO[:7], 'pause', EVIL_HELLO[7:]]",
    "[records(hello(sni(EVIL_NAME)), 10)]",
    "[record(hello())]",
    "[record(hello(sni(b'')))]",
    "[record(hello(sni(OWN, EVIL_NAME)))]",
    "[record(hello(sni(EVIL_NAME, OWN)))]",
    "[record(hello(sni(OWN), sni(EVIL_NAME)))]",
    "[record(hello(sni(EVIL_NAME), sni(OWN)))]",
    "[record(hello(sni(OWN, kind=1)))]",
    "[record(hello(sni(OWN + b'\\0.evil.test')))]",
    "[record(hello(sni(b'evil.test\\0' + OWN)))]",
    "[record(hello(sni(OWN + b'.evil.test')))]",
    "[record(hello(sni(b'127.0.0.1')))]",
    "[record(hello(extension(35, sni(OWN))))]",
    "[record(hello(sni(OWN), extension(0xfe0d, b'\\0\\0\\1\\0\\1\\7\\0\\0\\0\\4evil')))]",
    "[record(hello(sni(OWN), extension(0xffce, b'evil')))]",
    "[record(hello(sni(OWN), kind=2))]",
    "[record(hello(sni(OWN)), kind=23)]",
    "[b'\\x80\\x2e\\1\\3\\1\\0\\x15\\0\\0\\0\\x10' + bytes(35)]",
    "[b'GET / HTTP/1.1\\r\\nHost: api.shop.test\\r\\n\\r\\n']",
    "[b'SSH-2.0-x\\r\\n']",
    "[b'\\x15\\3\\1\\0\\2\\1\\0' + MINE]",
    "[b'\\x14\\3\\1\\0\\1\\1' + MINE]",
    "[record(hello(sni(OWN))[:-1])]",
    "[record(hello(sni(OWN)).replace(b'\\0\\x0dapi', b'\\0\\x0eapi'))]",
    "[b'\\x16\\3\\1\\xff\\xff' + bytes(70000)]",
];

// promise: network.13
#[test]
fn greetings_for_another_host_are_not_passed_on() {
    let (Some(free), Some(held)) = (web_listener(443), web_listener(443)) else {
        return;
    };
    let (free, held) = (Witness::around(free), Witness::around(held));
    let script: String = EVIL_HELLOS.iter().map(|form| format!("say({form})\n")).collect();
    let unconfined = format!(
        "HOST, PORT = '{}', 443\n{SAY}\n{HELLO}\n{script}print('said')",
        free.address.ip()
    );
    let ended = finish(
        std::process::Command::new(python()).args(["-I", "-c", &unconfined]),
        b"",
    );
    assert_eq!(ended.stdout(), "said\n", "{}", ended.stderr());
    assert!(free.heard().len() > 1000, "so this proves nothing");

    let mut net = Net::new();
    net.grant_web(NAME, held.address);
    let ran = net.python(&format!(
        "HOST, PORT = '{NAME}', 443\n{SAY}\n{HELLO}\n{script}print('said')"
    ));
    ran.prints("said\n");
    let heard = held.heard();
    assert!(
        heard.is_empty(),
        "{} bytes were passed on: {:?}",
        heard.len(),
        String::from_utf8_lossy(&heard)
    );
    ran.was_refused("connect", "evil.test:443", &["--host", "evil.test"]);
}

#[test]
fn greetings_for_the_granted_host_are_passed_on_as_they_are() {
    let forms = [
        "[MINE]",
        "each(MINE)",
        "[MINE[:5], 'pause', MINE[5:]]",
        "[records(hello(sni(OWN)), 10)]",
        "[record(hello(sni(b'API.shop.TEST')))]",
        "[MINE + bytes(5000)]",
        "[record(hello(sni(OWN), extension(21, bytes(9000))))]",
    ];
    for form in forms {
        let Some(listener) = web_listener(443) else {
            return;
        };
        let witness = Witness::around(listener);
        let mut net = Net::new();
        net.grant_web(NAME, witness.address);
        let code = format!(
            "HOST, PORT = '{NAME}', 443\n{SAY}\n{HELLO}\nsay({form})\n\
            sys.stdout.buffer.write(b''.join(p for p in {form} if p != 'pause'))"
        );
        let ran = outcome(net.run("minimal").python(&code));
        assert!(!ran.finished.stdout.is_empty(), "{}", ran.told());
        assert!(
            witness.heard() == ran.finished.stdout,
            "{form}: {:?}",
            String::from_utf8_lossy(&witness.heard())
        );
    }
}

/// A grant of a name with a port is for whatever is spoken there, on 80 and 443 too.
#[test]
fn what_is_said_on_a_port_that_was_named_is_not_looked_at() {
    for port in [80, 443] {
        let Some(listener) = web_listener(port) else {
            return;
        };
        let witness = Witness::around(listener);
        let mut net = Net::new();
        net.grant(NAME, witness.address);
        net.python(&format!(
            "HOST, PORT = '{NAME}', {port}\n{SAY}\nsay([EVIL])\nprint('said')"
        ))
        .prints("said\n");
        assert!(String::from_utf8_lossy(&witness.heard()).contains("evil.test"));
    }
}

/// Several names of one address: each connection is for the name it was made for, and what it says may be any granted.
#[test]
fn two_granted_names_of_one_address() {
    let Some(listener) = web_listener(80) else {
        return;
    };
    let shop = Http::at(listener);
    let mut net = Net::new();
    net.grant_web(NAME, shop.address);
    net.grant_web("cdn.shop.test", shop.address);
    net.names.lead("evil.test", address());
    let code = format!(
        "import socket, http.client\n\
         for name in '{NAME}', 'cdn.shop.test':\n  \
           c = http.client.HTTPConnection(name, timeout=20); c.request('GET', '/hello'); print(c.getresponse().status)"
    );
    net.python(&code).prints("200\n200\n");
    assert_eq!(shop.hosts(), [NAME, "cdn.shop.test"]);
}

/// Some text before and after a part, for messages.
fn around(text: &str, part: &str) -> String {
    let at = text.find(part).unwrap_or(0);
    text.chars()
        .skip(text[..at].chars().count().saturating_sub(200))
        .take(400)
        .collect()
}
