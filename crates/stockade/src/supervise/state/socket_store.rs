//! Sockets that the supervisor made for the run because a container's filter refuses pidfd_getfd(2): then it has no
//! other way to the target's own socket.
//!
//! A copy is kept until the socket is connected or listens; while it lives, the other side sees no end of the stream.
//!
//! The workers share one table of descriptors then.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;

use crate::mutex::lock;
use stockade_sys::socket;

/// Most copies kept at once; the oldest is dropped first, and its socket can't be connected any more.
const MAX: usize = 256;

/// The copies, by socket number.
#[derive(Default)]
pub struct SocketStore(Mutex<Stored>);

#[derive(Default)]
struct Stored {
    sockets: HashMap<u64, OwnedFd>,
    order: VecDeque<u64>,
}

impl SocketStore {
    pub fn keep(&self, made: &OwnedFd) -> io::Result<()> {
        let (number, copy) = (socket::number(made.as_fd())?, made.try_clone()?);
        let mut kept = lock(&self.0);
        if kept.order.len() >= MAX
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.sockets.remove(&oldest);
        }
        kept.sockets.insert(number, copy);
        kept.order.push_back(number);
        Ok(())
    }

    pub fn copy(&self, number: u64) -> Option<OwnedFd> {
        lock(&self.0).sockets.get(&number)?.try_clone().ok()
    }

    pub fn is_empty(&self) -> bool {
        lock(&self.0).order.is_empty()
    }

    pub fn release(&self, number: u64) {
        let mut kept = lock(&self.0);
        kept.sockets.remove(&number);
        kept.order.retain(|other| *other != number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;

    fn kept(store: &SocketStore) -> u64 {
        let made = OwnedFd::from(UnixDatagram::unbound().unwrap());
        store.keep(&made).unwrap();
        socket::number(made.as_fd()).unwrap()
    }

    #[test]
    fn a_copy_is_the_same_socket_until_it_is_released() {
        let store = SocketStore::default();
        assert!(store.is_empty());
        let number = kept(&store);
        let copy = store.copy(number).unwrap();
        assert_eq!(socket::number(copy.as_fd()).unwrap(), number);
        store.release(number);
        assert!(store.copy(number).is_none() && store.is_empty());
    }

    #[test]
    fn the_oldest_copy_goes_where_there_are_too_many() {
        let store = SocketStore::default();
        let (first, second) = (kept(&store), kept(&store));
        (2..=MAX).for_each(|_| _ = kept(&store));
        assert!(store.copy(first).is_none());
        assert!(store.copy(second).is_some());
    }
}
