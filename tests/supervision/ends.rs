//! What is left of a run once it is over: nothing.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Run, finish, is_alive, run, until};

/// Threads and processes that open, make, rename and remove all the time. The line with the processes is printed once each
/// thread below the first process has done so `@ROUNDS` times.
const HEAVY: &str = "import os, sys, threading, time\n\
    def loop(name):\n  \
      n = 0\n  \
      while True:\n    \
        n += 1\n    \
        path = '%s-%d' % (name, n)\n    \
        with open(path, 'w') as file: file.write('x')\n    \
        os.rename(path, path + 'm'); os.mkdir(path); open(path + 'm').close()\n    \
        os.rmdir(path); os.unlink(path + 'm')\n    \
        if n == @ROUNDS: os.write(writer, b'x')\n\
    reader, writer = os.pipe()\n\
    pids = [os.getpid()]\n\
    for child in range(5):\n  \
      pid = os.fork()\n  \
      if pid == 0:\n    \
        if child % 2: os.setsid()\n    \
        for n in range(3): threading.Thread(target=loop, args=('%d-%d' % (child, n),)).start()\n    \
        os.mkfifo('fifo%d' % child); open('fifo%d' % child)\n  \
      pids.append(pid)\n\
    for _ in range(15): os.read(reader, 1)\n\
    print(*pids, flush=True)\n\
    loop('parent')\n";

/// A run in the middle of that work.
fn heavy(rounds: u32, code: &str) -> Run {
    run()
        .profile("workspace")
        .python(&code.replace("@ROUNDS", &rounds.to_string()))
}

#[test]
fn a_killed_supervisor_ends_a_run_in_the_middle_of_its_work() {
    for round in 0..4 {
        let begun = heavy(1 + 7 * round, HEAVY);
        let mut child = begun
            .process()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let pids: Vec<i32> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert_eq!(pids.len(), 6, "{line}");
        child.kill().unwrap();
        child.wait().unwrap();
        for pid in pids {
            assert!(
                until(Duration::from_secs(10), || !is_alive(pid)),
                "{pid} outlives its supervisor"
            );
        }
        // No process holds the output, and none writes on.
        stdout.read_to_string(&mut String::new()).unwrap();
        let entries = || {
            let mut names: Vec<_> = std::fs::read_dir(&begun.place.root)
                .unwrap()
                .map(|e| e.unwrap().file_name())
                .collect();
            names.sort();
            names
        };
        // Only time shows that something doesn't happen.
        let before = entries();
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(entries(), before);
    }
}

#[test]
fn a_run_ends_in_the_middle_of_its_work_when_its_command_does() {
    let code = HEAVY.replace("loop('parent')", "os._exit(5)");
    for round in 0..5 {
        heavy(1 + 7 * round, &code).status(5).any_stdout().any_stderr().ends();
    }
}

fn count(directory: &str) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

/// In a process of its own, because other tests start threads and open files.
#[test]
fn nothing_of_fifty_runs_is_left_in_their_host() {
    let place = crate::common::Place::new();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "supervision::ends::fifty_runs_of_a_host",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.env("HOST_OF_RUNS", &place.root).env("HOME", &place.home);
    let finished = finish(&mut command, b"");
    assert!(finished.status.success(), "{}{}", finished.stdout(), finished.stderr());
    assert!(
        finished.stdout().contains("fifty runs left nothing"),
        "{}",
        finished.stdout()
    );
}

#[test]
#[ignore = "the test above runs it in a process of its own"]
fn fifty_runs_of_a_host() {
    let Some(root) = std::env::var_os("HOST_OF_RUNS") else {
        return;
    };
    let sandbox = stockade::Sandbox::profile("workspace").unwrap().root(&root);
    let script =
        "for i in 1 2 3 4 5; do (echo text > f$i; cat f$i; rm f$i) & done; wait; mkfifo p; (cat p &); mkdir d; exit 3";
    let work = || {
        let mut command = sandbox.command("/bin/bash");
        command
            .args(["-c", &format!("umask 077; rm -rf d p; {script}")])
            .no_input();
        let output = command.output().unwrap();
        assert_eq!(
            output.outcome.exit_code(),
            3,
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(output.stdout, b"text\n".repeat(5));
    };
    let umask = || {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        status
            .lines()
            .find(|line| line.starts_with("Umask:"))
            .unwrap()
            .to_string()
    };
    let directory = std::env::current_dir().unwrap();
    // What the first run sets up once and for all isn't a leak.
    work();
    let settled = |threads: usize, files: usize| {
        until(Duration::from_secs(5), || {
            count("/proc/self/task") == threads && count("/proc/self/fd") == files
        })
    };
    // What ends with the first run has ended once nothing changes any more.
    until(Duration::from_secs(10), || {
        let files = count("/proc/self/fd");
        std::thread::sleep(Duration::from_millis(100));
        count("/proc/self/task") <= 2 && count("/proc/self/fd") == files
    });
    let (threads, files, mask) = (count("/proc/self/task"), count("/proc/self/fd"), umask());
    assert!(threads <= 2, "a thread of the first run is left: {threads}");
    for _ in 0..50 {
        work();
    }
    assert!(
        settled(threads, files),
        "{threads} threads became {}, {files} descriptors {}",
        count("/proc/self/task"),
        count("/proc/self/fd")
    );
    assert_eq!(umask(), mask);
    assert_eq!(std::env::current_dir().unwrap(), directory);
    let children = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    assert_eq!(children.trim(), "", "processes are left");
    println!("fifty runs left nothing");
}
