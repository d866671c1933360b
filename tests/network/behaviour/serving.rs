//! Servers of the run's own, on ports that are granted.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::common::run;
use crate::network::begun::Begun;
use crate::network::built::installed;
use crate::network::net::Net;

fn free_port() -> u16 {
    TcpListener::bind(("0.0.0.0", 0)).unwrap().local_addr().unwrap().port()
}

fn listening(port: u16) -> [String; 2] {
    ["--listen".into(), port.to_string()]
}

fn fetch(port: u16) -> String {
    let address = SocketAddr::new([127, 0, 0, 1].into(), port);
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(5)).expect("the server is there");
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_server_of_the_run_is_reached_from_outside() {
    let port = free_port();
    let code = format!(
        "import http.server\n\
         class Handler(http.server.BaseHTTPRequestHandler):\n  \
           def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b'served')\n  \
           def log_message(self, *words): pass\n\
         server = http.server.ThreadingHTTPServer(('', {port}), Handler)\n\
         print('ready', flush=True); server.serve_forever()"
    );
    let mut begun = Begun::new(run().profile("minimal").flags(listening(port)).python(&code));
    assert_eq!(begun.line(), "ready");
    for _ in 0..20 {
        assert!(fetch(port).ends_with("served"));
    }
}

#[test]
fn a_server_of_node_is_reached_from_outside() {
    if !installed(&["node"]) {
        return;
    }
    let port = free_port();
    let code = format!(
        "require('http').createServer((q, a) => a.end('served')).listen({port}, '127.0.0.1', () => console.log('ready'))"
    );
    let mut begun = Begun::new(
        run()
            .profile("minimal")
            .flags(listening(port))
            .command(["node", "-e", &code]),
    );
    assert_eq!(begun.line(), "ready");
    assert!(fetch(port).ends_with("served"));
}

/// Node listens on all addresses of both kinds if nothing is said.
#[test]
fn a_server_that_names_no_address_starts() {
    if !installed(&["node"]) {
        return;
    }
    let port = free_port();
    let code = format!(
        "const http = require('http');
         const server = http.createServer((q, a) => a.end('served')).listen({port}, async () => {{
             const answer = await fetch('http://localhost:{port}/');
             console.log(await answer.text());
             process.exit(0);
         }})"
    );
    run()
        .profile("minimal")
        .flags(listening(port))
        .command(["node", "-e", &code])
        .stdout("served\n")
        .ends();
}

/// A server and its clients, all inside: the run's own port needs no grant to be connected to.
#[test]
fn a_server_of_the_run_is_reached_from_the_run() {
    let port = free_port();
    for (flag, bound) in [(port, port), (0, 0)] {
        let code = format!(
            "import os, socket\n\
             s = socket.create_server(('127.0.0.1', {bound})); port = s.getsockname()[1]\n\
             for i in range(50):\n  \
               if os.fork() == 0:\n    \
                 c = socket.create_connection(('127.0.0.1', port), 20); c.sendall(b'x'); os._exit(c.recv(1) != b'y')\n  \
               a = s.accept()[0]; a.recv(1); a.sendall(b'y'); a.close()\n  \
               assert os.wait()[1] == 0\n\
             print('served')"
        );
        run()
            .profile("minimal")
            .flags(listening(flag))
            .python(&code)
            .stdout("served\n")
            .ends();
    }
}

#[test]
fn a_server_of_the_run_beside_granted_hosts() {
    let port = free_port();
    let echo = crate::network::servers::Streams::echo();
    let mut net = Net::new();
    net.grant("api.shop.test", echo.address)
        .flag(["--listen", &port.to_string()]);
    let code = format!(
        "import asyncio\n\
         async def pass_on(r, w):\n  \
           r2, w2 = await asyncio.open_connection('api.shop.test', {})\n  \
           w2.write(await r.readexactly(4)); w.write(await r2.readexactly(4)); w.close(); w2.close()\n\
         async def main():\n  \
           server = await asyncio.start_server(pass_on, '127.0.0.1', {port})\n  \
           async def one():\n    \
             r, w = await asyncio.open_connection('127.0.0.1', {port}); w.write(b'ping'); return await r.readexactly(4)\n  \
           print(set(await asyncio.gather(*(one() for _ in range(50)))))\n\
         asyncio.run(main())",
        echo.address.port()
    );
    net.python(&code).prints("{b'ping'}\n").was_refused_nothing();
}

#[test]
fn a_port_is_free_again_after_the_run() {
    let port = free_port();
    for _ in 0..3 {
        let code = format!("import socket; s = socket.create_server(('', {port})); print('ready')");
        run()
            .profile("minimal")
            .flags(listening(port))
            .python(&code)
            .stdout("ready\n")
            .ends();
    }
    TcpListener::bind(("127.0.0.1", port)).expect("it is free again");
}

#[test]
fn a_port_that_is_taken_says_so() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let code = format!(
        "import errno, socket\n\
         try: socket.socket().bind(('127.0.0.1', {port}))\n\
         except OSError as error: print(errno.errorcode[error.errno])"
    );
    run()
        .profile("minimal")
        .flags(listening(port))
        .python(&code)
        .stdout("EADDRINUSE\n")
        .ends();
}

/// A `connect` waits where the server's queue is full, and the server may ask for something before it accepts.
#[test]
fn a_server_whose_queue_is_full_goes_on() {
    let code = "import os, socket, threading, time
server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen(0)
for n in range(40): open('file').close()
clients = [socket.socket() for _ in range(8)]
for one in clients: threading.Thread(target=one.connect, args=(server.getsockname(),), daemon=True).start()
time.sleep(0.5)
begun = time.monotonic()
for n in range(40): open('file').close()
print('opened', time.monotonic() - begun < 10, flush=True)
os._exit(0)";
    run()
        .profile("workspace")
        .flags(["--listen", "0"])
        .file("file", "x")
        .python(code)
        .stdout("opened True\n")
        .ends();
}
