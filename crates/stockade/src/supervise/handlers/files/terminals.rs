//! Terminals: `/dev/tty` means the caller's, and a pseudo-terminal that the run made is the run's.
//!
//! `/dev/tty` is known by the number of the caller's terminal, and is `ENXIO` if the run was neither given it nor made
//! it. A process that opens `/dev/ptmx` may open the other end.

use crate::supervise::state::pseudo_terminal::PseudoTerminal;
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::report::Kind;
use crate::supervise::call::errno::Errno;
use crate::supervise::call::procfs;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::judge::policy::is_terminal_multiplexer;
use crate::supervise::object::pinned::Pinned;
use crate::supervise::state::made::Made;
use crate::supervise::state::run_policy::RunPolicy;
use stockade_sys::notify::OnExecute;
use stockade_sys::{confine, file, terminal};

/// Whether this is `/dev/tty`, the terminal of the process that opens it.
pub fn is_own_terminal_device(object: &Pinned) -> bool {
    const TTY: u64 = libc::makedev(5, 0);
    object.is_device() && object.device() == TTY
}

/// Opens the caller's terminal, if it is one that the run was given or made.
pub fn open_own(context: &NotifyContext<'_>, flags: i32, on_execute: OnExecute) -> Handled {
    let number: i64 = procfs::stat_field(context.fds(), context.caller().thread, 7).ok_or(Errno(libc::ENXIO))?;
    let Ok(device) = u32::try_from(number as i32) else {
        return fail(libc::ENXIO);
    };
    if device == 0 {
        return fail(libc::ENXIO);
    }
    // Unpacks new_encode_dev() of linux/kdev_t.h.
    let (major, minor) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00));
    let path = terminal_path(major, minor);
    let path = CString::new(path).expect("no NUL");
    let opened = confine::open_path(&path)?;
    let object = Pinned::new(context.fds(), opened)?;
    let is_it = object.is_device() && object.device() == libc::makedev(major, minor);
    let is_open = context.judge.policies().all(|run_policy| {
        let is_given = run_policy
            .run_config
            .terminals
            .iter()
            .any(|given| given == object.name());
        is_given
            || PseudoTerminal::of(object.as_fd())
                .is_some_and(|terminal| run_policy.made().terminals.contains(&terminal))
    });
    if !is_it || !is_open {
        return fail(libc::ENXIO);
    }
    let flags = flags & !(libc::O_CREAT | libc::O_EXCL | libc::O_TRUNC);
    let opened = context.fds().reopen(object.as_fd(), flags);
    // By its own name it may be another user's, as after su(1); `/dev/tty` ignores the owner.
    let opened = match opened {
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => given(object.device(), flags).ok_or(error)?,
        opened => opened?,
    };
    Ok(CallAnswer::Descriptor(opened, on_execute))
}

/// A terminal among this process's standard streams, if it was opened for this access.
fn given(device: u64, flags: i32) -> Option<OwnedFd> {
    const AS_IT_IS: i32 = libc::O_ACCMODE | libc::O_CLOEXEC | libc::O_NOCTTY | libc::O_LARGEFILE | libc::O_NOFOLLOW;
    let is_it = |file: &OwnedFd| {
        let found = nix::sys::stat::fstat(file).is_ok_and(|found| found.st_rdev == device);
        let opened = file::open_flags(file.as_fd()).map(|opened| opened & libc::O_ACCMODE);
        found && opened.is_ok_and(|opened| opened == libc::O_RDWR || opened == flags & libc::O_ACCMODE)
    };
    let mut streams = (0..3).filter_map(|number| stockade_sys::duplicate(number).ok());
    streams.find(is_it).filter(|_| flags & !AS_IT_IS == 0)
}

/// The major numbers of pseudo-terminal slaves (Documentation/admin-guide/devices.txt).
const UNIX98_MAJORS: std::ops::Range<u32> = 136..144;

fn terminal_path(major: u32, minor: u32) -> String {
    if UNIX98_MAJORS.contains(&major) {
        format!("/dev/pts/{minor}")
    } else if major == 4 && minor < 64 {
        format!("/dev/tty{minor}")
    } else if major == 4 {
        format!("/dev/ttyS{}", minor - 64)
    } else {
        "/dev/console".into()
    }
}

/// `ioctl(TIOCSWINSZ)`: sets the size of a pseudo-terminal that the run made, by either end. The caller's own terminal
/// would keep the size when the run is over.
pub fn set_size(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let mut size = [0; size_of::<libc::winsize>()];
    context.caller().read(registers.long(2), &mut size)?;
    let file = context.caller().same_file(registers.int(0))?;
    context.caller().confirm()?;
    if !terminal::is_terminal(file.as_raw_fd()) {
        return fail(libc::ENOTTY);
    }
    let terminal = PseudoTerminal::behind(file.as_fd()).or_else(|| PseudoTerminal::of(file.as_fd()));
    let made =
        |run_policy: &RunPolicy| terminal.is_some_and(|terminal| run_policy.made().terminals.contains(&terminal));
    if !context.judge.policies().any(made) {
        let reason = "the size of a terminal that the run didn't make stays as it is";
        return Err(context.never(&Attempt::on(Kind::Metadata, b""), b"terminal", reason));
    }
    terminal::set_size(file.as_fd(), size)?;
    Ok(CallAnswer::Value(0))
}

/// Records a pseudo-terminal that the run made, so that it may open the other end.
pub fn note_master(context: &NotifyContext<'_>, object: &Pinned, opened: BorrowedFd<'_>) {
    if object.is_device()
        && is_terminal_multiplexer(object.name())
        && let Some(terminal) = PseudoTerminal::behind(opened)
    {
        context
            .judge
            .note_made(|made| Made::keep(&mut made.terminals, terminal, Made::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminals_number_has_its_name_in_dev() {
        for (major, minor, path) in [
            (136, 3, "/dev/pts/3"),
            (143, 0, "/dev/pts/0"),
            (4, 1, "/dev/tty1"),
            (4, 64, "/dev/ttyS0"),
            (5, 1, "/dev/console"),
        ] {
            assert_eq!(terminal_path(major, minor), path);
        }
    }
}
