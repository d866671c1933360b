//! System V shared memory and semaphores (sysvipc(7)): creating them without a key, and removing them.

use std::io;

use super::check;

/// The kinds of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Shared memory (shmget(2)).
    Memory,
    /// A set of semaphores (semget(2)).
    Semaphores,
}

/// Creates an object without a key and returns its id. `size` is in bytes, or a number of semaphores.
pub fn make(kind: Kind, size: usize, flags: i32) -> io::Result<i32> {
    let count = || i32::try_from(size).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL));
    match kind {
        // SAFETY: integers only.
        Kind::Memory => check(unsafe { libc::shmget(libc::IPC_PRIVATE, size, flags) }),
        Kind::Semaphores => {
            let count = count()?;
            // SAFETY: integers only.
            check(unsafe { libc::semget(libc::IPC_PRIVATE, count, flags) })
        }
    }
}

/// Removes an object. Processes that have attached shared memory keep it.
pub fn remove(kind: Kind, id: i32) -> io::Result<()> {
    match kind {
        // SAFETY: `IPC_RMID` ignores the pointer.
        Kind::Memory => check(unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) }),
        // SAFETY: integers only; `IPC_RMID` takes no fourth argument.
        Kind::Semaphores => check(unsafe { libc::semctl(id, 0, libc::IPC_RMID) }),
    }
    .map(drop)
}
