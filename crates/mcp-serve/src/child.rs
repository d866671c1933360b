//! Our own program in a process of its own: started with pipes, read within bounds, ended with the server.
//!
//! Processes are started on the runtime's only thread. So a descriptor that the next one inherits can't get into another.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::kept::Kept;
use crate::settings::Settings;

/// How long a process has after SIGTERM; a run's program has two seconds of that.
const GRACE: Duration = Duration::from_secs(5);

/// How long output is read after the end of the process.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// The most bytes of a report that are kept.
const MAX_REPORT: u64 = 4 << 20;

/// A descriptor that the process inherits under its own number, and the word that names it.
pub struct Inherited {
    end: OwnedFd,
}

impl Inherited {
    /// `fd:N`.
    pub fn word(&self) -> OsString {
        format!("fd:{}", self.end.as_raw_fd()).into()
    }
}

/// A pipe of which the process gets the writing end.
///
/// # Errors
/// No pipe can be made.
pub fn report_pipe() -> io::Result<(pipe::Receiver, Inherited)> {
    let (ours, end) = nix::unistd::pipe2(OFlag::O_CLOEXEC)?;
    fcntl(&ours, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok((pipe::Receiver::from_owned_fd(ours)?, Inherited { end }))
}

/// A connected pair of sockets of which the process gets one.
///
/// # Errors
/// No pair can be made.
pub fn question_socket() -> io::Result<(UnixStream, Inherited)> {
    let (ours, end) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, Inherited { end: end.into() }))
}

/// Starts our own program with these words, in the root.
///
/// # Errors
/// No process can be started.
pub fn start(settings: &Settings, words: &[OsString], has_input: bool, inherited: Vec<Inherited>) -> io::Result<Child> {
    let mut command = std::process::Command::new(&settings.program);
    command
        .arg0("stockade")
        .args(words)
        // The new process has the descriptor until it runs the program.
        .current_dir(format!("/proc/self/fd/{}", settings.root_directory.as_raw_fd()))
        .stdin(match has_input {
            true => Stdio::piped(),
            false => Stdio::null(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    stockade_sys::process::end_with_us(&mut command, nix::libc::SIGTERM);
    for one in &inherited {
        fcntl(one.end.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    let started = Command::from(command).kill_on_drop(true).spawn();
    drop(inherited);
    started
}

/// What a process left when it ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code, 128 + n where signal n ended it.
    pub code: i32,
    /// Its output.
    pub stdout: Kept,
    /// Its standard error.
    pub stderr: Kept,
    /// The report that it wrote.
    pub report: Option<Vec<u8>>,
}

/// How much of a process's output is kept.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Of standard output.
    pub stdout: usize,
    /// Of standard error.
    pub stderr: usize,
}

/// Gives a process its input, and keeps what it writes, until it has ended. A token ends it early. `heard` gets each piece.
pub async fn attend(
    mut child: Child,
    input: Option<Vec<u8>>,
    report: Option<pipe::Receiver>,
    bounds: Bounds,
    stop: &CancellationToken,
    heard: impl Fn(&[u8]),
) -> Ended {
    let mut stdout = Kept::new(bounds.stdout);
    let mut stderr = Kept::new(bounds.stderr);
    let mut document = Vec::new();
    let (stdin, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async {
        if let (Some(mut pipe), Some(input)) = (stdin, input) {
            // A program that doesn't read its input is no failure.
            let _ = pipe.write_all(&input).await;
        }
    };
    let streams = async {
        tokio::join!(
            keep(out, &mut stdout, &heard),
            keep(err, &mut stderr, &heard),
            read_report(report, &mut document),
            feed
        )
    };
    let code = {
        tokio::pin!(streams);
        let ended = wait(&mut child, stop);
        tokio::pin!(ended);
        let mut is_read = false;
        let code = loop {
            tokio::select! {
                code = &mut ended => break code,
                _ = &mut streams, if !is_read => is_read = true,
            }
        };
        if !is_read {
            let _ = timeout(LAST_OUTPUT, &mut streams).await;
        }
        code
    };
    Ended {
        code,
        stdout,
        stderr,
        report: (!document.is_empty() && document.len() as u64 <= MAX_REPORT).then_some(document),
    }
}

/// Waits for the end, which a token brings about.
async fn wait(child: &mut Child, stop: &CancellationToken) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    let id = child.id();
    let status = tokio::select! {
        status = child.wait() => status,
        () = stop.cancelled() => {
            if let Some(id) = id {
                let _ = stockade_sys::process::signal(id.cast_signed(), nix::libc::SIGTERM);
            }
            tokio::select! {
                status = child.wait() => status,
                () = sleep(GRACE) => {
                    let _ = child.start_kill();
                    child.wait().await
                }
            }
        }
    };
    match status {
        Ok(status) => status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        Err(_) => 125,
    }
}

async fn keep(stream: Option<impl AsyncRead + Unpin>, kept: &mut Kept, heard: &impl Fn(&[u8])) {
    let Some(mut stream) = stream else { return };
    let mut piece = vec![0; 16 << 10];
    while let Ok(count @ 1..) = stream.read(&mut piece).await {
        kept.push(&piece[..count]);
        heard(&piece[..count]);
    }
}

/// Reads on where it is too long, so that the writer doesn't wait.
async fn read_report(pipe: Option<pipe::Receiver>, document: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut piece = vec![0; 16 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut piece).await {
        if document.len() as u64 <= MAX_REPORT {
            document.extend_from_slice(&piece[..count]);
        }
    }
}
