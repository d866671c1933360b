//! Resolves an alleged path to a pinned object. The kernel walks the path; where it would take the supervisor's own
//! `/proc` entries for the caller's, the path is walked component by component.
//!
//! Never rewrite the text of a path: a link of the target's to `/proc/self` would then lead to the supervisor's own
//! entries.
//!
//! `self` and `thread-self` at the top of `/proc` become the caller's numbers at each step, behind links too. Magic
//! links are followed in the caller's own process alone, and entries of processes outside the run are refused. What a
//! descriptor of the caller's refers to (`/dev/stdout`, `/proc/self/fd/N`, a deleted file) may be opened again no wider
//! than it is held.

use std::collections::VecDeque;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::pinned::{FileSystemKind, Pinned, Place, without_slashes};
use super::process_lists::ProcessLists;
use crate::supervise::call::caller::{Alleged, Caller};
use crate::supervise::call::errno::Errno;
use crate::supervise::call::fds::WorkerFds;
use crate::supervise::call::procfs;
use stockade_sys::file::{self, OpenHow};

/// The kernel's limit on links in one path.
pub const MAX_LINKS: usize = 40;

/// The treatment of a link in the last place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// It is followed.
    Follow,
    /// It isn't followed.
    Keep,
}

/// A path and the directory that it is relative to.
pub struct PathRequest<'a> {
    lists: &'a ProcessLists,
    caller: &'a Caller<'a>,
    fds: &'a WorkerFds,
    directory: i32,
    path: &'a Alleged,
    /// The `RESOLVE_*` flags of openat2(2).
    restrictions: u64,
}

impl<'a> PathRequest<'a> {
    /// `directory` is `AT_FDCWD` or a descriptor of the caller's.
    pub fn new(
        lists: &'a ProcessLists,
        fds: &'a WorkerFds,
        caller: &'a Caller<'a>,
        directory: i32,
        path: &'a Alleged,
    ) -> Self {
        PathRequest {
            lists,
            caller,
            fds,
            directory,
            path,
            restrictions: 0,
        }
    }

    /// Adds the restrictions of openat2(2).
    pub fn restricted(mut self, restrictions: u64) -> Self {
        self.restrictions = restrictions;
        self
    }

    /// The object that the path leads to.
    pub fn object(&self, last: Last) -> Result<Pinned, Errno> {
        if self.path.bytes().is_empty() {
            return Err(Errno(libc::ENOENT));
        }
        let base = self.base()?;
        self.object_at(base.as_fd(), self.path.text(), last)
    }

    /// The descriptor's own object if the path is empty (`AT_EMPTY_PATH`), else as [`PathRequest::object`].
    pub fn object_or_descriptor(&self, last: Last) -> Result<Pinned, Errno> {
        if !self.path.bytes().is_empty() {
            return self.object(last);
        }
        if self.directory == libc::AT_FDCWD {
            return Pinned::new(self.fds, self.caller.own_entry("cwd")?);
        }
        let descriptor = self.caller.descriptor(self.directory)?;
        Pinned::through(self.fds, descriptor, self.directory)
    }

    /// The directory and the last component, which isn't followed.
    pub fn place(&self) -> Result<Place, Errno> {
        if self.path.bytes().is_empty() {
            return Err(Errno(libc::ENOENT));
        }
        let (directory, component) = split(self.path.bytes());
        let base = match self.base()? {
            // The directory itself is the parent, unless its entries differ from process to process.
            Base::Own(own) if directory.is_empty() => {
                let parent = Pinned::new(self.fds, own)?;
                return match parent.file_system() {
                    FileSystemKind::Process => self.place_at(parent.as_fd(), self.path.text()),
                    _ => Place::in_directory(parent, component),
                };
            }
            base => base,
        };
        self.place_at(base.as_fd(), self.path.text())
    }

    /// The place that another path means whose directory is the same one by the same words.
    pub fn beside(&self, other: &PathRequest<'_>, place: &Place) -> Option<Result<Place, Errno>> {
        let (directory, component) = split(self.path.bytes());
        let is_same = self.directory == other.directory
            && self.restrictions == other.restrictions
            && directory == split(other.path.bytes()).0
            && !self.path.bytes().is_empty();
        is_same.then(|| Place::in_directory(place.parent.again()?, component))
    }

    fn place_at(&self, base: BorrowedFd<'_>, path: &CStr) -> Result<Place, Errno> {
        let (parent, component) = split(path.to_bytes());
        let parent = if parent.is_empty() { b".".as_slice() } else { parent };
        let parent = CString::new(parent).map_err(|_| Errno(libc::EINVAL))?;
        Place::in_directory(self.object_at(base, &parent, Last::Follow)?, component)
    }

    /// The place where a file would be created: links in the last place are followed to where they dangle.
    pub fn place_to_create(&self, last: Last) -> Result<Place, Errno> {
        let base = self.base()?;
        let mut path = self.path.text().to_owned();
        let mut place = self.place_at(base.as_fd(), &path)?;
        if last == Last::Keep {
            return Ok(place);
        }
        for _ in 0..MAX_LINKS {
            let Some(text) = link_at(&place)? else {
                return Ok(place);
            };
            let is_absolute = text.to_bytes().starts_with(b"/");
            if is_absolute && self.restrictions & libc::RESOLVE_BENEATH != 0 {
                return Err(Errno(libc::EXDEV));
            }
            // From the start again: the restrictions apply to the whole path.
            path = match is_absolute {
                true => text,
                false => CString::new([split(path.to_bytes()).0, text.to_bytes()].concat())
                    .map_err(|_| Errno(libc::EINVAL))?,
            };
            place = self.place_at(base.as_fd(), &path)?;
        }
        Err(Errno(libc::ELOOP))
    }

    /// Whether the path is relative to a process list: the kernel would look it up there, and not in `/proc`.
    pub fn begins_at_process_list(&self) -> bool {
        let is_relative = !self.path.bytes().starts_with(b"/");
        is_relative && !self.lists.is_empty() && matches!(self.base(), Ok(Base::Ours(_)))
    }

    /// The directory where the path starts.
    fn base(&self) -> Result<Base<'a>, Errno> {
        let confined = libc::RESOLVE_IN_ROOT | libc::RESOLVE_BENEATH;
        if self.path.bytes().starts_with(b"/") && self.restrictions & libc::RESOLVE_BENEATH != 0 {
            return Err(Errno(libc::EXDEV));
        }
        if self.path.bytes().starts_with(b"/") && self.restrictions & confined == 0 {
            return Ok(Base::Ours(self.fds.root.as_fd()));
        }
        let own = match self.directory {
            libc::AT_FDCWD => self.caller.own_entry("cwd")?,
            number => self.caller.descriptor(number)?,
        };
        // A process list has names alone, so paths below it are looked up in `/proc`.
        Ok(match self.lists.contains(own.as_fd()) {
            true => Base::Ours(self.fds.proc.as_fd()),
            false => Base::Own(own),
        })
    }

    fn object_at(&self, base: BorrowedFd<'_>, path: &CStr, last: Last) -> Result<Pinned, Errno> {
        // Most paths have no link, and then one look decides, also where nothing is.
        let plain = self.by_kernel(base, path, Last::Keep, libc::RESOLVE_NO_SYMLINKS);
        let found = match plain {
            Ok(pinned) if pinned.is_symlink() && last == Last::Follow => self.by_kernel(base, path, last, 0),
            Err(Errno(libc::ELOOP)) => self.by_kernel(base, path, last, 0),
            Err(errno) => return Err(errno),
            found => found,
        };
        match found {
            Ok(pinned) if pinned.file_system() != FileSystemKind::Process || !procfs::is_personal(pinned.name()) => {
                Ok(pinned)
            }
            other if self.restrictions & !libc::RESOLVE_NO_MAGICLINKS != 0 => match other {
                // A restricted lookup below a directory of `/proc`: no program needs it.
                Ok(_) => Err(Errno(libc::EACCES)),
                Err(errno) => Err(errno),
            },
            _ => Walk::new(self, base, path, last)?.run(),
        }
    }

    /// Resolves in one call. Magic links would lead where they lead for the supervisor, so none is followed.
    fn by_kernel(&self, base: BorrowedFd<'_>, path: &CStr, last: Last, links: u64) -> Result<Pinned, Errno> {
        let keep = if last == Last::Keep { libc::O_NOFOLLOW } else { 0 };
        let how = OpenHow {
            flags: (libc::O_PATH | libc::O_CLOEXEC | keep) as u64,
            mode: 0,
            resolve: libc::RESOLVE_NO_MAGICLINKS | links | self.restrictions,
        };
        Pinned::new(self.fds, file::open(base, path, how)?)
    }
}

/// The directory where a path starts.
enum Base<'a> {
    Ours(BorrowedFd<'a>),
    Own(OwnedFd),
}

impl AsFd for Base<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Base::Ours(directory) => *directory,
            Base::Own(directory) => directory.as_fd(),
        }
    }
}

/// Splits a path into the parent and the last component with its trailing slashes.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let end = without_slashes(path).len();
    if end == 0 {
        return (path, b".");
    }
    let start = path[..end]
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |slash| slash + 1);
    (&path[..start], &path[start..])
}

/// The text of the link at a place; `None` if there is no link.
pub fn link_at(place: &Place) -> Result<Option<CString>, Errno> {
    let mut buffer = [0; 4096];
    match file::read_link(place.parent.as_fd(), place.component(), &mut buffer) {
        Ok(length) => Ok(CString::new(&buffer[..length]).ok()),
        Err(error) => match error.raw_os_error() {
            Some(libc::EINVAL | libc::ENOENT) => Ok(None),
            _ => Err(error.into()),
        },
    }
}

/// A walk component by component.
struct Walk<'a> {
    request: &'a PathRequest<'a>,
    current: OwnedFd,
    left: VecDeque<Vec<u8>>,
    last: Last,
    /// Whether the path ends with a slash, and so means a directory.
    wants_directory: bool,
    links: usize,
    process: Option<i32>,
}

/// One step of a walk.
enum WalkStep {
    On,
    Done(Pinned),
}

impl<'a> Walk<'a> {
    fn new(request: &'a PathRequest<'a>, base: BorrowedFd<'_>, path: &CStr, last: Last) -> Result<Self, Errno> {
        let bytes = path.to_bytes();
        let start = if bytes.starts_with(b"/") {
            request.fds.root.as_fd()
        } else {
            base
        };
        Ok(Walk {
            request,
            current: start.try_clone_to_owned()?,
            left: components(bytes),
            last,
            wants_directory: bytes.ends_with(b"/"),
            links: 0,
            process: None,
        })
    }

    fn run(mut self) -> Result<Pinned, Errno> {
        while let Some(component) = self.left.pop_front() {
            if let WalkStep::Done(pinned) = self.step(&component)? {
                return Ok(pinned);
            }
        }
        let pinned = Pinned::new(self.request.fds, self.current)?;
        procfs::refuse_foreign(self.request.fds, self.request.caller, pinned.name())?;
        Ok(pinned)
    }

    fn step(&mut self, component: &[u8]) -> Result<WalkStep, Errno> {
        let is_last = self.left.is_empty();
        let is_kept = is_last && self.last == Last::Keep && !self.wants_directory;
        let text = match is_kept {
            true => CString::new(component).map_err(|_| Errno(libc::EINVAL))?,
            false => self.own_name(component)?,
        };
        let how = OpenHow::existing(libc::O_PATH | libc::O_NOFOLLOW);
        let next = file::open(self.current.as_fd(), &text, how)?;
        let status = file::status(next.as_fd())?;
        if status.st_mode & libc::S_IFMT != libc::S_IFLNK {
            self.current = next;
            return Ok(WalkStep::On);
        }
        if is_kept {
            return Ok(WalkStep::Done(Pinned::new(self.request.fds, next)?));
        }
        self.count_link()?;
        if self.is_in_proc(next.as_fd())? {
            let directory = self.request.fds.name_of(self.current.as_fd())?;
            if !directory.starts_with(b"/proc") {
                // Links of a second mount lead to the supervisor's own entries.
                return Err(Errno(libc::EACCES));
            }
            if procfs::is_of_a_process(Path::new(OsStr::from_bytes(&directory))) {
                return self.follow_magic(&directory, &text, is_last);
            }
        }
        self.follow(next.as_fd())?;
        Ok(WalkStep::On)
    }

    /// The name to open: `self` and `thread-self` at the top of `/proc` mean the caller's, not the worker's.
    fn own_name(&mut self, component: &[u8]) -> Result<CString, Errno> {
        let is_own = matches!(component, b"self" | b"thread-self")
            && self.is_in_proc(self.current.as_fd())?
            && self.is_at_top_of_proc()?;
        let text = if is_own {
            self.count_link()?;
            let process = self.process();
            match component {
                b"self" => process.to_string().into_bytes(),
                _ => format!("{process}/task/{}", self.request.caller.thread).into_bytes(),
            }
        } else {
            component.to_vec()
        };
        CString::new(text).map_err(|_| Errno(libc::EINVAL))
    }

    fn count_link(&mut self) -> Result<(), Errno> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Errno(libc::ELOOP));
        }
        Ok(())
    }

    fn process(&mut self) -> i32 {
        *self.process.get_or_insert_with(|| self.request.caller.process())
    }

    fn is_in_proc(&self, object: BorrowedFd<'_>) -> Result<bool, Errno> {
        const PROC_SUPER_MAGIC: i64 = 0x9fa0;
        Ok(file::file_system(object)? == PROC_SUPER_MAGIC)
    }

    fn is_at_top_of_proc(&self) -> Result<bool, Errno> {
        Ok(self.request.fds.name_of(self.current.as_fd())? == b"/proc")
    }

    /// Follows an ordinary link: its text takes the component's place.
    fn follow(&mut self, link: BorrowedFd<'_>) -> Result<(), Errno> {
        let mut buffer = [0; 4096];
        let length = file::read_link(link, c"", &mut buffer)?;
        let text = &buffer[..length];
        if text.is_empty() {
            return Err(Errno(libc::ENOENT));
        }
        if text.starts_with(b"/") {
            self.current = self.request.fds.root.as_fd().try_clone_to_owned()?;
        }
        self.wants_directory |= self.left.is_empty() && text.ends_with(b"/");
        for component in components(text).into_iter().rev() {
            self.left.push_front(component);
        }
        Ok(())
    }

    /// Follows a magic link, which leads to an object, not to a name. It must be one of the caller's own process.
    fn follow_magic(&mut self, directory: &[u8], text: &CStr, is_last: bool) -> Result<WalkStep, Errno> {
        if self.request.restrictions & libc::RESOLVE_NO_MAGICLINKS != 0 {
            return Err(Errno(libc::ELOOP));
        }
        let fds = self.request.fds;
        let process = self.process();
        let own = procfs::own_directory(directory, process).ok_or(Errno(libc::EACCES))?;
        let how = OpenHow::existing(libc::O_PATH);
        let object = file::open(self.current.as_fd(), text, how)?;
        if is_last {
            let number = own.is_descriptors().then(|| text.to_str().ok()?.parse().ok()).flatten();
            let pinned = match number {
                Some(number) => Pinned::through(fds, object, number)?,
                None => Pinned::new(fds, object)?,
            };
            procfs::refuse_foreign(fds, self.request.caller, pinned.name())?;
            if self.wants_directory && !pinned.is_directory() {
                return Err(Errno(libc::ENOTDIR));
            }
            return Ok(WalkStep::Done(pinned));
        }
        self.current = object;
        Ok(WalkStep::On)
    }
}

/// The components of a path; a slash at the end makes one more that means "this directory".
fn components(path: &[u8]) -> VecDeque<Vec<u8>> {
    let mut list: VecDeque<Vec<u8>> = path
        .split(|byte| *byte == b'/')
        .filter(|component| !component.is_empty())
        .map(<[u8]>::to_vec)
        .collect();
    if path.ends_with(b"/") {
        list.push_back(b".".to_vec());
    }
    list
}

#[cfg(test)]
mod tests;
