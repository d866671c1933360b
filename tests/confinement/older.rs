//! What an older Landlock doesn't know is held by others: by the supervisor, or by the filter. For signals see `signals`,
//! for requests to devices `terminals`.
#![cfg(target_arch = "x86_64")]

use crate::common::Probe;

/// Landlock itself refuses all moves between directories (`EXDEV`, so programs copy), by whomever.
// promise: files.4
#[test]
fn abi_1_moves_are_the_supervisors() {
    Probe::new()
        .landlock("1")
        .file("closed/x", "x")
        .file("d/x", "x")
        .file("e/x", "x")
        .file("g/x", "x")
        .flags(["--deny", "./closed"])
        .attempt("os.link('closed/x', 'd/linked')")
        .attempt("os.rename('closed/x', 'd/moved')")
        .attempt("os.rename('e', 'closed/e')")
        .attempt("renameat2('d/x', 'd/y', 0); os.rename('d/y', 'closed/y')")
        .works("os.rename('g/x', 'g/y')")
        .works("os.mkdir('f'); write('f/x'); os.unlink('f/x'); os.rmdir('f')")
        .refused("workspace", "EACCES|EPERM|EXDEV");
}

// promise: files.3
#[test]
fn abi_2_truncating_is_the_supervisors() {
    Probe::new()
        .landlock("2")
        .file("data/f", "text")
        .attempt("os.truncate('data/f', 3)")
        .attempt("os.open('data/f', os.O_RDONLY | os.O_TRUNC)")
        .attempt("openat2('data/f', os.O_RDONLY | os.O_TRUNC)")
        .attempt("os.open('data/f', os.O_WRONLY | os.O_TRUNC)")
        .attempt("call(85, 'data/f', 0o600) # creat")
        .works("read('data/f')")
        .refused("readonly", "EACCES|EPERM");
    Probe::new()
        .landlock("2")
        .file("f", "text")
        .works("os.truncate('f', 3); expect(os.path.getsize('f') == 3)")
        .works("f = os.open('f', os.O_RDWR); os.ftruncate(f, 2); expect(os.fstat(f).st_size == 2)")
        .refused("workspace", "EACCES");
}

// promise: network.4
#[test]
fn abi_3_connections_are_the_supervisors() {
    const LISTENS: &str = "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(50)\n\
        open('@ROOT/port', 'w').write(str(s.getsockname()[1])); ready()\n\
        while True: s.accept()[0].close()";
    let probe = || {
        Probe::new()
            .landlock("3")
            .beside(LISTENS)
            .attempt("s = socket.socket(); s.connect(('127.0.0.1', int(open('port').read())))")
            .attempt("s = socket.socket(socket.AF_INET6); s.connect(('::ffff:127.0.0.1', int(open('port').read())))")
            .attempt("s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()")
    };
    probe().refused("workspace", "EACCES|EPERM");
    // Where hosts are named there are sockets.
    probe()
        .flags(["--host", "api.example.com"])
        .works("socket.socket().close()")
        .refused("workspace", "EACCES|EPERM");
}

// promise: sockets.2
#[test]
fn abi_5_abstract_sockets_are_the_supervisors() {
    const LISTENS: &str = "s = socket.socket(socket.AF_UNIX); s.bind(b'\\0' + b'@ROOT'); s.listen(50); ready()\n\
        while True: s.accept()[0].close()";
    for profile in ["workspace", "mcp-standard"] {
        Probe::new()
            .landlock("5")
            .beside(LISTENS)
            .attempt("s = socket.socket(socket.AF_UNIX); s.connect(b'\\0' + b'@ROOT')")
            .works("a, b = socket.socketpair(); a.send(b'x'); expect(b.recv(1) == b'x')")
            .refused(profile, "EACCES|EPERM|ECONNREFUSED");
    }
}
