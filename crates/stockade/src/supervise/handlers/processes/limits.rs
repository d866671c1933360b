//! The limit on a user's processes (RLIMIT_NPROC), which is a soft limit of the run: a run may lower it, and raise it
//! to its old value. The launcher adjusts it as the user's other processes become more (`launch/room.rs`).

use std::sync::atomic::Ordering;

use super::calls;
use crate::supervise::call::errno::Errno;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::judge::may_continue::MayContinue;
use stockade_sys::limits::{limit_of, set_limit_of};

/// `setrlimit`.
pub fn set(context: &NotifyContext<'_>) -> Handled {
    match context.caller().registers.word(0) {
        libc::RLIMIT_NPROC => lower(context, 1, None),
        _ => Ok(by_kernel(context)),
    }
}

/// `prlimit64`.
pub fn prlimit(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let is_set = registers.word(1) == libc::RLIMIT_NPROC && registers.long(2) != 0;
    let own = context.caller().thread_group().ok_or(Errno(libc::ESRCH))?;
    match registers.int(0) {
        // A thread id means its process.
        process if is_set && [0, own, context.caller().thread].contains(&process) => lower(context, 2, Some(3)),
        _ => calls::of_process(context, 0),
    }
}

/// Sets the limit for the waiting process, and writes the old one.
fn lower(context: &NotifyContext<'_>, new: usize, old: Option<usize>) -> Handled {
    let registers = context.caller().registers;
    let own = context.caller().thread_group().ok_or(Errno(libc::ESRCH))?;
    let mut bytes = [0; 16];
    context.caller().read(registers.long(new), &mut bytes)?;
    let [soft, hard] = [0, 8].map(|at| {
        let half = bytes[at..at + 8].try_into().unwrap_or_default();
        u64::from_ne_bytes(half)
    });
    let (current_soft, current_hard) = limit_of(own, libc::RLIMIT_NPROC)?;
    if soft > hard {
        return fail(libc::EINVAL);
    }
    let bound = context.run().policy().run_config.most_processes.as_ref();
    let is_past = bound.is_some_and(|bound| soft > bound.load(Ordering::Relaxed));
    if soft > current_soft && is_past || hard > current_hard {
        return fail(libc::EPERM);
    }
    context.caller().confirm()?;
    set_limit_of(own, libc::RLIMIT_NPROC, (soft, hard))?;
    let old = old.map(|index| registers.long(index)).filter(|address| *address != 0);
    if let Some(address) = old {
        let before = [current_soft, current_hard].map(u64::to_ne_bytes).concat();
        context.caller().write(address, &before)?;
    }
    Ok(CallAnswer::Value(0))
}

fn by_kernel(context: &NotifyContext<'_>) -> CallAnswer {
    CallAnswer::Continue(MayContinue::registers_decided(&context.caller().registers))
}
