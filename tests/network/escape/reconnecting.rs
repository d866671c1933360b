//! Sockets that were somewhere already, or came from somebody else.

use std::process::Command;

use super::attack::Attack;
use crate::common::{finish, python};
use crate::network::net::outcome;
use crate::network::servers::Witness;

/// Ends a connection, so that the socket may be connected again (connect(2)).
const UNSPEC: &str = "connect(s, struct.pack('=H14x', 0))";

#[test]
fn connecting_elsewhere_after_a_granted_connection() {
    Attack::new().fails(
        &[
            &format!("s = socket.create_connection(GRANTED); {UNSPEC}; connect(s, sockaddr(*W))"),
            &format!("s = socket.create_connection(LITERAL); {UNSPEC}; connect(s, sockaddr(*W))"),
            &format!("s = socket.create_connection(LITERAL); echoes(s); s.setblocking(True); {UNSPEC}; connect(s, sockaddr(*W))"),
            &format!("s = of(HOST); begun(s, GRANTED); {UNSPEC}; begun(s, W)"),
            &format!("s = of(HOST); {UNSPEC}; {UNSPEC}; connect(s, sockaddr(*W))"),
        ],
        "EACCES",
    );
}

#[test]
fn connecting_twice_at_once() {
    let attack = Attack::new();
    // Unconfined the second attempt fails by itself, so another socket goes to the witness as well.
    attack.fails(
        &[
            "s = socket.create_connection(GRANTED)\n\
             try: connect(s, sockaddr(*W))\n\
             except OSError as error: expect(error.errno in (errno.EISCONN, errno.EACCES))\n\
             echoes(s); connect(of(HOST), sockaddr(*W))",
            "s = of(HOST); s.setblocking(False)\n\
             for address in GRANTED, W, GRANTED, W:\n  \
               try: s.connect(address)\n  \
               except OSError: pass\n\
             connect(of(HOST), sockaddr(*W))",
        ],
        "EACCES",
    );
}

/// Many threads connect one socket, to the granted address and to the witness.
#[test]
fn connecting_one_socket_from_many_threads() {
    let attack = Attack::new();
    let code = |unconfined: bool| {
        let witness = attack.witness.address;
        format!(
            "import socket, struct, threading\n\
             GRANTED, W = ('{}', {}), ('{}', {})\n\
             for _ in range(150):\n  \
               s = socket.socket()\n  \
               def go(address):\n    \
                 try: s.connect(address)\n    \
                 except OSError: pass\n  \
               threads = [threading.Thread(target=go, args=(a,)) for a in ((W, GRANTED) if _ % 2 else (GRANTED, W)) * 2]\n  \
               for t in threads: t.start()\n  \
               for t in threads: t.join()\n  \
               s.close()\n\
             print('tried', {unconfined:?} or '')",
            attack.granted.address.ip(),
            attack.granted.address.port(),
            witness.ip(),
            witness.port()
        )
        .replace("true", "True")
        .replace("false", "False")
    };
    finish(Command::new(python()).args(["-I", "-c", &code(true)]), b"");
    attack.witness.saw(1);
    attack.witness.forget();
    attack.net.python(&code(false)).prints("tried \n");
    attack.witness.saw_none();
    assert!(attack.granted.connections() > 0);
}

#[test]
fn a_socket_passed_inside_the_run() {
    let pass = "a, b = socket.socketpair(); s = of(HOST); socket.send_fds(a, [b'x'], [s.fileno()]); \
                f = socket.recv_fds(b, 1, 1)[1][0]";
    let attack = Attack::new();
    attack.fails(
        &[
            &format!("{pass}; connect(f, sockaddr(*W))"),
            &format!("{pass}; s.close(); connect(f, sockaddr(*W))"),
            &format!("{pass}; p = os.fork()\nif p == 0:\n  try: connect(f, sockaddr(*W)); os._exit(0)\n  except OSError as e: os._exit(e.errno)\n\
                      status = os.waitstatus_to_exitcode(os.waitpid(p, 0)[1])\nif status: raise OSError(status, '')"),
            // Connected by one process, used by another one, and then led elsewhere.
            &format!("{pass}; socket.socket(fileno=f).connect(LITERAL) or {UNSPEC}; connect(s, sockaddr(*W))"),
        ],
        "EACCES",
    );
    attack.works(&[
        &format!("{pass}; o = socket.socket(fileno=f); o.connect(GRANTED); echoes(s); echoes(o)"),
        &format!("{pass}; s.close(); o = socket.socket(fileno=f); o.connect(GRANTED); echoes(o)"),
        "s = socket.create_connection(GRANTED)\nif os.fork() == 0: echoes(s); os._exit(0)\nexpect(os.wait()[1] == 0); echoes(s)",
    ]);
}

#[test]
fn an_inherited_socket_is_closed() {
    let attack = Attack::new();
    let code = "import os\n\
        for fd in 7, 8:\n  \
          try: os.write(fd, b'x'); print('sent')\n  \
          except OSError: print('closed')\n";
    let (ip, port) = (attack.witness.address.ip(), attack.witness.address.port());
    let shell = format!("exec 7<>/dev/tcp/{ip}/{port} 8<>/dev/udp/{ip}/{port}");
    let unconfined = format!("{shell}; exec \"$@\"");
    let free = finish(
        Command::new("bash").args(["-c", &unconfined, "x", python(), "-I", "-c", code]),
        b"",
    );
    assert_eq!(free.stdout(), "sent\nsent\n");
    outcome(attack.net.run("minimal").after(&shell).python(code)).prints("closed\nclosed\n");
    let free = attack.witness.heard();
    assert_eq!(free, b"x", "the run spoke by an inherited socket");
}

/// Standard streams are the caller's and pass, but lead nowhere else.
#[test]
fn a_socket_as_a_standard_stream() {
    let attack = Attack::new();
    let witness = &attack.witness;
    let elsewhere = Witness::new();
    let forms = [
        // A stream that is ended and led elsewhere, one that is new, and a datagram socket that was never connected.
        ("SOCK_STREAM", true, "connect(struct.pack('=H14x', 0)); connect(W)"),
        ("SOCK_STREAM", false, "connect(W)"),
        ("SOCK_STREAM", false, "fast(W)"),
        ("SOCK_DGRAM", false, "send(W)"),
        ("SOCK_DGRAM", false, "connect(W); os.write(0, b'x')"),
    ];
    let mut reached = 0;
    for (kind, is_connected, form) in forms {
        let inner = format!(
            "import ctypes, os, socket, struct\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             W = struct.pack('=HH4s8x', 2, socket.htons({}), socket.inet_aton('{}'))\n\
             def check(n):\n  \
               if n < 0: raise OSError(ctypes.get_errno(), '')\n\
             def connect(a): check(c.connect(0, a, 16))\n\
             def send(a): check(c.sendto(0, b'x', 1, 0, a, 16))\n\
             def fast(a): check(c.sendto(0, b'x', 1, 0x20000000, a, 16))\n\
             try: {form}; print('reached')\n\
             except OSError: print('refused')\n",
            witness.address.port(),
            witness.address.ip()
        );
        let begin = format!(
            "import os, socket, sys\n\
             s = socket.socket(socket.AF_INET, socket.{kind})\n\
             {}\n\
             os.dup2(s.fileno(), 0); os.execvp(sys.argv[1], sys.argv[1:])",
            if is_connected {
                format!(
                    "s.connect(('{}', {}))",
                    elsewhere.address.ip(),
                    elsewhere.address.port()
                )
            } else {
                String::new()
            }
        );
        let free = finish(
            Command::new(python()).args(["-I", "-c", &begin, python(), "-I", "-c", &inner]),
            b"",
        );
        assert_eq!(
            free.stdout(),
            "reached\n",
            "unconfined {kind} {form}: {}",
            free.stderr()
        );
        reached += 1;
        witness.saw(1);
        witness.forget();
        let run = attack.net.run("minimal").python(&inner);
        let mut command = run.place.command(python());
        command
            .args(["-I", "-c", &begin, crate::common::STOCKADE.path()])
            .args(run.words());
        let held = finish(&mut command, b"");
        // Through a datagram socket everybody can be reached, so no run gets one as a stream.
        let wanted = if kind == "SOCK_DGRAM" { "" } else { "refused\n" };
        assert_eq!(held.stdout(), wanted, "{kind} {form}: {}", held.stderr());
        assert_eq!(
            held.status.code() == Some(125),
            kind == "SOCK_DGRAM",
            "{}",
            held.stderr()
        );
        witness.saw_none();
    }
    assert_eq!(reached, forms.len());
}

#[test]
fn the_granted_may_be_connected_again() {
    let again = format!(
        "s = socket.create_connection(GRANTED); echoes(s); {UNSPEC}; s.settimeout(None); s.connect(GRANTED); echoes(s)"
    );
    Attack::new().works(&[&again]);
}
