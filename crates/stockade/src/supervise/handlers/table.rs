//! Dispatch of a call to its handler. A number that isn't listed here is refused.

use std::sync::PoisonError;

use super::answer::Handled;
use super::context::NotifyContext;
use super::files::attributes::AttributeForm as Attributes;
use super::files::entries::Form;
use super::files::{access, attributes, entries, execute, memory, metadata, open, terminals, truncate};
use super::net::{internet, sockets};
use super::processes::{calls, events, groups, limits, signals, system_v};
use stockade_sys::system_v::Kind;

// Newer than some versions of libc's headers; the numbers are the same on all architectures.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

/// ioprio_set(2), `IOPRIO_WHO_PROCESS`.
const IO_PROCESS: i32 = 1;

/// Handles the call. Paths are resolved, judged and acted on under a lock, so that no rename by the run, nor the
/// removal of a directory, comes between.
pub fn dispatch(context: &NotifyContext<'_>) -> Handled {
    let number = i64::from(context.notification.number);
    if works_alone(context, number) {
        let _alone = context
            .run()
            .rename_lock
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        route(context, number)
    } else {
        let _together = context.run().rename_lock.read().unwrap_or_else(PoisonError::into_inner);
        route(context, number)
    }
}

fn works_alone(context: &NotifyContext<'_>, number: i64) -> bool {
    #[cfg(target_arch = "x86_64")]
    let is_legacy = [libc::SYS_rename, libc::SYS_rmdir].contains(&number);
    #[cfg(not(target_arch = "x86_64"))]
    let is_legacy = false;
    // The removal of a directory that the run didn't make is recorded afterwards, under its name.
    let removes_directory = number == libc::SYS_unlinkat && context.caller().registers.int(2) & libc::AT_REMOVEDIR != 0;
    // A bound socket is looked up by its name afterwards.
    is_legacy || removes_directory || [libc::SYS_renameat, libc::SYS_renameat2, libc::SYS_bind].contains(&number)
}

fn route(context: &NotifyContext<'_>, number: i64) -> Handled {
    if let Some(answer) = legacy(context, number) {
        return answer;
    }
    match number {
        libc::SYS_openat => open::openat(context),
        libc::SYS_openat2 => open::openat2(context),
        libc::SYS_faccessat => access::faccessat(context),
        libc::SYS_faccessat2 => access::faccessat2(context),
        libc::SYS_execve => execute::execve(context),
        libc::SYS_execveat => execute::execveat(context),
        libc::SYS_mkdirat => entries::make_directory(context, Form::At),
        libc::SYS_mknodat => entries::make_node(context, Form::At),
        libc::SYS_symlinkat => entries::symlink(context, Form::At),
        libc::SYS_linkat => entries::link(context, Form::At),
        libc::SYS_unlinkat => entries::unlinkat(context),
        libc::SYS_renameat2 => entries::renameat2(context),
        libc::SYS_truncate => entries::truncate(context),
        libc::SYS_ftruncate => truncate::cut(context),
        libc::SYS_fallocate => truncate::allocate(context),
        libc::SYS_fchmod => metadata::fchmod(context),
        libc::SYS_fchmodat => metadata::fchmodat(context),
        FCHMODAT2 => metadata::fchmodat2(context),
        libc::SYS_fchown => metadata::fchown(context),
        libc::SYS_fchownat => metadata::fchownat(context),
        libc::SYS_utimensat => metadata::utimensat(context),
        FILE_SETATTR => metadata::file_setattr(context),
        libc::SYS_setxattr => attributes::set(context, Attributes::Followed),
        libc::SYS_lsetxattr => attributes::set(context, Attributes::Kept),
        libc::SYS_fsetxattr => attributes::set(context, Attributes::Descriptor),
        SETXATTRAT => attributes::set(context, Attributes::At),
        libc::SYS_removexattr => attributes::remove(context, Attributes::Followed),
        libc::SYS_lremovexattr => attributes::remove(context, Attributes::Kept),
        libc::SYS_fremovexattr => attributes::remove(context, Attributes::Descriptor),
        REMOVEXATTRAT => attributes::remove(context, Attributes::At),
        libc::SYS_inotify_add_watch => access::watch(context),
        libc::SYS_memfd_create => memory::create(context),
        libc::SYS_connect => sockets::connect(context),
        libc::SYS_bind => sockets::bind(context),
        libc::SYS_listen => internet::listen(context),
        libc::SYS_socket => internet::socket(context),
        libc::SYS_umask => calls::umask(context),
        libc::SYS_kill if signals::are_judged(context) => signals::kill(context),
        libc::SYS_kill => calls::kill(context),
        libc::SYS_tkill => signals::to_thread(context),
        libc::SYS_tgkill => signals::to_thread_of(context, 2, None),
        libc::SYS_rt_tgsigqueueinfo => signals::to_thread_of(context, 2, Some(3)),
        libc::SYS_rt_sigqueueinfo => signals::queue(context),
        libc::SYS_pidfd_send_signal => signals::by_descriptor(context),
        libc::SYS_fcntl => events::control(context),
        libc::SYS_ioctl if u64::from(context.caller().registers.word(1)) == libc::TIOCSWINSZ => {
            terminals::set_size(context)
        }
        libc::SYS_ioctl => events::set_asynchronous(context),
        libc::SYS_setpgid => groups::set(context),
        libc::SYS_shmget => system_v::get(context, Kind::Memory),
        libc::SYS_shmat => system_v::act(context, Kind::Memory),
        libc::SYS_shmctl => system_v::control(context, Kind::Memory),
        libc::SYS_shmdt => system_v::detach(context),
        libc::SYS_semget => system_v::get(context, Kind::Semaphores),
        libc::SYS_semop | libc::SYS_semtimedop => system_v::act(context, Kind::Semaphores),
        libc::SYS_semctl => system_v::control(context, Kind::Semaphores),
        libc::SYS_clone => calls::clone(context),
        libc::SYS_setrlimit => limits::set(context),
        libc::SYS_prlimit64 => limits::prlimit(context),
        libc::SYS_sched_setparam
        | libc::SYS_sched_setscheduler
        | libc::SYS_sched_setaffinity
        | libc::SYS_sched_setattr => calls::of_process(context, 0),
        libc::SYS_setpriority => calls::priority(context, libc::PRIO_PROCESS as i32),
        libc::SYS_ioprio_set => calls::priority(context, IO_PROCESS),
        _ => calls::refuse(context),
    }
}

/// Calls that exist only on x86-64.
#[cfg(target_arch = "x86_64")]
fn legacy(context: &NotifyContext<'_>, number: i64) -> Option<Handled> {
    Some(match number {
        libc::SYS_open => open::open(context),
        libc::SYS_creat => open::creat(context),
        libc::SYS_access => access::access(context),
        libc::SYS_mkdir => entries::make_directory(context, Form::Legacy),
        libc::SYS_mknod => entries::make_node(context, Form::Legacy),
        libc::SYS_symlink => entries::symlink(context, Form::Legacy),
        libc::SYS_link => entries::link(context, Form::Legacy),
        libc::SYS_unlink => entries::unlink(context),
        libc::SYS_rmdir => entries::rmdir(context),
        libc::SYS_rename => entries::rename(context, Form::Legacy),
        libc::SYS_renameat => entries::rename(context, Form::At),
        libc::SYS_chmod => metadata::chmod(context),
        libc::SYS_chown => metadata::chown(context),
        libc::SYS_lchown => metadata::lchown(context),
        libc::SYS_utime => metadata::utime(context),
        libc::SYS_utimes => metadata::utimes(context),
        libc::SYS_futimesat => metadata::futimesat(context),
        libc::SYS_fork | libc::SYS_vfork => calls::fork(context),
        _ => return None,
    })
}

/// Older calls that the generic system call table has kept.
#[cfg(not(target_arch = "x86_64"))]
fn legacy(context: &NotifyContext<'_>, number: i64) -> Option<Handled> {
    (number == libc::SYS_renameat).then(|| entries::rename(context, Form::At))
}
