//! What no library says: Stockade's own listeners take it, and serve the next one.

use crate::network::net::Net;
use crate::network::servers::{Streams, address};

const ASK: &str = "import os, random, socket, struct\n\
    def say(data, wait=True):\n  \
      s = socket.create_connection(('198.18.0.1', 53), 10)\n  \
      try:\n    \
        s.sendall(data)\n    \
        if wait: s.shutdown(socket.SHUT_WR); s.settimeout(10); s.recv(4096)\n  \
      except OSError: pass\n  \
      return s\n\
    def framed(data): return struct.pack('>H', len(data)) + data\n\
    HEAD = struct.pack('>6H', 7, 0x0100, 1, 0, 0, 0)\n";

#[test]
fn rubbish_does_not_stop_the_resolver() {
    let mut net = Net::new();
    net.host("*.shop.test:80");
    net.names.lead("api.shop.test", address());
    let code = format!(
        "{ASK}\
         random.seed(4)\n\
         for data in (b'', b'\\0', b'\\0\\0', b'\\xff\\xff', framed(b''), framed(b'x'), framed(HEAD), framed(HEAD[:11]),\n    \
           framed(HEAD + b'\\xc0\\x0c\\0\\1\\0\\1'), framed(HEAD + b'\\xc0\\xff\\0\\1\\0\\1'), framed(HEAD + b'\\x3f' + b'a' * 9),\n    \
           framed(HEAD + b'\\x40aaa\\0\\0\\1\\0\\1'), framed(HEAD + b'\\1.\\4shop\\4test\\0\\0\\1\\0\\1'),\n    \
           framed(HEAD + b'\\1\\0\\4shop\\4test\\0\\0\\1\\0\\1'), framed(HEAD + b'\\1\\xff\\4shop\\4test\\0\\0\\1\\0\\1'),\n    \
           framed(HEAD + b'\\x3f' + b'a' * 63 + b'\\4shop\\4test\\0\\0\\1\\0\\1'),\n    \
           framed(HEAD + (b'\\x3f' + b'a' * 63) * 4 + b'\\4shop\\4test\\0\\0\\1\\0\\1'),\n    \
           framed(HEAD[:4] + b'\\xff\\xff' * 4), framed(HEAD[:2] + b'\\x81\\x80' + HEAD[4:] + b'\\0\\0\\1\\0\\1'),\n    \
           framed(os.urandom(65535)), framed(HEAD + b'\\0' * 60000)):\n  \
           say(data)\n\
         for i in range(200): say(framed(HEAD + random.randbytes(random.randrange(300))))\n\
         kept = [say(b'\\0', wait=False) for i in range(100)]\n\
         print(socket.getaddrinfo('api.shop.test', 80) != [])"
    );
    net.python(&code).prints("True\n");
}

/// Each name needs an address of its own; a program may ask for more than there are.
#[test]
fn very_many_names_are_asked_for() {
    let echo = Streams::echo();
    let mut net = Net::new();
    net.grant("api.shop.test", echo.address).host("*.many.test:80");
    net.names.lead("*.many.test", address());
    let code = format!(
        "import socket\n\
         found = set()\n\
         for i in range(3000): found.add(socket.gethostbyname('n%d.many.test' % i))\n\
         print(len(found))\n\
         s = socket.create_connection(('api.shop.test', {}), 20); s.sendall(b'x'); print(s.recv(1))",
        echo.address.port()
    );
    net.python(&code).prints("3000\nb'x'\n");
}

/// Synthetic addresses that weren't given out, and the resolver's at another port.
#[test]
fn addresses_that_stand_for_nothing() {
    let mut net = Net::new();
    net.host("api.shop.test");
    let code = "import errno, socket\n\
        for host, port in ('198.18.77.77', 80), ('198.19.255.254', 443), ('198.18.0.1', 80), ('198.18.0.1', 853), \
          ('198.18.0.0', 53), ('198.18.0.2', 53), ('::ffff:198.18.77.77', 80):\n  \
          try: socket.create_connection((host, port), 10); print('reached')\n  \
          except OSError as error: print(errno.errorcode.get(error.errno, error))";
    let refused = ["EHOSTUNREACH", "ECONNREFUSED"];
    let ran = net.python(code);
    assert_eq!(ran.stdout().lines().count(), 7, "{}", ran.told());
    assert!(
        ran.stdout().lines().all(|line| refused.contains(&line)),
        "{}",
        ran.told()
    );
}
