//! Executing what was just written, what mustn't be read, and what has no name.

use crate::common::{Place, tries};
use crate::supervision::both::{both, both_of, compile, has_compiler};

const TINY: &[&str] = &["-nostdlib", "-static", "-Wl,--build-id=none"];

fn writes_and_executes(rounds: u32, readers: u32) {
    if !has_compiler() {
        return;
    }
    both_of(&["./loop", &rounds.to_string(), &readers.to_string()])
        .file("plain", "plain")
        .given(|place: &Place| {
            compile(place, "loop", include_str!("programs/write_execute.c"), &[]);
            compile(place, "tiny", include_str!("programs/tiny.c"), TINY);
        })
        .print(&format!("{rounds} executed, 0 busy, 0 other, 0 read wrongly\n"));
}

#[test]
fn what_was_written_and_closed_can_be_executed_at_once() {
    writes_and_executes(tries(3000, 5000), 0);
}

#[test]
fn what_was_written_can_be_executed_also_while_other_threads_read() {
    writes_and_executes(tries(1500, 2500), 1);
    writes_and_executes(tries(900, 1500), 8);
}

#[test]
fn what_a_process_executes_can_be_written_once_that_has_ended() {
    both(
        r#"
        import shutil
        def word(write):
            try: write(); return 'ok'
            except OSError as error: return errno.errorcode[error.errno]
        opened = lambda flags: os.close(os.open('tool', flags))
        ways = [lambda: opened(os.O_WRONLY), lambda: opened(os.O_RDWR | os.O_CREAT), lambda: os.truncate('tool', 9),
                lambda: opened(os.O_WRONLY | os.O_TRUNC)]
        shutil.copy('/bin/sleep', 'tool')
        tool = subprocess.Popen(['./tool', '60'])
        print(*map(word, ways))
        tool.kill()
        tool.wait()
        print(*map(word, ways), os.path.getsize('tool'))
        "#,
    )
    .print_the_same();
}

#[test]
fn what_was_written_without_a_name_can_be_executed_once_it_has_one() {
    both(
        r#"
        text = open('/bin/true', 'rb').read()
        ended = []
        for n in range(tries(180, 300)):
            fd = os.open('.', os.O_TMPFILE | os.O_WRONLY, 0o755)
            os.write(fd, text)
            answer(libc.linkat(AT_FDCWD, b'/proc/self/fd/%d' % fd, AT_FDCWD, b'made%d' % n, 0x400))
            os.close(fd)
            ended.append(subprocess.call(['./made%d' % n]))
            os.unlink('made%d' % n)
        print(sorted(set(ended)))
        "#,
    )
    .print("[0]\n");
}

#[test]
fn a_program_with_a_denied_name_is_neither_executed_nor_read() {
    if !has_compiler() {
        return;
    }
    both(
        r#"
        try: print(subprocess.call(['secrets/tool']))
        except PermissionError: print('refused')
        try: print(len(open('secrets/tool', 'rb').read()) > 0)
        except PermissionError: print('refused')
        "#,
    )
    .given(|place| {
        std::fs::create_dir(place.path("secrets")).unwrap();
        compile(place, "secrets/tool", include_str!("programs/tiny.c"), TINY);
    })
    .print_each("7\nTrue\n", "refused\nrefused\n");
}

#[test]
fn a_memory_file_can_be_written_and_never_executed() {
    both(
        r#"
        text = open('/bin/true', 'rb').read()
        for flags in 0, os.MFD_CLOEXEC, os.MFD_ALLOW_SEALING, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING:
            fd = os.memfd_create('m', flags)
            written = os.write(fd, text) == len(text) == os.stat(fd).st_size
            os.ftruncate(fd, len(text) + 4096)
            with mmap.mmap(fd, 0) as shared: shared[-1] = 7
            again = os.pread(fd, 1, len(text) + 4095) == b'\x07'
            pid = os.fork()
            if pid == 0:
                try: os.execve('/proc/self/fd/%d' % fd if flags & 1 else fd, ['true'], {})
                except OSError as error: os._exit(error.errno)
            print(written, again, os.get_inheritable(fd), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            if flags & 1: continue
            try: os.chmod(fd, 0o755)
            except OSError: pass
            pid = os.fork()
            if pid == 0:
                try: os.execve('/proc/self/fd/%d' % fd, ['true'], {})
                except OSError as error: os._exit(error.errno)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        "#,
    )
    .print_each(
        "True True True 0\n0\nTrue True False 0\nTrue True True 0\n0\nTrue True False 0\n",
        "True True True 13\n13\nTrue True False 13\nTrue True True 13\n13\nTrue True False 13\n",
    );
}

#[test]
fn sealing_a_memory_file_answers_as_bare() {
    both(
        r#"
        import fcntl
        F_SEAL_EXEC = 0x20
        for flags in 0, os.MFD_ALLOW_SEALING:
            fd = os.memfd_create('m', flags)
            os.write(fd, b'xx')
            words = [fcntl.fcntl(fd, fcntl.F_GET_SEALS) & ~F_SEAL_EXEC]
            for seal in fcntl.F_SEAL_SHRINK, fcntl.F_SEAL_GROW, fcntl.F_SEAL_WRITE, fcntl.F_SEAL_SEAL, fcntl.F_SEAL_GROW:
                try: words.append(fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seal))
                except OSError as error: words.append(errno.errorcode[error.errno])
            for what in (lambda: os.write(fd, b'x')), (lambda: os.ftruncate(fd, 1)), (lambda: os.ftruncate(fd, 9)):
                try: words.append(what())
                except OSError as error: words.append(errno.errorcode[error.errno])
            print(words, fcntl.fcntl(fd, fcntl.F_GET_SEALS) & ~F_SEAL_EXEC)
        for name, flags in ('x' * 249, 0), ('x' * 250, 0), ('m', 0x4000):
            try: os.close(os.memfd_create(name, flags)); print('ok')
            except OSError as error: print(errno.errorcode[error.errno])
        "#,
    )
    .print_the_same();
}
