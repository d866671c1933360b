//! How a call names its object: by a path, by a descriptor, or by either.

use super::pinned::Pinned;
use super::process_lists::ProcessLists;
use super::resolve::{Last, PathRequest};
use crate::supervise::call::caller::{Alleged, Caller};
use crate::supervise::call::errno::Errno;
use crate::supervise::call::fds::WorkerFds;

/// The way in which a call names its object.
pub enum Subject {
    /// A path; says whether a final link is followed.
    Path(i32, Alleged, Last),
    /// A path, or the descriptor if the path is empty.
    PathOrDescriptor(i32, Alleged, Last),
    /// A descriptor.
    Descriptor(i32),
}

impl Subject {
    /// The path at this address in the caller's memory; a final link is followed.
    pub fn followed(caller: &Caller<'_>, address: u64) -> Result<Subject, Errno> {
        Ok(Subject::Path(libc::AT_FDCWD, caller.path(address)?, Last::Follow))
    }

    /// The path at this address; a final link is the object.
    pub fn kept(caller: &Caller<'_>, address: u64) -> Result<Subject, Errno> {
        Ok(Subject::Path(libc::AT_FDCWD, caller.path(address)?, Last::Keep))
    }

    /// A directory, the path at this address, and `AT_*` flags. Any other flag is `EINVAL`.
    pub fn at(caller: &Caller<'_>, directory: i32, address: u64, flags: i32) -> Result<Subject, Errno> {
        if flags & !(libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) != 0 {
            return Err(Errno(libc::EINVAL));
        }
        let last = if flags & libc::AT_SYMLINK_NOFOLLOW != 0 {
            Last::Keep
        } else {
            Last::Follow
        };
        // From Linux 6.11 on a null path counts as an empty one.
        if flags & libc::AT_EMPTY_PATH != 0 && address == 0 {
            return Ok(Subject::PathOrDescriptor(directory, Alleged::empty(), last));
        }
        let path = caller.path(address)?;
        Ok(if flags & libc::AT_EMPTY_PATH != 0 {
            Subject::PathOrDescriptor(directory, path, last)
        } else {
            Subject::Path(directory, path, last)
        })
    }

    /// The path as the caller gave it; empty for a descriptor.
    pub fn asked(&self) -> &[u8] {
        match self {
            Subject::Path(_, path, _) | Subject::PathOrDescriptor(_, path, _) => path.bytes(),
            Subject::Descriptor(_) => b"",
        }
    }

    /// Pins the object.
    pub fn object(&self, lists: &ProcessLists, fds: &WorkerFds, caller: &Caller<'_>) -> Result<Pinned, Errno> {
        let request = |directory: &i32, path| PathRequest::new(lists, fds, caller, *directory, path);
        let object = match self {
            Subject::Path(directory, path, last) => request(directory, path).object(*last),
            Subject::PathOrDescriptor(directory, path, last) => request(directory, path).object_or_descriptor(*last),
            Subject::Descriptor(number) => Pinned::through(fds, caller.descriptor(*number)?, *number),
        }?;
        caller.confirm()?;
        Ok(object)
    }
}
