//! Stops the whole run while a question is open on the terminal that the run uses.
//!
//! All of the run's threads are stopped and no call is answered, not even one that had arrived before. So a thread that
//! has run since was resumed by the run itself.
//!
//! Where the run can't be held, nothing is asked at its terminal. `warden::Pause` says how threads are stopped.

use std::os::fd::AsFd;
use std::sync::Arc;

use super::gate::Gate;
use crate::supervise::call::fds::WorkerFds;
use crate::warden::{Look, Pause};

/// Keeps the gate closed until it is dropped.
struct ClosedGate(Arc<Gate>);

impl ClosedGate {
    fn new(gate: &Arc<Gate>) -> ClosedGate {
        gate.set(true);
        ClosedGate(Arc::clone(gate))
    }
}

impl Drop for ClosedGate {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// The stopped run. Dropping it resumes the run.
pub struct Hold {
    pause: Pause,
    _closed: ClosedGate,
}

impl Hold {
    /// Stops the whole run; an error says why that isn't possible.
    pub fn begin(fds: &WorkerFds, gate: &Arc<Gate>) -> Result<Hold, &'static str> {
        if fds.is_interruptible {
            // Stopping the run would cancel the very call that is asked about.
            return Err("before Linux 5.19 nothing can be asked where the run has its terminal");
        }
        let closed = ClosedGate::new(gate);
        let Some(pause) = Pause::begin(fds.warden, Some(fds.orders.as_fd())) else {
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
