//! Opening a FIFO waits for the other side, and holds up no other call.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{is_in_call, run, until};
use crate::supervision::both::both;

const SETUP: &str = r#"
import threading
for name in 'a', 'b', 'c': os.mkfifo(name)
libc.open.restype = ctypes.c_int
def opens(path, flags):
    """By libc itself: Python would try again where a signal came."""
    ctypes.set_errno(0)
    fd = libc.open(os.fsencode(path), flags | os.O_CLOEXEC)
    return fd if fd >= 0 else errno.errorcode[ctypes.get_errno()]
def waiting(what, moment=0.3):
    """Starts a thread that opens a FIFO and must still wait a moment later: only time shows that an open doesn't end."""
    got = []
    thread = threading.Thread(target=lambda: got.append(what()), daemon=True)
    thread.start()
    wait_in_call('self/task/%d' % thread.native_id)
    thread.join(moment)
    print('waits' if thread.is_alive() else ('ended', got))
    def result():
        thread.join(20)
        return got[0] if got else 'hangs'
    return result
"#;

fn fifos(code: &str) -> crate::supervision::both::Both {
    both(&format!("{SETUP}\n{}", crate::supervision::both::dedent(code))).file("plain", "plain")
}

#[test]
fn either_side_waits_for_the_other_while_others_go_on() {
    fifos(
        r#"
        reader = waiting(lambda: os.open('a', os.O_RDONLY))
        writer = waiting(lambda: os.open('b', os.O_WRONLY))
        start = time.monotonic()
        for n in range(200):
            expect(open('plain').read() == 'plain')
            write('new'); os.unlink('new')
        print(time.monotonic() - start < 60)
        out = os.open('a', os.O_WRONLY); r = reader()
        into = os.open('b', os.O_RDONLY); w = writer()
        os.write(out, b'one'); os.write(w, b'two')
        print(os.read(r, 10), os.read(into, 10))
        os.close(out); os.close(w)
        print(os.read(r, 10), os.read(into, 10))
        "#,
    )
    .print("waits\nwaits\nTrue\nb'one' b'two'\nb'' b''\n");
}

#[test]
fn twenty_waiting_threads_hold_up_no_other() {
    fifos(
        r#"
        for n in range(20): os.mkfifo('f%d' % n)
        threads = [waiting(lambda n=n: os.open('f%d' % n, os.O_RDONLY if n % 2 else os.O_WRONLY), 0.01) for n in range(20)]
        start = time.monotonic()
        for n in range(100): expect(open('plain').read() == 'plain')
        print(time.monotonic() - start < 60)
        for n in range(20): os.open('f%d' % n, os.O_WRONLY if n % 2 else os.O_RDONLY)
        print([t() > 2 for t in threads] == [True] * 20)
        "#,
    )
    .print(&format!("{}True\nTrue\n", "waits\n".repeat(20)));
}

#[test]
fn who_does_not_want_to_wait_does_not() {
    fifos(
        r#"
        print(opens('a', os.O_WRONLY | os.O_NONBLOCK))
        r = os.open('a', os.O_RDONLY | os.O_NONBLOCK)
        print(os.read(r, 1))
        w = os.open('a', os.O_WRONLY | os.O_NONBLOCK)
        os.write(w, b'x'); print(os.read(r, 1))
        try: os.read(r, 1)
        except BlockingIOError: print('EAGAIN')
        rw = os.open('b', os.O_RDWR)
        os.write(rw, b'y'); print(os.read(rw, 1))
        # The other side is there already.
        print(os.close(os.open('a', os.O_RDONLY)), os.close(os.open('a', os.O_WRONLY)))
        # Named by what the caller holds.
        print(os.close(os.open('/proc/self/fd/%d' % r, os.O_RDONLY | os.O_NONBLOCK)))
        os.close(r); os.close(w)
        print(opens('a', os.O_WRONLY | os.O_NONBLOCK))
        "#,
    )
    .print("ENXIO\nb''\nb'x'\nEAGAIN\nb'y'\nNone None\nNone\nENXIO\n");
}

/// The supervisor keeps no side of a FIFO once the call has returned.
#[test]
fn a_closed_side_is_gone_at_once() {
    fifos(
        r#"
        kept = 0
        for n in range(tries(1800, 3000)):
            os.close(os.open('a', os.O_RDONLY | os.O_NONBLOCK))
            got = opens('a', os.O_WRONLY | os.O_NONBLOCK)
            if got != 'ENXIO':
                kept += 1
                os.close(got)
        print(kept)
        "#,
    )
    .print("0\n");
}

#[test]
fn a_handler_interrupts_a_waiting_open() {
    fifos(
        r#"
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.siginterrupt(signal.SIGALRM, True)
        for flags in os.O_RDONLY, os.O_WRONLY:
            # Again and again: the first may come before the call.
            signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)
            print(opens('a', flags))
            signal.setitimer(signal.ITIMER_REAL, 0)
        # The call left nothing behind.
        print(opens('a', os.O_WRONLY | os.O_NONBLOCK))
        # Blocked signals don't.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        reader = waiting(lambda: os.open('b', os.O_RDONLY))
        os.kill(os.getpid(), signal.SIGALRM)
        # An interruption of the open has time to come.
        time.sleep(0.3)
        w = os.open('b', os.O_WRONLY)
        print(reader() > 2)
        "#,
    )
    .print("EINTR\nEINTR\nENXIO\nwaits\nTrue\n");
}

#[test]
fn a_signal_of_another_thread_does_not_interrupt_a_waiting_open() {
    fifos(
        r#"
        count = 0
        def handler(*_):
            global count
            count += 1
        signal.signal(signal.SIGALRM, handler)
        signal.siginterrupt(signal.SIGALRM, True)
        # Sent to this thread alone: of those for the whole process each that doesn't block them may be given one.
        first = threading.main_thread().ident
        end = time.monotonic() + tries(1.8, 3)
        def pester():
            while time.monotonic() < end or count <= 100: signal.pthread_kill(first, signal.SIGALRM); time.sleep(0.0005)
        readers = [waiting(lambda: opens('a', os.O_RDONLY), 0.01)]
        pestering = threading.Thread(target=pester); pestering.start()
        pestering.join()
        opens('a', os.O_WRONLY | os.O_NONBLOCK)
        print([r() if isinstance(r(), str) else 'opened' for r in readers], count > 100)
        "#,
    )
    .print("waits\n['opened'] True\n");
}

#[test]
fn a_killed_process_waits_no_more() {
    fifos(
        r#"
        def ended(around, name, flags):
            """How a process ends that is killed while it opens."""
            pid = os.fork()
            if pid == 0:
                os.open(name + around, flags); os._exit(0)
            # It may meet one that was killed before it.
            try: wait_in_call(pid)
            except OSError: pass
            os.kill(pid, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        def left(around, moment):
            """What is met at the FIFOs some time after the ends: looking takes along what is there, so it's done once."""
            for name in 'a', 'b', 'c': os.mkfifo(name + around)
            ends = []
            for flags in os.O_RDONLY, os.O_WRONLY:
                ends += [ended(around, name, flags) for name in ('a', 'b', 'c')]
                time.sleep(moment)
            met = [opens(name + around, os.O_WRONLY | os.O_NONBLOCK) for name in ('a', 'b')]
            # No opener is left there: a new pair meets each other.
            got = []
            reader = threading.Thread(target=lambda: got.append(os.open('c' + around, os.O_RDONLY))); reader.start()
            wait_in_call('self/task/%d' % reader.native_id)
            reader.join(0.3)
            waits = reader.is_alive()
            w = os.open('c' + around, os.O_WRONLY); reader.join(20)
            os.write(w, b'x'); text = os.read(got[0], 1)
            return ends, met, waits, text
        # A busy supervisor notices later.
        for n, moment in enumerate((0.3, 2, 10)):
            found = left(str(n), moment)
            if found[0] == [-9] * 6 and found[1:3] == (['ENXIO', 'ENXIO'], True): break
        print(*found)
        "#,
    )
    .print("[-9, -9, -9, -9, -9, -9] ['ENXIO', 'ENXIO'] True b'x'\n");
}

#[test]
fn a_run_ends_although_somebody_waits() {
    fifos(
        r#"
        pids = []
        for n in range(4):
            pids.append(os.fork())
            if pids[-1] == 0:
                os.close(1); os.close(2)
                thread = threading.Thread(target=lambda: os.open('b', os.O_WRONLY)); thread.start()
                wait_in_call('self/task/%d' % thread.native_id)
                signal.alarm(20)
                os.open('a', os.O_RDONLY)
        for pid in pids: wait_in_call(pid)
        waiting(lambda: os.open('c', os.O_RDONLY))
        print('end', flush=True)
        os._exit(0)
        "#,
    )
    .print("waits\nend\n");
}

#[test]
fn a_run_that_waits_ends_when_stockade_is_told_to() {
    for (signal, ends) in [("TERM", 143), ("INT", 130)] {
        let begun = run()
            .profile("workspace")
            .bash("mkfifo f; (cat f &); (echo x >g &) 2>&-; echo $$; read line <f");
        let mut child = begun
            .process()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
        let shell = line.trim().parse().unwrap();
        let waits = until(Duration::from_secs(20), || is_in_call(shell, nix::libc::SYS_openat));
        assert!(waits, "the shell doesn't wait");
        let start = Instant::now();
        let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
        let signal: nix::sys::signal::Signal = format!("SIG{signal}").parse().unwrap();
        nix::sys::signal::kill(pid, signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(ends));
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}

/// The other side can't be opened for the run, so the open itself stays until the run ends.
#[test]
fn a_handler_interrupts_an_open_of_what_may_only_be_read() {
    let begun = run().profile("workspace").file("~/other/x", "x");
    let pipe = begun.place.path("~/other/pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    let code = format!(
        "import os, signal\n\
         class Came(Exception): pass\n\
         def handler(*_): raise Came\n\
         signal.signal(signal.SIGALRM, handler)\n\
         signal.setitimer(signal.ITIMER_REAL, 0.3)\n\
         try: os.open({pipe:?}, os.O_RDONLY)\n\
         except Came: print('came')"
    );
    begun
        .flags(["--read", "@HOME/other"])
        .python(&code)
        .stdout("came\n")
        .ends();
}
