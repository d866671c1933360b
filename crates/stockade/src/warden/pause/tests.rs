use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::look::Task;
use super::*;
use crate::processes::{Tree, children};

fn state(pid: u32) -> char {
    Task::read(pid as i32, pid as i32).map_or('X', |task| task.state)
}

fn until(pid: u32, is: impl Fn(char) -> bool) {
    let begun = Instant::now();
    while !is(state(pid)) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", state(pid));
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn sleeping(script: &str) -> Child {
    Command::new("sh")
        .args(["-c", script])
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn everything_below_stops_and_goes_on_and_what_was_stopped_before_stays_so() {
    let mut shell = sleeping("sleep 60 & kill -STOP $!; sh -c 'sleep 60; true' & wait");
    let begun = Instant::now();
    let [held, free, below_it] = loop {
        let found = children(shell.id() as i32).unwrap();
        let further = found.get(1).map(|pid| children(*pid).unwrap()).unwrap_or_default();
        if let ([held, free], [below_it]) = (&found[..], &further[..])
            && state(*held as u32) == 'T'
            // Not while it waits in `vfork` for its child to execute a program: it couldn't stop.
            && state(*free as u32) == 'S'
        {
            break [*held, *free, *below_it].map(|pid| pid as u32);
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    };
    let run = shell.id() as i32;
    let kinds: [&dyn Fn() -> Option<Pause>; 2] =
        [&|| Pause::begin(run, None), &|| Pause::begin_in_order(run, PATIENCE)];
    for begin in kinds {
        let pause = begin().unwrap();
        for pid in [held, free, below_it] {
            until(pid, |state| state == 'T');
        }
        drop(pause);
        for pid in [free, below_it] {
            until(pid, |state| state == 'S');
        }
        assert_eq!(state(held), 'T');
    }
    Pause::begin_in_order(run, PATIENCE).unwrap().leave_stopped();
    assert_eq!([free, below_it].map(state), ['T'; 2]);
    for pid in [held, below_it, free, shell.id()] {
        let _ = process::signal(pid as i32, libc::SIGKILL);
    }
    let _ = shell.wait();
}

#[test]
fn who_waits_for_a_child_does_not_hear_that_it_was_stopped() {
    let script = "import os, sys, time\n\
                  pid = os.fork()\n\
                  if pid == 0:\n  \
                    end = time.monotonic() + 0.6\n  \
                    while time.monotonic() < end: pass\n  \
                    os._exit(7)\n\
                  status = os.waitpid(pid, os.WUNTRACED)[1]\n\
                  sys.exit(0 if os.waitstatus_to_exitcode(status) == 7 else 1)";
    let mut shell = Command::new("sh")
        .args(["-c", "python3 -c \"$0\"", script])
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while below(shell.id() as i32).unwrap().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    let run = shell.id() as i32;
    for _ in 0..8 {
        drop(Pause::begin(run, None));
        std::thread::sleep(Duration::from_millis(15));
        drop(Pause::begin_in_order(run, Duration::from_millis(100)));
        std::thread::sleep(Duration::from_millis(15));
    }
    assert!(shell.wait().unwrap().success());
}

/// Four processes that send each other SIGCONT, after the commands of `first`.
fn storm(first: &str) -> Child {
    use std::os::unix::process::CommandExt;
    let script = "for _ in range(4):\n  \
                    if os.fork() == 0:\n    \
                      while True: os.kill(0, signal.SIGCONT)\n\
                  print(flush=True)\n\
                  time.sleep(60)";
    let mut shell = Command::new("sh")
        .args(["-c", "python3 -c \"$0\"; true"])
        .arg(format!("import os, signal, time\n{first}\n{script}"))
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(first_line(&mut shell), "\n");
    shell
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let output = child.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    line
}

fn end(mut shell: Child) {
    for pid in below(shell.id() as i32).unwrap().into_iter().chain([shell.id() as i32]) {
        let _ = process::signal(pid, libc::SIGKILL);
    }
    let _ = shell.wait();
}

#[test]
fn processes_that_let_each_other_go_on_are_held_or_nothing_is() {
    let shell = storm("");
    let begun = Instant::now();
    for _ in 0..8 {
        drop(Pause::begin_in_order(shell.id() as i32, Duration::from_millis(50)));
    }
    assert!(begun.elapsed() < Duration::from_secs(30));
    if let Some(pause) = Pause::begin(shell.id() as i32, None) {
        // Only time shows that they stay stopped.
        std::thread::sleep(Duration::from_millis(50));
        for pid in below(shell.id() as i32).unwrap() {
            assert!(tasks(pid).iter().all(|task| task.is_held()), "{:?}", tasks(pid));
        }
        drop(pause);
    }
    end(shell);
}

/// The orders that a warden received and hasn't read yet.
fn orders(socket: &impl AsRawFd) -> Vec<i32> {
    let socket = socket.as_raw_fd();
    let is_there = || wire::wait_readable([socket, -1], 0).unwrap() != 0;
    std::iter::from_fn(|| is_there().then(|| wire::receive(socket).unwrap().unwrap().first)).collect()
}

#[test]
fn a_warden_that_obeys_late_leaves_nothing_stopped() {
    let shell = storm("");
    let (launcher, warden) = wire::pair().unwrap();
    let begun = Instant::now();
    let obeyed_late = loop {
        drop(Pause::begin(shell.id() as i32, Some(launcher.as_fd())));
        let orders = orders(&warden);
        // None if each process was stopped in order, one after the other.
        if !orders.is_empty() {
            break orders;
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    };
    let (last, earlier) = obeyed_late.split_last().unwrap();
    assert!(earlier.len() <= ORDERS && earlier.iter().all(|signal| *signal == libc::SIGSTOP));
    assert_eq!(*last, libc::SIGCONT);
    end(shell);
}

#[test]
fn no_order_lets_go_on_what_was_stopped_before() {
    let stopped = "pid = os.fork()\n\
                   if pid == 0: os.setpgid(0, 0); os.kill(os.getpid(), signal.SIGSTOP); os._exit(0)\n\
                   os.waitpid(pid, os.WUNTRACED)";
    let shell = storm(stopped);
    let (launcher, warden) = wire::pair().unwrap();
    for _ in 0..4 {
        drop(Pause::begin(shell.id() as i32, Some(launcher.as_fd())));
    }
    let orders = orders(&warden);
    end(shell);
    assert_eq!(orders, Vec::<i32>::new());
}

/// Ways in which the kernel lets a stopped process go on, as Python code. Each prints the id of the process that goes
/// on; once all are stopped, `end` is killed and a byte is written to standard input.
const WAYS: &str = r"
import ctypes, fcntl, os, signal, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def timer(number):
    event = ctypes.create_string_buffer(struct.pack('qii', 0, number, 0), 64)
    made = ctypes.c_void_p()
    assert libc.timer_create(1, event, ctypes.byref(made)) == 0
    assert libc.timer_settime(made, 0, struct.pack('qqqq', 0, 0, 1, 0), None) == 0
def say(goes_on, end=0):
    os.write(1, b'%d %d\n' % (goes_on, end))
    time.sleep(60)
def by_timer():
    timer(signal.SIGCONT); say(os.getpid())
def by_orphaned_group():
    # Before the fork: the child may be stopped before it does anything.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0); time.sleep(60); os._exit(0)
    os.setpgid(child, child); timer(signal.SIGKILL); say(child)
def by_exit_signal():
    child = libc.syscall(56, signal.SIGCONT, 0, 0, 0, 0)
    assert child >= 0
    if child == 0: time.sleep(60); os._exit(0)
    say(os.getpid(), child)
def by_death_signal():
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        assert libc.prctl(1, signal.SIGCONT, 0, 0, 0) == 0
        os.write(writer, b'x'); time.sleep(60); os._exit(0)
    os.read(reader, 1); say(child, os.getpid())
def by_input():
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, 10, signal.SIGCONT)
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    say(os.getpid())
";

/// A process that has run is found, also once it is stopped again.
fn is_seen(way: &str, has_alarm: bool) {
    use std::io::Write;
    use std::os::unix::process::CommandExt;
    let script = format!("{WAYS}\n{way}()");
    let mut shell = Command::new("sh")
        // The shell stays: its exit would orphan its process group, and stopped processes in that would get SIGHUP.
        .args(["-c", "python3 -I -c \"$0\"; exec sleep 60", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let line = first_line(&mut shell);
    let numbers: Vec<i32> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let [goes_on, end] = numbers[..] else {
        panic!("{way}: {line}")
    };

    let pause = Pause::begin(shell.id() as i32, None).unwrap();
    assert!(pause.is_unbroken(), "{way}");
    assert_eq!(pause.has_alarm(), has_alarm, "{way}");
    if end != 0 {
        process::signal(end, libc::SIGKILL).unwrap();
    }
    shell.stdin.take().unwrap().write_all(b"x").unwrap();
    until(goes_on as u32, |state| state != 'T');
    assert!(!pause.is_unbroken(), "{way}");
    process::signal(goes_on, libc::SIGSTOP).unwrap();
    until(goes_on as u32, |state| state == 'T');
    assert!(!pause.is_unbroken(), "{way}: stopped again");
    for pid in [goes_on]
        .into_iter()
        .chain(below(shell.id() as i32).unwrap())
        .chain([shell.id() as i32])
    {
        let _ = process::signal(pid, libc::SIGKILL);
    }
    let _ = shell.wait();
}

#[test]
fn whatever_lets_a_stopped_process_go_on_is_seen() {
    is_seen("by_timer", true);
    is_seen("by_orphaned_group", true);
    is_seen("by_exit_signal", false);
    is_seen("by_death_signal", false);
    is_seen("by_input", false);
}

#[test]
fn a_run_that_cant_be_looked_at_isnt_taken_for_held() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let mut shell = sleeping("sleep 60 & wait");
    let run = shell.id() as i32;
    while below(run).unwrap().is_empty() {}
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    // No descriptor is left, as when the launcher is made to hold many.
    setrlimit(Resource::RLIMIT_NOFILE, 0, hard).unwrap();
    let held = [
        Pause::begin(run, None).is_some(),
        Pause::begin_in_order(run, PATIENCE).is_some(),
    ];
    let sample = Tree::new(run).sample(None);
    setrlimit(Resource::RLIMIT_NOFILE, soft, hard).unwrap();
    for pid in below(run).unwrap().into_iter().chain([run]) {
        process::signal(pid, libc::SIGKILL).unwrap();
    }
    shell.wait().unwrap();
    assert_eq!(held, [false; 2]);
    assert!(sample.is_err());
}
