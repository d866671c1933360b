//! Calls that act on other processes by number, calls that no run may make, and new processes where they are counted.
//! All are decided by registers alone.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::answer::{Answer, Errno, MayContinue};
use super::desk::Desk;
use super::procfs;
use super::realm::Realm;
use super::refuse::Attempt;
use crate::mutex::lock;
use crate::policy::Capabilities;
use crate::processes::{TOO_MANY_PROCESSES, threads_below};
use crate::report::{Kind, Reason};

/// A signal to a process of the run, or to whom Landlock's scope lets it pass.
pub fn kill(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let registers = desk.caller().registers;
    let process = registers.int(0);
    if process > 0 {
        require_run(desk, process, Kind::Signal)?;
    }
    Ok(Answer::Continue(MayContinue::registers_decided(&registers)))
}

/// Limits and scheduling of the thread in this register: the caller, or its process.
pub fn of_process(desk: &Desk<'_>, index: usize) -> Result<Answer, Errno> {
    let registers = desk.caller().registers;
    require_own(desk, registers.int(index))?;
    Ok(Answer::Continue(MayContinue::registers_decided(&registers)))
}

/// `setpriority` and `ioprio_set`: of single processes alone, since a group or a user reaches beyond the run.
pub fn priority(desk: &Desk<'_>, of_a_process: i32) -> Result<Answer, Errno> {
    let registers = desk.caller().registers;
    if registers.int(0) != of_a_process {
        return Err(refused(desk, Kind::Signal, "groups and users reach beyond the run"));
    }
    of_process(desk, 1)
}

/// Landlock doesn't cover these calls, and a number may mean another process by the time of the call, also one of another
/// thread of the caller's process: a caller that isn't scheduled gives it all the time to end. The caller's own number and its
/// process's stay theirs until the call returns.
fn require_own(desk: &Desk<'_>, thread: i32) -> Result<(), Errno> {
    let caller = desk.caller();
    let process = caller.process();
    if [0, caller.thread, process].contains(&thread) {
        return Ok(());
    }
    let task = format!("{process}/task/{thread}/stat");
    if desk.station().read_proc(&task).is_ok() {
        let reason = "another thread's number may be another process's by the time of the call";
        return Err(refused(desk, Kind::Syscall, reason));
    }
    require_run(desk, thread, Kind::Signal)?;
    let reason = "limits and scheduling are a process's own affair";
    Err(refused(desk, Kind::Signal, reason))
}

fn require_run(desk: &Desk<'_>, process: i32, kind: Kind) -> Result<(), Errno> {
    let exists = desk.station().read_proc(&format!("{process}/stat")).is_ok();
    if !exists {
        return Err(Errno(libc::ESRCH));
    }
    if procfs::is_below(desk.station(), desk.caller().top, process) {
        return Ok(());
    }
    Err(foreign(desk, kind, &format!("process {process}")))
}

/// Refuses what is of no process of the run.
pub fn foreign(desk: &Desk<'_>, kind: Kind, target: &str) -> Errno {
    let reason = "the process isn't part of the run";
    desk.never(&Attempt::on(kind, b""), target.as_bytes(), reason)
}

/// From the first `umask` on each process may have one of its own.
pub fn umask(desk: &Desk<'_>) -> Result<Answer, Errno> {
    desk.shared().umasks_differ.store(true, Ordering::Relaxed);
    Ok(Answer::Continue(MayContinue::registers_decided(
        &desk.caller().registers,
    )))
}

/// A call that the policy refuses whatever its arguments are.
pub fn refuse(desk: &Desk<'_>) -> Result<Answer, Errno> {
    Err(refused(desk, Kind::Syscall, "no profile allows this system call"))
}

fn refused(desk: &Desk<'_>, kind: Kind, reason: &'static str) -> Errno {
    desk.never(&Attempt::without(kind, b""), desk.call_name().as_bytes(), reason)
}

/// `clone`, by which threads are made as well: they count like processes, and SPAWN isn't about them.
pub fn clone(desk: &Desk<'_>) -> Result<Answer, Errno> {
    if desk.caller().registers.int(0) & libc::CLONE_THREAD == 0 {
        fork(desk)
    } else {
        counted(desk)
    }
}

/// A new process, where their number is limited, in the run or in one inside it.
pub fn fork(desk: &Desk<'_>) -> Result<Answer, Errno> {
    if let Some(reason) = desk.judge.incapable(Capabilities::SPAWN) {
        desk.note(&Attempt::without(Kind::Spawn, b""), b"process", reason);
        return Err(Errno(libc::EPERM));
    }
    counted(desk)
}

fn counted(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let labels = desk.judge.labels.list.iter();
    let mut trees = labels
        .map(|label| (label.warden(), &label.realm))
        .chain([(desk.station().warden, &desk.shared().run)]);
    if trees.all(|(warden, realm)| has_room(warden, realm)) {
        return Ok(Answer::Continue(MayContinue::registers_decided(
            &desk.caller().registers,
        )));
    }
    let attempt = Attempt::without(Kind::Spawn, b"");
    desk.note(&attempt, b"process", Reason::Never(TOO_MANY_PROCESSES.into()));
    Err(Errno(libc::EAGAIN))
}

/// Whether one more may live below a warden. Those that were let go a moment ago may not be seen yet, so near the limit
/// we wait until they are. Far from it the tree isn't looked at for each one.
fn has_room(warden: i32, realm: &Realm) -> bool {
    const TRIES: u32 = 40;
    let Some(limit) = realm.brief.policy.limits.processes else {
        return true;
    };
    let mut counter = lock(&realm.forking);
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
