//! Lines on their way to a server. One that waits for an answer reads nothing, and the answer may stand behind what it
//! doesn't read: so what reads the client never waits for the server, unless very much is on its way.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::line::LONGEST;

/// Lines in their order.
#[derive(Default)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    /// Of all lines.
    bytes: usize,
    /// Whether no line is added any more.
    is_over: bool,
    /// Whether no line is written any more.
    is_unread: bool,
}

impl Queue {
    /// Adds a line; waits while there are `LONGEST` bytes. Returns whether the server still reads.
    pub fn push(&self, line: Vec<u8>) -> bool {
        let mut state = self.state();
        while !state.is_unread && state.bytes > 0 && state.bytes + line.len() > LONGEST {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        self.changed.notify_all();
        !state.is_unread
    }

    /// No line is added any more.
    pub fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    /// Writes the lines until the end, or until the server reads no more. Returns whether all were written.
    pub fn write_to(&self, mut server: impl Write) -> bool {
        while let Some(line) = self.next() {
            let written = server.write_all(&line).and_then(|()| server.flush());
            if written.is_err() {
                self.state().is_unread = true;
                self.changed.notify_all();
                return false;
            }
            self.state().bytes -= line.len();
            self.changed.notify_all();
        }
        true
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
        let queue = Arc::new(Queue::default());
        let writing = Arc::clone(&queue);
        let writer = thread::spawn(move || writing.write_to(write));
        let line = vec![b'x'; 1 << 20];
        // Far more than a pipe holds, and nothing was read.
        for _ in 0..8 {
            assert!(queue.push(line.clone()));
        }
        queue.end();
        let mut got = Vec::new();
        io::Read::read_to_end(&mut read, &mut got).unwrap();
        assert!(writer.join().unwrap() && got.len() == 8 << 20);
    }

    #[test]
    fn a_server_that_reads_no_more_is_noticed() {
        let (read, write) = io::pipe().unwrap();
        drop(read);
        let queue = Queue::default();
        assert!(queue.push(b"a\n".to_vec()));
        assert!(!queue.write_to(write));
        assert!(!queue.push(b"b\n".to_vec()));
    }
}
