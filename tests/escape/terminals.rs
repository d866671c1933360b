//! Terminals: a run types into none, and opens none that it wasn't given.

use super::cases::SUPERVISED;
use crate::common::{Probe, Terminal, python, run};

/// Outside: a terminal, whose name is in a file.
fn another() -> Probe {
    Probe::new().beside(
        "import pty\n\
         m, s = pty.openpty()\n\
         with open('@ROOT/name', 'w') as f: f.write(os.ttyname(s))\n\
         ready()\n\
         time.sleep(60)\n",
    )
}

// promise: caller.8
#[test]
fn a_terminal_of_others() {
    let name = "n = open('@ROOT/name').read()";
    for profile in SUPERVISED {
        another()
            .attempt(&format!("{name}; os.open(n, os.O_RDWR | os.O_NOCTTY)"))
            .attempt(&format!("{name}; os.open(n, os.O_RDONLY | os.O_NOCTTY)"))
            .attempt(&format!("{name}; os.open(n, os.O_WRONLY | os.O_NOCTTY)"))
            .attempt(&format!("{name}; os.setsid(); os.open(n, os.O_RDWR)"))
            .attempt(&format!(
                "{name}; p = os.open(n, os.O_PATH); os.open('/proc/self/fd/%d' % p, os.O_RDWR | 0o400)"
            ))
            .attempt(&format!(
                "{name}; os.open('/proc/self/root' + n, os.O_RDWR | os.O_NOCTTY)"
            ))
            .attempt(&format!(
                "{name}; os.open('/dev/./pts/../pts/' + n.split('/')[-1], os.O_RDWR | os.O_NOCTTY)"
            ))
            .attempt(&format!(
                "{name}; l = fresh('/tmp'); os.symlink(n, l)\n\
                 try: os.open(l, os.O_RDWR | os.O_NOCTTY)\n\
                 finally: os.unlink(l)"
            ))
            .attempt(&format!(
                "{name}; os.open(n.split('/')[-1], os.O_RDWR, dir_fd=os.open('/dev/pts', os.O_PATH))"
            ))
            .refused(profile, "EACCES|EPERM|ENXIO");
    }
}

#[test]
fn without_a_terminal_there_is_none() {
    // As a daemon: no terminal of Stockade's stands in for it.
    for profile in SUPERVISED {
        Probe::new()
            .answers("os.setsid(); os.open('/dev/tty', os.O_RDWR)", "ENXIO", "ENXIO|EACCES")
            .refused(profile, "ENXIO");
    }
}

const PROBE: &str = "import ctypes, errno, os, sys, termios\n\
    libc = ctypes.CDLL(None, use_errno=True)\n\
    libc.syscall.restype = ctypes.c_long\n\
    def ioctl(fd, request, what=b'X'):\n  \
      ctypes.set_errno(0)\n  \
      r = libc.syscall(ctypes.c_long(16), ctypes.c_long(fd), ctypes.c_ulong(request), ctypes.create_string_buffer(what))\n  \
      return 'ok' if r == 0 else errno.errorcode[ctypes.get_errno()]\n\
    tty = os.open('/dev/tty', os.O_RDWR)\n\
    for name, fd in ('own', 0), ('tty', tty):\n  \
      print(name, 'size', ioctl(fd, 0x5413, bytes(8)))\n  \
      print(name, 'typed', ioctl(fd, 0x5412), ioctl(fd, 0x5412 | 1 << 32), ioctl(fd, 0x5412 | 1 << 63))\n  \
      print(name, 'linux', ioctl(fd, 0x541c, b'\\x02'), ioctl(fd, 0x541c | 1 << 40, b'\\x03'))\n  \
      print(name, 'console', ioctl(fd, 0x541d), 'exclusive', ioctl(fd, 0x540c), 'hangup', ioctl(fd, 0x5437))\n\
    print(os.ttyname(0) == os.ttyname(1), 'end')\n";

#[test]
fn a_run_types_into_no_terminal() {
    for profile in ["workspace", "trusted"] {
        let begun = run().profile(profile).python(PROBE);
        // Unconfined, locking the terminal works; typing does on older kernels, and for root.
        let free = PROBE.replace(", 'hangup', ioctl(fd, 0x5437)", ", 'unlocked', ioctl(fd, 0x540d)");
        let unconfined = vec![python().into(), "-I".into(), "-c".into(), free.into()];
        let status = Terminal::new()
            .awaits("own size ok")
            .awaits("exclusive ok unlocked ok")
            .awaits("tty size ok")
            .awaits("True end")
            .ends_within(10)
            .plays_command(&begun, unconfined);
        assert_eq!(status, 0);
        let status = Terminal::new()
            .awaits("own size ok")
            .awaits("own typed ENOTTY ENOTTY ENOTTY")
            .awaits("own linux ENOTTY ENOTTY")
            .awaits("own console ENOTTY exclusive ENOTTY hangup ENOTTY")
            .awaits("tty size ok")
            .awaits("tty typed ENOTTY ENOTTY ENOTTY")
            .awaits("tty linux ENOTTY ENOTTY")
            .awaits("tty console ENOTTY exclusive ENOTTY hangup ENOTTY")
            .awaits("True end")
            .ends_within(10)
            .plays(&begun);
        assert_eq!(status, 0);
    }
}
