//! Signals where Landlock doesn't confine them to the run (before ABI 6, Linux 6.12).
//!
//! A number may mean another process by the time of a call, so the kernel continues only calls to the caller's own
//! process, whose number stays its own while it waits. The supervisor sends every other signal: it pins the process (a
//! pidfd), shows that it is below the caller's warden, and checks that it still exists. A group, or all processes,
//! means those of the run. So the program that gets a signal reads the launcher's process id in `si_pid`.
//!
//! Other sources of signals: events of files (`events`) and orphaned process groups (`groups`) are judged too; timers
//! and the death of a parent signal the process that asks; the end of a child signals its parent, which for an orphan
//! is the warden, and then always with SIGCHLD; terminals signal their own session.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::calls;
use crate::plan::LANDLOCK_SCOPE_ABI;
use crate::processes::{below, status_field};
use crate::report::Kind;
use crate::supervise::call::errno::Errno;
use crate::supervise::call::procfs;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::stop::Stop;
use crate::supervise::judge::may_continue::MayContinue;
use stockade_sys::other::{self, SignalInfo};
use stockade_sys::process;

/// Whether the supervisor sends the signals.
pub fn are_judged(context: &NotifyContext<'_>) -> bool {
    context.run().policy().run_config.supervision.landlock_abi < LANDLOCK_SCOPE_ABI
}

/// `kill`.
pub fn kill(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let (target, signal) = (registers.int(0), registers.int(1));
    let own = own(context)?;
    if target == i32::MIN {
        return fail(libc::ESRCH);
    }
    match target {
        -1 => to_many(context, signal, |found| found.process != own),
        0 => {
            let group = group_of(context, own).ok_or(Errno(libc::ESRCH))?;
            to_many(context, signal, |found| found.group == group)
        }
        ..0 => match to_many(context, signal, |found| found.group == -target) {
            // A group outside the run: signal 0 only checks.
            Err(Stop::Errno(Errno(libc::ESRCH))) if process::signal(target, 0).is_ok() => Err(calls::foreign(
                context,
                Kind::Signal,
                &format!("process group {}", -target),
            )),
            answer => answer,
        },
        _ if target == own => Ok(by_kernel(context)),
        _ => to_process(context, target, signal, None),
    }
}

/// `tkill`.
pub fn to_thread(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let (thread, signal) = (registers.int(0), registers.int(1));
    if thread == context.caller().thread {
        return Ok(by_kernel(context));
    }
    let own = own(context)?;
    if is_thread_of(context, own, thread) {
        // By both numbers: the kernel checks that the thread still belongs to the process.
        context.caller().confirm()?;
        process::signal_thread(own, thread, signal)?;
        return Ok(CallAnswer::Value(0));
    }
    to_process(context, thread, signal, None)
}

/// `tgkill`, and `rt_tgsigqueueinfo` with the address of its information. Another process's thread can't be pinned, so
/// the signal goes to the whole process.
pub fn to_thread_of(context: &NotifyContext<'_>, signal: usize, info: Option<usize>) -> Handled {
    let registers = context.caller().registers;
    let (target, thread) = (registers.int(0), registers.int(1));
    if target <= 0 || thread <= 0 {
        return fail(libc::EINVAL);
    }
    if target == own(context)? {
        return Ok(by_kernel(context));
    }
    if !is_thread_of(context, target, thread) {
        return fail(libc::ESRCH);
    }
    let info = info.map(|index| read_info(context, index)).transpose()?;
    to_process(context, target, registers.int(signal), info.as_ref())
}

/// `rt_sigqueueinfo`.
pub fn queue(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let target = registers.int(0);
    if target == own(context)? {
        return Ok(by_kernel(context));
    }
    let info = read_info(context, 2)?;
    to_process(context, target, registers.int(1), Some(&info))
}

/// `pidfd_send_signal`. The descriptor may name another process at any time, so only the process id is read from it.
pub fn by_descriptor(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    if registers.word(3) != 0 {
        return fail(libc::EINVAL);
    }
    let number = registers.int(0);
    let target = match context.caller().own_text(&format!("fdinfo/{number}")) {
        Ok(text) => numbered(&text),
        Err(_) => return fail(libc::EBADF),
    };
    // A directory of `/proc` identifies a process too.
    let target = target.or_else(|| {
        let link = format!("{}/fd/{number}", context.caller().thread);
        let name = context.fds().read_proc_link(&link).ok()?;
        let name = Path::new(OsStr::from_bytes(&name));
        procfs::process_of(name).filter(|_| name.components().count() == 3)
    });
    let target = target.ok_or(Errno(libc::EBADF))?;
    if target <= 0 {
        return fail(libc::ESRCH);
    }
    let info = match registers.long(2) {
        0 => None,
        _ => Some(read_info(context, 2)?),
    };
    to_process(context, target, registers.int(1), info.as_ref())
}

/// The process id of a pidfd: -1 if the process was collected, or isn't in the supervisor's namespace.
fn numbered(text: &str) -> Option<i32> {
    let line = text.lines().find_map(|line| line.strip_prefix("Pid:"))?;
    line.trim().parse().ok()
}

/// The caller's process, which is certain: the caller still waits.
fn own(context: &NotifyContext<'_>) -> Handled<i32> {
    let process = context.caller().thread_group().ok_or(Errno(libc::ESRCH))?;
    context.caller().confirm()?;
    Ok(process)
}

fn by_kernel(context: &NotifyContext<'_>) -> CallAnswer {
    CallAnswer::Continue(MayContinue::registers_decided(&context.caller().registers))
}

fn is_thread_of(context: &NotifyContext<'_>, process: i32, thread: i32) -> bool {
    let path = format!("{process}/task/{thread}/stat");
    context.fds().read_proc(&path).is_ok()
}

/// Reads the information. Longer information is the kernel's own; a shorter form doesn't exist.
fn read_info(context: &NotifyContext<'_>, index: usize) -> Handled<SignalInfo> {
    let mut info = SignalInfo([0; 128]);
    context
        .caller()
        .read(context.caller().registers.long(index), &mut info.0)?;
    Ok(info)
}

/// A pinned process of the run, whose place no other one can take.
struct PinnedProcess {
    process: i32,
    group: i32,
    descriptor: OwnedFd,
}

/// The reason why a process isn't pinned.
enum Unheld {
    Gone,
    Foreign,
}

/// Pins a process by its number, or by that of one of its threads.
fn hold(context: &NotifyContext<'_>, number: i32) -> Result<PinnedProcess, Unheld> {
    let fds = context.fds();
    let text = fds.read_proc(&format!("{number}/status")).map_err(|_| Unheld::Gone)?;
    let process = status_field(&text, "Tgid:", 10).and_then(|process| process.try_into().ok());
    let process = process.ok_or(Unheld::Gone)?;
    let descriptor = other::process_descriptor(process).map_err(|_| Unheld::Gone)?;
    let is_ours = procfs::is_below(fds, context.caller().top, process)
        && (number == process || is_thread_of(context, process, number));
    let group = group_of(context, process);
    // It wasn't collected meanwhile, so everything that was read is about this process.
    other::signal_process(descriptor.as_fd(), 0, None).map_err(|_| Unheld::Gone)?;
    match group {
        Some(group) if is_ours => Ok(PinnedProcess {
            process,
            group,
            descriptor,
        }),
        _ => Err(Unheld::Foreign),
    }
}

fn group_of(context: &NotifyContext<'_>, process: i32) -> Option<i32> {
    procfs::stat_field(context.fds(), process, 5)
}

fn to_process(context: &NotifyContext<'_>, number: i32, signal: i32, info: Option<&SignalInfo>) -> Handled {
    if number <= 0 {
        return fail(libc::ESRCH);
    }
    let held = hold(context, number).map_err(|why| match why {
        Unheld::Gone => Stop::Errno(Errno(libc::ESRCH)),
        Unheld::Foreign => calls::foreign(context, Kind::Signal, &format!("process {number}")),
    })?;
    context.caller().confirm()?;
    let info = info.map(|info| info.of(signal));
    other::signal_process(held.descriptor.as_fd(), signal, info.as_ref())?;
    Ok(CallAnswer::Value(0))
}

/// Signals all processes of the run that match. The kernel would do this atomically; here another round reaches
/// processes that were started meanwhile. The caller's own process is last, since the signal may end it.
fn to_many(context: &NotifyContext<'_>, signal: i32, is_meant: impl Fn(&PinnedProcess) -> bool) -> Handled {
    const ROUNDS: usize = 4;
    let own = own(context)?;
    let mut met = HashSet::new();
    let mut result = fail(libc::ESRCH);
    let mut own_too = None;
    for _ in 0..ROUNDS {
        let mut is_new = false;
        for process in below(context.caller().top)? {
            if met.contains(&process) {
                continue;
            }
            let Ok(held) = hold(context, process) else { continue };
            if !is_meant(&held) {
                continue;
            }
            met.insert(process);
            is_new = true;
            if held.process == own {
                own_too = Some(held);
                continue;
            }
            context.caller().confirm()?;
            let sent = other::signal_process(held.descriptor.as_fd(), signal, None);
            // One process that gets the signal counts as success.
            result = result.or(sent.map_err(Stop::from));
        }
        if !is_new {
            break;
        }
    }
    if let Some(held) = own_too {
        context.caller().confirm()?;
        let sent = other::signal_process(held.descriptor.as_fd(), signal, None);
        result = result.or(sent.map_err(Stop::from));
    }
    result.map(|()| CallAnswer::Value(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_of_a_descriptor_is_read_from_its_information() {
        assert_eq!(numbered("pos:\t0\nPid:\t12\nNSpid:\t12\n"), Some(12));
        assert_eq!(numbered("Pid:\t-1\n"), Some(-1));
        assert_eq!(numbered("NSpid:\t12\n"), None);
        assert_eq!(numbered("Pid:\todd\n"), None);
    }
}
