//! The controlling terminal: reads and writes with bounded waits.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlowArg, FlushArg, tcflow, tcflush};
use nix::unistd::{Pid, tcgetpgrp, tcsetpgrp};

use super::unanswered::Unanswered;
use crate::approve::Deadline;
use stockade_sys::terminal;

/// Interval at which the deadline is checked.
const GLANCE: Duration = Duration::from_millis(100);

/// The silence after which no more input is expected: longer than a terminal takes to answer a query, even over a
/// network.
const QUIET: Duration = Duration::from_millis(150);

/// The longest wait for silence.
const LOUD: Duration = Duration::from_secs(2);

/// The kernel's line buffer holds no longer line.
const MAX_LINE: usize = 4096;

/// The terminal, by a descriptor of Stockade's own, independent of what a run does to its standard streams.
#[derive(Debug)]
pub struct Device {
    file: File,
}

impl Device {
    /// Opens it. Non-blocking, because a target can stop the terminal's output (tcflow(3)).
    pub fn open() -> io::Result<Device> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let file = options
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open("/dev/tty")?;
        Ok(Device { file })
    }

    /// The foreground process group.
    pub fn foreground(&self) -> io::Result<i32> {
        Ok(tcgetpgrp(&self.file)?.as_raw())
    }

    /// Makes a process group the foreground group. From the background SIGTTOU must be blocked.
    pub fn set_foreground(&self, group: i32) -> io::Result<()> {
        Ok(tcsetpgrp(&self.file, Pid::from_raw(group))?)
    }

    /// The terminal's mode.
    pub fn mode(&self) -> io::Result<libc::termios> {
        terminal::mode(self.as_fd())
    }

    /// Sets the terminal's mode.
    pub fn set_mode(&self, mode: &libc::termios) -> io::Result<()> {
        terminal::set_mode(self.as_fd(), mode)
    }

    /// Columns and rows; 80 and 24 if the terminal doesn't report them.
    pub fn size(&self) -> (usize, usize) {
        let (columns, rows) = terminal::size(self.as_fd()).unwrap_or_default();
        let known = |size: u16, otherwise| if size == 0 { otherwise } else { usize::from(size) };
        (known(columns, 80), known(rows, 24))
    }

    /// Resumes output that tcflow(3) stopped.
    pub fn resume_output(&self) {
        let _ = tcflow(&self.file, FlowArg::TCOON);
    }

    /// Discards unread input.
    pub fn forget_input(&self) {
        let _ = tcflush(&self.file, FlushArg::TCIFLUSH);
    }

    /// Discards input until none arrives, or for two seconds.
    pub fn drain(&self, deadline: &Deadline) -> Result<(), Unanswered> {
        let end = Instant::now() + LOUD;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.is_ready(PollFlags::POLLIN, QUIET.min(left))? {
                self.forget_input();
                return left_of(deadline).map(drop);
            }
            self.take()?;
            left_of(deadline)?;
        }
    }

    /// Waits for a line, or for the input that ended it.
    pub fn read_line(&self, deadline: &Deadline) -> Result<Vec<u8>, Unanswered> {
        loop {
            let left = left_of(deadline)?;
            if self.is_ready(PollFlags::POLLIN, GLANCE.min(left))?
                && let Some(bytes) = self.take()?
            {
                return Ok(bytes);
            }
        }
    }

    /// Writes all of it.
    pub fn write(&self, text: &str, deadline: &Deadline) -> Result<(), Unanswered> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let left = left_of(deadline)?;
            match (&self.file).write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.is_ready(PollFlags::POLLOUT, GLANCE.min(left))?;
                }
                Err(_) => return Err(Unanswered::Gone),
            }
        }
        Ok(())
    }

    fn is_ready(&self, events: PollFlags, time: Duration) -> Result<bool, Unanswered> {
        // At least 1: otherwise the last fraction of a millisecond would be a busy loop.
        let milliseconds = u16::try_from(time.as_millis()).unwrap_or(u16::MAX).max(1);
        let mut polled = [PollFd::new(self.as_fd(), events)];
        match poll(&mut polled, PollTimeout::from(milliseconds)) {
            Ok(_) => {}
            Err(nix::errno::Errno::EINTR) => return Ok(false),
            Err(_) => return Err(Unanswered::Gone),
        }
        let found = polled[0].revents().unwrap_or(PollFlags::empty());
        if found.intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL) {
            return Err(Unanswered::Gone);
        }
        Ok(found.intersects(events))
    }

    /// The available input: one line of it in canonical mode; `None` if there is none. A terminal that hung up reads as
    /// an empty line does, but has no mode any more.
    fn take(&self) -> Result<Option<Vec<u8>>, Unanswered> {
        let mut bytes = vec![0; MAX_LINE];
        match (&self.file).read(&mut bytes) {
            Ok(0) if self.mode().is_err() => Err(Unanswered::Gone),
            Ok(count) => {
                bytes.truncate(count);
                Ok(Some(bytes))
            }
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => Ok(None),
            Err(_) => Err(Unanswered::Gone),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn left_of(deadline: &Deadline) -> Result<Duration, Unanswered> {
    deadline.left().ok_or_else(|| {
        if !deadline.is_withdrawn() {
            Unanswered::Late
        } else if deadline.is_broken() {
            Unanswered::WentOn
        } else {
            Unanswered::Withdrawn
        }
    })
}
