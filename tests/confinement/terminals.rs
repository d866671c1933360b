//! A run on somebody's terminal may read and write it, and never type into it.
#![cfg(target_arch = "x86_64")]

use crate::common::{Run, Terminal, run};

const PROBE: &str = "import ctypes, errno, sys, termios\n\
    libc = ctypes.CDLL(None, use_errno=True)\n\
    libc.syscall.restype = ctypes.c_long\n\
    def ioctl(request):\n  \
      byte = ctypes.create_string_buffer(b'X')\n  \
      ctypes.set_errno(0)\n  \
      r = libc.syscall(ctypes.c_long(16), ctypes.c_long(0), ctypes.c_ulong(request), byte)\n  \
      return 'ok' if r == 0 else errno.errorcode[ctypes.get_errno()]\n\
    print('size', ioctl(0x5413))\n\
    print('typed', ioctl(0x5412), ioctl(0x5412 | 1 << 32), ioctl(0x5412 | 1 << 63))\n\
    print('linux', ioctl(0x541c), ioctl(0x541c | 1 << 40))\n\
    print('exclusive', ioctl(0x540c), 'discipline', ioctl(0x5423))\n\
    termios.tcgetattr(0)\n\
    print('end')\n";

// promise: caller.7
#[test]
fn a_run_cannot_type_into_its_terminal() {
    let begun = run().python(PROBE);
    // Unconfined: typing is refused by newer kernels to everybody but root (EIO), locking the terminal isn't.
    let unconfined = vec![crate::common::python().into(), "-I".into(), "-c".into(), PROBE.into()];
    let status = Terminal::new()
        .awaits("size ok")
        .awaits("exclusive ok")
        .awaits("end")
        .ends_within(5)
        .plays_command(&begun, unconfined);
    assert_eq!(status, 0);
    // Before ABI 5 Landlock knows no requests to devices.
    for begun in [run().landlock("4").python(PROBE), begun] {
        cannot_type(&begun);
    }
}

fn cannot_type(begun: &Run) {
    let status = Terminal::new()
        .awaits("size ok")
        .awaits("typed ENOTTY ENOTTY ENOTTY")
        .awaits("linux ENOTTY ENOTTY")
        .awaits("exclusive ENOTTY discipline ENOTTY")
        .awaits("end")
        .ends_within(5)
        .plays(begun);
    assert_eq!(status, 0);
}

#[test]
fn a_run_knows_its_terminal() {
    let begun = run().python(
        "import os, sys\n\
         print(os.isatty(0), os.ttyname(0) == os.ttyname(1))\n\
         open('/dev/tty', 'w').write('by name\\n')\n\
         open(os.ttyname(0), 'w').write('by its own name\\n')",
    );
    let status = Terminal::new()
        .awaits("True True")
        .awaits("by name")
        .awaits("by its own name")
        .ends_within(5)
        .plays(&begun);
    assert_eq!(status, 0);
}

/// Without control over its terminal's size, which it tries to set.
#[test]
fn an_ordinary_session_of_a_shell_ends_without_a_word_about_its_terminal() {
    let run = run().profile("workspace").command(["bash", "--norc", "-i"]);
    let status = Terminal::new()
        .awaits("bash-")
        .types("false; echo so''on\r")
        .awaits("soon")
        .types("exit 3\r")
        .ends_within(20)
        .never_saw("refused")
        .plays(&run);
    assert_eq!(status, 3);
}
