//! Stops the whole run while a question is open on the terminal that the run uses.
//!
//! All of the run's threads are stopped and no call is answered, not even one that had arrived before. So a thread that
//! has run since was resumed by the run itself.

use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::Approvals;
use crate::mutex::lock;
use crate::supervise::worker_fds::WorkerFds;
use crate::warden::{Look, Pause};

/// Calls are answered only while the gate is open.
#[derive(Debug, Default)]
pub struct Gate {
    is_closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    /// Waits while the gate is closed.
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

/// Keeps the gate closed until it is dropped.
struct ClosedGate(Arc<Approvals>);

impl ClosedGate {
    fn new(approvals: &Arc<Approvals>) -> ClosedGate {
        approvals.gate.set(true);
        ClosedGate(Arc::clone(approvals))
    }
}

impl Drop for ClosedGate {
    fn drop(&mut self) {
        self.0.gate.set(false);
    }
}

/// The stopped run. Dropping it resumes the run.
pub struct Hold {
    pause: Pause,
    _closed: ClosedGate,
}

impl Hold {
    /// Stops the whole run; an error says why that isn't possible.
    pub fn begin(worker_fds: &WorkerFds, approvals: &Arc<Approvals>) -> Result<Hold, &'static str> {
        if worker_fds.is_interruptible {
            // Stopping the run would cancel the very call that is asked about.
            return Err("before Linux 5.19 nothing can be asked where the run has its terminal");
        }
        let closed = ClosedGate::new(approvals);
        let Some(pause) = Pause::begin(worker_fds.warden, Some(worker_fds.orders.as_fd())) else {
            return Err("the run's processes can't be held still, so nothing is asked where they have their terminal");
        };
        // Checked after the stop: no further timer can be set then.
        if pause.has_alarm() {
            return Err("a timer of the run would let it go on, so nothing is asked where it has its terminal");
        }
        Ok(Hold { pause, _closed: closed })
    }

    /// Whether nothing of the run has run since the stop.
    pub fn is_unbroken(&self) -> bool {
        self.pause.is_unbroken()
    }

    /// A handle with which the approver's thread makes the same check.
    pub fn look(&self) -> Look {
        self.pause.look()
    }
}
