//! The calling thread. Everything read from it is an allegation: perhaps true when it was read, and never again.

use std::cell::OnceCell;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use super::errno::Errno;
use super::fds::{WorkerFds, umask_in};
use super::registers::Registers;
use crate::processes::status_field;
use stockade_sys::file::{self, OpenHow};
use stockade_sys::{notify, other};

/// The longest path that the kernel accepts, with its NUL (`PATH_MAX`).
const PATH_MAX: usize = 4096;
const PAGE: u64 = 4096;
/// Signals that stop and continue a process: the call is restarted automatically.
const STOPPING: u64 = 1 << (libc::SIGSTOP - 1) | 1 << (libc::SIGCONT - 1);

/// A path as read from the target's memory. It names an object only once it is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alleged(CString);

impl Alleged {
    pub fn new(path: CString) -> Self {
        Alleged(path)
    }

    /// The empty path, which names a descriptor's own object.
    pub fn empty() -> Self {
        Alleged(CString::default())
    }

    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    pub fn text(&self) -> &CStr {
        &self.0
    }
}

/// A thread of the run that waits in a system call.
pub struct Caller<'a> {
    fds: &'a WorkerFds,
    id: u64,
    /// The thread id.
    pub thread: i32,
    /// The call's registers.
    pub registers: Registers,
    /// The process at the top of the subtree that the caller may see and signal.
    pub top: i32,
    program: OnceCell<Vec<u8>>,
    status: OnceCell<String>,
}

impl<'a> Caller<'a> {
    pub fn new(fds: &'a WorkerFds, notification: &notify::Notification) -> Self {
        Caller {
            fds,
            id: notification.id,
            thread: notification.thread,
            registers: Registers(notification.arguments),
            top: fds.warden,
            program: OnceCell::new(),
            status: OnceCell::new(),
        }
    }

    /// Confirms that the thread still waits, so that what was read under its number was read from it. Called after the
    /// last read and before the first effect.
    pub fn confirm(&self) -> Result<(), Errno> {
        if notify::is_waiting(self.fds.listener.as_fd(), self.id) {
            Ok(())
        } else {
            Err(Errno(libc::ESRCH))
        }
    }

    /// Reads exactly `bytes.len()` bytes.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Errno> {
        if bytes.is_empty() {
            return Ok(());
        }
        let read = match other::read_memory(self.thread, address, bytes) {
            Err(error) if is_refused(&error) => self
                .memory(libc::O_RDONLY)
                .and_then(|file| file.read_at(bytes, address)),
            other => other,
        };
        match read {
            Ok(got) if got == bytes.len() => Ok(()),
            Ok(_) => Err(Errno(libc::EFAULT)),
            Err(error) => Err(unreadable(&error)),
        }
    }

    /// Writes all the bytes.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        if bytes.is_empty() {
            return Ok(());
        }
        let written = match other::write_memory(self.thread, address, bytes) {
            Err(error) if is_refused(&error) => self
                .memory(libc::O_WRONLY)
                .and_then(|file| file.write_at(bytes, address)),
            other => other,
        };
        match written {
            Ok(put) if put == bytes.len() => Ok(()),
            Ok(_) => Err(Errno(libc::EFAULT)),
            Err(error) => Err(unreadable(&error)),
        }
    }

    /// Opens the thread's memory as a file, for containers whose filter refuses the calls that read and write it.
    fn memory(&self, flags: i32) -> io::Result<File> {
        let path = CString::new(format!("{}/mem", self.thread)).expect("no NUL");
        let how = OpenHow::existing(flags);
        file::open(self.fds.proc.as_fd(), &path, how).map(File::from)
    }

    /// Reads a path.
    pub fn path(&self, address: u64) -> Result<Alleged, Errno> {
        self.string(address, PATH_MAX, libc::ENAMETOOLONG).map(Alleged)
    }

    /// Reads a string of at most `most` bytes with its NUL, page by page: what follows the string needn't be mapped.
    pub fn string(&self, address: u64, most: usize, too_long: i32) -> Result<CString, Errno> {
        const USUAL: usize = 256;
        let mut text = Vec::with_capacity(USUAL);
        let mut wanted = USUAL;
        while text.len() < most {
            let from = address.wrapping_add(text.len() as u64);
            let to_page_end = (PAGE - from % PAGE) as usize;
            let piece = wanted.min(to_page_end).min(most - text.len());
            let start = text.len();
            text.resize(start + piece, 0);
            self.read(from, &mut text[start..])?;
            if let Some(end) = text[start..].iter().position(|byte| *byte == 0) {
                text.truncate(start + end);
                return Ok(CString::new(text).expect("cut at the first NUL"));
            }
            wanted = PAGE as usize;
        }
        Err(Errno(too_long))
    }

    /// Opens an entry of the thread's own `/proc` directory with `O_PATH`, following a final magic link.
    pub fn own_entry(&self, entry: &str) -> io::Result<OwnedFd> {
        let path = CString::new(format!("{}/{entry}", self.thread)).expect("no NUL");
        let how = OpenHow::existing(libc::O_PATH);
        file::open(self.fds.proc.as_fd(), &path, how)
    }

    /// Reads an entry of the thread's `/proc` directory, at most a page or two.
    pub fn own_text(&self, entry: &str) -> Result<String, Errno> {
        Ok(self.fds.read_proc(&format!("{}/{entry}", self.thread))?)
    }

    /// The object that a descriptor of the thread refers to, pinned.
    pub fn descriptor(&self, number: i32) -> Result<OwnedFd, Errno> {
        if number < 0 {
            return Err(Errno(libc::EBADF));
        }
        self.own_entry(&format!("fd/{number}"))
            .map_err(|error| match error.raw_os_error() {
                Some(libc::ENOENT) => Errno(libc::EBADF),
                _ => Errno::from(error),
            })
    }

    /// The same open file as a descriptor of the thread, by pidfd_getfd(2).
    pub fn same_file(&self, number: i32) -> Result<OwnedFd, Errno> {
        let process = other::thread_descriptor(self.thread).or_else(|_| other::process_descriptor(self.process()))?;
        Ok(other::take_descriptor(process.as_fd(), number)?)
    }

    /// The thread group id; the thread id if that can't be read.
    pub fn process(&self) -> i32 {
        self.thread_group().unwrap_or(self.thread)
    }

    pub fn thread_group(&self) -> Option<i32> {
        self.status_number("Tgid:")
    }

    /// The number of the thread's seccomp filters (Linux 5.9).
    pub fn filters(&self) -> Option<u32> {
        self.status_number("Seccomp_filters:")
    }

    /// A number in the thread's `/proc/PID/status`, which is read once per call: reading it is expensive.
    pub fn status_number<T: TryFrom<u64>>(&self, field: &str) -> Option<T> {
        let status = self.status.get_or_init(|| self.own_text("status").unwrap_or_default());
        status_field(status, field, 10)?.try_into().ok()
    }

    /// The thread's umask.
    pub fn umask(&self) -> u32 {
        umask_in(&self.own_text("status").unwrap_or_default())
    }

    /// Whether the thread was killed or has a pending signal that it doesn't block.
    pub fn is_interrupted(&self) -> bool {
        if self.confirm().is_err() {
            return true;
        }
        let Ok(status) = self.own_text("status") else {
            return true;
        };
        let set = |field: &str| status_field(&status, field, 16).unwrap_or(0);
        // The main thread takes a signal for the whole process, unless it blocks it.
        let is_first = status_field(&status, "Tgid:", 10) == u64::try_from(self.thread).ok();
        let shared = if is_first { set("ShdPnd:") } else { 0 };
        (set("SigPnd:") | shared) & !set("SigBlk:") & !STOPPING != 0
    }

    /// The path of the thread's program, as the kernel names it. It is read once: a retry thread that has confined
    /// itself can't read it any more.
    pub fn program(&self) -> Vec<u8> {
        let read = || self.fds.read_proc_link(&format!("{}/exe", self.thread));
        self.program.get_or_init(|| read().unwrap_or_default()).clone()
    }
}

/// Whether the call isn't available.
fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS))
}

/// The error for unreadable memory. Such a call is refused, never continued.
fn unreadable(error: &io::Error) -> Errno {
    match error.raw_os_error() {
        // For an unmapped address `/proc/PID/mem` gives EIO.
        Some(libc::EFAULT | libc::EIO) => Errno(libc::EFAULT),
        _ => Errno(libc::EPERM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::testing::{notification, worker_fds};

    /// Acts on a caller that is the test's own thread.
    fn with<T>(act: impl FnOnce(&Caller<'_>) -> T) -> T {
        let fds = worker_fds();
        act(&Caller::new(&fds, &notification(1)))
    }

    fn address(bytes: &[u8]) -> u64 {
        bytes.as_ptr() as u64
    }

    #[test]
    fn a_string_is_read_up_to_its_first_nul() {
        let memory = [&b"/w/a\0behind"[..], &[b'x'; 4096]].concat();
        let read = with(|caller| caller.string(address(&memory), 4096, libc::ENAMETOOLONG));
        assert_eq!(read.unwrap().as_bytes(), b"/w/a");
    }

    #[test]
    fn a_string_longer_than_a_page_is_read_in_pieces() {
        let mut memory = vec![b'x'; 10_000];
        *memory.last_mut().unwrap() = 0;
        let read = with(|caller| caller.string(address(&memory), 20_000, libc::E2BIG));
        assert_eq!(read.unwrap().as_bytes().len(), 9_999);
    }

    #[test]
    fn a_path_without_its_nul_within_the_kernels_limit_is_too_long() {
        let mut memory = vec![b'x'; 8192];
        memory[PATH_MAX] = 0;
        assert_eq!(
            with(|caller| caller.path(address(&memory))),
            Err(Errno(libc::ENAMETOOLONG))
        );
        memory[PATH_MAX - 1] = 0;
        let longest = with(|caller| caller.path(address(&memory))).unwrap();
        assert_eq!(longest.bytes().len(), PATH_MAX - 1);
    }

    #[test]
    fn unmapped_memory_is_a_fault_and_nothing_of_no_bytes() {
        with(|caller| {
            assert_eq!(caller.read(8, &mut [0; 4]), Err(Errno(libc::EFAULT)));
            assert_eq!(caller.write(8, &[0; 4]), Err(Errno(libc::EFAULT)));
            assert_eq!(caller.read(8, &mut []), Ok(()));
            assert_eq!(caller.write(8, &[]), Ok(()));
            assert_eq!(caller.path(8), Err(Errno(libc::EFAULT)));
        });
    }

    #[test]
    fn a_refused_read_is_refused_and_never_a_wrong_address() {
        let errno = |number| unreadable(&io::Error::from_raw_os_error(number));
        assert_eq!(errno(libc::EIO), Errno(libc::EFAULT));
        assert_eq!(errno(libc::ESRCH), Errno(libc::EPERM));
        assert!(is_refused(&io::Error::from_raw_os_error(libc::ENOSYS)));
        assert!(!is_refused(&io::Error::from_raw_os_error(libc::EFAULT)));
    }

    #[test]
    fn numbers_of_the_thread_come_from_its_status() {
        with(|caller| {
            assert_eq!(u32::try_from(caller.process()), Ok(std::process::id()));
            assert_eq!(caller.status_number::<i32>("Pid:"), Some(caller.thread));
            assert_eq!(caller.status_number::<i32>("Nothing:"), None);
            assert_eq!(caller.status_number::<u8>("VmSize:"), None);
        });
    }

    #[test]
    fn a_descriptor_that_is_not_open_is_a_bad_one() {
        with(|caller| {
            assert_eq!(caller.descriptor(-1).unwrap_err(), Errno(libc::EBADF));
            assert_eq!(caller.descriptor(1_000_000).unwrap_err(), Errno(libc::EBADF));
            assert!(caller.descriptor(0).is_ok());
        });
    }

    #[test]
    fn a_thread_that_no_longer_waits_is_not_confirmed_and_counts_as_interrupted() {
        with(|caller| {
            assert_eq!(caller.confirm(), Err(Errno(libc::ESRCH)));
            assert!(caller.is_interrupted());
        });
    }
}
