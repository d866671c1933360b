//! The call `connect` itself: blocking, in the background, failing, with options, on both kinds of addresses.

use std::net::Ipv6Addr;

use crate::common::skipped;
use crate::network::net::Net;
use crate::network::servers::{Answer, Streams, Witness, unheard, web_listener};

/// Python that has `NAME`, `PORT`, and what the tests share.
fn code(net: &mut Net, server: std::net::SocketAddr, body: &str) -> String {
    net.grant("api.shop.test", server);
    format!(
        "import errno, os, select, signal, socket, struct, threading, time\n\
         NAME, IP, PORT = 'api.shop.test', '{}', {}\n\
         def echoes(s): s.settimeout(20); s.sendall(b'ping'); return s.recv(4) == b'ping'\n\
         {body}",
        server.ip(),
        server.port()
    )
}

fn prints(body: &str, text: &str) {
    let echo = Streams::echo();
    let mut net = Net::new();
    let code = code(&mut net, echo.address, body);
    net.python(&code).prints(text).was_refused_nothing();
}

#[test]
fn a_connection_in_the_background_becomes_ready() {
    prints(
        "for wait in 'poll', 'select', 'epoll':\n  \
           s = socket.socket(); s.setblocking(False)\n  \
           e = s.connect_ex((socket.gethostbyname(NAME), PORT)); assert e in (0, errno.EINPROGRESS), e\n  \
           if wait == 'poll': p = select.poll(); p.register(s, select.POLLOUT); r = p.poll(20000)\n  \
           if wait == 'epoll': p = select.epoll(); p.register(s, select.EPOLLOUT | select.EPOLLET); r = p.poll(20)\n  \
           if wait == 'select': r = select.select([], [s], [s], 20)[1]\n  \
           assert r and s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0\n  \
           assert s.connect_ex((socket.gethostbyname(NAME), PORT)) in (0, errno.EISCONN)\n  \
           assert not os.get_blocking(s.fileno())\n  \
           s.setblocking(True); print(wait, echoes(s))\n",
        "poll True\nselect True\nepoll True\n",
    );
}

/// The other end isn't known yet when the program is told that it goes on, so the failure comes late.
#[test]
fn a_failure_in_the_background_comes_late_but_comes() {
    let down = unheard();
    let mut net = Net::new();
    let code = code(
        &mut net,
        down,
        "s = socket.socket(); s.setblocking(False)\n\
         e = s.connect_ex((socket.gethostbyname(NAME), PORT)); assert e in (errno.EINPROGRESS, errno.ECONNREFUSED), e\n\
         p = select.poll(); p.register(s, select.POLLIN | select.POLLOUT); assert p.poll(20000)\n\
         e = e if e == errno.ECONNREFUSED else s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)\n\
         if e == 0:\n  \
           s.settimeout(20)\n  \
           try: s.send(b'x'); r = s.recv(1); print('heard', r)\n  \
           except OSError as error: e = error.errno\n\
         print(e in (errno.ECONNREFUSED, errno.ECONNRESET, errno.EPIPE))\n",
    );
    net.python(&code).prints("True\n");
}

#[test]
fn a_server_that_is_down_refuses() {
    let down = unheard();
    let mut net = Net::new();
    let code = code(
        &mut net,
        down,
        "for host in NAME, IP:\n  \
           for timeout in (None, 10) if host == IP else (None,):\n    \
             try: socket.create_connection((host, PORT), timeout); print('reached')\n    \
             except OSError as error: print(errno.errorcode[error.errno])\n\
         s = socket.socket()\n\
         for i in range(3):\n  \
           try: s.connect((NAME, PORT))\n  \
           except OSError as error: print(errno.errorcode[error.errno])\n",
    );
    net.python(&code)
        .prints(&"ECONNREFUSED\n".repeat(6))
        .was_refused_nothing();
}

#[test]
fn options_are_kept() {
    prints(
        "def set(s):\n  \
           s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)\n  \
           s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000); s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 30000)\n  \
           s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 77)\n  \
           s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 7, 0))\n  \
           os.set_inheritable(s.fileno(), True)\n\
         def read(s):\n  \
           return [s.getsockopt(socket.SOL_SOCKET, o) for o in (socket.SO_KEEPALIVE, socket.SO_RCVBUF, socket.SO_SNDBUF)] + \
             [s.getsockopt(socket.IPPROTO_TCP, o) for o in (socket.TCP_NODELAY, socket.TCP_KEEPIDLE)] + \
             [s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16), os.get_inheritable(s.fileno()), s.family, s.type]\n\
         for host in NAME, IP:\n  \
           s = socket.socket(); set(s); before = read(s); inode = os.fstat(s.fileno()).st_ino\n  \
           d = s.dup(); s.connect((host, PORT))\n  \
           print(read(s) == before, os.fstat(s.fileno()).st_ino == inode, echoes(d))\n",
        "True True True\nTrue True True\n",
    );
}

#[test]
fn sockets_of_ipv6_connect() {
    let Some(_) = Witness::at(Ipv6Addr::LOCALHOST.into(), 0) else {
        return skipped("there's no IPv6 here");
    };
    let echo = Streams::at(std::net::TcpListener::bind("[::1]:0").unwrap(), |stream, _| {
        crate::network::servers::echo(stream)
    });
    let v4 = Streams::echo();
    let mut net = Net::new();
    net.grant("six.shop.test", echo.address)
        .grant("four.shop.test", v4.address);
    let both = vec![echo.address.ip(), v4.address.ip()];
    net.names.answer("both.shop.test", Answer::Addresses(both));
    net.host(&format!("both.shop.test:{}", echo.address.port()));
    let code = format!(
        "import socket\n\
         def echoes(s): s.settimeout(20); s.sendall(b'ping'); return s.recv(4) == b'ping'\n\
         six, four = {}, {}\n\
         print(echoes(socket.create_connection(('six.shop.test', six), 20)))\n\
         print(echoes(socket.create_connection(('::1', six), 20)))\n\
         a = socket.getaddrinfo('six.shop.test', six, socket.AF_INET6, socket.SOCK_STREAM)[0][4]\n\
         s = socket.socket(socket.AF_INET6); s.connect(a); print(echoes(s), s.getsockname()[1] > 0, len(s.getpeername()))\n\
         s = socket.socket(socket.AF_INET6); s.connect(('::ffff:{}', four)); print(echoes(s))\n\
         s = socket.socket(socket.AF_INET6)\n\
         s.connect(('::ffff:' + socket.gethostbyname('four.shop.test'), four)); print(echoes(s))\n\
         print(echoes(socket.create_connection(('both.shop.test', six), 20)))\n",
        echo.address.port(),
        v4.address.port(),
        v4.address.ip()
    );
    net.python(&code).prints("True\nTrue\nTrue True 4\nTrue\nTrue\nTrue\n");
}

/// A name with one family alone: the other one leads there too, or says that there's none.
#[test]
fn a_name_with_several_addresses_is_reached_by_the_one_that_answers() {
    let echo = Streams::echo();
    let down = crate::network::servers::address();
    let mut net = Net::new();
    net.grant("api.shop.test", echo.address)
        .host(&format!("{down}:{}", echo.address.port()));
    net.names
        .answer("api.shop.test", Answer::Addresses(vec![down, echo.address.ip()]));
    let code = format!(
        "import socket\n\
         s = socket.create_connection(('api.shop.test', {}), 20); s.sendall(b'x'); print(s.recv(1))",
        echo.address.port()
    );
    net.python(&code).prints("b'x'\n");
}

#[test]
fn both_ends_have_addresses() {
    prints(
        "s = socket.create_connection((NAME, PORT))\n\
         print(s.getsockname()[1] > 0, s.getpeername()[1] > 0, socket.socket(fileno=os.dup(s.fileno())).type == s.type)\n",
        "True True True\n",
    );
}

#[test]
fn a_signal_interrupts_a_connect_that_waits() {
    let mut net = Net::new();
    net.host("n.slow.test:80");
    net.names.answer("n.slow.test", Answer::Silence);
    let code = "import signal, socket, sys, time\n\
        def alarm(*_): raise TimeoutError('alarm')\n\
        signal.signal(signal.SIGALRM, alarm); signal.alarm(1)\n\
        begun = time.monotonic()\n\
        try: socket.create_connection(('n.slow.test', 80)); print('reached')\n\
        except OSError as error: print(error, time.monotonic() - begun < 10)\n";
    let ran = net.python(code);
    assert!(
        ran.finished.status.success() && ran.stdout().ends_with("True\n"),
        "{}",
        ran.told()
    );
}

#[test]
fn many_processes_and_threads_connect_together() {
    prints(
        "pids = []\n\
         for _ in range(10):\n  \
           pid = os.fork()\n  \
           if pid == 0:\n    \
             bad = []\n    \
             def go():\n      \
               for _ in range(5):\n        \
                 if not echoes(socket.create_connection((NAME, PORT), 30)): bad.append(1)\n    \
             ts = [threading.Thread(target=go) for _ in range(5)]\n    \
             [t.start() for t in ts]; [t.join() for t in ts]; os._exit(len(bad))\n  \
           pids.append(pid)\n\
         print(sum(os.waitpid(p, 0)[1] for p in pids))\n",
        "0\n",
    );
}

/// What the kernel answers to nonsense is what a run is answered.
#[test]
fn nonsense_is_answered_as_the_kernel_does() {
    let body = "import ctypes\n\
        libc = ctypes.CDLL(None, use_errno=True)\n\
        def answer(fd, address, length):\n  \
          r = libc.connect(fd, address, length); return errno.errorcode[ctypes.get_errno()] if r else 'ok'\n\
        a = struct.pack('=HH4s8x', 2, socket.htons(PORT), socket.inet_aton(IP))\n\
        s = socket.socket()\n\
        print(answer(s.fileno(), a, 0), answer(s.fileno(), a, 4), answer(s.fileno(), None, 16), answer(999, a, 16))\n\
        print(answer(0, a, 16), answer(s.fileno(), a, -1), answer(s.fileno(), a, 1000))\n\
        s.connect((IP, PORT)); print(answer(s.fileno(), a, 16))\n\
        o = socket.socket(socket.AF_INET6); print(answer(o.fileno(), a, 16))\n";
    prints(
        body,
        "EINVAL EINVAL EFAULT EBADF\nENOTSOCK EINVAL EINVAL\nEISCONN\nEINVAL\n",
    );
}

/// From whichever address of the machine's own a program connects.
#[test]
fn a_source_address_may_be_chosen() {
    prints(
        "for source in '127.0.0.1', '127.0.0.5':\n  \
           for blocking in True, False:\n    \
             s = socket.socket(); s.bind((source, 0)); s.settimeout(None if blocking else 20)\n    \
             s.connect((socket.gethostbyname(NAME), PORT)); print(source, echoes(s))\n",
        "127.0.0.1 True\n127.0.0.1 True\n127.0.0.5 True\n127.0.0.5 True\n",
    );
}

#[test]
fn urgent_bytes_hold_nothing_up() {
    prints(
        "s = socket.create_connection((NAME, PORT), 20); s.sendall(b'abc'); got = s.recv(3)\n\
         s.send(b'!', socket.MSG_OOB); s.sendall(b'def')\n\
         while len(got) < 7: got += s.recv(10)\n\
         print(got)\n",
        "b'abc!def'\n",
    );
}

/// Two threads connect one socket: to a host that is checked, and to one that isn't. Whatever comes of it, nothing
/// unchecked gets to the former.
#[test]
fn two_hosts_of_one_socket_are_not_mixed_up() {
    let Some(listener) = web_listener(80) else {
        return;
    };
    let checked = Streams::at(listener, |stream, log| {
        let mut line = String::new();
        let _ = std::io::BufRead::read_line(&mut std::io::BufReader::new(stream), &mut line);
        log.say(line);
    });
    let anything = Streams::echo();
    let mut net = Net::new();
    net.grant_web("checked.test", checked.address);
    net.grant("anything.test", anything.address);
    let code = format!(
        "import fcntl, socket, threading, time\n\
         checked = (socket.gethostbyname('checked.test'), 80)\n\
         anything = (socket.gethostbyname('anything.test'), {})\n\
         end = time.monotonic() + 2; n = 0\n\
         while time.monotonic() < end:\n  \
           s = socket.socket(); n += 1\n  \
           def first():\n    \
             try: s.connect(checked)\n    \
             except OSError: pass\n  \
           t = threading.Thread(target=first); t.start(); time.sleep(n % 20 * 1e-4)\n  \
           fcntl.fcntl(s, 4, fcntl.fcntl(s, 3) | 2048)\n  \
           try: s.connect(anything)\n  \
           except OSError: pass\n  \
           t.join()\n  \
           try: s.send(b'not http at all\\n'); time.sleep(0.005)\n  \
           except OSError: pass\n  \
           s.close()\n\
         print('tried')",
        anything.address.port()
    );
    net.python(&code).prints("tried\n");
    let said = checked.lines();
    assert!(said.iter().all(|line| !line.contains("http")), "{said:?}");
}

/// Programs try such a connection again for minutes.
#[test]
fn a_granted_name_whose_address_is_not_public_is_told_at_once_and_once() {
    let echo = Streams::echo();
    let mut net = Net::new();
    net.names.lead("api.shop.test", echo.address.ip());
    net.host(&format!("api.shop.test:{}", echo.address.port()));
    let outcome = net.python(&format!(
        "import socket, sys, time\n\
         for _ in range(3):\n  \
           try: socket.create_connection(('api.shop.test', {}), 20).recv(1)\n  \
           except OSError: time.sleep(1)\n\
         print('over', file=sys.stderr)\n",
        echo.address.port()
    ));
    let told = format!(
        "`api.shop.test:{0}` is granted, its address isn't public: `--host {1}`",
        echo.address.port(),
        echo.address
    );
    let stderr = outcome.stderr();
    assert_eq!(stderr, format!("stockade: {told}\nover\n"), "{}", outcome.told());
}
