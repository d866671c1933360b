//! Signals in the middle of calls: each call happens once, and none is lost.

use std::time::Duration;

use crate::common::{tries, until};
use crate::supervision::both::{both, both_of, compile, has_compiler};

fn interrupted(restarts: &str) {
    if !has_compiler() {
        return;
    }
    both_of(&["./interrupted", tries("1200", "2000"), restarts])
        .given(|place| {
            drop(compile(
                place,
                "interrupted",
                include_str!("programs/interrupted.c"),
                &[],
            ))
        })
        .print("0 failed, often interrupted\n");
}

#[test]
fn an_interrupted_call_that_is_restarted_happens_once() {
    interrupted("1");
}

#[test]
fn a_call_that_says_it_was_interrupted_has_not_happened() {
    interrupted("0");
}

#[test]
fn a_directory_is_made_once_whatever_threads_are_interrupted() {
    both(
        r#"
        import threading
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.siginterrupt(signal.SIGALRM, False)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        wrong = []
        def work(name):
            for n in range(tries(300, 500)):
                try: os.mkdir('%s%d' % (name, n))
                except OSError as error: wrong.append(errno.errorcode[error.errno])
        threads = [threading.Thread(target=work, args=(name,)) for name in 'abc']
        for t in threads: t.start()
        work('m')
        for t in threads: t.join()
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(wrong, len(os.listdir('.')))
        "#,
    )
    .print(&format!("[] {}\n", tries(1200, 2000)));
}

const STOPPED: &str = r#"
import threading
def work(name, count):
    for n in range(count):
        fd = os.open('%s%d' % (name, n), os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        os.write(fd, b'x'); os.close(fd)
        fd = os.open('%s%d' % (name, n), os.O_RDONLY)
        expect(os.read(fd, 9) == b'x'); os.close(fd)
        os.rename('%s%d' % (name, n), 'm%s%d' % (name, n))
        os.unlink('m%s%d' % (name, n))
        os.mkdir('%s%d' % (name, n)); os.rmdir('%s%d' % (name, n))
def worker(threads, count):
    wrong = []
    def one(name):
        try: work(name, count)
        except BaseException as error: wrong.append(repr(error))
    names = ['%d-%d-' % (os.getpid(), t) for t in range(threads)]
    all = [threading.Thread(target=one, args=(name,)) for name in names]
    for t in all: t.start()
    for t in all: t.join()
    for line in wrong[:3]: print(line, flush=True)
    os._exit(len(wrong))
"#;

fn stopped(threads: usize) {
    let code = format!(
        "{STOPPED}\n\
         pid = os.fork()\n\
         if pid == 0: worker({threads}, {})\n\
         stops = 0\n\
         while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:\n  \
           os.kill(pid, signal.SIGSTOP); time.sleep(0.002)\n  \
           os.kill(pid, signal.SIGCONT); time.sleep(0.003)\n  \
           stops += 1\n\
         print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), stops > 5, os.listdir('.'))",
        tries(240, 400) / threads
    );
    both(&code).print("0 True []\n");
}

#[test]
fn a_process_that_is_stopped_and_continued_loses_no_call() {
    stopped(1);
}

#[test]
fn threads_that_are_stopped_and_continued_lose_no_call() {
    stopped(4);
}

/// As a person does with Ctrl-Z and `fg`: all of the run, from outside.
#[test]
fn a_run_that_is_stopped_and_continued_loses_no_call() {
    use nix::sys::signal::{Signal, kill};
    let code = format!("import os\ndef expect(truth): assert truth\n{STOPPED}\nworker(2, 400)");
    let begun = crate::common::run().profile("workspace").python(&code);
    let mut child = begun.process().stdin(std::process::Stdio::null()).spawn().unwrap();
    let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    let works = || std::fs::read_dir(&begun.place.root).unwrap().next().is_some();
    assert!(until(Duration::from_secs(60), works), "the run doesn't begin");
    let mut stops = 0;
    for _ in 0..500 {
        kill(pid, Signal::SIGTSTP).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        kill(pid, Signal::SIGCONT).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        stops += 1;
        if child.try_wait().unwrap().is_some() {
            break;
        }
    }
    let status = match child.try_wait().unwrap() {
        Some(status) => status,
        None => {
            let ends = until(Duration::from_secs(60), || child.try_wait().unwrap().is_some());
            if !ends {
                child.kill().unwrap();
            }
            assert!(ends, "the run hangs");
            child.wait().unwrap()
        }
    };
    assert_eq!(status.code(), Some(0), "after {stops} stops");
    assert!(stops > 2, "the run was over too soon: {stops}");
}
