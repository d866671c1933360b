//! The bound of a user's processes (RLIMIT_NPROC), which is a soft limit of the run: a run may lower it, and raise it to what it
//! was again. The launcher moves it as the user's other processes become more (`launch/room.rs`).

use std::sync::atomic::Ordering;

use super::answer::{Answer, Errno, MayContinue};
use super::desk::Desk;
use super::others;
use stockade_sys::limits::{limit_of, set_limit_of};

/// `setrlimit`.
pub fn set(desk: &Desk<'_>) -> Result<Answer, Errno> {
    match desk.caller().registers.word(0) {
        libc::RLIMIT_NPROC => lower(desk, 1, None),
        _ => Ok(by_kernel(desk)),
    }
}

/// `prlimit64`.
pub fn prlimit(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let registers = desk.caller().registers;
    let is_set = registers.word(1) == libc::RLIMIT_NPROC && registers.long(2) != 0;
    let own = desk.caller().thread_group().ok_or(Errno(libc::ESRCH))?;
    match registers.int(0) {
        // A thread's number means its process.
        process if is_set && [0, own, desk.caller().thread].contains(&process) => lower(desk, 2, Some(3)),
        _ => others::of_process(desk, 0),
    }
}

/// Sets it for the waiting process, and writes what it was.
fn lower(desk: &Desk<'_>, new: usize, old: Option<usize>) -> Result<Answer, Errno> {
    let registers = desk.caller().registers;
    let own = desk.caller().thread_group().ok_or(Errno(libc::ESRCH))?;
    let mut bytes = [0; 16];
    desk.caller().read(registers.long(new), &mut bytes)?;
    let [soft, hard] = [0, 8].map(|at| {
        let half = bytes[at..at + 8].try_into().unwrap_or_default();
        u64::from_ne_bytes(half)
    });
    let (current_soft, current_hard) = limit_of(own, libc::RLIMIT_NPROC)?;
    if soft > hard {
        return Err(Errno(libc::EINVAL));
    }
    let bound = desk.shared().run.brief.most_processes.as_ref();
    let is_past = bound.is_some_and(|bound| soft > bound.load(Ordering::Relaxed));
    if soft > current_soft && is_past || hard > current_hard {
        return Err(Errno(libc::EPERM));
    }
    desk.caller().confirm()?;
    set_limit_of(own, libc::RLIMIT_NPROC, (soft, hard))?;
    let old = old.map(|index| registers.long(index)).filter(|address| *address != 0);
    if let Some(address) = old {
        let before = [current_soft, current_hard].map(u64::to_ne_bytes).concat();
        desk.caller().write(address, &before)?;
    }
    Ok(Answer::Value(0))
}

fn by_kernel(desk: &Desk<'_>) -> Answer {
    Answer::Continue(MayContinue::registers_decided(&desk.caller().registers))
}
