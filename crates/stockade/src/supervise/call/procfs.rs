//! The run's view of `/proc`: the caller's own entries, those of the run's other processes, and nothing of any other
//! process.

use std::path::{Component, Path};

use super::caller::Caller;
use super::errno::Errno;
use super::fds::WorkerFds;
use crate::policy::Access;
use crate::processes::StatFields;

/// Whether a name is that of a process or something below it.
pub fn is_of_a_process(name: &Path) -> bool {
    process_of(name).is_some()
}

/// Whether a name on procfs may mean another object for another reader: an entry of a process, or any name of a mount
/// outside `/proc`.
pub fn is_personal(name: &Path) -> bool {
    is_of_a_process(name) || !name.starts_with("/proc")
}

/// The process in `/proc/N/…`.
pub fn process_of(name: &Path) -> Option<i32> {
    let mut parts = name.strip_prefix("/proc").ok()?.components();
    match parts.next()? {
        Component::Normal(number) => number.to_str()?.parse().ok(),
        _ => None,
    }
}

/// The thread in `/proc/N/task/M/…`.
fn thread_of(name: &Path) -> Option<i32> {
    let mut parts = name.strip_prefix("/proc").ok()?.components().skip(1);
    (parts.next()?.as_os_str() == "task").then_some(())?;
    parts.next()?.as_os_str().to_str()?.parse().ok()
}

/// A directory of the caller's own magic links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnDirectory {
    /// `/proc/N` or `/proc/N/task/M`: `cwd`, `exe`, `root`.
    Top,
    /// `fd` in it.
    Descriptors,
    /// `ns` or `map_files` in it.
    Other,
}

impl OwnDirectory {
    pub fn is_descriptors(self) -> bool {
        self == OwnDirectory::Descriptors
    }
}

/// Which of the process's directories this is; `None` for another process's.
pub fn own_directory(name: &[u8], process: i32) -> Option<OwnDirectory> {
    use std::os::unix::ffi::OsStrExt;
    let name = Path::new(std::ffi::OsStr::from_bytes(name));
    if process_of(name)? != process {
        return None;
    }
    let rest: Vec<_> = name.strip_prefix("/proc").ok()?.components().skip(1).collect();
    let rest = match rest.as_slice() {
        [task, _, rest @ ..] if task.as_os_str() == "task" => rest,
        rest => rest,
    };
    Some(match rest {
        [] => OwnDirectory::Top,
        [one] if one.as_os_str() == "fd" => OwnDirectory::Descriptors,
        _ => OwnDirectory::Other,
    })
}

/// Refuses entries of processes outside the run; other names aren't refused here.
pub fn refuse_foreign(fds: &WorkerFds, caller: &Caller<'_>, name: &Path) -> Result<(), Errno> {
    match process_of(name) {
        Some(process) if process != caller.process() && !is_below(fds, caller.top, process) => Err(Errno(libc::EACCES)),
        _ => Ok(()),
    }
}

/// Most generations that are read.
const MAX_DEPTH: usize = 4096;

/// Whether a process or thread is below a warden, and so part of its run.
pub fn is_below(fds: &WorkerFds, warden: i32, process: i32) -> bool {
    process != warden && climb_surely(fds, process, warden).is_some()
}

fn parent_of(fds: &WorkerFds, process: i32) -> Option<i32> {
    stat_field(fds, process, 4)
}

/// An ancestor of a process. The start time distinguishes it from a later process with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ancestor {
    pub process: i32,
    pub started: u64,
}

/// Fields of proc_pid_stat(5) of a process.
pub struct ProcessStat {
    parent: i32,
    /// The start time.
    pub started: u64,
    /// Whether it has begun to exit: its children get another parent next.
    pub is_exiting: bool,
}

/// Reads the fields of a process.
pub fn look(fds: &WorkerFds, process: i32) -> Option<ProcessStat> {
    const EXITING: u64 = 4;
    let text = fds.read_proc(&format!("{process}/stat")).ok()?;
    let fields = StatFields::of(text.as_bytes())?;
    let flags: u64 = fields.get(9)?;
    Some(ProcessStat {
        parent: fields.get(4)?,
        started: fields.get(22)?,
        is_exiting: flags & EXITING != 0,
    })
}

/// The ancestors of a waiting thread, up to the run's warden, the nearest first. `None` if they can't be determined.
pub fn ancestry(fds: &WorkerFds, thread: i32) -> Option<Vec<Ancestor>> {
    let steps = climb_surely(fds, thread, fds.warden)?;
    let ancestors = steps.iter().skip(1).map(|(process, found)| Ancestor {
        process: *process,
        started: found.started,
    });
    Some(ancestors.collect())
}

/// Climbs to the top, again if a process on the way ends, unless that is the process itself.
fn climb_surely(fds: &WorkerFds, process: i32, top: i32) -> Option<Vec<(i32, ProcessStat)>> {
    const TRIES: usize = 16;
    for _ in 0..TRIES {
        match climb(fds, process, top) {
            Climb::Arrived(steps) => return Some(steps),
            Climb::Elsewhere => return None,
            Climb::Changed => {}
        }
    }
    None
}

/// The result of climbing.
enum Climb {
    /// The top was reached, by these processes.
    Arrived(Vec<(i32, ProcessStat)>),
    /// The end of all processes was reached: the process isn't below the top.
    Elsewhere,
    /// A process on the way ended.
    Changed,
}

/// A number may be reused by another process between two reads. So all are read again from the top down: at the last
/// read the thread, which waits, still has the parent that it had at the first, so that parent was alive all the time
/// between, and what was read of it was its own; and so on upwards.
fn climb(fds: &WorkerFds, lowest: i32, top: i32) -> Climb {
    let mut steps: Vec<(i32, ProcessStat)> = Vec::new();
    let mut process = lowest;
    while process != top {
        if process <= 1 || steps.len() >= MAX_DEPTH {
            return Climb::Elsewhere;
        }
        let Some(found) = look(fds, process) else {
            return if steps.is_empty() {
                Climb::Elsewhere
            } else {
                Climb::Changed
            };
        };
        let parent = found.parent;
        steps.push((process, found));
        process = parent;
    }
    for (process, found) in steps.iter().rev() {
        if parent_of(fds, *process) != Some(found.parent) {
            return Climb::Changed;
        }
    }
    Climb::Arrived(steps)
}

/// A field of proc_pid_stat(5), counted from 1; only from the fourth on.
pub fn stat_field<T: std::str::FromStr>(fds: &WorkerFds, process: i32, field: usize) -> Option<T> {
    let text = fds.read_proc(&format!("{process}/stat")).ok()?;
    StatFields::of(text.as_bytes())?.get(field)
}

/// A process whose entry is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The caller's own.
    Own,
    /// Another process of the run.
    AnotherOfRun,
}

/// Whether an entry of a process in the run may be accessed.
pub fn may_access(name: &Path, whose: Whose, access: Access) -> bool {
    let is_own = whose == Whose::Own;
    let entry = name.file_name().unwrap_or_default();
    let of_thread = thread_of(name).is_some();
    if entry == "mem" {
        return is_own;
    }
    if !access.intersects(Access::CHANGE) {
        return true;
    }
    let depth = name.components().count();
    let is_direct = depth == if of_thread { 6 } else { 4 };
    is_own && is_direct && (entry == "comm" || entry == "oom_score_adj" || entry == "coredump_filter")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::testing::{notification, worker_fds};

    fn path(name: &str) -> &Path {
        Path::new(name)
    }

    #[test]
    fn the_process_and_the_thread_are_read_from_a_name() {
        for (name, process, thread) in [
            ("/proc/12/status", Some(12), None),
            ("/proc/12", Some(12), None),
            ("/proc/12/task/13/comm", Some(12), Some(13)),
            ("/proc/self/status", None, None),
            ("/proc/sys/kernel", None, None),
            ("/proc", None, None),
            ("/w/proc/12", None, None),
            ("/proc/12x", None, None),
        ] {
            assert_eq!(process_of(path(name)), process, "{name}");
            assert_eq!(thread_of(path(name)), thread, "{name}");
        }
    }

    #[test]
    fn what_another_reader_would_take_for_another_object_is_personal() {
        assert!(is_personal(path("/proc/12/status")));
        assert!(is_personal(path("/mnt/proc/uptime")));
        assert!(!is_personal(path("/proc/uptime")));
    }

    #[test]
    fn the_callers_own_directories_of_links_are_known_and_no_others() {
        let own = |name: &str| own_directory(name.as_bytes(), 12);
        assert_eq!(own("/proc/12"), Some(OwnDirectory::Top));
        assert_eq!(own("/proc/12/task/13"), Some(OwnDirectory::Top));
        assert_eq!(own("/proc/12/fd"), Some(OwnDirectory::Descriptors));
        assert_eq!(own("/proc/12/task/13/fd"), Some(OwnDirectory::Descriptors));
        assert_eq!(own("/proc/12/ns"), Some(OwnDirectory::Other));
        assert_eq!(own("/proc/12/task"), Some(OwnDirectory::Other));
        assert_eq!(own("/proc/13/fd"), None);
        assert_eq!(own("/w"), None);
    }

    #[test]
    fn a_process_changes_a_few_of_its_own_entries_and_nothing_of_anothers() {
        for entry in ["comm", "oom_score_adj", "coredump_filter"] {
            for name in [format!("/proc/12/{entry}"), format!("/proc/12/task/13/{entry}")] {
                assert!(may_access(path(&name), Whose::Own, Access::WRITE), "{name}");
                assert!(!may_access(path(&name), Whose::AnotherOfRun, Access::WRITE), "{name}");
            }
        }
        for name in [
            "/proc/12/oom_adj",
            "/proc/12/attr/comm",
            "/proc/12/comm/comm",
            "/proc/12/setgroups",
        ] {
            assert!(!may_access(path(name), Whose::Own, Access::WRITE), "{name}");
        }
    }

    #[test]
    fn memory_is_open_to_its_own_process_alone_and_other_entries_to_the_run() {
        assert!(may_access(path("/proc/12/mem"), Whose::Own, Access::WRITE));
        assert!(!may_access(path("/proc/12/mem"), Whose::AnotherOfRun, Access::READ));
        assert!(!may_access(
            path("/proc/12/task/13/mem"),
            Whose::AnotherOfRun,
            Access::READ
        ));
        assert!(may_access(path("/proc/12/maps"), Whose::AnotherOfRun, Access::READ));
    }

    #[test]
    fn a_process_is_below_those_that_started_it_and_not_below_itself() {
        let fds = worker_fds();
        let own = std::process::id().try_into().unwrap();
        assert!(is_below(&fds, fds.warden, own));
        assert!(!is_below(&fds, own, own));
        assert!(!is_below(&fds, own, fds.warden));
        assert!(!is_below(&fds, fds.warden, i32::MAX));
    }

    #[test]
    fn the_ancestors_of_a_thread_end_with_the_warden() {
        let fds = worker_fds();
        let ancestors = ancestry(&fds, nix::unistd::gettid().as_raw()).unwrap();
        // The warden itself isn't read.
        assert!(
            ancestors
                .iter()
                .all(|ancestor| ancestor.process != 1 && ancestor.started > 0)
        );
        assert_eq!(ancestry(&fds, i32::MAX), None);
    }

    #[test]
    fn the_callers_own_entries_are_not_foreign() {
        let fds = worker_fds();
        let caller = Caller::new(&fds, &notification(1));
        let own = format!("/proc/{}/status", std::process::id());
        assert_eq!(refuse_foreign(&fds, &caller, path(&own)), Ok(()));
        assert_eq!(refuse_foreign(&fds, &caller, path("/proc/uptime")), Ok(()));
        assert_eq!(
            refuse_foreign(&fds, &caller, path("/proc/1/status")),
            Err(Errno(libc::EACCES))
        );
    }
}
