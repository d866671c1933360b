//! What happens in a run, one record each, for whoever keeps them. No I/O here: [`crate::store`] writes them down.

mod record;

pub use record::{Decided, Ended, Granted, Record, Seen, Started};

/// Whoever takes note of what happens.
pub trait Observer: Send + Sync {
    /// Takes note. Called from the threads that serve the run, so it doesn't wait for a disk; it never fails.
    fn note(&self, run: &str, record: Record);

    /// Whether it wants [`Record::Allowed`] too: one for each allowed access to a file, host or socket.
    fn wants_allowed(&self) -> bool {
        false
    }
}
