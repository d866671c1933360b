//! Random numbers straight from the kernel.
//!
//! Not through a crate: in a static program those open `/dev/urandom`, once for all threads, and a thread with its own
//! descriptor table then reads from nothing, or from whatever has that number in its table.

use std::io;

use super::check;

/// An unpredictable number (getrandom(2)): so few bytes are never cut short.
pub fn number() -> io::Result<u16> {
    let mut bytes = [0; 2];
    // SAFETY: the kernel writes at most two bytes, which `bytes` has.
    check(unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) as i32 })?;
    Ok(u16::from_ne_bytes(bytes))
}
