//! Process groups: `setpgid`.
//!
//! When the last process that ties its group to the session ends (its parent is in another group of the same session),
//! and a process of the group is stopped, the kernel sends SIGHUP and SIGCONT to the whole group (setpgid(2),
//! `kill_orphaned_pgrp()`). Landlock's scope doesn't prevent that. The run starts in the launcher's group, so no
//! process of the run may tie that group, or any other one outside, to the session:
//!
//! * No process joins a group outside the run.
//! * A process leaves the launcher's group only while it has no child there, nor a thread that could start one. So the
//!   processes in the launcher's group descend from its members alone.
//!
//! Shell job control works: each child leaves at once. In a group or session that the run created, all is allowed.

use std::str::FromStr;
use std::time::{Duration, Instant};

use super::calls;
use crate::processes::status_field;
use crate::report::Kind;
use crate::supervise::call::errno::Errno;
use crate::supervise::call::procfs;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::judge::may_continue::MayContinue;

const GROUP: usize = 5;
const SESSION: usize = 6;
const FLAGS: usize = 9;

/// `PF_FORKNOEXEC` in the kernel's `include/linux/sched.h`, a bit of a process's flags.
const NOT_EXECUTED_YET: i64 = 0x40;

/// `setpgid`.
pub fn set(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let own = context.caller().thread_group().ok_or(Errno(libc::ESRCH))?;
    let target = Some(registers.int(0)).filter(|number| *number != 0).unwrap_or(own);
    let group = Some(registers.int(1)).filter(|number| *number != 0).unwrap_or(target);
    if group < 0 {
        return fail(libc::EINVAL);
    }
    let is_apart = is_apart(context, own);
    let current = field(context, target, GROUP);
    context.caller().confirm()?;
    if is_apart {
        return Ok(by_kernel(context));
    }
    let current = current.ok_or(Errno(libc::ESRCH))?;
    if target != own && !is_of_the_run(context, target) {
        return fail(libc::ESRCH);
    }
    if current == group {
        return Ok(CallAnswer::Value(0));
    }
    if group != target && !is_led_by_the_run(context, group) {
        // Each interactive shell returns to its first group when it ends, and doesn't check whether it did.
        if group == nix::unistd::getpgrp().as_raw() {
            return fail(libc::EPERM);
        }
        return Err(calls::foreign(context, Kind::Signal, &format!("process group {group}")));
    }
    if !is_led_by_the_run(context, current) {
        if target != own {
            return Ok(CallAnswer::apart(move |context| left_by_itself(context, target, group)));
        }
        if !is_alone(context, own)? {
            let reason =
                "a process with children or threads can't leave the process group that Stockade was started in";
            let target = format!("process group {current}");
            return Err(context.never(&Attempt::on(Kind::Signal, b""), target.as_bytes(), reason));
        }
    }
    context.caller().confirm()?;
    Ok(by_kernel(context))
}

/// Waits for a child to leave the launcher's group by its own call, since it runs and may start a child meanwhile.
/// Shells make the call in both processes, and go on once one has succeeded. A child that executes a program first
/// stays, as in the kernel; for one that does neither the answer is the same.
fn left_by_itself(context: &NotifyContext<'_>, child: i32, group: i32) -> Handled {
    const PATIENCE: Duration = Duration::from_secs(2);
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        if field(context, child, GROUP) == Some(group) {
            return Ok(CallAnswer::Value(0));
        }
        context.caller().confirm()?;
        let flags: i64 = field(context, child, FLAGS).ok_or(Errno(libc::ESRCH))?;
        if flags & NOT_EXECUTED_YET == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    fail(libc::EACCES)
}

fn by_kernel(context: &NotifyContext<'_>) -> CallAnswer {
    CallAnswer::Continue(MayContinue::registers_decided(&context.caller().registers))
}

fn field<T: FromStr>(context: &NotifyContext<'_>, process: i32, field: usize) -> Option<T> {
    procfs::stat_field(context.fds(), process, field)
}

fn is_of_the_run(context: &NotifyContext<'_>, process: i32) -> bool {
    procfs::is_below(context.fds(), context.caller().top, process)
}

/// Whether the caller is in a session that its run created, which it can't leave for the old one.
fn is_apart(context: &NotifyContext<'_>, own: i32) -> bool {
    let Some(session) = field(context, own, SESSION) else {
        return false;
    };
    let fds = context.fds();
    if context.caller().top == fds.warden {
        session != fds.session
    } else {
        session == own || is_of_the_run(context, session)
    }
}

/// Whether the run leads a group. If that can't be determined, the group counts as outside.
fn is_led_by_the_run(context: &NotifyContext<'_>, group: i32) -> bool {
    is_of_the_run(context, group) && field(context, group, GROUP) == Some(group)
}

/// Whether the waiting caller is its process's only thread and has no child, so that no child can appear either: not by
/// `CLONE_PARENT`, and not as an orphan.
fn is_alone(context: &NotifyContext<'_>, own: i32) -> Handled<bool> {
    let status = context.caller().own_text("status")?;
    let children = context.caller().own_text(&format!("task/{own}/children"))?;
    Ok(
        context.caller().thread == own
            && status_field(&status, "Threads:", 10) == Some(1)
            && children.trim().is_empty(),
    )
}
