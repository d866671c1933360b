//! Keeps a worker on its processor for the moment in which it hands a descriptor over.
//!
//! The target takes the descriptor itself and wakes the worker for it (`SECCOMP_IOCTL_NOTIF_ADDFD`). With an idle processor
//! beside, the kernel wakes the worker there, and the answer takes the target along. Waking a processor that sleeps costs
//! more than all else that the worker does.

use std::sync::atomic::{AtomicBool, Ordering};

use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;

const THIS_THREAD: Pid = Pid::from_raw(0);

/// Whether the kernel or a filter around this process refused it once. Each refusal may be logged.
static IS_REFUSED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The processors that this thread may use, where there is a choice.
    static ALL: Option<CpuSet> = choice();
}

/// `None` too where the machine has more processors than the set knows.
fn choice() -> Option<CpuSet> {
    let all = sched_getaffinity(THIS_THREAD).ok()?;
    let known = (0..CpuSet::count()).filter(|processor| all.is_set(*processor) == Ok(true));
    (known.count() > 1).then_some(all)
}

/// Does something that sleeps for a moment, and has the thread wake where it is. Where that can't be, it is only slower.
pub fn stay<T>(task: impl FnOnce() -> T) -> T {
    let _staying = ALL.with(|all| all.and_then(Staying::begin));
    task()
}

/// The thread stays where it is, and has these processors again with the value's end.
struct Staying(CpuSet);

impl Staying {
    fn begin(all: CpuSet) -> Option<Staying> {
        if IS_REFUSED.load(Ordering::Relaxed) {
            return None;
        }
        let pinned = pin();
        IS_REFUSED.store(pinned.is_err(), Ordering::Relaxed);
        pinned.ok().map(|()| Staying(all))
    }
}

impl Drop for Staying {
    fn drop(&mut self) {
        // The processors of a container may be others by now: then all that it has.
        if sched_setaffinity(THIS_THREAD, &self.0).is_err() {
            let mut any = CpuSet::new();
            for processor in 0..CpuSet::count() {
                let _ = any.set(processor);
            }
            let _ = sched_setaffinity(THIS_THREAD, &any);
        }
    }
}

fn pin() -> nix::Result<()> {
    let mut here = CpuSet::new();
    here.set(sched_getcpu()?)?;
    sched_setaffinity(THIS_THREAD, &here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_for_the_moment_and_has_all_its_processors_again() {
        let before = sched_getaffinity(THIS_THREAD).expect("the kernel tells");
        let (during, processor) = stay(|| (sched_getaffinity(THIS_THREAD), sched_getcpu()));
        let during = during.expect("the kernel tells");
        let processor = processor.expect("the kernel tells");
        if choice().is_some() {
            assert_ne!(during, before, "it stays where it is");
        }
        assert_eq!(during.is_set(processor), Ok(true));
        assert_eq!(sched_getaffinity(THIS_THREAD), Ok(before));
    }

    #[test]
    fn a_panic_leaves_no_thread_where_it_is() {
        let before = sched_getaffinity(THIS_THREAD);
        assert!(std::panic::catch_unwind(|| stay(|| panic!("on purpose"))).is_err());
        assert_eq!(sched_getaffinity(THIS_THREAD), before);
    }
}
