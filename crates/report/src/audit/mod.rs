//! Audit records, one for each event in a run. No I/O here: `stockade_store` writes them.

mod body;
mod record;
mod refused;

use std::ffi::OsString;

use crate::approve::{Answer, EscalationRequest};
pub use body::body;
pub use record::{Decided, Ended, Granted, Judged, Lost, Record, Seen, Started};
pub use refused::Refused;

/// Receives the events of a run.
pub trait Observer: Send + Sync {
    /// Records an event. Called from the threads that serve the run, so it doesn't wait for a disk; it never fails.
    fn note(&self, run: &str, record: Record);

    /// Stores a grant for later runs, as the words of a flag; returns whether it is stored.
    fn keep_grant(&self, words: &[OsString], request: &EscalationRequest, answer: &Answer) -> bool {
        let _ = (words, request, answer);
        false
    }

    /// Whether [`Observer::keep_grant`] can store grants at all.
    fn keeps_grants(&self) -> bool {
        false
    }

    /// Receives a refused access, each time that it is refused, before the program gets its answer. [`Observer::note`] has
    /// the first of its kind only. Called only if [`Observer::wants_refused`]; never waits and never fails.
    fn refused(&self, run: &str, refused: &Refused) {
        let _ = (run, refused);
    }

    /// Whether it wants [`Observer::refused`].
    fn wants_refused(&self) -> bool {
        false
    }

    /// Whether it wants [`Record::Allowed`] too: one for each allowed access to a file, host or socket.
    fn wants_allowed(&self) -> bool {
        false
    }
}
