//! Threads of the supervisor, and the count of calls that may take long.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{io, thread};

/// Deep enough for the kernel's longest paths; only the used part is paged in.
pub const STACK: usize = 512 * 1024;

/// Most slow calls at once in a run without a limit of processes: more are refused, so that no target fills the machine with the
/// supervisor's threads. A run with a limit has no more threads that could wait than that.
const MAX_SLOW: usize = 4096;
/// Beside threads that wait there are connections to nameservers.
const MIN_SLOW: usize = 512;

/// Starts a thread that inherits the confinement of this one.
pub fn spawn(task: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new()
        .name("stockade-worker".into())
        .stack_size(STACK)
        .spawn(task)
        .map(drop)
}

/// The calls of a run that have a thread of their own because they may take long.
#[derive(Debug)]
pub struct SlowCalls {
    count: AtomicUsize,
    most: usize,
}

impl SlowCalls {
    /// None yet, in a run with this limit of processes.
    pub fn new(limit: Option<u64>) -> Arc<SlowCalls> {
        let most = limit.map_or(MAX_SLOW, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Arc::new(SlowCalls {
            count: AtomicUsize::new(0),
            most: most.max(MIN_SLOW),
        })
    }

    /// Counts one more; returns `None` if there are too many.
    pub fn begin(self: &Arc<Self>) -> Option<SlowCall> {
        let slow = SlowCall(Arc::clone(self));
        (self.count.fetch_add(1, Ordering::Relaxed) < self.most).then_some(slow)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

/// One slow call, counted until it is dropped.
pub struct SlowCall(Arc<SlowCalls>);

impl Drop for SlowCall {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_calls_are_limited_and_give_their_place_back() {
        let slow = SlowCalls::new(Some(1));
        let held: Vec<_> = (0..MIN_SLOW).map(|_| slow.begin().expect("there is room")).collect();
        assert!(slow.begin().is_none());
        assert_eq!(slow.count(), MIN_SLOW);
        drop(held);
        assert!(slow.begin().is_some());
    }

    #[test]
    fn a_run_with_more_processes_may_have_more_slow_calls() {
        let slow = SlowCalls::new(Some(600));
        let held: Vec<_> = (0..601).map_while(|_| slow.begin()).collect();
        assert_eq!(held.len(), 600);
    }
}
