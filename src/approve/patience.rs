//! How long an approver may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time for one question. It also ends when nobody waits for the answer any more: the program was killed, or a
/// signal took it out of the call.
#[derive(Debug, Clone)]
pub struct Patience {
    deadline: Instant,
    withdrawn: Arc<AtomicBool>,
}

impl Patience {
    /// So much from now on.
    pub fn of(time: Duration) -> Patience {
        Patience {
            deadline: Instant::now() + time,
            withdrawn: Arc::default(),
        }
    }

    /// What is left; `None` once it is over.
    pub fn left(&self) -> Option<Duration> {
        if self.is_withdrawn() {
            return None;
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Whether nobody waits for the answer any more.
    pub fn is_withdrawn(&self) -> bool {
        self.withdrawn.load(Ordering::Relaxed)
    }

    /// Ends it for all who hold a copy.
    pub fn withdraw(&self) {
        self.withdrawn.store(true, Ordering::Relaxed);
    }
}
