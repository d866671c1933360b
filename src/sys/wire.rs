//! Fixed-size messages between the launcher and the warden, over a pair of sequenced-packet sockets.
//!
//! The pair does three jobs: orders go one way, news the other, and its end of file is the life line: the
//! kernel closes the launcher's end however the launcher ends. Child-safe but for [`pair`].

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use super::check;

/// One message: a kind and what belongs to it. Fixed, so that neither side parses or allocates.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// What happened or is wanted, as its owner's enum numbers it.
    pub kind: u32,
    /// A first number: a process id, a step, a signal.
    pub first: i32,
    /// A second number: `errno`, a wait status.
    pub second: i32,
    /// Processor time in microseconds.
    pub cpu_us: i64,
    /// Largest resident set in bytes.
    pub max_rss: i64,
}

impl Message {
    /// A message with the two numbers alone.
    pub const fn new(kind: u32, first: i32, second: i32) -> Self {
        Message {
            kind,
            first,
            second,
            cpu_us: 0,
            max_rss: 0,
        }
    }
}

/// A connected pair, both close-on-exec.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors into `ends`.
    check(unsafe {
        libc::socketpair(
            libc::AF_UNIX,
            libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC,
            0,
            ends.as_mut_ptr(),
        )
    })?;
    // SAFETY: both were just made and have no other owner.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Sends one message; a vanished peer is an error, never a signal.
pub fn send(socket: RawFd, message: &Message) -> io::Result<()> {
    loop {
        // SAFETY: the kernel reads `size_of::<Message>()` bytes of a live message.
        let sent = unsafe {
            libc::send(
                socket,
                std::ptr::from_ref(message).cast(),
                size_of::<Message>(),
                libc::MSG_NOSIGNAL,
            )
        };
        if sent >= 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}

/// Receives one message; `None` at the end of file or on any short packet.
pub fn receive(socket: RawFd) -> io::Result<Option<Message>> {
    let mut message = Message::new(0, 0, 0);
    loop {
        // SAFETY: the kernel writes at most `size_of::<Message>()` bytes into a value for which every bit
        // pattern is valid.
        let got = unsafe { libc::recv(socket, std::ptr::from_mut(&mut message).cast(), size_of::<Message>(), 0) };
        if got >= 0 {
            let whole = usize::try_from(got).is_ok_and(|n| n == size_of::<Message>());
            return Ok(whole.then_some(message));
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}

/// Waits until one of the descriptors can be read or has hung up; which ones, as a bit set.
pub fn wait_readable(descriptors: [RawFd; 2], timeout_ms: i32) -> io::Result<u32> {
    let mut polled = descriptors.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    loop {
        // SAFETY: the kernel reads and writes exactly the two records.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), 2, timeout_ms) };
        if ready >= 0 {
            let bit = |i: usize| u32::from(polled[i].revents != 0) << i;
            return Ok(bit(0) | bit(1));
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}
