//! `/dev/tty` is the caller's own terminal: the one that the run made for it, or none.

use crate::common::{Beside, Place, Terminal, python, run};
use crate::supervision::both::both;

/// Starts a child with a pseudo-terminal of its own and tells what it wrote there.
const IN_A_TERMINAL: &str = r#"
import pty, select, termios
def in_a_terminal(task, typed=b''):
    sys.stdout.flush()
    pid, master = pty.fork()
    if pid == 0:
        try: task()
        except OSError as error: os.write(1, errno.errorcode[error.errno].encode())
        except BaseException as error: os.write(1, repr(error).encode())
        os._exit(0)
    if typed:
        wait_in_call(pid, 0)  # It reads.
        os.write(master, typed)
    said = b''
    while True:
        try: piece = os.read(master, 4096)
        except OSError: break
        if not piece: break
        said += piece
    os.waitpid(pid, 0)
    os.close(master)
    return said.decode().replace('\r', '').strip()

def put(path, flags, text):
    fd = os.open(path, flags)
    os.write(fd, text)
    os.close(fd)

def word(what):
    try: what(); return 'ok'
    except OSError as error: return errno.errorcode[error.errno]
"#;

fn in_a_terminal(code: &str) -> crate::supervision::both::Both {
    both(&format!("{IN_A_TERMINAL}\n{}", crate::supervision::both::dedent(code)))
}

#[test]
fn the_terminal_that_a_run_makes_is_its_childs_terminal() {
    in_a_terminal(
        r#"
        def task():
            put('/dev/tty', os.O_WRONLY, b'written\n')
            put('/dev/tty', os.O_RDWR, b'both\n')
            put('/dev/tty', os.O_WRONLY | os.O_APPEND | os.O_NOCTTY, b'appended\n')
            os.symlink('/dev/tty', 'link'); put('link', os.O_WRONLY, b'linked\n')
            fd = os.open('/dev/tty', os.O_RDWR)
            os.write(fd, b'%r %r %r\n' % (os.isatty(fd), os.tcgetpgrp(fd) == os.getpgrp(), termios.tcgetattr(fd)[3] > 0))
            # With nothing of the terminal left open.
            keep = os.dup(1); os.close(0); os.close(1); os.close(2); os.close(keep)
            put('/dev/tty', os.O_WRONLY, b'last\n')
        print(in_a_terminal(task))
        "#,
    )
    .print("written\nboth\nappended\nlinked\nTrue True True\nlast\n");
}

#[test]
fn the_terminal_that_a_run_makes_can_be_read_by_either_name() {
    in_a_terminal(
        r#"
        def task(name):
            fd = os.open(name or os.ttyname(0), os.O_RDONLY)
            line = os.read(fd, 100)
            try: os.write(fd, b'x'); wrong = 'written'
            except OSError as error: wrong = errno.errorcode[error.errno]
            os.write(1, b'%r %s\n' % (line, wrong.encode()))
        for name in '/dev/tty', None: print(in_a_terminal(lambda: task(name), b'typed\n'))
        "#,
    )
    .print("typed\nb'typed\\n' EBADF\ntyped\nb'typed\\n' EBADF\n");
}

#[test]
fn the_other_end_can_be_opened_by_name_by_its_maker() {
    in_a_terminal(
        r#"
        def said(count):
            """What comes out, however many pieces it comes in."""
            text = b''
            while len(text) < count and select.select([master], [], [], 5)[0]: text += os.read(master, 100)
            return text
        for opened in range(3):
            master, slave = os.openpty()
            name = os.ttyname(slave)
            put(name, os.O_WRONLY | os.O_NOCTTY, b'one')
            put(name, os.O_RDWR | os.O_NOCTTY, b'two')
            os.symlink(name, 'l%d' % opened); put('l%d' % opened, os.O_WRONLY | os.O_NOCTTY, b'three')
            put('/dev/fd/%d' % slave, os.O_WRONLY | os.O_NOCTTY, b'four')
            print(said(15), os.stat(name).st_rdev == os.fstat(slave).st_rdev)
            child = os.fork()
            if child == 0:
                put(name, os.O_WRONLY | os.O_NOCTTY, b'child'); os._exit(0)
            os.waitpid(child, 0)
            print(said(5))
            os.close(slave)
        "#,
    )
    .print(&"b'onetwothreefour' True\nb'child'\n".repeat(3));
}

#[test]
fn who_has_no_terminal_gets_none() {
    in_a_terminal(
        r#"
        def alone():
            if os.fork() == 0:
                os.setsid()
                for flags in os.O_RDONLY, os.O_WRONLY, os.O_RDWR:
                    os.write(1, word(lambda: os.close(os.open('/dev/tty', flags))).encode() + b'\n')
                os._exit(0)
            os.wait()
        print(in_a_terminal(alone))
        os.setsid()
        print(word(lambda: os.close(os.open('/dev/tty', os.O_RDWR))))
        # Opening a terminal makes it one's own, but with O_NOCTTY it doesn't.
        master, slave = os.openpty()
        os.close(os.open(os.ttyname(slave), os.O_RDWR | os.O_NOCTTY))
        print(word(lambda: os.close(os.open('/dev/tty', os.O_RDWR))))
        import fcntl
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        print(word(lambda: os.close(os.open('/dev/tty', os.O_RDWR))))
        "#,
    )
    .print("ENXIO\nENXIO\nENXIO\nENXIO\nENXIO\nok\n");
}

/// Stockade has a terminal, and a child of the run has another one, or none.
#[test]
fn the_terminal_of_stockade_never_stands_in_for_the_callers() {
    let code = format!(
        "{}\n{IN_A_TERMINAL}\n{}",
        include_str!("../common/prelude.py"),
        r#"
def inner(): put('/dev/tty', os.O_WRONLY, b'to the inner one')
print('inner', in_a_terminal(inner) == 'to the inner one')
print('own', word(lambda: put('/dev/tty', os.O_WRONLY, b'to the outer one\n')))
if os.fork() == 0:
    os.setsid()
    print('alone', word(lambda: put('/dev/tty', os.O_WRONLY, b'WRONG')))
    sys.stdout.flush(); os._exit(0)
os.wait()
print('end')
"#
    );
    let begun = run().profile("workspace").python(&code);
    let played = |terminal: Terminal, is_confined: bool| {
        let steps = terminal
            .awaits("inner True")
            .awaits("to the outer one")
            .awaits("own ok")
            .awaits("alone ENXIO")
            .awaits("end")
            .ends_within(10);
        match is_confined {
            true => steps.plays(&begun),
            false => steps.plays_command(&begun, vec![python().into(), "-I".into(), "-c".into(), (&code).into()]),
        }
    };
    assert_eq!(played(Terminal::new(), false), 0);
    assert_eq!(played(Terminal::new(), true), 0);
}

// promise: caller.8
#[test]
fn the_terminal_of_another_run_is_refused() {
    let place = Place::new();
    let name = place.path("name");
    let code = format!(
        "import os, subprocess, sys, time\n\
         inner = \"import os, time; m, s = os.openpty(); open('name', 'w').write(os.ttyname(s)); \
         print('ready', flush=True); time.sleep(60)\"\n\
         os.execv('{}', ['stockade', 'run', '--profile', 'workspace', '--', '{}', '-I', '-c', inner])\n",
        crate::common::STOCKADE.path(),
        python()
    );
    let _other = Beside::new(&place, &code);
    let name = std::fs::read_to_string(name).unwrap();
    in_a_terminal(&format!(
        "for flags in os.O_RDONLY, os.O_WRONLY, os.O_RDWR:\n  \
           print(word(lambda: os.close(os.open('{name}', flags | os.O_NOCTTY))))\n\
         master, slave = os.openpty()\n\
         print(os.ttyname(slave) != '{name}')"
    ))
    .print_each("ok\nok\nok\nTrue\n", "EACCES\nEACCES\nEACCES\nTrue\n");
}
