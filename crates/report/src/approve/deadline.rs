//! The time that an approver has for an answer.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

const WAITED_FOR: u8 = 0;
const WITHDRAWN: u8 = 1;
const BROKEN: u8 = 2;
const INTERRUPTED: u8 = 3;
const SUSPENDED: u8 = 4;

/// The deadline of one question. It also ends early when the answer is no longer needed: the program was killed, or a
/// signal interrupted its call.
#[derive(Clone)]
pub struct Deadline {
    at: Instant,
    state: Arc<AtomicU8>,
    held: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline")
            .field("at", &self.at)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Deadline {
    /// A deadline this long from now.
    pub fn of(time: Duration) -> Deadline {
        Deadline {
            at: Instant::now() + time,
            state: Arc::new(AtomicU8::new(WAITED_FOR)),
            held: None,
        }
    }

    /// For [`Manner::InPlace`](super::Manner::InPlace): `held` tells whether the run is stopped and has been the whole
    /// time.
    #[must_use]
    pub fn while_held(self, held: impl Fn() -> bool + Send + Sync + 'static) -> Deadline {
        Deadline {
            held: Some(Arc::new(held)),
            ..self
        }
    }

    /// The time left; `None` once it is over.
    pub fn left(&self) -> Option<Duration> {
        if self.is_withdrawn() {
            return None;
        }
        let left = self.at.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Whether the answer is no longer needed.
    pub fn is_withdrawn(&self) -> bool {
        self.state.load(Ordering::Relaxed) != WAITED_FOR
    }

    /// Whether a process of the run has run since the question was asked where the run may draw over it. Input typed
    /// since then is no answer.
    pub fn is_broken(&self) -> bool {
        match self.state.load(Ordering::Relaxed) {
            WAITED_FOR => self.held.as_ref().is_some_and(|held| !held()),
            state => state == BROKEN,
        }
    }

    /// Ends the deadline for all copies.
    pub fn withdraw(&self) {
        self.end(WITHDRAWN);
    }

    /// Ends it because the run has gone on.
    pub fn break_off(&self) {
        self.end(BROKEN);
    }

    /// Ends it because the person pressed Ctrl-C: the run continues, so that the key ends it, before anything else is
    /// asked.
    pub fn interrupt(&self) {
        self.end(INTERRUPTED);
    }

    /// Ends it because the person pressed Ctrl-Z: this process is to stop, and the question comes again when it goes on.
    pub fn suspend(&self) {
        self.end(SUSPENDED);
    }

    /// Whether [`Deadline::suspend`] was called.
    pub fn is_suspended(&self) -> bool {
        self.state.load(Ordering::Relaxed) == SUSPENDED
    }

    /// Whether [`Deadline::interrupt`] was called.
    pub fn is_interrupted(&self) -> bool {
        self.state.load(Ordering::Relaxed) == INTERRUPTED
    }

    /// The first reason counts.
    fn end(&self, reason: u8) {
        let _ = self
            .state
            .compare_exchange(WAITED_FOR, reason, Ordering::Relaxed, Ordering::Relaxed);
    }
}
