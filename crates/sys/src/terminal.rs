//! Terminals: telling them, their modes and their size.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use super::check;

/// Whether a descriptor is a terminal.
pub fn is_terminal(descriptor: RawFd) -> bool {
    // SAFETY: an integer only.
    unsafe { libc::isatty(descriptor) == 1 }
}

/// A terminal's mode, with every bit that the kernel has (nix drops bits that it has no name for, so the mode it reads
/// can't be restored exactly).
pub fn mode(terminal: BorrowedFd<'_>) -> io::Result<libc::termios> {
    let mut mode = std::mem::MaybeUninit::uninit();
    // SAFETY: writes one structure, which is read only when the call succeeded.
    unsafe {
        check(libc::tcgetattr(terminal.as_raw_fd(), mode.as_mut_ptr()))?;
        Ok(mode.assume_init())
    }
}

/// Sets a terminal's mode at once, without waiting for output that may never be read.
pub fn set_mode(terminal: BorrowedFd<'_>, mode: &libc::termios) -> io::Result<()> {
    // SAFETY: reads one structure.
    check(unsafe { libc::tcsetattr(terminal.as_raw_fd(), libc::TCSANOW, mode) }).map(drop)
}

/// Whether two modes are the same.
pub fn is_same_mode(one: &libc::termios, other: &libc::termios) -> bool {
    let parts = |mode: &libc::termios| {
        (
            mode.c_iflag,
            mode.c_oflag,
            mode.c_cflag,
            mode.c_lflag,
            mode.c_line,
            mode.c_cc,
        )
    };
    parts(one) == parts(other)
}

/// Sets a terminal's size: a `struct winsize` as it lies in memory.
pub fn set_size(terminal: BorrowedFd<'_>, size: [u8; size_of::<libc::winsize>()]) -> io::Result<()> {
    // SAFETY: the kernel reads one `struct winsize`, for which any bytes are valid.
    check(unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, size.as_ptr()) }).map(drop)
}

/// Columns and rows, as last set by a process that can write to the terminal; 0 if none did.
pub fn size(terminal: BorrowedFd<'_>) -> io::Result<(u16, u16)> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: the kernel writes one `struct winsize`.
    check(unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) })?;
    Ok((size.ws_col, size.ws_row))
}
