//! The run held still, while a question is open where it has its terminal.
//!
//! Nothing of it goes on meanwhile: its threads are stopped, and no call is answered, also not one that had come before, so
//! that a thread which has run since is one that let itself go on.

use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::Approvals;
use crate::mutex::lock;
use crate::supervise::worker_fds::WorkerFds;
use crate::warden::{Look, Pause};

/// Answers are given while it is open.
#[derive(Debug, Default)]
pub struct Gate {
    is_closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    /// Waits while it is closed.
    pub fn pass(&self) {
        let closed = lock(&self.is_closed);
        drop(
            self.opened
                .wait_while(closed, |is_closed| *is_closed)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    fn set(&self, is_closed: bool) {
        *lock(&self.is_closed) = is_closed;
        self.opened.notify_all();
    }
}

/// A closed gate, which opens with the value's end.
struct Closed(Arc<Approvals>);

impl Closed {
    fn new(approvals: &Arc<Approvals>) -> Closed {
        approvals.gate.set(true);
        Closed(Arc::clone(approvals))
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        self.0.gate.set(false);
    }
}

/// The run held still. Dropping it lets all of it go on.
pub struct Hold {
    pause: Pause,
    _closed: Closed,
}

impl Hold {
    /// Stops all of the run; an error says why it can't be.
    pub fn begin(worker_fds: &WorkerFds, approvals: &Arc<Approvals>) -> Result<Hold, &'static str> {
        if worker_fds.is_interruptible {
            // Stopping the run would take the very call back that is asked about.
            return Err("before Linux 5.19 nothing can be asked where the run has its terminal");
        }
        let closed = Closed::new(approvals);
        let Some(pause) = Pause::begin(worker_fds.warden, Some(worker_fds.orders.as_fd())) else {
            return Err("the run's processes can't be held still, so nothing is asked where they have their terminal");
        };
        // Once it is held: nothing sets another one then.
        if pause.has_alarm() {
            return Err("a timer of the run would let it go on, so nothing is asked where it has its terminal");
        }
        Ok(Hold { pause, _closed: closed })
    }

    /// Whether nothing of the run has run since.
    pub fn is_unbroken(&self) -> bool {
        self.pause.is_unbroken()
    }

    /// The same question for the asking thread.
    pub fn look(&self) -> Look {
        self.pause.look()
    }
}
