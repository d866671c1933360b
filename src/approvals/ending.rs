//! How the watcher ends: by a signal, or when its terminal closes. Either way nothing is left behind; a panic drops it,
//! which removes its socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use stockade_sys::signals::{SignalSet, next_signal};

/// The signals that end the watcher, blocked and read from a signalfd.
pub struct Signals(OwnedFd);

impl Signals {
    /// Blocks the signals.
    pub fn take() -> io::Result<Signals> {
        let set = SignalSet::of(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT]);
        set.block()?;
        set.descriptor(true).map(Signals)
    }

    /// The exit code, once a signal has arrived.
    pub fn exit_code(&self) -> Option<u8> {
        let arrived = next_signal(self.0.as_raw_fd())?;
        u8::try_from(128 + arrived.signal).ok()
    }

    /// Waits until the output is writable. Returns an error once a signal has arrived.
    pub fn wait_for_room(&self, output: BorrowedFd<'_>) -> io::Result<()> {
        let mut waiting = [
            PollFd::new(self.as_fd(), PollFlags::POLLIN),
            PollFd::new(output, PollFlags::POLLOUT),
        ];
        poll(&mut waiting, PollTimeout::NONE)?;
        match waiting[0].any() {
            Some(true) => Err(io::Error::from(io::ErrorKind::Interrupted)),
            _ => Ok(()),
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Ends the process when its terminal hangs up. Reading keys from such a terminal would never end.
pub fn end_with_the_terminal(socket: PathBuf) -> io::Result<()> {
    const HANGUP: i32 = 128 + libc::SIGHUP;
    let watch = move || {
        let terminal = io::stdin();
        loop {
            // poll(2) reports a hangup even without requested events.
            let mut polled = [PollFd::new(terminal.as_fd(), PollFlags::empty())];
            let _ = poll(&mut polled, PollTimeout::NONE);
            let gone = PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL;
            if polled[0].revents().is_some_and(|events| events.intersects(gone)) {
                let _ = std::fs::remove_file(&socket);
                std::process::exit(HANGUP);
            }
        }
    };
    std::thread::Builder::new()
        .name("stockade-hangup".into())
        .spawn(watch)
        .map(drop)
}
