//! Memory with a descriptor or a name: `memfd_create`, and the run's own files in `/dev/shm`.
//!
//! New names in `/dev/shm` are the run's own, and so is what has one of them; others aren't reachable. All are removed
//! at the end, so their number is limited.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use crate::plan;
use crate::report::Kind;
use crate::supervise::call::fds::WorkerFds;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::judge::may_continue::MayContinue;
use crate::supervise::object::identity::Identity;
use crate::supervise::object::pinned::Pinned;
use stockade_sys::file;
use stockade_sys::notify::OnExecute;

const MFD_CLOEXEC: u32 = 1;
pub const MFD_ALLOW_SEALING: u32 = 2;
const MFD_HUGETLB: u32 = 4;
const MFD_NOEXEC_SEAL: u32 = 8;
const MFD_EXEC: u32 = 16;
const HUGE_SIZES: u32 = 0x3f << 26;

/// The mode that the kernel gives to a file sealed against execution.
const UNEXECUTABLE_MODE: u32 = 0o666;

const NEVER_EXECUTED: &str = "a memory file can't be executed where executing is limited";

/// Creates a memory file that can't be executed: Landlock doesn't judge files without a path.
pub fn create(context: &NotifyContext<'_>) -> Handled {
    const MAX_LENGTH: usize = 250;
    let registers = context.caller().registers;
    let flags = registers.word(1);
    if flags & !(MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB | MFD_NOEXEC_SEAL | MFD_EXEC | HUGE_SIZES) != 0 {
        return fail(libc::EINVAL);
    }
    if may_execute_everything(context) {
        return Ok(CallAnswer::Continue(MayContinue::registers_decided(&registers)));
    }
    let name = context.caller().string(registers.long(0), MAX_LENGTH, libc::EINVAL)?;
    context.caller().confirm()?;
    if flags & MFD_EXEC != 0 {
        let attempt = Attempt::on(Kind::Execute, name.as_bytes());
        return Err(context.never(&attempt, b"memfd", NEVER_EXECUTED));
    }
    let made = make_unexecutable(&name, flags)?;
    let on_execute = if flags & MFD_CLOEXEC != 0 {
        OnExecute::Close
    } else {
        OnExecute::Keep
    };
    Ok(CallAnswer::Descriptor(made, on_execute))
}

/// Whether the run may execute everything, and so a memory file too.
fn may_execute_everything(context: &NotifyContext<'_>) -> bool {
    context
        .judge
        .policies()
        .all(|run_policy| plan::executes(&run_policy.run_config.policy, "/"))
}

/// Creates a memory file without execute permission, for good: sealed by the kernel, and by
/// [`refuse_to_make_executable`] before Linux 6.3. The supervisor's copy is closed when it executes a program.
pub fn make_unexecutable(name: &CStr, flags: u32) -> io::Result<OwnedFd> {
    match file::memory_file(name, flags | MFD_NOEXEC_SEAL | MFD_CLOEXEC) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) && flags & MFD_NOEXEC_SEAL == 0 => {
            let made = file::memory_file(name, flags | MFD_CLOEXEC)?;
            file::change_mode(&WorkerFds::path_to(made.as_fd()), UNEXECUTABLE_MODE)?;
            Ok(made)
        }
        Err(error) => Err(error),
        Ok(made) => {
            // Sealing against execution allows sealing; a file that mustn't be sealed is sealed against that too.
            if flags & (MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL) == 0 {
                file::seal_against_sealing(made.as_fd())?;
            }
            Ok(made)
        }
    }
}

/// A change of a file's permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionChange {
    /// The new mode.
    Mode(u32),
    /// An access list, which sets the mode too. The kernel lets it change a sealed mode (measured on Linux 6.18).
    List,
}

/// Keeps a memory file without execute permission. Files that have or had a name are left to Landlock.
pub fn refuse_to_make_executable(
    context: &NotifyContext<'_>,
    object: &Pinned,
    change: PermissionChange,
) -> Handled<()> {
    let stays_unexecutable = matches!(change, PermissionChange::Mode(mode) if mode & 0o111 == 0);
    if stays_unexecutable || !object.is_memory_file() || may_execute_everything(context) {
        return Ok(());
    }
    let name = object.name().as_os_str().as_encoded_bytes();
    Err(context.never(&Attempt::on(Kind::Execute, name), name, NEVER_EXECUTED))
}

/// Limits the run's names in `/dev/shm` to as many as are recorded, since all are removed at its end.
pub fn refuse_one_more_name(context: &NotifyContext<'_>) -> Handled<()> {
    match context.run().made().has_all_shared_names() {
        true => fail(libc::ENOSPC),
        false => Ok(()),
    }
}

/// Records a new file in `/dev/shm` as the run's own, under any name that it gets there.
pub fn note_shared(context: &NotifyContext<'_>, made: &OwnedFd, name: &Path) -> Handled<()> {
    let identity = Identity::of(made.as_fd())?;
    context.judge.note_made(|made| {
        made.shared_memory.insert(identity);
    });
    context.run().made().look_at_shared_name(name);
    Ok(())
}
