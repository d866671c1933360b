//! Locks and watches between the processes of a run. Leases there are none.

use crate::supervision::both::both;

const LOCKS: &str = r#"
import fcntl, threading
F_OFD_SETLK, F_OFD_SETLKW = 37, 38
def lock(fd, kind=fcntl.F_WRLCK, command=fcntl.F_SETLK):
    fcntl.fcntl(fd, command, struct.pack('hhqqi4x', kind, 0, 0, 0, 0))
def word(what, *arguments):
    try: what(*arguments); return 'ok'
    except OSError as error: return errno.errorcode[error.errno]
def in_child(what):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try: text = str(what())
        except BaseException as error: text = repr(error)
        os.write(writer, text.encode()); os._exit(0)
    os.close(writer); os.waitpid(pid, 0)
    with os.fdopen(reader) as file: return file.read()
"#;

fn locks(code: &str) -> crate::supervision::both::Both {
    both(&format!("{LOCKS}\n{}", crate::supervision::both::dedent(code))).file("plain", "plain")
}

#[test]
fn locks_hold_between_processes_and_end_with_the_descriptor() {
    locks(
        r#"
        kinds = {'flock': lambda fd: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
                 'fcntl': lambda fd: lock(fd),
                 'ofd': lambda fd: lock(fd, command=F_OFD_SETLK)}
        for name, take in kinds.items():
            for flags in os.O_RDWR, os.O_WRONLY, os.O_CREAT | os.O_RDWR, os.O_RDONLY:
                if flags == os.O_RDONLY and name != 'flock': continue
                fd = os.open('plain', flags)
                take(fd)
                other = lambda: word(take, os.open('plain', flags))
                held = in_child(other)
                again = os.open('plain', flags); own = word(take, again); os.close(again)
                still = in_child(other)
                os.close(fd)
                print(name, held, own, still, in_child(other))
        "#,
    )
    .print_the_same();
}

#[test]
fn who_waits_for_a_lock_gets_it() {
    locks(
        r#"
        for take in (lambda fd: fcntl.flock(fd, fcntl.LOCK_EX)), (lambda fd: lock(fd, command=fcntl.F_SETLKW)), \
                    (lambda fd: lock(fd, command=F_OFD_SETLKW)):
            os.truncate('plain', 0)
            pids = []
            for n in range(8):
                pid = os.fork()
                if pid == 0:
                    for i in range(25):
                        fd = os.open('plain', os.O_RDWR | os.O_APPEND)
                        take(fd)
                        before = os.fstat(fd).st_size
                        os.write(fd, b'x')
                        expect(os.fstat(fd).st_size == before + 1)
                        os.close(fd)
                    os._exit(0)
                pids.append(pid)
            print([os.waitpid(pid, 0)[1] for pid in pids] == [0] * 8, os.path.getsize('plain'))
        "#,
    )
    .print(&"True 200\n".repeat(3));
}

const WATCH: &str = r#"
def events(fd, wanted, seconds=5):
    """The names of events, in order, until there are so many."""
    import select
    names, got = {1: 'access', 2: 'modify', 4: 'attrib', 8: 'close-write', 16: 'close', 32: 'open', 64: 'from', 128: 'to',
                  256: 'create', 512: 'delete', 1024: 'delete-self', 2048: 'move-self', 32768: 'ignored'}, []
    while len(got) < wanted and select.select([fd], [], [], seconds)[0]:
        data = os.read(fd, 65536)
        while data:
            wd, mask, cookie, length = struct.unpack('iIII', data[:16])
            got.append(names[mask & 0xffff] + ' ' + data[16:16 + length].rstrip(b'\0').decode())
            data = data[16 + length:]
    return got
def watch(fd, path, mask): return answer(libc.inotify_add_watch(fd, os.fsencode(path), mask))
"#;

#[test]
fn a_watch_on_a_directory_of_the_run_shows_its_changes() {
    both(&format!(
        "{WATCH}\n{}",
        crate::supervision::both::dedent(
            r#"
            fd = answer(libc.inotify_init1(0o2000000))
            CHANGES = 2 | 4 | 8 | 64 | 128 | 256 | 512
            print(watch(fd, '.', CHANGES) > 0)
            write('new'); print(events(fd, 3))
            os.chmod('new', 0o600); print(events(fd, 1))
            os.rename('new', 'moved'); print(events(fd, 2))
            os.unlink('moved'); print(events(fd, 1))
            os.mkdir('d'); os.symlink('x', 'l'); os.link('plain', 'p'); print(events(fd, 3))
            if os.fork() == 0: write('of-child'); os._exit(0)
            os.wait(); print(events(fd, 3))
            file = watch(fd, 'plain', 2 | 8); write('plain', 'ab'); print(sorted(events(fd, 4)))
            print(answer(libc.inotify_rm_watch(fd, file)), events(fd, 1))
            for path, mask in ('none', 2), ('plain', 0), ('plain', 0x01000000 | 2):
                try: watch(fd, path, mask); print('ok')
                except OSError as error: print(errno.errorcode[error.errno])
            try: watch(0, '.', 2)
            except OSError as error: print(errno.errorcode[error.errno])
            "#
        )
    ))
    .file("plain", "plain")
    .print_the_same();
}

/// A supervisor that closed its copy late would close the file once more, or later.
#[test]
fn a_watcher_sees_each_file_closed_once() {
    both(&format!(
        "{WATCH}\n{}",
        crate::supervision::both::dedent(
            r#"
            fd = answer(libc.inotify_init1(0o2000000))
            watch(fd, '.', 8 | 256)
            for n in range(100): write('f%d' % n)
            got = events(fd, 200, 1)
            print(len(got), got == [word + ' f%d' % n for n in range(100) for word in ('create', 'close-write')], events(fd, 1, 0.3))
            "#
        )
    ))
    .print("200 True []\n");
}

/// A lease holds up all openers of the file: the supervisor, and programs outside.
#[test]
fn nothing_is_held_up_by_a_lease() {
    crate::common::Probe::new()
        .file("leased", "x")
        .attempt("import fcntl; fcntl.fcntl(os.open('leased', os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)")
        .refused("workspace", "EINVAL");
}
