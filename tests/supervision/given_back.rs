//! The supervisor's own copy of a descriptor is gone once the run has closed its own: whatever depends on the last
//! close happens at once.

use crate::common::tries;
use crate::supervision::both::both;

#[test]
fn a_lock_ends_with_the_close() {
    both(
        r#"
        import fcntl
        busy = 0
        for flags in os.O_RDONLY, os.O_RDWR:
            for n in range(tries(1800, 3000)):
                fd = os.open('plain', flags)
                try: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError: busy += 1
                os.close(fd)
        print(busy)
        "#,
    )
    .file("plain", "plain")
    .print("0\n");
}

#[test]
fn a_lock_ends_with_the_close_for_other_processes_too() {
    both(
        r#"
        import fcntl
        # Two processes take turns, by a pipe each.
        (a, b), (c, d) = os.pipe(), os.pipe()
        pid = os.fork()
        mine, its = (a, d) if pid == 0 else (c, b)
        busy = 0
        for n in range(tries(600, 1000)):
            if pid == 0 or n > 0: os.read(mine, 1)
            fd = os.open('plain', os.O_RDONLY)
            try: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError: busy += 1
            os.close(fd)
            os.write(its, b'x')
        if pid == 0: os._exit(min(busy, 100))
        print(busy, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        "#,
    )
    .file("plain", "plain")
    .print("0 0\n");
}

#[test]
fn the_end_of_a_pipe_is_seen() {
    both(
        r#"
        os.mkfifo('f')
        ends = 0
        for n in range(tries(600, 1000)):
            r = os.open('f', os.O_RDONLY | os.O_NONBLOCK)
            w = os.open('f', os.O_WRONLY)
            os.close(w)
            try: ends += os.read(r, 1) == b''
            except BlockingIOError: pass
            os.close(r)
        print(ends)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        broken = 0
        for n in range(tries(600, 1000)):
            r = os.open('f', os.O_RDONLY | os.O_NONBLOCK)
            w = os.open('f', os.O_WRONLY)
            os.close(r)
            try: os.write(w, b'x')
            except BrokenPipeError: broken += 1
            os.close(w)
        print(broken)
        "#,
    )
    .print(&format!("{0}\n{0}\n", tries(600, 1000)));
}

#[test]
fn the_end_of_a_terminal_is_seen() {
    both(
        r#"
        import fcntl
        TIOCSPTLCK, TIOCGPTN = 0x40045431, 0x80045430
        ended = 0
        for n in range(tries(180, 300)):
            m = os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            fcntl.ioctl(m, TIOCSPTLCK, struct.pack('i', 0))
            number, = struct.unpack('i', fcntl.ioctl(m, TIOCGPTN, b'0000'))
            os.close(os.open('/dev/pts/%d' % number, os.O_RDWR | os.O_NOCTTY))
            try: os.read(m, 1)
            except OSError as error: ended += error.errno == errno.EIO
            os.close(m)
        print(ended)
        "#,
    )
    .print(&format!("{}\n", tries(180, 300)));
}
