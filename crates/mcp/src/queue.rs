//! Lines on their way to a server. One that waits for an answer reads nothing, and the answer may stand behind what it
//! doesn't read: so what reads the client never waits for the server, unless very much is on its way.

use std::collections::VecDeque;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use nix::libc::PIPE_BUF;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::line::MAX_LENGTH;

/// Lines in their order, and the server's end of a pipe.
pub struct Queue<W> {
    server: W,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    /// Of all lines, with the one that is being written.
    bytes: usize,
    /// Whether no line is added any more.
    is_over: bool,
    /// Whether no line is written any more.
    is_unread: bool,
}

impl<W: AsFd> Queue<W>
where
    for<'w> &'w W: Write,
{
    /// An empty one.
    pub fn to(server: W) -> Queue<W> {
        Queue {
            server,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Writes as much of a line as the server has room for at once, which saves a thread's waking; adds what is left, and waits
    /// while there are `MAX_LENGTH` bytes. Returns whether the server still reads.
    pub fn push(&self, line: &[u8]) -> bool {
        let mut state = self.state();
        let mut left = line;
        while state.bytes == 0 && !state.is_unread && !left.is_empty() && self.has_room() {
            let (now, later) = left.split_at(left.len().min(PIPE_BUF));
            state.is_unread = (&self.server).write_all(now).is_err();
            left = later;
        }
        if left.is_empty() || state.is_unread || state.is_over {
            return !state.is_unread;
        }
        while !state.is_unread && state.bytes > 0 && state.bytes + left.len() > MAX_LENGTH {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.bytes += left.len();
        state.lines.push_back(left.to_vec());
        self.changed.notify_all();
        !state.is_unread
    }

    /// Whether `PIPE_BUF` bytes can be written without waiting: a pipe that is ready takes them (pipe(7)).
    fn has_room(&self) -> bool {
        let mut waiting = [PollFd::new(self.server.as_fd(), PollFlags::POLLOUT)];
        poll(&mut waiting, PollTimeout::ZERO) == Ok(1) && waiting[0].revents() == Some(PollFlags::POLLOUT)
    }

    /// No line is added any more.
    pub fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    /// Writes the lines until the end, or until the server reads no more. Returns whether all were written.
    pub fn write(&self) -> bool {
        while let Some(line) = self.next() {
            if (&self.server).write_all(&line).is_err() {
                self.state().is_unread = true;
                self.changed.notify_all();
                return false;
            }
            self.state().bytes -= line.len();
            self.changed.notify_all();
        }
        !self.state().is_unread
    }

    /// The next line, once there is one; `None` at the end.
    fn next(&self) -> Option<Vec<u8>> {
        let mut state = self.state();
        loop {
            match state.lines.pop_front() {
                Some(line) => return Some(line),
                None if state.is_over => return None,
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn what_adds_lines_goes_on_while_the_server_reads_nothing() {
        let (mut read, write) = io::pipe().unwrap();
        let queue = Arc::new(Queue::to(write));
        let writing = Arc::clone(&queue);
        let writer = thread::spawn(move || writing.write());
        let line = vec![b'x'; 1 << 20];
        // Far more than a pipe holds, and nothing was read.
        for _ in 0..8 {
            assert!(queue.push(&line));
        }
        queue.end();
        let mut got = vec![0; 8 << 20];
        io::Read::read_exact(&mut read, &mut got).unwrap();
        assert!(writer.join().unwrap());
    }

    #[test]
    fn a_server_that_reads_no_more_is_noticed() {
        let (read, write) = io::pipe().unwrap();
        drop(read);
        let queue = Queue::to(write);
        // A pipe without a reader isn't only ready, so the line waits.
        assert!(queue.push(b"a\n"));
        assert!(!queue.write());
        assert!(!queue.push(b"b\n"));
        queue.end();
        assert!(!queue.write());
    }

    #[test]
    fn a_short_line_is_there_at_once_and_never_before_an_earlier_one() {
        let (mut read, write) = io::pipe().unwrap();
        let queue = Queue::to(write);
        let mut got = vec![0; 2];
        // Nothing else writes.
        assert!(queue.push(b"a\n"));
        io::Read::read_exact(&mut read, &mut got).unwrap();
        assert_eq!(got, b"a\n");
        let long = vec![b'x'; 1 << 20];
        assert!(queue.push(&long) && queue.push(b"b\n"));
        queue.end();
        let reading = thread::spawn(move || {
            let mut rest = Vec::new();
            io::Read::read_to_end(&mut read, &mut rest).unwrap();
            rest
        });
        assert!(queue.write());
        drop(queue);
        assert!(reading.join().unwrap() == [&long[..], b"b\n"].concat());
    }
}
