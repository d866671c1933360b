//! Data that outlasts a run: stored grants and the audit trail. The only code that uses SQLite.
//!
//! Three databases in the state directory, for the user alone: `grants.db`, created with the first stored grant,
//! `scripts.db`, created with the first script that `exec` runs, and `audit.db` with its log and its head beside it. Nothing here
//! decides access, and no failure widens or stops a run: an unreadable grant doesn't count, a lost record is reported.

mod alert;
mod chain;
mod database;
mod error;
mod fault;
mod grant;
mod grants;
mod head;
mod keeper;
mod level;
mod log;
mod place;
mod queue;
mod scripts;
#[cfg(test)]
mod tests;
mod trail;
mod verify;
mod writer;

pub use chain::{Hash, Row};
pub use error::{AuditError, StoreError};
pub use fault::Fault;
pub use grant::{Given, Key, NewGrant, StoredGrant};
pub use grants::{Added, GrantStore, Listing};
pub use level::Level;
pub use scripts::{Basis, ScriptStore, Source, StoredScript};
pub use trail::{Choice, Entry, Trail};
pub use verify::Verified;
pub use writer::AuditWriter;

/// Verifies that the trail in this state directory is as it was written; `None` if nothing was ever recorded.
///
/// # Errors
/// It can't be read at all.
pub fn verify(state: &std::path::Path) -> Result<Option<Verified>, StoreError> {
    verify::verify(state)
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(0))
}
