//! Memory with a descriptor or a name: `memfd_create`, and the run's own files in `/dev/shm`.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use super::answer::{Answer, Errno, MayContinue};
use super::desk::Desk;
use super::pinned::Identity;
use super::refuse::Attempt;
use crate::plan;
use crate::report::Kind;
use crate::sys::file;
use crate::sys::notify::OnExecute;

const MFD_CLOEXEC: u32 = 1;
const MFD_ALLOW_SEALING: u32 = 2;
const MFD_HUGETLB: u32 = 4;
const MFD_NOEXEC_SEAL: u32 = 8;
const MFD_EXEC: u32 = 16;
const HUGE_SIZES: u32 = 0x3f << 26;

/// Makes a memory file that can't be executed: Landlock has no say in what has no path.
pub fn create(desk: &Desk<'_>) -> Result<Answer, Errno> {
    const LONGEST: usize = 250;
    let registers = desk.caller().registers;
    let flags = registers.word(1);
    if flags & !(MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB | MFD_NOEXEC_SEAL | MFD_EXEC | HUGE_SIZES) != 0 {
        return Err(Errno(libc::EINVAL));
    }
    // A run that may execute everything may execute this too.
    if desk
        .judge
        .realms()
        .all(|realm| plan::executes(&realm.brief.policy, "/"))
    {
        return Ok(Answer::Continue(MayContinue::registers_decided(&registers)));
    }
    let name = desk.caller().string(registers.long(0), LONGEST, libc::EINVAL)?;
    desk.caller().confirm()?;
    if flags & MFD_EXEC != 0 {
        let attempt = Attempt::on(Kind::Execute, name.as_bytes());
        let reason = "a memory file can't be executed where executing is limited";
        return Err(desk.never(&attempt, b"memfd", reason));
    }
    // Sealing against execution allows sealing; a file that mustn't be sealed is sealed against that too.
    let made = file::memory_file(&name, flags | MFD_NOEXEC_SEAL | MFD_CLOEXEC)?;
    if flags & (MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL) == 0 {
        file::seal_against_sealing(made.as_fd())?;
    }
    let on_execute = if flags & MFD_CLOEXEC != 0 {
        OnExecute::Close
    } else {
        OnExecute::Keep
    };
    Ok(Answer::Descriptor(made, on_execute))
}

/// Every name that a run has in `/dev/shm` is removed at its end, so there are only as many as are kept in mind.
pub fn refuse_one_more_name(desk: &Desk<'_>) -> Result<(), Errno> {
    match desk.shared().made().has_all_shared_names() {
        true => Err(Errno(libc::ENOSPC)),
        false => Ok(()),
    }
}

/// A new file in `/dev/shm` is the run's, and so is whatever name it is given there.
pub fn note_shared(desk: &Desk<'_>, made: &OwnedFd, name: &Path) -> Result<(), Errno> {
    let identity = Identity::of(made.as_fd())?;
    desk.judge.note_made(|made| {
        made.shared_memory.insert(identity);
    });
    desk.shared().made().look_at_shared_name(name);
    Ok(())
}
