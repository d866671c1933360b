//! Keeps a worker on its processor for the moment in which it hands over a descriptor.
//!
//! The target installs the descriptor itself and wakes the worker (`SECCOMP_IOCTL_NOTIF_ADDFD`). If another processor
//! is idle, the kernel wakes the worker there, and the answer moves the target there too. Waking a sleeping processor
//! costs more than everything else that the worker does.

use std::sync::atomic::{AtomicBool, Ordering};

use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;

const THIS_THREAD: Pid = Pid::from_raw(0);

/// Whether pinning was refused once, by the kernel or a filter around this process. Each refusal may be logged.
static IS_REFUSED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The processors that this thread may use, if there are several.
    static ALL: Option<CpuSet> = choice();
}

/// Returns `None` also if the machine has more processors than the set can hold.
fn choice() -> Option<CpuSet> {
    let all = sched_getaffinity(THIS_THREAD).ok()?;
    let known = (0..CpuSet::count()).filter(|processor| all.is_set(*processor) == Ok(true));
    (known.count() > 1).then_some(all)
}

/// Runs a task that sleeps for a moment, and has the thread wake on the same processor. A failure only slows it down.
pub fn stay<T>(task: impl FnOnce() -> T) -> T {
    let _staying = ALL.with(|all| all.and_then(Staying::begin));
    task()
}

/// Keeps the thread on its processor; dropping it restores these processors.
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
        // A container's processors may have changed by now: then use all that it has.
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
