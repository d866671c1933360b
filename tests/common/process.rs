//! Child processes of the tests: with a time limit, and killed at the end.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{Place, python};

/// A loaded machine is slow; nothing here takes this long, times [`slowness`], unless it hangs.
const PATIENCE: Duration = Duration::from_secs(200);

/// A program's exit and its output.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Finished {
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Runs a program until it and every process that holds its output have ended.
pub fn finish(command: &mut Command, input: &[u8]) -> Finished {
    finish_within(command, input, PATIENCE)
}

/// The same, for a program that needs more time.
pub fn finish_within(command: &mut Command, input: &[u8], deadline: Duration) -> Finished {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = spawn(command);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let stdout = collect(child.stdout.take().unwrap());
    let stderr = collect(child.stderr.take().unwrap());
    let status = wait(&mut child, deadline);
    let _ = writer.join();
    Finished {
        status,
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

/// Starts a program. A file that was just written may still be held open by a child that another thread has forked and
/// that hasn't executed its own program yet.
fn spawn(command: &mut Command) -> Child {
    let started = Instant::now();
    loop {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && started.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => panic!("{command:?} can't be started: {error}"),
            Ok(child) => return child,
        }
    }
}

fn collect(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}

fn wait(child: &mut Child, deadline: Duration) -> ExitStatus {
    let mut status = None;
    let ended = until(deadline, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    if !ended {
        let _ = child.kill();
        let _ = child.wait();
        panic!("the run hangs");
    }
    status.unwrap()
}

/// The factor by which things may take longer, `STOCKADE_TEST_SLOWNESS`: 1 on a processor, more on an emulated one.
pub fn slowness() -> u32 {
    let told = std::env::var("STOCKADE_TEST_SLOWNESS").ok();
    told.map_or(1, |told| {
        told.parse().expect("STOCKADE_TEST_SLOWNESS is a whole number")
    })
}

/// Whether a condition becomes true within a time, or on a slow machine within [`slowness`] times as much.
pub fn until(deadline: Duration, mut is_true: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    let deadline = deadline * slowness();
    loop {
        if is_true() {
            return true;
        }
        if start.elapsed() > deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process exists and isn't a zombie.
pub fn is_alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| stat.rsplit(')').next().map(|rest| !rest.trim_start().starts_with('Z')))
        .unwrap_or(false)
}

/// Whether a process or thread waits in a system call.
pub fn is_in_call(task: i32, call: i64) -> bool {
    let told = std::fs::read_to_string(format!("/proc/{task}/syscall")).unwrap_or_default();
    told.split(' ').next() == Some(&call.to_string())
}

/// A process of the test, outside every run: a victim. It is killed on drop.
pub struct Asleep(Child);

impl Asleep {
    pub fn new() -> Asleep {
        let child = Command::new("sleep")
            .arg("120")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .env("VICTIMS_SECRET", "1")
            .spawn()
            .expect("`sleep` starts");
        Asleep(child)
    }

    pub fn id(&self) -> i32 {
        self.0.id().try_into().unwrap()
    }
}

impl Drop for Asleep {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A Python process outside a run that owns a socket, makes files later or holds a terminal. It is killed on drop.
pub struct Beside(Child);

impl Beside {
    /// Returns once it has printed `ready`.
    pub fn new(place: &Place, code: &str) -> Beside {
        let child = place
            .command(python())
            .args(["-I", "-c", code])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let mut beside = Beside(child);
        let mut line = String::new();
        let _ = BufReader::new(beside.0.stdout.take().unwrap()).read_line(&mut line);
        assert_eq!(line, "ready\n", "the process beside the run failed");
        beside
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
