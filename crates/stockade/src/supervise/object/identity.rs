//! Which object it is: by device, inode and birth.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::supervise::call::errno::Errno;
use stockade_sys::file;

/// Identifies an object by device, inode and birth time: an inode number is reused once its object is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    device: (u32, u32),
    inode: u64,
    spawned: (i64, u32),
}

impl Identity {
    pub fn new(status: &libc::statx) -> Identity {
        let has_birth = status.stx_mask & libc::STATX_BTIME != 0;
        Identity {
            device: (status.stx_dev_major, status.stx_dev_minor),
            inode: status.stx_ino,
            spawned: if has_birth {
                (status.stx_btime.tv_sec, status.stx_btime.tv_nsec)
            } else {
                (0, 0)
            },
        }
    }

    /// The device's major and minor number.
    pub fn device(&self) -> (u32, u32) {
        self.device
    }

    /// The identity of an open object.
    pub fn of(object: BorrowedFd<'_>) -> Result<Identity, Errno> {
        Ok(Identity::new(&file::entry_status(object, c"")?))
    }

    /// The identity of the object now at an absolute path; a final link isn't followed.
    pub fn at(path: &Path) -> Option<Identity> {
        let path = CString::new(path.as_os_str().as_encoded_bytes()).ok()?;
        // The path is absolute, so the directory is ignored.
        let nowhere = std::io::stderr();
        file::entry_status(nowhere.as_fd(), &path)
            .ok()
            .map(|status| Identity::new(&status))
    }
}
