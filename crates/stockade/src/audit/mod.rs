//! What happens in a run, one record each. No I/O here: `stockade_store` writes them down.

mod body;
mod record;

use std::ffi::OsString;

use crate::approve::{Answer, EscalationRequest};
pub use body::body;
pub use record::{Decided, Ended, Granted, Judged, Lost, Record, Seen, Started};

/// Takes note of what happens.
pub trait Observer: Send + Sync {
    /// Takes note. Called from the threads that serve the run, so it doesn't wait for a disk; it never fails.
    fn note(&self, run: &str, record: Record);

    /// Keeps a grant for later runs, as the words of a flag; whether it is kept.
    fn keep_grant(&self, words: &[OsString], request: &EscalationRequest, answer: &Answer) -> bool {
        let _ = (words, request, answer);
        false
    }

    /// Whether [`Observer::keep_grant`] may be asked for at all.
    fn keeps_grants(&self) -> bool {
        false
    }

    /// Whether it wants [`Record::Allowed`] too: one for each allowed access to a file, host or socket.
    fn wants_allowed(&self) -> bool {
        false
    }
}
