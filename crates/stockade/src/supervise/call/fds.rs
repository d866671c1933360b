//! The descriptors that every worker has in its own table.

use std::cell::OnceCell;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::processes::{looks, status_field};
use stockade_sys::file::{self, OpenHow};
use stockade_sys::{notify, other};

/// The resources that workers share with the rest of the launcher's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// None: descriptors, working directory and umask are their own.
    Own,
    /// All: a container's filter refuses unshare(2).
    Shared,
}

impl Isolation {
    /// Stops sharing, if that is allowed.
    pub fn begin() -> io::Result<Isolation> {
        // Sockets that are kept because they can't be copied are kept for all workers.
        if !other::takes_descriptors() {
            return Ok(Isolation::Shared);
        }
        Ok(if file::stop_sharing_if_allowed()? {
            Isolation::Own
        } else {
            Isolation::Shared
        })
    }

    /// Stops sharing on another thread, which closes all descriptors but these.
    pub fn begin_another(self, kept: &mut [RawFd]) -> io::Result<()> {
        if self == Isolation::Own {
            file::stop_sharing()?;
        }
        self.close_all_but(kept)
    }

    /// Stops sharing the directory on a thread that goes on sharing the descriptors of the one that started it.
    pub fn leave_directory(self) -> io::Result<()> {
        match self {
            Isolation::Own => file::stop_sharing_directory(),
            Isolation::Shared => Ok(()),
        }
    }

    /// Closes all descriptors but these, if they are the thread's own.
    pub fn close_all_but(self, kept: &mut [RawFd]) -> io::Result<()> {
        match self {
            Isolation::Own => file::close_all_but(kept),
            Isolation::Shared => Ok(()),
        }
    }
}

/// The descriptors that a worker keeps open. Each worker has its copies under the same numbers.
pub struct WorkerFds {
    /// The seccomp listener, which notifications are received from.
    pub listener: OwnedFd,
    /// `/proc`.
    pub proc: OwnedFd,
    /// `/`.
    pub root: OwnedFd,
    /// The relay's control socket, on which pending connections are announced, if there is a relay.
    pub control: Option<OwnedFd>,
    /// The workers' ruleset, if more may be granted later.
    pub domain: Option<OwnedFd>,
    /// The socket on which the warden takes orders.
    pub orders: OwnedFd,
    /// Whether the workers have descriptors, a working directory and a umask of their own.
    pub isolation: Isolation,
    /// The umask that the run started with.
    pub umask: u32,
    /// Whether receiving ends when no process of the run is left, as polling does.
    pub receiving_ends: bool,
    /// Whether a signal interrupts a call that waits for its answer (before Linux 5.19).
    pub is_interruptible: bool,
    /// The process that all processes of the run are below.
    pub warden: i32,
    /// The session that the run was started in.
    pub session: i32,
}

/// Copies of the launcher's own descriptors.
pub struct Copies {
    pub control: Option<OwnedFd>,
    pub domain: Option<OwnedFd>,
    pub orders: OwnedFd,
}

impl WorkerFds {
    pub fn new(listener: OwnedFd, copies: Copies, warden: i32, isolation: Isolation) -> io::Result<WorkerFds> {
        let mut fds = WorkerFds {
            listener,
            proc: open_directory("/proc")?,
            root: open_directory("/")?,
            control: copies.control,
            domain: copies.domain,
            orders: copies.orders,
            isolation,
            umask: CLOSED_UMASK,
            receiving_ends: notify::receiving_ends(),
            is_interruptible: !notify::waits_killably(),
            warden,
            session: nix::unistd::getsid(None)?.as_raw(),
        };
        fds.umask = umask_in(&fds.read_proc("thread-self/status")?);
        Ok(fds)
    }

    /// The descriptor numbers to keep open.
    pub fn numbers(&self) -> Vec<RawFd> {
        let always = [&self.listener, &self.proc, &self.root, &self.orders];
        always
            .into_iter()
            .map(AsRawFd::as_raw_fd)
            .chain(self.control.as_ref().map(AsRawFd::as_raw_fd))
            .chain(self.domain.as_ref().map(AsRawFd::as_raw_fd))
            .collect()
    }

    /// Waits for a notification; returns `false` once no process of the run is left.
    pub fn wait(&self) -> io::Result<bool> {
        self.poll(PollTimeout::NONE)
            .map(|events| events.contains(PollFlags::POLLIN))
    }

    /// Whether another call waits already.
    pub fn has_more(&self) -> bool {
        self.poll(PollTimeout::ZERO)
            .is_ok_and(|events| events.contains(PollFlags::POLLIN))
    }

    /// Whether no process of the run is left.
    pub fn is_abandoned(&self) -> bool {
        self.poll(PollTimeout::ZERO)
            .map_or(true, |events| events.contains(PollFlags::POLLHUP))
    }

    fn poll(&self, timeout: PollTimeout) -> io::Result<PollFlags> {
        let mut polled = [PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
        poll(&mut polled, timeout)?;
        Ok(polled[0].revents().unwrap_or(PollFlags::empty()))
    }

    /// The kernel's name for an object that the calling thread has open.
    pub fn name_of(&self, descriptor: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
        self.at_own_entry(descriptor, read_link)
    }

    /// The text of a link below `/proc`.
    pub fn read_proc_link(&self, path: &str) -> io::Result<Vec<u8>> {
        read_link(self.proc.as_fd(), &CString::new(path).expect("no NUL"))
    }

    /// Calls `act` with the thread's own directory of descriptors in `/proc`, and the name of a descriptor in it. The directory
    /// stays open: a path from `/proc` there costs as much as the rest of a lookup.
    fn at_own_entry<T>(
        &self,
        descriptor: BorrowedFd<'_>,
        act: impl FnOnce(BorrowedFd<'_>, &CStr) -> io::Result<T>,
    ) -> io::Result<T> {
        thread_local! {
            static OWN: OnceCell<OwnedFd> = const { OnceCell::new() };
        }
        let mut name = [0; 12];
        let name = decimal(descriptor.as_raw_fd(), &mut name);
        OWN.with(|own| {
            if own.get().is_none() {
                let how = OpenHow::existing(libc::O_PATH | libc::O_DIRECTORY);
                let _ = own.set(file::open(self.proc.as_fd(), c"thread-self/fd", how)?);
            }
            act(own.get().expect("it is open").as_fd(), name)
        })
    }

    /// A short text below `/proc`.
    pub fn read_proc(&self, path: &str) -> io::Result<String> {
        let path = CString::new(path).expect("no NUL");
        let how = OpenHow::existing(libc::O_RDONLY);
        let mut file = File::from(file::open(self.proc.as_fd(), &path, how)?);
        let mut bytes = vec![0; 8192];
        let length = file.read(&mut bytes)?;
        bytes.truncate(length);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A path for calls that take no descriptor, which leads to a pinned object.
    pub fn path_to(descriptor: BorrowedFd<'_>) -> CString {
        CString::new(format!("/proc/thread-self/fd/{}", descriptor.as_raw_fd())).expect("no NUL")
    }

    /// Reopens a pinned object with these flags.
    pub fn reopen(&self, descriptor: BorrowedFd<'_>, flags: i32) -> io::Result<OwnedFd> {
        let how = OpenHow::existing(flags | libc::O_NOCTTY);
        self.at_own_entry(descriptor, |own, name| looks::write(|| file::open(own, name, how)))
    }
}

fn read_link(base: BorrowedFd<'_>, path: &CStr) -> io::Result<Vec<u8>> {
    // The kernel's names end at PATH_MAX; a longer one is an error.
    let mut buffer = [0; 4096];
    let length = file::read_link(base, path, &mut buffer)?;
    Ok(buffer[..length].to_vec())
}

/// The digits of a descriptor's number, without an allocation.
fn decimal(number: RawFd, buffer: &mut [u8; 12]) -> &CStr {
    let mut at = buffer.len() - 1;
    let mut left = number.unsigned_abs();
    buffer[at] = 0;
    loop {
        at -= 1;
        buffer[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    CStr::from_bytes_with_nul(&buffer[at..]).expect("digits and one NUL")
}

/// The umask if it can't be read: others get no access.
const CLOSED_UMASK: u32 = 0o077;

/// The umask in the text of a `status` file.
pub fn umask_in(status: &str) -> u32 {
    status_field(status, "Umask:", 8).map_or(CLOSED_UMASK, |mask| mask as u32)
}

fn open_directory(path: &str) -> io::Result<OwnedFd> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_DIRECTORY)
        .open(path)
        .map(OwnedFd::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::testing::{directory, worker_fds};

    #[test]
    fn an_unreadable_umask_closes_new_files_to_others() {
        assert_eq!(umask_in("Name:\ta\nUmask:\t0022\n"), 0o022);
        assert_eq!(umask_in("Name:\ta\n"), 0o077);
        assert_eq!(umask_in("Umask:\todd\n"), 0o077);
    }

    #[test]
    fn a_descriptors_number_is_written_in_digits() {
        for number in [0, 7, 10, i32::MAX] {
            let mut buffer = [0; 12];
            assert_eq!(decimal(number, &mut buffer).to_str().unwrap(), number.to_string());
        }
    }

    #[test]
    fn an_open_object_has_the_kernels_name_and_is_opened_again_by_it() {
        let (_made, root) = directory();
        let fds = worker_fds();
        std::fs::write(root.join("a"), "text").unwrap();
        let path = open_directory(root.to_str().unwrap()).unwrap();
        assert_eq!(fds.name_of(path.as_fd()).unwrap(), root.as_os_str().as_encoded_bytes());
        let file: OwnedFd = File::open(root.join("a")).unwrap().into();
        let mut text = String::new();
        let again = fds.reopen(file.as_fd(), libc::O_RDONLY).unwrap();
        File::from(again).read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
    }

    #[test]
    fn every_descriptor_of_a_worker_is_kept() {
        let mut fds = worker_fds();
        assert_eq!(fds.numbers().len(), 4);
        fds.control = Some(File::open("/dev/null").unwrap().into());
        fds.domain = Some(File::open("/dev/null").unwrap().into());
        assert_eq!(fds.numbers().len(), 6);
    }
}
