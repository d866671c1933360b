//! One connection: bounded lines both ways, without blocking.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use nix::poll::PollFlags;

/// One end of a connection.
#[derive(Debug)]
pub(super) struct SocketStream {
    socket: UnixStream,
    unsent: Vec<u8>,
    heard: Vec<u8>,
    /// The longest line in bytes that is read.
    longest: usize,
}

/// The result of a read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// No complete line yet.
    Nothing,
    /// A line, without its line end.
    Line(Vec<u8>),
    /// More bytes than a line may have.
    TooMuch,
    /// The peer has closed the connection.
    End,
}

impl SocketStream {
    pub fn new(socket: UnixStream, longest: usize) -> io::Result<SocketStream> {
        socket.set_nonblocking(true)?;
        Ok(SocketStream {
            socket,
            unsent: Vec::new(),
            heard: Vec::new(),
            longest,
        })
    }

    /// Sends as many bytes as fit; the rest follows with [`Stream::send`].
    pub fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.unsent.extend_from_slice(bytes);
        self.send()
    }

    /// Sends pending bytes.
    pub fn send(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.socket.write(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether all bytes were sent.
    pub fn has_sent(&self) -> bool {
        self.unsent.is_empty()
    }

    /// Reads all available bytes. Bytes after the line are dropped, because each side sends only one.
    pub fn hear(&mut self) -> Received {
        let mut buffer = [0; 16 * 1024];
        loop {
            match self.socket.read(&mut buffer) {
                Ok(0) => return Received::End,
                Ok(count) => self.heard.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Received::Nothing,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Received::End,
            }
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let is_all = end + 1 == self.heard.len() && end < self.longest;
                self.heard.truncate(end);
                return match is_all {
                    true => Received::Line(std::mem::take(&mut self.heard)),
                    false => Received::TooMuch,
                };
            }
            if self.heard.len() >= self.longest {
                return Received::TooMuch;
            }
        }
    }

    /// The events to poll for.
    pub fn interest(&self) -> PollFlags {
        match self.has_sent() {
            true => PollFlags::POLLIN,
            false => PollFlags::POLLIN | PollFlags::POLLOUT,
        }
    }
}

impl AsFd for SocketStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(longest: usize) -> (UnixStream, SocketStream) {
        let (far, near) = UnixStream::pair().unwrap();
        (far, SocketStream::new(near, longest).unwrap())
    }

    #[test]
    fn a_line_is_whole_or_nothing() {
        let (mut far, mut near) = pair(100);
        assert_eq!(near.hear(), Received::Nothing);
        far.write_all(b"ha").unwrap();
        assert_eq!(near.hear(), Received::Nothing);
        far.write_all(b"lf\n").unwrap();
        drop(far);
        assert_eq!(near.hear(), Received::Line(b"half".to_vec()));
        assert_eq!(near.hear(), Received::End);
    }

    #[test]
    fn a_line_that_is_too_long_is_told_apart() {
        for bytes in [&b"12345"[..], b"12345\n", b"1\n2"] {
            let (mut far, mut near) = pair(5);
            far.write_all(bytes).unwrap();
            assert_eq!(near.hear(), Received::TooMuch, "{bytes:?}");
        }
    }

    #[test]
    fn what_finds_no_room_is_sent_later() {
        let (mut far, mut near) = pair(5);
        let much = vec![b'x'; 4_000_000];
        near.say(&much).unwrap();
        assert!(!near.has_sent());
        let mut got = 0;
        let mut buffer = [0; 65536];
        while got < much.len() {
            got += far.read(&mut buffer).unwrap();
            near.send().unwrap();
        }
        assert!(near.has_sent());
    }
}
