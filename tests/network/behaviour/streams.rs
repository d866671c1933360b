//! What goes through a connection: both directions, to the end, broken off, for long.

use std::time::Duration;

use crate::common::until;
use crate::network::begun::Begun;
use crate::network::net::{Net, Outcome, outcome};
use crate::network::servers::{Http, Streams, checksum, pattern};

const MANY: usize = 50 << 20;

/// Python with a connected socket `s` to the server.
fn connected(server: &Streams, body: &str) -> Outcome {
    let mut net = Net::new();
    net.grant("api.shop.test", server.address);
    let code = format!(
        "import errno, os, select, socket, struct, sys, threading, time, zlib\n\
         s = socket.create_connection(('api.shop.test', {}), 20); s.settimeout(60)\n\
         def all(s):\n  \
           got = b''\n  \
           while piece := s.recv(65536): got += piece\n  \
           return got\n\
         {body}",
        server.address.port()
    );
    net.python(&code)
}

#[test]
fn half_a_connection_may_end_first() {
    let server = Streams::adder();
    let sum = checksum(&pattern(100_000));
    let ran = connected(
        &server,
        "data = b''.join(b'%015d\\n' % i for i in range(0, 100016, 16))[:100000]\n\
         s.sendall(data); s.shutdown(socket.SHUT_WR); print(all(s).decode(), end='')",
    );
    ran.prints(&format!("100000 {sum}\n"));
}

#[test]
fn the_servers_half_may_end_first() {
    let server = Streams::early_ender();
    // A peer that takes the end of one half for the end of both has time to act on it.
    let ran = connected(
        &server,
        "print(all(s)); time.sleep(0.3); s.sendall(b'x' * 200000); s.close(); print('sent')",
    );
    ran.prints("b'bye\\n'\nsent\n");
    assert!(
        until(Duration::from_secs(5), || server.lines() == ["200000"]),
        "{:?}",
        server.lines()
    );
}

#[test]
fn a_reset_is_a_reset() {
    let server = Streams::breaker();
    let ran = connected(
        &server,
        "s.sendall(b'x' * 10)\n\
         try: print(s.recv(1))\n\
         except OSError as error: print(errno.errorcode[error.errno])",
    );
    ran.prints("ECONNRESET\n");
}

#[test]
fn a_reset_of_the_runs_reaches_the_server() {
    let server = Streams::listener_to_the_end();
    let mut net = Net::new();
    net.grant("api.shop.test", server.address);
    let code = format!(
        "import socket, struct, sys\n\
         s = socket.create_connection(('api.shop.test', {})); s.sendall(b'x'); sys.stdin.readline()\n\
         s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); s.close()\n\
         sys.stdin.readline(); print('broken', flush=True)",
        server.address.port()
    );
    let mut held = Begun::new(net.run("minimal").python(&code));
    // The byte is there before the reset, and the reset before the run's end.
    for line in ["something", "ConnectionReset"] {
        let is_last = || server.lines().last().is_some_and(|last| last == line);
        assert!(until(Duration::from_secs(20), is_last), "{:?}", server.lines());
        held.say("");
    }
    assert_eq!(held.line(), "broken");
}

#[test]
fn a_close_of_the_runs_reaches_the_server_at_once() {
    let server = Streams::listener_to_the_end();
    let mut net = Net::new();
    net.grant("api.shop.test", server.address);
    let code = format!(
        "import socket, sys\n\
         s = socket.create_connection(('api.shop.test', {}), 20); s.sendall(b'x'); s.close()\n\
         print('closed', flush=True); sys.stdin.readline()",
        server.address.port()
    );
    let mut begun = Begun::new(net.run("minimal").python(&code));
    assert_eq!(begun.line(), "closed");
    // The run goes on meanwhile.
    assert!(
        until(Duration::from_secs(5), || server.lines() == ["something", "end"]),
        "{:?}",
        server.lines()
    );
}

#[test]
fn a_server_may_speak_first() {
    connected(
        &Streams::greeter(),
        "print(s.recv(100)); s.sendall(b'ehlo'); print(s.recv(100))",
    )
    .prints("b'220 hello\\n'\nb'ehlo'\n");
}

#[test]
fn many_bytes_come() {
    let sum = checksum(&pattern(MANY));
    let ran = connected(
        &Streams::source(),
        &format!(
            "s.sendall(b'{MANY}\\n'); total, sum = 0, 1\n\
             while piece := s.recv(1 << 16): total += len(piece); sum = zlib.adler32(piece, sum)\n\
             print(total, sum)"
        ),
    );
    ran.prints(&format!("{MANY} {sum}\n"));
}

#[test]
fn many_bytes_go() {
    let ran = connected(
        &Streams::adder(),
        &format!(
            "data = os.urandom(1 << 20); sum = 1\n\
             for _ in range({}): s.sendall(data); sum = zlib.adler32(data, sum)\n\
             s.shutdown(socket.SHUT_WR); print(all(s) == b'%d %d\\n' % ({MANY}, sum))",
            MANY >> 20
        ),
    );
    ran.prints("True\n");
}

#[test]
fn many_bytes_go_both_ways_at_once() {
    let ran = connected(
        &Streams::echo(),
        &format!(
            "data = os.urandom(1 << 20); sums = [1, 1]; total = 0\n\
             def send():\n  \
               for _ in range({}): s.sendall(data); sums[0] = zlib.adler32(data, sums[0])\n  \
               s.shutdown(socket.SHUT_WR)\n\
             t = threading.Thread(target=send); t.start()\n\
             while piece := s.recv(1 << 16): total += len(piece); sums[1] = zlib.adler32(piece, sums[1])\n\
             t.join(); print(total, sums[0] == sums[1])",
            MANY >> 20
        ),
    );
    ran.prints(&format!("{MANY} True\n"));
}

/// A server that doesn't read holds the program up, and isn't read for without end.
#[test]
fn a_slow_server_holds_its_client_up() {
    let ran = connected(
        &Streams::late_reader(Duration::from_secs(3)),
        "s.setblocking(False); sent = 0; piece = b'x' * 65536; end = time.monotonic() + 1.5\n\
         while time.monotonic() < end:\n  \
           try: sent += s.send(piece)\n  \
           except BlockingIOError: time.sleep(0.01)\n\
         print(sent < 40 << 20, sent > 0)\n\
         s.settimeout(30); s.shutdown(socket.SHUT_WR); print(all(s).split()[0] == b'%d' % sent)",
    );
    ran.prints("True True\nTrue\n");
}

/// The other way round: a program that doesn't read doesn't make Stockade keep it all.
#[test]
fn a_slow_client_holds_its_server_up() {
    let sum = checksum(&pattern(MANY));
    let ran = connected(
        &Streams::source(),
        &format!(
            "s.sendall(b'{MANY}\\n'); time.sleep(2); total, sum = 0, 1\n\
             while piece := s.recv(1 << 16): total += len(piece); sum = zlib.adler32(piece, sum)\n\
             print(total, sum)"
        ),
    );
    ran.prints(&format!("{MANY} {sum}\n"));
}

#[test]
fn a_connection_may_be_idle_for_long() {
    let ran = connected(
        &Streams::echo(),
        "s.sendall(b'a'); s.recv(1); time.sleep(15); s.sendall(b'b'); print(s.recv(1))",
    );
    ran.prints("b'b'\n");
}

#[test]
fn small_pieces_are_not_held_back() {
    // Held back until what came before is acknowledged, a byte takes 40 ms. On a busy machine some take longer.
    let ran = connected(
        &Streams::echo(),
        "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); times = []\n\
         for i in range(200):\n  \
           begun = time.monotonic(); s.sendall(b'x'); assert s.recv(1) == b'x'\n  \
           times.append(time.monotonic() - begun)\n\
         print(sorted(times)[50] < 0.035)",
    );
    ran.prints("True\n");
}

#[test]
fn every_call_that_sends_and_receives_works() {
    let ran = connected(
        &Streams::echo(),
        "def back(n):\n  \
           got = b''\n  \
           while len(got) < n: got += s.recv(n - len(got))\n  \
           return got\n\
         os.write(s.fileno(), b'one'); print(back(3)); os.writev(s.fileno(), [b't', b'wo']); print(back(3))\n\
         s.sendmsg([b'th', b'ree']); print(back(5)); s.send(b'four', socket.MSG_NOSIGNAL); print(back(4))\n\
         s.send(b'five', socket.MSG_MORE); s.send(b'six'); print(back(7))\n\
         f = os.open('/etc/passwd', 0); n = os.sendfile(s.fileno(), f, 0, 20); print(back(n) == os.pread(f, n, 0))\n\
         r, w = os.pipe(); os.write(w, b'pipe'); os.splice(r, s.fileno(), 4); print(back(4))\n\
         s.sendall(b'peek'); s.recv(4, socket.MSG_PEEK | socket.MSG_WAITALL); print(s.recv(4, socket.MSG_WAITALL))\n",
    );
    ran.prints("b'one'\nb'two'\nb'three'\nb'four'\nb'fivesix'\nTrue\nb'pipe'\nb'peek'\n");
}

#[test]
fn an_upgraded_connection_goes_on() {
    let shop = Http::new();
    let mut net = Net::new();
    net.grant("api.shop.test", shop.address);
    let code = format!(
        "import socket\n\
         s = socket.create_connection(('api.shop.test', {}), 20)\n\
         s.sendall(b'GET /ws HTTP/1.1\\r\\nHost: api.shop.test\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n')\n\
         print(s.recv(4096)[:12])\n\
         for i in range(50): s.sendall(b'frame'); assert s.recv(5) == b'frame'\n\
         print('spoken')",
        shop.port()
    );
    net.python(&code).prints("b'HTTP/1.1 101'\nspoken\n");
}

/// A run that is ended on its limit leaves no connection behind.
#[test]
fn a_run_that_is_ended_leaves_no_connection() {
    let server = Streams::listener_to_the_end();
    let mut net = Net::new();
    net.grant("api.shop.test", server.address).flag(["--time-limit", "2s"]);
    let code = format!(
        "import socket, time\n\
         kept = [socket.create_connection(('api.shop.test', {}), 20) for _ in range(10)]; time.sleep(60)",
        server.address.port()
    );
    let ran = outcome(net.run("minimal").python(&code));
    assert_eq!(ran.finished.status.code(), Some(124), "{}", ran.told());
    assert_eq!(server.connections(), 10, "{}", ran.told());
    assert!(
        until(Duration::from_secs(5), || server.ended() == 10),
        "{} ended",
        server.ended()
    );
}

/// What a program writes before it ends gets through, as it does from the kernel's own sockets.
#[test]
fn the_last_words_of_a_run_get_through() {
    const LENGTH: usize = 300_000;
    let server = Streams::late_reader(Duration::from_millis(300));
    let mut net = Net::new();
    net.grant("api.shop.test", server.address);
    let code = format!(
        "import os, socket\n\
         s = socket.create_connection(('api.shop.test', {}), 20)\n\
         s.setblocking(True); s.sendall(bytes({LENGTH})); os._exit(0)",
        server.address.port()
    );
    net.python(&code).prints("");
    let wanted = LENGTH.to_string();
    assert!(
        until(Duration::from_secs(5), || server
            .lines()
            .iter()
            .any(|line| line.starts_with(&wanted))),
        "{:?}",
        server.lines()
    );
}
