//! Which call goes where. A number that isn't here is refused.

use std::sync::PoisonError;

use super::answer::{Answer, Errno};
use super::attributes::Form as Attributes;
use super::desk::Desk;
use super::entries::Form;
use super::{
    asking, attributes, cutting, entries, events, execute, groups, internet, limits, links, memory, metadata, open,
    others, signals, sockets, system_v, terminals,
};
use stockade_sys::system_v::Kind;

// Newer than some libc's headers; the numbers are the same on all architectures.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const GETXATTRAT: i64 = 464;
const LISTXATTRAT: i64 = 465;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

/// ioprio_set(2), `IOPRIO_WHO_PROCESS`.
const IO_PROCESS: i32 = 1;

/// Does the call. Paths are resolved, judged and acted on under a lock, so that no rename of the run's comes between, nor the
/// removal of a directory.
pub fn dispatch(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let number = i64::from(desk.notification.number);
    if works_alone(desk, number) {
        let _alone = desk.shared().names.write().unwrap_or_else(PoisonError::into_inner);
        route(desk, number)
    } else {
        let _together = desk.shared().names.read().unwrap_or_else(PoisonError::into_inner);
        route(desk, number)
    }
}

fn works_alone(desk: &Desk<'_>, number: i64) -> bool {
    #[cfg(target_arch = "x86_64")]
    let is_legacy = [libc::SYS_rename, libc::SYS_rmdir].contains(&number);
    #[cfg(not(target_arch = "x86_64"))]
    let is_legacy = false;
    // Whether a name was that of a directory of another's is noted once that is removed.
    let removes_directory = number == libc::SYS_unlinkat && desk.caller().registers.int(2) & libc::AT_REMOVEDIR != 0;
    // A socket that was bound is looked for under its name afterwards.
    is_legacy || removes_directory || [libc::SYS_renameat, libc::SYS_renameat2, libc::SYS_bind].contains(&number)
}

fn route(desk: &Desk<'_>, number: i64) -> Result<Answer, Errno> {
    if let Some(answer) = legacy(desk, number) {
        return answer;
    }
    match number {
        libc::SYS_openat => open::openat(desk),
        libc::SYS_openat2 => open::openat2(desk),
        libc::SYS_faccessat => asking::faccessat(desk),
        libc::SYS_faccessat2 => asking::faccessat2(desk),
        libc::SYS_readlinkat => links::readlinkat(desk),
        libc::SYS_execve => execute::execve(desk),
        libc::SYS_execveat => execute::execveat(desk),
        libc::SYS_mkdirat => entries::make_directory(desk, Form::At),
        libc::SYS_mknodat => entries::make_node(desk, Form::At),
        libc::SYS_symlinkat => entries::symlink(desk, Form::At),
        libc::SYS_linkat => entries::link(desk, Form::At),
        libc::SYS_unlinkat => entries::unlinkat(desk),
        libc::SYS_renameat2 => entries::renameat2(desk),
        libc::SYS_truncate => entries::truncate(desk),
        libc::SYS_ftruncate => cutting::cut(desk),
        libc::SYS_fallocate => cutting::allocate(desk),
        libc::SYS_fchmod => metadata::fchmod(desk),
        libc::SYS_fchmodat => metadata::fchmodat(desk),
        FCHMODAT2 => metadata::fchmodat2(desk),
        libc::SYS_fchown => metadata::fchown(desk),
        libc::SYS_fchownat => metadata::fchownat(desk),
        libc::SYS_utimensat => metadata::utimensat(desk),
        FILE_SETATTR => metadata::file_setattr(desk),
        libc::SYS_setxattr => attributes::set(desk, Attributes::Followed),
        libc::SYS_lsetxattr => attributes::set(desk, Attributes::Kept),
        libc::SYS_fsetxattr => attributes::set(desk, Attributes::Descriptor),
        SETXATTRAT => attributes::set(desk, Attributes::At),
        libc::SYS_removexattr => attributes::remove(desk, Attributes::Followed),
        libc::SYS_lremovexattr => attributes::remove(desk, Attributes::Kept),
        libc::SYS_fremovexattr => attributes::remove(desk, Attributes::Descriptor),
        REMOVEXATTRAT => attributes::remove(desk, Attributes::At),
        libc::SYS_getxattr => attributes::get(desk, Attributes::Followed),
        libc::SYS_lgetxattr => attributes::get(desk, Attributes::Kept),
        libc::SYS_fgetxattr => attributes::get(desk, Attributes::Descriptor),
        GETXATTRAT => attributes::get(desk, Attributes::At),
        libc::SYS_listxattr => attributes::list(desk, Attributes::Followed),
        libc::SYS_llistxattr => attributes::list(desk, Attributes::Kept),
        libc::SYS_flistxattr => attributes::list(desk, Attributes::Descriptor),
        LISTXATTRAT => attributes::list(desk, Attributes::At),
        libc::SYS_inotify_add_watch => asking::watch(desk),
        libc::SYS_memfd_create => memory::create(desk),
        libc::SYS_connect => sockets::connect(desk),
        libc::SYS_bind => sockets::bind(desk),
        libc::SYS_listen => internet::listen(desk),
        libc::SYS_socket => internet::socket(desk),
        libc::SYS_umask => others::umask(desk),
        libc::SYS_kill if signals::are_judged(desk) => signals::kill(desk),
        libc::SYS_kill => others::kill(desk),
        libc::SYS_tkill => signals::to_thread(desk),
        libc::SYS_tgkill => signals::to_thread_of(desk, 2, None),
        libc::SYS_rt_tgsigqueueinfo => signals::to_thread_of(desk, 2, Some(3)),
        libc::SYS_rt_sigqueueinfo => signals::queue(desk),
        libc::SYS_pidfd_send_signal => signals::by_descriptor(desk),
        libc::SYS_fcntl => events::control(desk),
        libc::SYS_ioctl if u64::from(desk.caller().registers.word(1)) == libc::TIOCSWINSZ => terminals::set_size(desk),
        libc::SYS_ioctl => events::set_asynchronous(desk),
        libc::SYS_setpgid => groups::set(desk),
        libc::SYS_shmget => system_v::get(desk, Kind::Memory),
        libc::SYS_shmat => system_v::act(desk, Kind::Memory),
        libc::SYS_shmctl => system_v::control(desk, Kind::Memory),
        libc::SYS_shmdt => system_v::detach(desk),
        libc::SYS_semget => system_v::get(desk, Kind::Semaphores),
        libc::SYS_semop | libc::SYS_semtimedop => system_v::act(desk, Kind::Semaphores),
        libc::SYS_semctl => system_v::control(desk, Kind::Semaphores),
        libc::SYS_clone => others::clone(desk),
        libc::SYS_setrlimit => limits::set(desk),
        libc::SYS_prlimit64 => limits::prlimit(desk),
        libc::SYS_sched_setparam
        | libc::SYS_sched_setscheduler
        | libc::SYS_sched_setaffinity
        | libc::SYS_sched_setattr => others::of_process(desk, 0),
        libc::SYS_setpriority => others::priority(desk, libc::PRIO_PROCESS as i32),
        libc::SYS_ioprio_set => others::priority(desk, IO_PROCESS),
        _ => others::refuse(desk),
    }
}

/// Calls that only x86-64 has.
#[cfg(target_arch = "x86_64")]
fn legacy(desk: &Desk<'_>, number: i64) -> Option<Result<Answer, Errno>> {
    Some(match number {
        libc::SYS_open => open::open(desk),
        libc::SYS_creat => open::creat(desk),
        libc::SYS_access => asking::access(desk),
        libc::SYS_readlink => links::readlink(desk),
        libc::SYS_mkdir => entries::make_directory(desk, Form::Legacy),
        libc::SYS_mknod => entries::make_node(desk, Form::Legacy),
        libc::SYS_symlink => entries::symlink(desk, Form::Legacy),
        libc::SYS_link => entries::link(desk, Form::Legacy),
        libc::SYS_unlink => entries::unlink(desk),
        libc::SYS_rmdir => entries::rmdir(desk),
        libc::SYS_rename => entries::rename(desk, Form::Legacy),
        libc::SYS_renameat => entries::rename(desk, Form::At),
        libc::SYS_chmod => metadata::chmod(desk),
        libc::SYS_chown => metadata::chown(desk),
        libc::SYS_lchown => metadata::lchown(desk),
        libc::SYS_utime => metadata::utime(desk),
        libc::SYS_utimes => metadata::utimes(desk),
        libc::SYS_futimesat => metadata::futimesat(desk),
        libc::SYS_fork | libc::SYS_vfork => others::fork(desk),
        _ => return None,
    })
}

/// Calls that the generic table kept from the older ones.
#[cfg(not(target_arch = "x86_64"))]
fn legacy(desk: &Desk<'_>, number: i64) -> Option<Result<Answer, Errno>> {
    (number == libc::SYS_renameat).then(|| entries::rename(desk, Form::At))
}
