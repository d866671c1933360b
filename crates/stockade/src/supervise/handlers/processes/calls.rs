//! Calls that act on other processes by number, calls that no run may make, and new processes if they are counted.
//! Registers alone decide all of them.
//!
//! Where a limit of processes isn't kept by a control group, each process and thread is counted, one at a time; near
//! the limit a call waits until the last ones can be seen.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::mutex::lock;
use crate::policy::Capabilities;
use crate::processes::{TOO_MANY_PROCESSES, threads_below};
use crate::report::{Kind, Reason};
use crate::supervise::call::procfs;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::handlers::stop::Stop;
use crate::supervise::judge::may_continue::MayContinue;
use crate::supervise::state::run_policy::RunPolicy;

/// A signal to a process of the run, or to several, where Landlock's scope decides which it reaches.
pub fn kill(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let process = registers.int(0);
    if process > 0 {
        require_run(context, process, Kind::Signal)?;
    }
    Ok(CallAnswer::Continue(MayContinue::registers_decided(&registers)))
}

/// Limits and scheduling of the thread in this register, which must be the caller or its process.
pub fn of_process(context: &NotifyContext<'_>, index: usize) -> Handled {
    let registers = context.caller().registers;
    require_own(context, registers.int(index))?;
    Ok(CallAnswer::Continue(MayContinue::registers_decided(&registers)))
}

/// `setpriority` and `ioprio_set`: for single processes alone, since a group or a user extends beyond the run.
pub fn priority(context: &NotifyContext<'_>, of_a_process: i32) -> Handled {
    let registers = context.caller().registers;
    if registers.int(0) != of_a_process {
        return Err(refused(context, Kind::Signal, "groups and users reach beyond the run"));
    }
    of_process(context, 1)
}

/// Requires the caller's own number. Landlock doesn't cover these calls, and by the time of the call a number may mean
/// another process, even that of another thread of the caller's process: a caller that isn't scheduled gives it time to
/// end. The caller's own number and its process's stay theirs until the call returns.
fn require_own(context: &NotifyContext<'_>, thread: i32) -> Handled<()> {
    let caller = context.caller();
    let process = caller.process();
    if [0, caller.thread, process].contains(&thread) {
        return Ok(());
    }
    let task = format!("{process}/task/{thread}/stat");
    if context.fds().read_proc(&task).is_ok() {
        let reason = "another thread's number may be another process's by the time of the call";
        return Err(refused(context, Kind::Syscall, reason));
    }
    require_run(context, thread, Kind::Signal)?;
    let reason = "limits and scheduling are a process's own affair";
    Err(refused(context, Kind::Signal, reason))
}

fn require_run(context: &NotifyContext<'_>, process: i32, kind: Kind) -> Handled<()> {
    let exists = context.fds().read_proc(&format!("{process}/stat")).is_ok();
    if !exists {
        return fail(libc::ESRCH);
    }
    if procfs::is_below(context.fds(), context.caller().top, process) {
        return Ok(());
    }
    Err(foreign(context, kind, &format!("process {process}")))
}

/// Refuses a target that isn't a process of the run.
pub fn foreign(context: &NotifyContext<'_>, kind: Kind, target: &str) -> Stop {
    let reason = "the process isn't part of the run";
    context.never(&Attempt::on(kind, b""), target.as_bytes(), reason)
}

/// Records that umasks differ: from the first `umask` on each process may have its own.
pub fn umask(context: &NotifyContext<'_>) -> Handled {
    context.run().umasks_differ.store(true, Ordering::Relaxed);
    Ok(CallAnswer::Continue(MayContinue::registers_decided(
        &context.caller().registers,
    )))
}

/// Refuses a call whatever its arguments are.
pub fn refuse(context: &NotifyContext<'_>) -> Handled {
    Err(refused(context, Kind::Syscall, "no profile allows this system call"))
}

fn refused(context: &NotifyContext<'_>, kind: Kind, reason: &'static str) -> Stop {
    context.never(&Attempt::without(kind, b""), context.call_name().as_bytes(), reason)
}

/// `clone`, which also makes threads: they count like processes, but SPAWN doesn't cover them.
pub fn clone(context: &NotifyContext<'_>) -> Handled {
    if context.caller().registers.int(0) & libc::CLONE_THREAD == 0 {
        fork(context)
    } else {
        counted(context)
    }
}

/// A new process, counted if the run or a nested run limits their number.
pub fn fork(context: &NotifyContext<'_>) -> Handled {
    if let Some(reason) = context.judge.incapable(Capabilities::SPAWN) {
        context.note(&Attempt::without(Kind::Spawn, b""), b"process", reason);
        return fail(libc::EPERM);
    }
    counted(context)
}

fn counted(context: &NotifyContext<'_>) -> Handled {
    let nested_runs = context.judge.nested_runs.list.iter();
    let mut trees = nested_runs
        .map(|nested_run| (nested_run.warden(), &nested_run.run_policy))
        .chain([(context.fds().warden, context.run().policy())]);
    if trees.all(|(warden, run_policy)| has_room(warden, run_policy)) {
        return Ok(CallAnswer::Continue(MayContinue::registers_decided(
            &context.caller().registers,
        )));
    }
    let attempt = Attempt::without(Kind::Spawn, b"");
    context.note(&attempt, b"process", Reason::Never(TOO_MANY_PROCESSES.into()));
    fail(libc::EAGAIN)
}

/// Whether one more process may live below a warden. Processes that were just allowed may not be visible yet, so near
/// the limit this waits until they are. Far from it the tree isn't walked for each one.
fn has_room(warden: i32, run_policy: &RunPolicy) -> bool {
    const TRIES: u32 = 40;
    let Some(limit) = run_policy.run_config.policy.limits.processes else {
        return true;
    };
    let mut counter = lock(&run_policy.forking);
    if counter.knows_room() {
        return true;
    }
    for _ in 0..TRIES {
        let Some(alive) = threads_below(warden, |_, threads| threads < limit) else {
            return false;
        };
        if counter.expect_one_more(alive, limit) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}
