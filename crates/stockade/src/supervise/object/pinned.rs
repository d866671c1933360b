//! Objects that the supervisor has pinned with a descriptor of its own. Decisions are made on them and on the kernel's
//! names for them, never on the path that was asked for.

use crate::supervise::object::identity::Identity;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::supervise::call::errno::Errno;
use crate::supervise::call::fds::WorkerFds;
use stockade_sys::file;

/// A file system object, held by an `O_PATH` descriptor.
#[derive(Debug)]
pub struct Pinned {
    descriptor: OwnedFd,
    name: PathBuf,
    status: PinnedEntry,
    system: FileSystemKind,
    /// The caller's descriptor through which the object was reached, if any.
    through: Option<i32>,
}

/// The kind of file system that an object is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystemKind {
    /// procfs, wherever it is mounted.
    Process,
    /// Another file system through which the kernel shows and changes its own state.
    Kernel,
    /// A file system that holds files.
    Ordinary,
}

impl FileSystemKind {
    /// Determines the kind. The kernel's own file systems have no block device, so others needn't be queried.
    pub fn of(object: BorrowedFd<'_>, status: &PinnedEntry) -> Result<FileSystemKind, Errno> {
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
            return Ok(FileSystemKind::Ordinary);
        }
        Ok(match file::file_system(object)? {
            PROC => FileSystemKind::Process,
            magic if OF_THE_KERNEL.contains(&magic) => FileSystemKind::Kernel,
            _ => FileSystemKind::Ordinary,
        })
    }
}

impl Pinned {
    /// Takes over a descriptor and asks the kernel for the object's name and status.
    pub fn new(fds: &WorkerFds, descriptor: OwnedFd) -> Result<Pinned, Errno> {
        let name = PathBuf::from(OsString::from_vec(fds.name_of(descriptor.as_fd())?));
        let status = PinnedEntry::new(&file::entry_status(descriptor.as_fd(), c"")?);
        let system = FileSystemKind::of(descriptor.as_fd(), &status)?;
        Ok(Pinned {
            descriptor,
            name,
            status,
            system,
            through: None,
        })
    }

    /// As [`Pinned::new`], for the object that the caller's own descriptor refers to.
    pub fn through(fds: &WorkerFds, descriptor: OwnedFd, number: i32) -> Result<Pinned, Errno> {
        let mut pinned = Pinned::new(fds, descriptor)?;
        pinned.through = Some(number);
        Ok(pinned)
    }

    /// The same object once more.
    pub fn again(&self) -> Result<Pinned, Errno> {
        Ok(Pinned {
            descriptor: self.descriptor.try_clone()?,
            name: self.name.clone(),
            ..*self
        })
    }

    /// The kernel's name for the object: an absolute path if [`Pinned::has_name`].
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Whether the object is reachable by its name, unlike a deleted file, a pipe or another object without a place.
    pub fn has_name(&self) -> bool {
        const DELETED: &[u8] = b" (deleted)";
        let bytes = self.name.as_os_str().as_encoded_bytes();
        if !bytes.starts_with(b"/") || self.links() == 0 {
            return false;
        }
        // The kernel's mark for a removed name, unless a file really has this name.
        !bytes.ends_with(DELETED) || Identity::at(&self.name) == Some(self.identity())
    }

    /// The kind of its file system. The name doesn't tell: `/proc` may be mounted anywhere.
    pub fn file_system(&self) -> FileSystemKind {
        self.system
    }

    /// A symbolic link's text.
    pub fn link_text(&self) -> Result<Vec<u8>, Errno> {
        let mut buffer = [0; 4096];
        let length = file::read_link(self.as_fd(), c"", &mut buffer)?;
        Ok(buffer[..length].to_vec())
    }

    /// The object's identity.
    pub fn identity(&self) -> Identity {
        self.status.identity()
    }

    /// Whether it is a file with several hard links.
    pub fn has_other_names(&self) -> bool {
        self.is_regular() && self.links() > 1
    }

    /// Whether the name by which the object was opened is gone, and it has another.
    pub fn has_lost_its_name(&self) -> bool {
        self.is_regular() && self.links() > 0 && !self.has_name()
    }

    pub fn through_descriptor(&self) -> Option<i32> {
        self.through
    }

    /// The length in bytes when it was pinned.
    pub fn length(&self) -> u64 {
        self.status.size
    }

    pub fn device(&self) -> u64 {
        self.status.device
    }

    /// The number of names that it had when it was pinned.
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

    /// Whether it was created by `memfd_create`. A removed file with such a name counts too.
    pub fn is_memory_file(&self) -> bool {
        self.is_regular() && self.links() == 0 && self.name.as_os_str().as_encoded_bytes().starts_with(b"/memfd:")
    }

    pub fn is_device(&self) -> bool {
        matches!(self.kind(), libc::S_IFCHR | libc::S_IFBLK)
    }

    /// A path by which calls that take no descriptor reach the object.
    pub fn path(&self) -> CString {
        WorkerFds::path_to(self.descriptor.as_fd())
    }
}

impl AsFd for Pinned {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The entry found at a place. Another one may be there by now.
#[derive(Debug, Clone, Copy)]
pub struct PinnedEntry {
    identity: Identity,
    mode: u32,
    links: u32,
    size: u64,
    /// The device number, if it is a device.
    device: u64,
}

impl PinnedEntry {
    fn new(status: &libc::statx) -> PinnedEntry {
        PinnedEntry {
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

    fn has_block_device(&self) -> bool {
        self.identity.device().0 != 0
    }

    /// Whether it has hard links besides this name.
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

/// A place in a directory: the pinned directory, and one component that isn't followed yet.
#[derive(Debug)]
pub struct Place {
    /// The directory.
    pub parent: Pinned,
    component: CString,
    name: PathBuf,
}

impl Place {
    /// The place of a component in a directory.
    pub fn in_directory(parent: Pinned, component: &[u8]) -> Result<Place, Errno> {
        if !parent.is_directory() {
            return Err(Errno(libc::ENOTDIR));
        }
        let component = CString::new(component).map_err(|_| Errno(libc::EINVAL))?;
        Ok(Place::new(parent, component))
    }

    /// Creates a place. The component may end with slashes, which are left to the kernel.
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

    /// The component below the parent, for system calls.
    pub fn component(&self) -> &CStr {
        &self.component
    }

    /// Removes the entry created here, if it is still the object of this descriptor.
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

    /// The entry that is there now; links aren't followed.
    pub fn look(&self) -> Option<PinnedEntry> {
        self.entry().ok()
    }

    /// The entry that is there now, or the error of the lookup.
    pub fn entry(&self) -> Result<PinnedEntry, Errno> {
        let name = CString::new(without_slashes(self.component.as_bytes())).expect("part of a C string");
        let status = file::entry_status(self.parent.as_fd(), &name)?;
        Ok(PinnedEntry::new(&status))
    }
}

/// A path or component without the slashes at its end.
pub fn without_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    &path[..end]
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::supervise::testing::{directory, identity, pinned, worker_fds};

    #[test]
    fn a_file_has_its_name_until_it_is_removed() {
        let (_made, root) = directory();
        let fds = worker_fds();
        fs::write(root.join("a"), "abc").unwrap();
        let file = pinned(&fds, root.join("a"));
        assert_eq!((file.name(), file.length()), (root.join("a").as_path(), 3));
        assert!(file.has_name() && file.is_regular() && !file.is_directory());
        fs::remove_file(root.join("a")).unwrap();
        let gone = Pinned::new(&fds, file.as_fd().try_clone_to_owned().unwrap()).unwrap();
        assert!(!gone.has_name() && !gone.has_lost_its_name());
    }

    #[test]
    fn a_file_may_really_be_called_deleted() {
        let (_made, root) = directory();
        let fds = worker_fds();
        let name = root.join("a (deleted)");
        fs::write(&name, "").unwrap();
        assert!(pinned(&fds, &name).has_name());
    }

    #[test]
    fn a_file_that_lost_the_name_it_was_opened_by_has_another() {
        let (_made, root) = directory();
        let fds = worker_fds();
        fs::write(root.join("a"), "").unwrap();
        fs::hard_link(root.join("a"), root.join("b")).unwrap();
        let file = pinned(&fds, root.join("a"));
        assert!(file.has_other_names());
        fs::remove_file(root.join("a")).unwrap();
        let left = Pinned::new(&fds, file.as_fd().try_clone_to_owned().unwrap()).unwrap();
        assert!(left.has_lost_its_name() && !left.has_other_names());
    }

    #[test]
    fn the_file_system_is_told_by_the_kernel() {
        let fds = worker_fds();
        assert_eq!(pinned(&fds, "/proc/self/status").file_system(), FileSystemKind::Process);
        assert_eq!(pinned(&fds, "/proc").file_system(), FileSystemKind::Process);
        assert!(pinned(&fds, "/dev/null").is_device());
    }

    #[test]
    fn a_place_is_named_by_its_directory_and_its_component_without_slashes() {
        let (_made, root) = directory();
        let fds = worker_fds();
        let at = |component: &[u8]| Place::in_directory(pinned(&fds, &root), component).unwrap();
        assert_eq!(at(b"a//").name(), root.join("a"));
        assert_eq!(at(b".").name(), root);
        assert_eq!(at(b"..").name(), root.parent().unwrap());
        assert!(at(b"a").is_named() && !at(b"..").is_named() && !at(b"./").is_named());
        let file = root.join("file");
        fs::write(&file, "").unwrap();
        let inside = Place::in_directory(pinned(&fds, &file), b"a");
        assert_eq!(inside.unwrap_err(), Errno(libc::ENOTDIR));
        let odd = Place::in_directory(pinned(&fds, &root), b"a\0b");
        assert_eq!(odd.unwrap_err(), Errno(libc::EINVAL));
    }

    #[test]
    fn a_look_at_a_place_follows_no_link() {
        let (_made, root) = directory();
        let fds = worker_fds();
        std::os::unix::fs::symlink("/", root.join("link")).unwrap();
        let place = Place::in_directory(pinned(&fds, &root), b"link/").unwrap();
        assert!(place.look().unwrap().is_symlink());
        let missing = Place::in_directory(pinned(&fds, &root), b"missing").unwrap();
        assert_eq!(missing.entry().unwrap_err(), Errno(libc::ENOENT));
    }

    #[test]
    fn only_the_entry_that_was_made_is_undone() {
        let (_made, root) = directory();
        let fds = worker_fds();
        let (name, other) = (root.join("a"), root.join("b"));
        fs::write(&name, "").unwrap();
        fs::write(&other, "").unwrap();
        let place = Place::in_directory(pinned(&fds, &root), b"a").unwrap();
        place.undo(pinned(&fds, &other).as_fd());
        assert!(name.exists());
        assert_eq!(place.look().unwrap().identity(), identity(&name));
        place.undo(pinned(&fds, &name).as_fd());
        assert!(!name.exists());
    }

    #[test]
    fn slashes_at_the_end_are_no_part_of_a_name() {
        for (path, name) in [("a/", "a"), ("a", "a"), ("/a//", "/a"), ("//", ""), ("", "")] {
            assert_eq!(without_slashes(path.as_bytes()), name.as_bytes(), "{path}");
        }
    }
}
