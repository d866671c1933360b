//! Fixed-size messages between the launcher and the warden, over a pair of sequenced-packet sockets.
//!
//! The pair does three jobs: orders go one way, news the other, and its end of file signals the launcher's death: the
//! kernel closes the launcher's end however the launcher ends. Child-safe except [`pair`].

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use super::check;

/// One message: a kind and its fields. Of fixed size, so that neither side parses or allocates.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The event or order, as its owner's enum numbers it.
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

/// Sends one message; a closed peer is an error, never a signal.
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

/// Receives one message; `None` at the end of file or for any short packet.
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
        if !is_passing(&error) {
            return Err(error);
        }
    }
}

/// Whether the next try may succeed: a signal interrupted the call, or the other end was closed with a message from
/// here unread. The kernel reports that once (`ECONNRESET`), before anything that the other end had sent.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::ECONNRESET))
}

/// Waits until one of the descriptors is readable or has hung up; returns which ones, as a bit set.
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

/// Room for one descriptor in a control message, aligned as the kernel wants it.
#[repr(C, align(8))]
struct OneDescriptor([u8; 24]);

/// Sends one message with a copy of a descriptor. Child-safe.
pub fn send_with(socket: RawFd, message: &Message, descriptor: RawFd) -> io::Result<()> {
    let mut control = OneDescriptor([0; 24]);
    let mut text = libc::iovec {
        iov_base: std::ptr::from_ref(message).cast_mut().cast(),
        iov_len: size_of::<Message>(),
    };
    // SAFETY: zeroed memory is a valid `msghdr`; the control buffer has room for one header and one descriptor, which
    // is what the macros write; everything outlives the call.
    let sent = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut text;
        header.msg_iovlen = 1;
        header.msg_control = (&raw mut control).cast();
        header.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        (*first).cmsg_level = libc::SOL_SOCKET;
        (*first).cmsg_type = libc::SCM_RIGHTS;
        (*first).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(first).cast::<RawFd>().write_unaligned(descriptor);
        libc::sendmsg(socket, &raw const header, libc::MSG_NOSIGNAL)
    };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Receives one message and the descriptor sent along; `None` at the end of file or for any short packet.
pub fn receive_with(socket: RawFd) -> io::Result<Option<(Message, Option<OwnedFd>)>> {
    let mut message = Message::new(0, 0, 0);
    let mut control = OneDescriptor([0; 24]);
    let mut text = libc::iovec {
        iov_base: std::ptr::from_mut(&mut message).cast(),
        iov_len: size_of::<Message>(),
    };
    // SAFETY: as in `send_with`; the kernel writes at most one message, for which every bit pattern is valid, and one
    // descriptor, which it just created.
    let (got, descriptor) = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut text;
        header.msg_iovlen = 1;
        header.msg_control = (&raw mut control).cast();
        header.msg_controllen = size_of::<OneDescriptor>() as _;
        let got = loop {
            let got = libc::recvmsg(socket, &raw mut header, libc::MSG_CMSG_CLOEXEC);
            if got >= 0 || !is_passing(&io::Error::last_os_error()) {
                break got;
            }
        };
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        let is_descriptor = got >= 0
            && !first.is_null()
            && (*first).cmsg_level == libc::SOL_SOCKET
            && (*first).cmsg_type == libc::SCM_RIGHTS;
        let descriptor =
            is_descriptor.then(|| OwnedFd::from_raw_fd(libc::CMSG_DATA(first).cast::<RawFd>().read_unaligned()));
        (got, descriptor)
    };
    if got < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((got as usize == size_of::<Message>()).then_some((message, descriptor)))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn what_was_sent_before_the_end_is_heard_though_a_message_crossed_it() {
        let (ours, theirs) = pair().unwrap();
        let order = Message::new(1, 2, 3);
        let last = Message::new(4, 5, 6);
        for _ in 0..2 {
            send(ours.as_raw_fd(), &order).unwrap();
        }
        send(theirs.as_raw_fd(), &last).unwrap();
        drop(theirs);
        assert_eq!(receive(ours.as_raw_fd()).unwrap(), Some(last));
        assert_eq!(receive(ours.as_raw_fd()).unwrap(), None);
    }
}
