//! The connection by which a nested run asks the outer run's supervisor to narrow it.
//!
//! There's no file and no variable that a program could forge: every run refuses this address to all programs, and the
//! outer supervisor makes the connection itself. Child-safe.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use super::{check, wire};

/// The abstract name, with its leading zero byte.
pub const NAME: &[u8; 15] = b"\0stockade-outer";

/// The answer to a request that was granted.
pub const YES: u8 = b'y';

/// The warden's message that no process of its run is left.
pub const GOODBYE: u8 = b'.';

/// Connects to the outer run's supervisor. `ECONNREFUSED`: there's none.
///
/// Another program that listens under the name isn't mistaken for it: then the peer has that name, while the socket
/// that a supervisor puts in its place has none.
pub fn connect() -> io::Result<OwnedFd> {
    const FAMILY: usize = 2;
    // SAFETY: integers only.
    let socket = check(unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) });
    let socket = socket.map(super::own)?;
    let socket = super::duplicate_above(socket.as_raw_fd(), super::BEYOND_THE_WARDENS)?;
    let mut address = [0; FAMILY + NAME.len()];
    address[..FAMILY].copy_from_slice(&(libc::AF_UNIX as u16).to_ne_bytes());
    address[FAMILY..].copy_from_slice(NAME);
    super::socket::connect(socket.as_fd(), &address)?;
    if names_its_peer(&socket)? {
        return Err(io::Error::from_raw_os_error(libc::ECONNREFUSED));
    }
    Ok(socket)
}

/// Whether the other end was bound to a name.
fn names_its_peer(socket: &OwnedFd) -> io::Result<bool> {
    const FAMILY: libc::socklen_t = 2;
    let mut address = [0_u8; 128];
    let mut length = address.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, and the length of the whole.
    check(unsafe { libc::getpeername(socket.as_raw_fd(), address.as_mut_ptr().cast(), &raw mut length) })?;
    Ok(length != FAMILY)
}

/// Sends a request and waits for the answer; anything but [`YES`] is an error.
pub fn ask(socket: &OwnedFd, request: &[u8]) -> io::Result<()> {
    const PATIENCE_MS: i32 = 20_000;
    send_all(socket, &(request.len() as u32).to_le_bytes())?;
    send_all(socket, request)?;
    let mut answer = 0_u8;
    if wire::wait_readable([socket.as_raw_fd(), -1], PATIENCE_MS)? == 0 {
        return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT));
    }
    // SAFETY: the kernel writes at most one byte.
    let got = unsafe { libc::recv(socket.as_raw_fd(), (&raw mut answer).cast(), 1, 0) };
    if got < 0 {
        return Err(io::Error::last_os_error());
    }
    if got == 1 && answer == YES {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::EPERM))
    }
}

/// Sends all the bytes; a closed peer is an error, never a signal.
pub fn send_all(socket: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the kernel reads at most `bytes.len()` bytes.
        let sent = unsafe {
            libc::send(
                socket.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                libc::MSG_NOSIGNAL,
            )
        };
        match usize::try_from(sent) {
            Ok(sent) => bytes = bytes.get(sent..).unwrap_or(&[]),
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.raw_os_error() != Some(libc::EINTR) {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// A connected pair of streams, both close-on-exec.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    // SAFETY: the kernel writes two descriptors into `ends`.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) })?;
    // SAFETY: both were just made and have no other owner.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}
