//! Unix sockets of others are closed in every profile; what the run itself listens on is reachable from the run.

use super::cases::{attempts, works};
use crate::common::Probe;

const PROFILES: [&str; 3] = ["workspace", "mcp-standard", "trusted"];

/// An attempt fails at the making of the socket, at the connection, or at sending.
const REFUSED: &str = "EACCES|EPERM|ECONNREFUSED|EPROTONOSUPPORT|ESOCKTNOSUPPORT|EOPNOTSUPP|ENOENT|ENOTCONN";

/// Outside: one listener of each kind in the run's root.
fn listeners() -> Probe {
    Probe::new().file("sub/x", "x").beside(
        "kept = []\n\
         for name, kind in ('s', socket.SOCK_STREAM), ('d', socket.SOCK_DGRAM), ('q', socket.SOCK_SEQPACKET):\n  \
           for address in '@ROOT/' + name, '\\0@ROOT/' + name:\n    \
             one = socket.socket(socket.AF_UNIX, kind)\n    \
             one.bind(address)\n    \
             if name != 'd': one.listen(100)\n    \
             kept.append(one)\n\
         ready()\n\
         time.sleep(60)\n",
    )
}

fn closed(forms: &[&str]) {
    for profile in PROFILES {
        attempts(listeners(), &[], forms).refused(profile, REFUSED);
    }
}

// promise: sockets.1
#[test]
fn a_listener_of_others_by_its_path() {
    closed(&[
        "socket.socket(socket.AF_UNIX).connect('@ROOT/s')",
        "socket.socket(socket.AF_UNIX).connect('s')",
        "socket.socket(socket.AF_UNIX).connect('./sub/../s')",
        "os.chdir('sub'); socket.socket(socket.AF_UNIX).connect('../s')",
        "socket.socket(socket.AF_UNIX).connect('/proc/self/cwd/s')",
        "socket.socket(socket.AF_UNIX).connect('/proc/self/root@ROOT/s')",
        "p = os.open('s', os.O_PATH); socket.socket(socket.AF_UNIX).connect('/proc/self/fd/%d' % p)",
        "p = os.open('.', os.O_PATH); socket.socket(socket.AF_UNIX).connect('/proc/self/fd/%d/s' % p)",
        "socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect('q')",
        "s = socket.socket(socket.AF_UNIX); a = struct.pack('H', 1) + b'@ROOT/s'; call(42, s.fileno(), a, len(a))",
        "s = socket.socket(socket.AF_UNIX); a = struct.pack('H108s', 1, b'@ROOT/s'); call(42, s.fileno(), a, 110)",
        "s = socket.socket(socket.AF_UNIX); a = struct.pack('H108s', 1, b'@ROOT/s'); call(42, s.fileno(), a, 110 | 1 << 32)",
        "s = socket.socket(socket.AF_UNIX); s.setblocking(False); s.connect('s')",
    ]);
}

#[test]
fn a_listener_of_others_by_a_link_of_the_runs() {
    for profile in ["workspace", "trusted"] {
        attempts(
            listeners(),
            &[],
            &[
                "os.symlink('s', 'l1'); socket.socket(socket.AF_UNIX).connect('l1')",
                "os.symlink('@ROOT', 'l2'); socket.socket(socket.AF_UNIX).connect('l2/s')",
                "os.link('s', 'h1'); socket.socket(socket.AF_UNIX).connect('h1')",
                // A name under which the run's own socket was reachable a moment before.
                "o = socket.socket(socket.AF_UNIX); o.bind('o1'); o.listen(); \
                 os.unlink('o1'); os.symlink('s', 'o1'); socket.socket(socket.AF_UNIX).connect('o1')",
                "o = socket.socket(socket.AF_UNIX); o.bind('o2'); o.listen(); os.unlink('o2'); os.link('s', 'o2'); \
                 socket.socket(socket.AF_UNIX).connect('o2')",
                "o = socket.socket(socket.AF_UNIX); o.bind('o3'); o.listen(); os.rename('s', 'o3'); \
                 socket.socket(socket.AF_UNIX).connect('o3')",
            ],
        )
        .refused(profile, REFUSED);
    }
}

#[test]
fn a_datagram_socket_of_others() {
    let mmsg = "a = ctypes.create_string_buffer(struct.pack('H', 1) + b'@ROOT/d', 110); \
                v = ctypes.create_string_buffer(b'x'); i = ctypes.create_string_buffer(struct.pack('QQ', ctypes.addressof(v), 1)); \
                m = struct.pack('QI4xQQQQi4xI4x', ctypes.addressof(a), 3 + len('@ROOT/d'), ctypes.addressof(i), 1, 0, 0, 0, 0)";
    let sendmmsg =
        format!("s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); {mmsg}; call(307, s.fileno(), m, 1, 0)");
    let sendmsg = format!("s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); {mmsg}; call(46, s.fileno(), m, 0)");
    let paired =
        format!("s, t = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); {mmsg}; call(307, s.fileno(), m, 1, 0)");
    closed(&[
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect('d')",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '@ROOT/d')",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, 'd')",
        "socket.socket(socket.AF_UNIX, socket.SOCK_RAW).sendto(b'x', 'd')",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b'x', '@ROOT/d')",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '/proc/self/cwd/d')",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '\\0@ROOT/d')",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | 1 << 11).sendto(b'x', 'd') # SOCK_NONBLOCK",
        &sendmsg,
        &sendmmsg,
        &paired,
    ]);
}

// promise: sockets.2
#[test]
fn an_abstract_name_of_others() {
    closed(&[
        "socket.socket(socket.AF_UNIX).connect('\\0@ROOT/s')",
        "socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect('\\0@ROOT/q')",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect('\\0@ROOT/d')",
        "s = socket.socket(socket.AF_UNIX); a = struct.pack('H', 1) + b'\\0@ROOT/s'; call(42, s.fileno(), a, len(a))",
        "s = socket.socket(socket.AF_UNIX); s.setblocking(False); s.connect('\\0@ROOT/s')",
    ]);
}

#[test]
fn a_socket_that_is_a_secret_or_outside() {
    for profile in PROFILES {
        Probe::new()
            .file("secrets/x", "")
            .file("~/.ssh/x", "")
            .beside(
                "kept = []\n\
                 for path in '@ROOT/secrets/s', '@HOME/.ssh/s', '@HOME/agent', '@ROOT/.env':\n  \
                   one = socket.socket(socket.AF_UNIX); one.bind(path); one.listen(100); kept.append(one)\n\
                 ready()\n\
                 time.sleep(60)\n",
            )
            .attempt("socket.socket(socket.AF_UNIX).connect('secrets/s')")
            .attempt("socket.socket(socket.AF_UNIX).connect('@HOME/.ssh/s')")
            .attempt("socket.socket(socket.AF_UNIX).connect('@HOME/agent')")
            .attempt("socket.socket(socket.AF_UNIX).connect('../home/agent')")
            .attempt("socket.socket(socket.AF_UNIX).connect('.env')")
            .attempt("os.chdir('@HOME'); socket.socket(socket.AF_UNIX).connect('agent')")
            .refused(profile, REFUSED);
    }
}

#[test]
fn the_runs_own_sockets_are_reachable() {
    let serve = |kind: &str, path: &str| {
        format!(
            "# {kind} {path}\n\
             import array\n\
             s = socket.socket(socket.AF_UNIX, socket.{kind}); s.bind({path}); s.listen()\n\
             if os.fork() == 0:\n  \
               c = socket.socket(socket.AF_UNIX, socket.{kind}); c.connect({path})\n  \
               socket.send_fds(c, [b'x'], [os.open('plain', 0)]); c.recv(1); os._exit(0)\n\
             c = s.accept()[0]; data, fds, _, _ = socket.recv_fds(c, 1, 1)\n\
             expect(data == b'x' and os.read(fds[0], 5) == b'plain'); c.send(b'y'); os.wait()"
        )
    };
    for profile in ["workspace", "trusted"] {
        let mut probe = Probe::new().file("plain", "plain");
        for (kind, path) in [
            ("SOCK_STREAM", "'@ROOT/own'"),
            ("SOCK_STREAM", "'own-relative'"),
            ("SOCK_SEQPACKET", "'own-packets'"),
            ("SOCK_STREAM", "'/proc/self/cwd/own-proc'"),
            ("SOCK_STREAM", "os.environ.get('TMPDIR', '@ROOT') + '/own-scratch'"),
        ] {
            probe = probe.works(&serve(kind, path));
        }
        let probe = works(
            probe,
            &[],
            &[
                "s = socket.socket(socket.AF_UNIX); s.bind('@ROOT/l'); s.listen(); os.symlink('l', '@ROOT/m'); \
                 socket.socket(socket.AF_UNIX).connect('@ROOT/m')",
                "import asyncio, multiprocessing.connection as c; l = c.Listener('@ROOT/mp'); \
                 os.fork() or (c.Client('@ROOT/mp').send(1), os._exit(0)); expect(l.accept().recv() == 1)",
                "expect(os.path.exists('@ROOT/own'))",
            ],
        );
        probe.refused(profile, "ok");
    }
}
