//! The process that answers: its input, output and end.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::reply;
use stockade_sys::{other, signals};

/// One question to a command. Dropping it kills the process group, unless the command has ended by itself.
pub(super) struct Conversation {
    child: Child,
    /// Its pidfd, readable once the process has ended.
    ended: Option<OwnedFd>,
    unsaid: Vec<u8>,
    input: Option<File>,
    heard: Vec<u8>,
    output: Option<File>,
}

impl Conversation {
    /// Starts the command, with `input` to be written to it.
    pub fn begin(mut command: Command, input: Vec<u8>) -> io::Result<Conversation> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A process group of its own, which can be killed as one.
            .process_group(0);
        signals::unblock_in(&mut command);
        let mut child = command.spawn()?;
        let input_end = child.stdin.take().map(OwnedFd::from);
        let output_end = child.stdout.take().map(OwnedFd::from);
        // Without pidfds, its end is noticed a little later.
        let process = i32::try_from(child.id()).map_err(io::Error::other);
        let ended = process.and_then(other::process_descriptor).ok();
        let mut conversation = Conversation {
            child,
            ended,
            unsaid: input,
            input: None,
            heard: Vec::new(),
            output: None,
        };
        conversation.input = input_end.map(nonblocking).transpose()?;
        conversation.output = output_end.map(nonblocking).transpose()?;
        Ok(conversation)
    }

    /// The exit status, once it has ended.
    pub fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// The output so far.
    pub fn heard(&self) -> &[u8] {
        &self.heard
    }

    /// Whether the output exceeds an answer's limit.
    pub fn says_too_much(&self) -> bool {
        self.heard.len() > reply::MAX_LENGTH
    }

    /// Waits for `time` at most, and moves all available bytes.
    pub fn go_on(&mut self, time: Duration) {
        let streams = [
            (self.input.as_ref().map(AsFd::as_fd), PollFlags::POLLOUT),
            (self.output.as_ref().map(AsFd::as_fd), PollFlags::POLLIN),
            (self.ended.as_ref().map(AsFd::as_fd), PollFlags::POLLIN),
        ];
        let mut waiting: Vec<PollFd<'_>> = streams
            .into_iter()
            .filter_map(|(descriptor, what)| Some(PollFd::new(descriptor?, what)))
            .collect();
        let time = time.max(Duration::from_millis(1));
        let _ = poll(&mut waiting, PollTimeout::try_from(time).unwrap_or(PollTimeout::ZERO));
        self.say();
        self.hear();
    }

    /// Writes more of the request. A command may leave it unread.
    fn say(&mut self) {
        let Some(input) = &mut self.input else {
            return;
        };
        match input.write(&self.unsaid) {
            Ok(count) => drop(self.unsaid.drain(..count)),
            Err(error) if is_later(&error) => return,
            Err(_) => self.unsaid.clear(),
        }
        if self.unsaid.is_empty() {
            self.input = None;
        }
    }

    /// Reads all available output, up to the first byte too many.
    pub fn hear(&mut self) {
        let mut buffer = [0; 16 * 1024];
        while let Some(output) = &mut self.output {
            match output.read(&mut buffer) {
                Ok(0) => self.output = None,
                Ok(count) => self.heard.extend_from_slice(&buffer[..count]),
                Err(error) if is_later(&error) => return,
                Err(_) => self.output = None,
            }
            if self.says_too_much() {
                return;
            }
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // Until the process is reaped, its pid can't be reused.
        if matches!(self.child.try_wait(), Ok(None)) {
            if let Ok(group) = i32::try_from(self.child.id()) {
                let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
            }
            let _ = self.child.wait();
        }
    }
}

fn nonblocking(end: OwnedFd) -> io::Result<File> {
    fcntl(&end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(File::from(end))
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
