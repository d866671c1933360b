//! The gate that answers pass: closed while the run is stopped.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::mutex::lock;

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

    /// Closes or opens it.
    pub fn set(&self, is_closed: bool) {
        *lock(&self.is_closed) = is_closed;
        self.opened.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::{TryRecvError, channel};

    #[test]
    fn answers_pass_an_open_gate_and_wait_at_a_closed_one() {
        let gate = Arc::<Gate>::default();
        gate.pass();
        gate.set(true);
        let (passed, has_passed) = channel();
        let waiting = std::thread::spawn({
            let gate = Arc::clone(&gate);
            move || {
                gate.pass();
                passed.send(()).unwrap();
            }
        });
        assert_eq!(has_passed.try_recv(), Err(TryRecvError::Empty));
        gate.set(false);
        waiting.join().unwrap();
        assert_eq!(has_passed.try_recv(), Ok(()));
    }
}
