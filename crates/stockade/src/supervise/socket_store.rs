//! Sockets that the supervisor made for the run because a container's filter refuses pidfd_getfd(2): then it has no
//! other way to the target's own socket.
//!
//! A copy is kept until the socket is connected or listens; while it lives, the other side sees no end of the stream.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;

use super::answer::Errno;
use super::notify_context::NotifyContext;
use crate::mutex::lock;
use stockade_sys::{file, socket};

/// Most copies kept at once; the oldest is dropped first, and its socket can't be connected any more.
const MOST: usize = 256;

/// The copies, by socket number.
#[derive(Default)]
pub struct SocketStore(Mutex<Stored>);

#[derive(Default)]
struct Stored {
    sockets: HashMap<u64, OwnedFd>,
    order: VecDeque<u64>,
}

impl SocketStore {
    fn keep(&self, made: &OwnedFd) -> io::Result<()> {
        let (number, copy) = (socket::number(made.as_fd())?, made.try_clone()?);
        let mut kept = lock(&self.0);
        if kept.order.len() >= MOST
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.sockets.remove(&oldest);
        }
        kept.sockets.insert(number, copy);
        kept.order.push_back(number);
        Ok(())
    }

    fn copy(&self, number: u64) -> Option<OwnedFd> {
        lock(&self.0).sockets.get(&number)?.try_clone().ok()
    }

    fn is_empty(&self) -> bool {
        lock(&self.0).order.is_empty()
    }

    fn release(&self, number: u64) {
        let mut kept = lock(&self.0);
        kept.sockets.remove(&number);
        kept.order.retain(|other| *other != number);
    }
}

impl NotifyContext<'_> {
    /// The socket that a descriptor of the caller's refers to.
    pub fn socket(&self, number: i32) -> Result<OwnedFd, Errno> {
        let refused = match self.caller().same_file(number) {
            Err(Errno(libc::EPERM | libc::ENOSYS)) => Errno(libc::EPERM),
            other => return other,
        };
        self.worker_fds().kept.copy(self.socket_number(number)?).ok_or(refused)
    }

    /// Keeps a copy of a socket that is about to be the caller's and couldn't be taken from it.
    pub fn keep_socket(&self, made: &OwnedFd) -> Result<(), Errno> {
        Ok(self.worker_fds().kept.keep(made)?)
    }

    /// Drops the copy.
    pub fn release_socket(&self, number: i32) {
        if !self.worker_fds().kept.is_empty()
            && let Ok(number) = self.socket_number(number)
        {
            self.worker_fds().kept.release(number);
        }
    }

    fn socket_number(&self, number: i32) -> Result<u64, Errno> {
        let pinned = self.caller().descriptor(number)?;
        Ok(file::status(pinned.as_fd())?.st_ino)
    }
}
