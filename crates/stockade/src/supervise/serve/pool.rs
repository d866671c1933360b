//! How many workers serve a run.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The serving threads of a run.
#[derive(Debug, Default)]
pub struct WorkerPool {
    /// The number of workers that wait for a notification.
    pub waiting: AtomicUsize,
    /// Held by the worker that receives the next notification.
    pub turn: Mutex<()>,
    /// The number of workers.
    pub workers: AtomicUsize,
    /// The number of calls since another one was found waiting.
    pub calls_alone: AtomicUsize,
}

impl WorkerPool {
    /// Whether no worker waits for the next notification.
    pub fn is_busy(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) == 0
    }

    /// Whether no other worker has a call to answer.
    pub fn is_one_at_work(&self) -> bool {
        self.workers.load(Ordering::Relaxed) <= self.waiting.load(Ordering::Relaxed) + 1
    }

    /// Whether checking for another waiting call is worth a system call. A run that makes one call after the other, as
    /// most do, has one worker and is checked now and then.
    pub fn is_time_to_look(&self) -> bool {
        const AT_FIRST: usize = 8;
        const THEN_EACH: usize = 16;
        if self.workers.load(Ordering::Relaxed) > 1 {
            return true;
        }
        let calls = self.calls_alone.fetch_add(1, Ordering::Relaxed);
        calls < AT_FIRST || calls.is_multiple_of(THEN_EACH)
    }
}
