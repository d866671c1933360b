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
