//! Fresh answers and pending lookups, so that concurrent lookups of one name send one query.

use std::collections::HashMap;
use std::collections::hash_map;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::outcome::{Found, Missing, Outcome};
use crate::mutex::lock;
use crate::profile::Name;

/// More than any honest run looks up; about a megabyte.
const MOST_NAMES: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Cache {
    entries: Mutex<HashMap<Name, Entry>>,
}

#[derive(Debug)]
enum Entry {
    Asked(Arc<Question>),
    Known(Known),
}

#[derive(Debug)]
struct Known {
    outcome: Outcome,
    until: Instant,
}

/// A pending lookup: empty until its result is known.
#[derive(Debug, Default)]
struct Question {
    outcome: Mutex<Option<Outcome>>,
    answered: Condvar,
}

impl Cache {
    /// The cached answer, if it is still fresh.
    pub fn fresh(&self, name: &Name) -> Option<Result<Found, Missing>> {
        match self.entries().get(name)? {
            Entry::Known(known) => known.told(Instant::now()),
            Entry::Asked(_) => None,
        }
    }

    /// The fresh answer, or the result of a pending lookup, or else the result of `ask`. Waits for another thread's
    /// lookup at most for `deadline`.
    pub fn answer(&self, name: &Name, deadline: Duration, ask: impl FnOnce() -> Outcome) -> Result<Found, Missing> {
        let question = match self.place(name) {
            Place::Known(result) => return result,
            Place::AskedBySomebody(question) => return question.wait(deadline),
            Place::Ours(question) => question,
        };
        let mut asker = Resolving {
            cache: self,
            name,
            question,
            outcome: Outcome::failed(),
        };
        asker.outcome = ask();
        asker.outcome.told(asker.outcome.lifetime)
    }

    /// Drops every answer, including those still pending.
    pub fn clear(&self) {
        self.entries().clear();
    }

    fn place(&self, name: &Name) -> Place {
        let mut entries = self.entries();
        match entries.get(name) {
            Some(Entry::Asked(question)) => return Place::AskedBySomebody(question.clone()),
            Some(Entry::Known(known)) => {
                if let Some(result) = known.told(Instant::now()) {
                    return Place::Known(result);
                }
            }
            None => make_room(&mut entries),
        }
        let question = Arc::<Question>::default();
        entries.insert(name.clone(), Entry::Asked(question.clone()));
        Place::Ours(question)
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Name, Entry>> {
        lock(&self.entries)
    }
}

enum Place {
    Known(Result<Found, Missing>),
    AskedBySomebody(Arc<Question>),
    Ours(Arc<Question>),
}

/// The thread that runs the lookup. Dropping it always answers the waiters: a panic must not leave them waiting.
struct Resolving<'a> {
    cache: &'a Cache,
    name: &'a Name,
    question: Arc<Question>,
    outcome: Outcome,
}

impl Drop for Resolving<'_> {
    fn drop(&mut self) {
        let until = Instant::now() + self.outcome.lifetime;
        let known = Known {
            outcome: self.outcome.clone(),
            until,
        };
        if let hash_map::Entry::Occupied(mut entry) = self.cache.entries().entry(self.name.clone()) {
            // Not after `clear`: the query then went to nameservers that no longer count.
            let is_ours = matches!(entry.get(), Entry::Asked(asked) if Arc::ptr_eq(asked, &self.question));
            if is_ours {
                entry.insert(Entry::Known(known));
            }
        }
        self.question.answer(self.outcome.clone());
    }
}

impl Question {
    fn wait(&self, deadline: Duration) -> Result<Found, Missing> {
        let outcome = lock(&self.outcome);
        let waited = self
            .answered
            .wait_timeout_while(outcome, deadline, |outcome| outcome.is_none());
        let (outcome, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let outcome = outcome.clone().unwrap_or_else(Outcome::failed);
        outcome.told(outcome.lifetime)
    }

    fn answer(&self, outcome: Outcome) {
        *lock(&self.outcome) = Some(outcome);
        self.answered.notify_all();
    }
}

impl Known {
    /// `None` if it is no longer fresh.
    fn told(&self, now: Instant) -> Option<Result<Found, Missing>> {
        let remaining = self.until.saturating_duration_since(now);
        (!remaining.is_zero()).then(|| self.outcome.told(remaining))
    }
}

/// Drops stale answers and, if that isn't enough, those that expire first. Pending lookups stay; there
/// are never more of them than threads.
fn make_room(entries: &mut HashMap<Name, Entry>) {
    if entries.len() < MOST_NAMES {
        return;
    }
    let now = Instant::now();
    entries.retain(|_, entry| matches!(entry, Entry::Known(known) if known.until > now) || is_asked(entry));
    if entries.len() < MOST_NAMES {
        return;
    }
    let known = entries.iter().filter_map(|(name, entry)| match entry {
        Entry::Known(known) => Some((known.until, name)),
        Entry::Asked(_) => None,
    });
    if let Some(name) = known.min().map(|(_, name)| name.clone()) {
        entries.remove(&name);
    }
}

fn is_asked(entry: &Entry) -> bool {
    matches!(entry, Entry::Asked(_))
}

#[cfg(test)]
mod tests;
