//! Ends a batch early: on a signal, or since the results can't be written.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};

/// Whether the batch has to end, as a flag and as a descriptor that every thread can wait on.
#[derive(Debug)]
pub struct Stop {
    is_over: AtomicBool,
    /// Readable once the batch has to end.
    order: EventFd,
    /// Readable once that or the signals' descriptor is.
    all: Epoll,
}

impl Stop {
    /// By a signal that arrives at this descriptor, and by [`Stop::ask`]. The signals are to be read after the batch alone, so
    /// that every thread sees them.
    ///
    /// # Errors
    /// The descriptors can't be made.
    pub fn by(signals: BorrowedFd<'_>) -> io::Result<Stop> {
        let stop = Stop {
            is_over: AtomicBool::new(false),
            order: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?,
            all: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
        };
        for descriptor in [signals, stop.order.as_fd()] {
            stop.all.add(descriptor, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        }
        Ok(stop)
    }

    /// The descriptor, which is readable once all have to end.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.all.0.as_fd()
    }

    /// Asks all to end.
    pub fn ask(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = self.order.write(1);
    }

    /// Whether all have to end.
    pub fn is_asked(&self) -> bool {
        if !self.is_over.load(Ordering::SeqCst) {
            let mut polled = [PollFd::new(self.as_fd(), PollFlags::POLLIN)];
            if poll(&mut polled, PollTimeout::ZERO).is_ok_and(|count| count > 0) {
                self.is_over.store(true, Ordering::SeqCst);
            }
        }
        self.is_over.load(Ordering::SeqCst)
    }
}

/// An input that ends where the batch has to: reading a pipe may wait for ever.
#[derive(Debug)]
pub struct Stoppable<'s, R> {
    input: R,
    stop: &'s Stop,
}

impl<'s, R: Read + AsFd> Stoppable<'s, R> {
    /// Of this input.
    pub fn of(input: R, stop: &'s Stop) -> Self {
        Stoppable { input, stop }
    }
}

impl<R: Read + AsFd> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut polled = [
                PollFd::new(self.input.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.stop.as_fd(), PollFlags::POLLIN),
            ];
            match poll(&mut polled, PollTimeout::NONE) {
                Err(nix::Error::EINTR) => continue,
                Err(error) => return Err(error.into()),
                Ok(_) if self.stop.is_asked() => return Ok(0),
                Ok(_) => {}
            }
            match self.input.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_pipe_that_nobody_writes_to_ends_with_the_batch() {
        let (signals, mut signal) = io::pipe().unwrap();
        let stop = Stop::by(signals.as_fd()).unwrap();
        let (input, mut writer) = io::pipe().unwrap();
        let mut input = Stoppable::of(input, &stop);
        writer.write_all(b"a").unwrap();
        let mut buffer = [0; 9];
        assert_eq!((input.read(&mut buffer).unwrap(), stop.is_asked()), (1, false));
        signal.write_all(b"x").unwrap();
        assert_eq!((input.read(&mut buffer).unwrap(), stop.is_asked()), (0, true));
    }

    #[test]
    fn an_order_makes_the_descriptor_readable() {
        let (signals, _signal) = io::pipe().unwrap();
        let stop = Stop::by(signals.as_fd()).unwrap();
        stop.ask();
        let mut polled = [PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
        assert_eq!((poll(&mut polled, PollTimeout::ZERO), stop.is_asked()), (Ok(1), true));
    }
}
