//! Many connections, one after the other and at once.

use crate::network::net::Net;
use crate::network::servers::Streams;

fn prints(net: &mut Net, server: &Streams, body: &str, text: &str) {
    net.grant("api.shop.test", server.address);
    let code = format!(
        "import asyncio, errno, os, socket, sys, time\n\
         NAME, PORT = 'api.shop.test', {}\n{body}",
        server.address.port()
    );
    net.python(&code).prints(text).was_refused_nothing();
}

#[test]
fn two_thousand_connections_one_after_the_other() {
    let echo = Streams::echo();
    prints(
        &mut Net::new(),
        &echo,
        "for i in range(2000):\n  \
           s = socket.create_connection((NAME, PORT), 20); s.sendall(b'%04d' % i); assert s.recv(4) == b'%04d' % i; s.close()\n\
         print('done')",
        "done\n",
    );
    assert_eq!(echo.connections(), 2000);
}

#[test]
fn three_hundred_connections_at_once() {
    let echo = Streams::echo();
    prints(
        &mut Net::new(),
        &echo,
        "async def one(i):\n  \
           r, w = await asyncio.open_connection(NAME, PORT)\n  \
           w.write(b'%04d' % i); await w.drain(); first = await r.readexactly(4)\n  \
           open_at_once.add(i)\n  \
           while len(open_at_once) < 300: await asyncio.sleep(0.05)\n  \
           w.write(b'%04d' % i); second = await r.readexactly(4); w.close()\n  \
           return first == second == b'%04d' % i\n\
         async def main(): return await asyncio.wait_for(asyncio.gather(*map(one, range(300))), 90)\n\
         open_at_once = set()\n\
         print(sum(asyncio.run(main())))",
        "300\n",
    );
}

#[test]
fn three_hundred_blocking_connections_kept_open() {
    let echo = Streams::echo();
    prints(
        &mut Net::new(),
        &echo,
        "kept = [socket.create_connection((NAME, PORT), 30) for _ in range(300)]\n\
         for i, s in enumerate(kept): s.sendall(b'%04d' % i)\n\
         print(all(s.recv(4) == b'%04d' % i for i, s in enumerate(kept)))",
        "True\n",
    );
}

/// Failures leave nothing behind either.
#[test]
fn a_thousand_failures() {
    let (echo, down) = (Streams::echo(), crate::network::servers::unheard());
    let mut net = Net::new();
    net.grant("down.shop.test", down);
    prints(
        &mut net,
        &echo,
        &format!(
            "answers = set()\n\
             for i in range(1000):\n  \
               try: socket.create_connection(('down.shop.test', {}), None if i % 2 else 10); answers.add('reached')\n  \
               except OSError as error: answers.add(errno.errorcode[error.errno])\n\
             print(answers <= {{'ECONNREFUSED', 'ECONNRESET', 'reached'}})\n\
             s = socket.create_connection((NAME, PORT), 20); s.sendall(b'x'); print(s.recv(1))",
            down.port()
        ),
        "True\nb'x'\n",
    );
}

/// A program that opens more than it may is told so, and no other is harmed.
#[test]
fn more_connections_than_may_be_open() {
    let echo = Streams::echo();
    let mut net = Net::new();
    net.flag(["--open-files-limit", "64"]);
    prints(
        &mut net,
        &echo,
        "kept = []\n\
         try:\n  \
           while len(kept) < 500: kept.append(socket.create_connection((NAME, PORT), 20))\n\
         except OSError as error: print(errno.errorcode.get(error.errno, 'EMFILE'))\n\
         del kept[5:]\n\
         s = socket.create_connection((NAME, PORT), 20); s.sendall(b'x'); print(s.recv(1))",
        "EMFILE\nb'x'\n",
    );
}
