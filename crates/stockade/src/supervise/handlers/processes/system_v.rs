//! System V shared memory and semaphores (sysvipc(7)), for programs such as PostgreSQL, if the policy lets files be
//! written.
//!
//! A run has objects of its own, as in a namespace. The supervisor makes each one without a key and keeps the run's
//! keys itself: no key of the run leads to another's object, and no key of others to the run's. Registers alone decide
//! whether an id is the run's. The supervisor removes what is left at the end.

use super::calls;
use crate::policy::{Access, Grant};
use crate::report::{Kind as RefusalKind, Reason};
use crate::supervise::call::errno::Errno;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::judge::may_continue::MayContinue;
use crate::supervise::state::run_policy::RunPolicy;
use stockade_sys::system_v::{self, Kind};

// linux/shm.h.
const SHM_NORESERVE: i32 = 0o10000;
const SHM_LOCK: i32 = 11;
const SHM_UNLOCK: i32 = 12;

/// Allowed commands of shmctl(2) and semctl(2); none of them names an object by its place in the kernel's table, or
/// changes its owner.
const ON_MEMORY: [i32; 3] = [libc::IPC_STAT, SHM_LOCK, SHM_UNLOCK];
const ON_SEMAPHORES: [i32; 8] = [
    libc::IPC_STAT,
    libc::GETPID,
    libc::GETVAL,
    libc::GETALL,
    libc::GETNCNT,
    libc::GETZCNT,
    libc::SETVAL,
    libc::SETALL,
];

/// `shmget` and `semget`.
pub fn get(context: &NotifyContext<'_>, kind: Kind) -> Handled {
    const MODE: i32 = 0o777;
    require_use(context)?;
    let registers = context.caller().registers;
    let (key, flags) = (registers.int(0), registers.int(2));
    let size = match kind {
        Kind::Memory => usize::try_from(registers.long(1)),
        Kind::Semaphores => usize::try_from(registers.int(1)),
    };
    let size = size.map_err(|_| Errno(libc::EINVAL))?;
    let known = match kind {
        Kind::Memory => SHM_NORESERVE,
        Kind::Semaphores => 0,
    };
    if flags & !(MODE | libc::IPC_CREAT | libc::IPC_EXCL | known) != 0 {
        return fail(libc::EINVAL);
    }
    let mut made = context.run().made();
    if let Some((id, its_size)) = made.system_v.of_key(kind, key) {
        return match flags & (libc::IPC_CREAT | libc::IPC_EXCL) == libc::IPC_CREAT | libc::IPC_EXCL {
            true => fail(libc::EEXIST),
            false if size > its_size => fail(libc::EINVAL),
            false => Ok(CallAnswer::Value(i64::from(id))),
        };
    }
    if key != libc::IPC_PRIVATE && flags & libc::IPC_CREAT == 0 {
        return fail(libc::ENOENT);
    }
    if !made.system_v.has_room() {
        return fail(libc::ENOSPC);
    }
    // Other users get no access to it.
    let id = system_v::make(kind, size, flags & (known | 0o700))?;
    made.system_v.insert(kind, id, key, size);
    Ok(CallAnswer::Value(i64::from(id)))
}

/// `shmat`, `semop` and `semtimedop`.
pub fn act(context: &NotifyContext<'_>, kind: Kind) -> Handled {
    require_own(context, kind)?;
    Ok(continued(context))
}

/// `shmdt`, which detaches memory of the caller's own.
pub fn detach(context: &NotifyContext<'_>) -> Handled {
    require_use(context)?;
    Ok(continued(context))
}

/// `shmctl` and `semctl`.
pub fn control(context: &NotifyContext<'_>, kind: Kind) -> Handled {
    require_own(context, kind)?;
    let registers = context.caller().registers;
    let (command, commands) = match kind {
        Kind::Memory => (registers.int(1), &ON_MEMORY[..]),
        Kind::Semaphores => (registers.int(2), &ON_SEMAPHORES[..]),
    };
    match command {
        libc::IPC_RMID => {
            let id = registers.int(0);
            let mut made = context.run().made();
            system_v::remove(kind, id)?;
            made.system_v.forget(kind, id);
            Ok(CallAnswer::Value(0))
        }
        command if commands.contains(&command) => Ok(continued(context)),
        _ => calls::refuse(context),
    }
}

fn continued(context: &NotifyContext<'_>) -> CallAnswer {
    CallAnswer::Continue(MayContinue::registers_decided(&context.caller().registers))
}

/// Refuses runs that write no files, which have no use for these calls, and nested runs.
fn require_use(context: &NotifyContext<'_>) -> Handled<()> {
    let is_written = |grant: &Grant| grant.is_chosen() && grant.access.contains(Access::WRITE);
    let writes = |run_policy: &RunPolicy| run_policy.run_config.policy.grants.iter().any(is_written);
    match context.judge.is_in_no_inner_run() && context.judge.policies().all(writes) {
        true => Ok(()),
        false => calls::refuse(context).map(drop),
    }
}

fn require_own(context: &NotifyContext<'_>, kind: Kind) -> Handled<()> {
    require_use(context)?;
    let id = context.caller().registers.int(0);
    if context.run().made().system_v.contains(kind, id) {
        return Ok(());
    }
    let reason = Reason::Never("the run hasn't made it".into());
    let target = format!(
        "{} {id}",
        if kind == Kind::Memory {
            "shared memory"
        } else {
            "semaphores"
        }
    );
    context.note(&Attempt::without(RefusalKind::Syscall, b""), target.as_bytes(), reason);
    fail(libc::EACCES)
}
