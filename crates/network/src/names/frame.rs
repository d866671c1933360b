//! DNS messages on a stream: each is preceded by its length in two bytes (RFC 1035, section 4.2.2).

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A stream with timeouts on the peer.
pub trait BoundedStream: Read + Write {
    /// Limits the time of the next read.
    fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()>;
    /// Limits the time of the next write.
    fn set_write_timeout(&self, time: Option<Duration>) -> io::Result<()>;
}

impl BoundedStream for TcpStream {
    fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        TcpStream::set_read_timeout(self, time)
    }

    fn set_write_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        TcpStream::set_write_timeout(self, time)
    }
}

impl BoundedStream for UnixStream {
    fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        UnixStream::set_read_timeout(self, time)
    }

    fn set_write_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        UnixStream::set_write_timeout(self, time)
    }
}

/// The next message. `None` if the peer ended at a message boundary.
pub(super) fn read(stream: &mut impl BoundedStream, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 2];
    if fill(stream, &mut length[..1], deadline)? == Filled::Nothing {
        return Ok(None);
    }
    fill_all(stream, &mut length[1..], deadline)?;
    let mut message = vec![0; u16::from_be_bytes(length).into()];
    fill_all(stream, &mut message, deadline)?;
    Ok(Some(message))
}

/// Writes a message at once: some resolvers take a length without its message for a broken one (RFC 7766, section 8).
pub(super) fn write(stream: &mut impl BoundedStream, message: &[u8], deadline: Duration) -> io::Result<()> {
    let length = u16::try_from(message.len()).map_err(io::Error::other)?;
    stream.set_write_timeout(Some(deadline))?;
    stream.write_all(&[&length.to_be_bytes()[..], message].concat())
}

/// The time until a deadline; an error when it has passed. Never zero, which sockets take for "no timeout".
pub(super) fn remaining(deadline: Instant) -> io::Result<Duration> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    if remaining.is_zero() {
        Err(ErrorKind::TimedOut.into())
    } else {
        Ok(remaining)
    }
}

#[derive(PartialEq, Eq)]
enum Filled {
    Nothing,
    Everything,
}

fn fill_all(stream: &mut impl BoundedStream, bytes: &mut [u8], deadline: Instant) -> io::Result<()> {
    match fill(stream, bytes, deadline)? {
        Filled::Nothing => Err(ErrorKind::UnexpectedEof.into()),
        Filled::Everything => Ok(()),
    }
}

/// `read_exact` with one deadline over all of it, so that no peer gets more time by sending single bytes.
fn fill(stream: &mut impl BoundedStream, bytes: &mut [u8], deadline: Instant) -> io::Result<Filled> {
    let mut filled = 0;
    while filled < bytes.len() {
        stream.set_read_timeout(Some(remaining(deadline)?))?;
        match stream.read(&mut bytes[filled..]) {
            Ok(0) if filled == 0 => return Ok(Filled::Nothing),
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => filled += length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(ErrorKind::TimedOut.into()),
            Err(error) => return Err(error),
        }
    }
    Ok(Filled::Everything)
}
