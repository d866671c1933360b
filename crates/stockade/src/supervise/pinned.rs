//! Objects that the supervisor has pinned with a descriptor of its own. Decisions are made on these and on the names
//! that the kernel has for them, never on what was asked.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::answer::Errno;
use super::worker_fds::WorkerFds;
use stockade_sys::file;

/// A file system object, held by an `O_PATH` descriptor.
#[derive(Debug)]
pub struct Pinned {
    descriptor: OwnedFd,
    name: PathBuf,
    status: Entry,
    system: FileSystem,
    /// The descriptor of the caller's that it was reached through, if it was.
    through: Option<i32>,
}

/// The kind of file system that an object is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// procfs, wherever it is mounted.
    Process,
    /// Another one by which the kernel shows and changes its own state.
    Kernel,
    /// One that holds files.
    Ordinary,
}

impl FileSystem {
    /// Those of the kernel's own have no block device, so others needn't be asked.
    pub fn of(object: BorrowedFd<'_>, status: &Entry) -> Result<FileSystem, Errno> {
        // linux/magic.h.
        const PROC: i64 = 0x9fa0;
        const OF_THE_KERNEL: [i64; 7] = [
            0x6265_6572, // sysfs
            0x0027_e0eb, // cgroup
            0x6367_7270, // cgroup2
            0x6462_6720, // debugfs
            0x7472_6163, // tracefs
            0x7363_6673, // securityfs
            0x6265_6570, // configfs
        ];
        if status.has_block_device() {
            return Ok(FileSystem::Ordinary);
        }
        Ok(match file::file_system(object)? {
            PROC => FileSystem::Process,
            magic if OF_THE_KERNEL.contains(&magic) => FileSystem::Kernel,
            _ => FileSystem::Ordinary,
        })
    }
}

/// Which object it is: device, inode and birth. An inode's number means another object once the first is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    device: (u32, u32),
    inode: u64,
    spawned: (i64, u32),
}

impl Identity {
    fn new(status: &libc::statx) -> Identity {
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

    /// Of an open object.
    pub fn of(object: BorrowedFd<'_>) -> Result<Identity, Errno> {
        Ok(Identity::new(&file::entry_status(object, c"")?))
    }

    /// Of whatever is at an absolute path now, a last link not followed.
    pub fn at(path: &Path) -> Option<Identity> {
        let path = CString::new(path.as_os_str().as_encoded_bytes()).ok()?;
        // The path is absolute: the directory isn't looked at.
        let nowhere = std::io::stderr();
        file::entry_status(nowhere.as_fd(), &path)
            .ok()
            .map(|status| Identity::new(&status))
    }
}

impl Pinned {
    /// Takes over a descriptor and asks the kernel what it is.
    pub fn new(worker_fds: &WorkerFds, descriptor: OwnedFd) -> Result<Pinned, Errno> {
        let name = PathBuf::from(OsString::from_vec(worker_fds.name_of(descriptor.as_fd())?));
        let status = Entry::new(&file::entry_status(descriptor.as_fd(), c"")?);
        let system = FileSystem::of(descriptor.as_fd(), &status)?;
        Ok(Pinned {
            descriptor,
            name,
            status,
            system,
            through: None,
        })
    }

    /// As [`Pinned::new`], for what the caller's own descriptor refers to.
    pub fn through(worker_fds: &WorkerFds, descriptor: OwnedFd, number: i32) -> Result<Pinned, Errno> {
        let mut pinned = Pinned::new(worker_fds, descriptor)?;
        pinned.through = Some(number);
        Ok(pinned)
    }

    /// The kernel's name: an absolute path where [`Pinned::has_name`].
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Whether the object is reachable by its name: not a deleted file, a pipe or something else without a place.
    pub fn has_name(&self) -> bool {
        const DELETED: &[u8] = b" (deleted)";
        let bytes = self.name.as_os_str().as_encoded_bytes();
        if !bytes.starts_with(b"/") || self.links() == 0 {
            return false;
        }
        // The kernel's mark for a removed name, unless a file is really called so.
        !bytes.ends_with(DELETED) || Identity::at(&self.name) == Some(self.identity())
    }

    /// What it is on. Names don't tell: `/proc` may be mounted anywhere.
    pub fn file_system(&self) -> FileSystem {
        self.system
    }

    /// Which object it is.
    pub fn identity(&self) -> Identity {
        self.status.identity()
    }

    /// Device and inode.
    pub fn number(&self) -> (u64, u64) {
        self.status.number()
    }

    /// Whether it is a file with several hard links.
    pub fn has_other_names(&self) -> bool {
        self.is_regular() && self.links() > 1
    }

    /// Whether the name that it was opened by is gone, and it has another.
    pub fn has_lost_its_name(&self) -> bool {
        self.is_regular() && self.links() > 0 && !self.has_name()
    }

    pub fn through_descriptor(&self) -> Option<i32> {
        self.through
    }

    /// Bytes, when it was pinned.
    pub fn length(&self) -> u64 {
        self.status.size
    }

    pub fn device(&self) -> u64 {
        self.status.device
    }

    /// How many names it had when it was pinned.
    fn links(&self) -> u32 {
        self.status.links
    }

    fn kind(&self) -> u32 {
        self.status.kind()
    }

    pub fn is_directory(&self) -> bool {
        self.kind() == libc::S_IFDIR
    }

    pub fn is_symlink(&self) -> bool {
        self.kind() == libc::S_IFLNK
    }

    pub fn is_fifo(&self) -> bool {
        self.kind() == libc::S_IFIFO
    }

    pub fn is_socket(&self) -> bool {
        self.kind() == libc::S_IFSOCK
    }

    pub fn is_regular(&self) -> bool {
        self.kind() == libc::S_IFREG
    }

    /// Whether it was made by `memfd_create`. A removed file that was called so counts too.
    pub fn is_memory_file(&self) -> bool {
        self.is_regular() && self.links() == 0 && self.name.as_os_str().as_encoded_bytes().starts_with(b"/memfd:")
    }

    pub fn is_device(&self) -> bool {
        matches!(self.kind(), libc::S_IFCHR | libc::S_IFBLK)
    }

    /// A path by which calls that take no descriptor reach it.
    pub fn path(&self) -> CString {
        WorkerFds::path_to(self.descriptor.as_fd())
    }
}

impl AsFd for Pinned {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// What a look at a place found. It may be another by now.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    identity: Identity,
    mode: u32,
    links: u32,
    size: u64,
    /// Which device it is, if it is one.
    device: u64,
}

impl Entry {
    fn new(status: &libc::statx) -> Entry {
        Entry {
            identity: Identity::new(status),
            mode: status.stx_mode.into(),
            links: status.stx_nlink,
            size: status.stx_size,
            device: libc::makedev(status.stx_rdev_major, status.stx_rdev_minor),
        }
    }

    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Device and inode.
    pub fn number(&self) -> (u64, u64) {
        let (major, minor) = self.identity.device;
        (libc::makedev(major, minor), self.identity.inode)
    }

    fn has_block_device(&self) -> bool {
        self.identity.device.0 != 0
    }

    /// Whether it has hard links beside this name.
    pub fn has_other_names(&self) -> bool {
        !self.is_directory() && self.links > 1
    }

    pub fn is_directory(&self) -> bool {
        self.kind() == libc::S_IFDIR
    }

    pub fn is_symlink(&self) -> bool {
        self.kind() == libc::S_IFLNK
    }

    fn kind(&self) -> u32 {
        self.mode & libc::S_IFMT
    }
}

/// A place in a directory: the directory pinned, and one component, not yet followed.
#[derive(Debug)]
pub struct Place {
    /// The directory.
    pub parent: Pinned,
    component: CString,
    name: PathBuf,
}

impl Place {
    /// The component may end with slashes, which the kernel judges.
    pub fn new(parent: Pinned, component: CString) -> Place {
        let name = match without_slashes(component.as_bytes()) {
            b"" | b"." => parent.name().to_path_buf(),
            b".." => parent.name().parent().unwrap_or(Path::new("/")).to_path_buf(),
            name => parent.name().join(OsStr::from_bytes(name)),
        };
        Place {
            parent,
            component,
            name,
        }
    }

    /// For the kernel, below the parent.
    pub fn component(&self) -> &CStr {
        &self.component
    }

    /// Removes what was made here, if it still is what this descriptor holds.
    pub fn undo(&self, made: BorrowedFd<'_>) {
        let made = Identity::of(made).ok();
        if made.is_some() && made == self.look().map(|found| found.identity()) {
            let _ = file::remove(self.parent.as_fd(), &self.component, 0);
        }
    }

    /// Whether the component is a name, not `.` or `..`.
    pub fn is_named(&self) -> bool {
        !matches!(without_slashes(self.component.as_bytes()), b"" | b"." | b"..")
    }

    /// The name that an entry has or would have here.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// What is there now, links not followed.
    pub fn look(&self) -> Option<Entry> {
        self.entry().ok()
    }

    /// The same, or why nothing can be seen.
    pub fn entry(&self) -> Result<Entry, Errno> {
        let name = CString::new(without_slashes(self.component.as_bytes())).expect("part of a C string");
        let status = file::entry_status(self.parent.as_fd(), &name)?;
        Ok(Entry::new(&status))
    }
}

/// A path or component without the slashes at its end.
pub fn without_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    &path[..end]
}
