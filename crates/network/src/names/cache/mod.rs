//! Fresh answers and pending lookups, so that concurrent lookups of one name send one query.

use std::collections::HashMap;
use std::collections::hash_map;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::outcome::{Found, LookupOutcome, NoAddress};
use crate::mutex::lock;
use crate::profile::Name;

/// More than any honest run looks up; about a megabyte.
const MAX_NAMES: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct NameCache {
    entries: Mutex<HashMap<Name, CacheEntry>>,
}

#[derive(Debug)]
enum CacheEntry {
    Asked(Arc<PendingLookup>),
    Known(CachedName),
}

#[derive(Debug)]
struct CachedName {
    outcome: LookupOutcome,
    until: Instant,
}

/// A pending lookup: empty until its result is known.
#[derive(Debug, Default)]
struct PendingLookup {
    outcome: Mutex<Option<LookupOutcome>>,
    answered: Condvar,
}

impl NameCache {
    /// The cached answer, if it is still fresh.
    pub fn fresh(&self, name: &Name) -> Option<Result<Found, NoAddress>> {
        match self.entries().get(name)? {
            CacheEntry::Known(known) => known.told(Instant::now()),
            CacheEntry::Asked(_) => None,
        }
    }

    /// The fresh answer, or the result of a pending lookup, or else the result of `ask`. Waits for another thread's
    /// lookup at most for `deadline`.
    pub fn answer(
        &self,
        name: &Name,
        deadline: Duration,
        ask: impl FnOnce() -> LookupOutcome,
    ) -> Result<Found, NoAddress> {
        let question = match self.place(name) {
            CachePlace::Known(result) => return result,
            CachePlace::AskedBySomebody(question) => return question.wait(deadline),
            CachePlace::Ours(question) => question,
        };
        let mut asker = Resolving {
            cache: self,
            name,
            question,
            outcome: LookupOutcome::failed(),
        };
        asker.outcome = ask();
        asker.outcome.told(asker.outcome.lifetime)
    }

    /// Drops every answer, including those still pending.
    pub fn clear(&self) {
        self.entries().clear();
    }

    fn place(&self, name: &Name) -> CachePlace {
        let mut entries = self.entries();
        match entries.get(name) {
            Some(CacheEntry::Asked(question)) => return CachePlace::AskedBySomebody(question.clone()),
            Some(CacheEntry::Known(known)) => {
                if let Some(result) = known.told(Instant::now()) {
                    return CachePlace::Known(result);
                }
            }
            None => make_room(&mut entries),
        }
        let question = Arc::<PendingLookup>::default();
        entries.insert(name.clone(), CacheEntry::Asked(question.clone()));
        CachePlace::Ours(question)
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Name, CacheEntry>> {
        lock(&self.entries)
    }
}

enum CachePlace {
    Known(Result<Found, NoAddress>),
    AskedBySomebody(Arc<PendingLookup>),
    Ours(Arc<PendingLookup>),
}

/// The thread that runs the lookup. Dropping it always answers the waiters: a panic must not leave them waiting.
struct Resolving<'a> {
    cache: &'a NameCache,
    name: &'a Name,
    question: Arc<PendingLookup>,
    outcome: LookupOutcome,
}

impl Drop for Resolving<'_> {
    fn drop(&mut self) {
        let until = Instant::now() + self.outcome.lifetime;
        let known = CachedName {
            outcome: self.outcome.clone(),
            until,
        };
        if let hash_map::Entry::Occupied(mut entry) = self.cache.entries().entry(self.name.clone()) {
            // Not after `clear`: the query then went to nameservers that no longer count.
            let is_ours = matches!(entry.get(), CacheEntry::Asked(asked) if Arc::ptr_eq(asked, &self.question));
            if is_ours {
                entry.insert(CacheEntry::Known(known));
            }
        }
        self.question.answer(self.outcome.clone());
    }
}

impl PendingLookup {
    fn wait(&self, deadline: Duration) -> Result<Found, NoAddress> {
        let outcome = lock(&self.outcome);
        let waited = self
            .answered
            .wait_timeout_while(outcome, deadline, |outcome| outcome.is_none());
        let (outcome, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let outcome = outcome.clone().unwrap_or_else(LookupOutcome::failed);
        outcome.told(outcome.lifetime)
    }

    fn answer(&self, outcome: LookupOutcome) {
        *lock(&self.outcome) = Some(outcome);
        self.answered.notify_all();
    }
}

impl CachedName {
    /// `None` if it is no longer fresh.
    fn told(&self, now: Instant) -> Option<Result<Found, NoAddress>> {
        let remaining = self.until.saturating_duration_since(now);
        (!remaining.is_zero()).then(|| self.outcome.told(remaining))
    }
}

/// Drops stale answers and, if that isn't enough, those that expire first. Pending lookups stay; there
/// are never more of them than threads.
fn make_room(entries: &mut HashMap<Name, CacheEntry>) {
    if entries.len() < MAX_NAMES {
        return;
    }
    let now = Instant::now();
    entries.retain(|_, entry| matches!(entry, CacheEntry::Known(known) if known.until > now) || is_asked(entry));
    if entries.len() < MAX_NAMES {
        return;
    }
    let known = entries.iter().filter_map(|(name, entry)| match entry {
        CacheEntry::Known(known) => Some((known.until, name)),
        CacheEntry::Asked(_) => None,
    });
    if let Some(name) = known.min().map(|(_, name)| name.clone()) {
        entries.remove(&name);
    }
}

fn is_asked(entry: &CacheEntry) -> bool {
    matches!(entry, CacheEntry::Asked(_))
}

#[cfg(test)]
mod tests;
