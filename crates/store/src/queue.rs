//! Records on their way to the writer. A writer of one never waits for a disk.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use stockade::audit::Record;
use stockade::mutex::lock;

/// Records that wait at most. An open is recorded in some 10 µs, so this is a pause of the disk of milliseconds.
const MOST: usize = 1024;

/// Of these, so many may be allowed accesses, so that a flood of them displaces no denial and no answer.
const MOST_ALLOWED: usize = MOST / 4 * 3;

/// How long a full queue is waited for, once, until it moves again.
const PATIENCE: Duration = Duration::from_millis(50);

/// How long a decision waits for its place: a caller that asks for many of them at once can wait, and no run is held up.
const PATIENCE_OF_DECISIONS: Duration = Duration::from_secs(5);

/// So many allowed accesses are written without waiting for more.
const MANY: usize = 64;

/// How long fewer of them wait for company: a transaction costs more than a row.
const COMPANY: Duration = Duration::from_millis(100);

/// One record, noted.
pub(super) struct Noted {
    pub(super) time_ms: u64,
    pub(super) run: String,
    pub(super) record: Record,
}

/// What the writer takes at once.
pub(super) struct Taken {
    pub(super) records: VecDeque<Noted>,
    /// Records lost since the last time.
    pub(super) lost: u64,
    /// Whether nothing comes any more.
    pub(super) is_last: bool,
}

#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
    taken: Condvar,
}

#[derive(Default)]
struct Waiting {
    records: VecDeque<Noted>,
    lost: u64,
    /// It was waited for in vain: the next ones don't wait.
    is_stuck: bool,
    /// Something is there that is written at once.
    is_urgent: bool,
    is_closed: bool,
}

impl Queue {
    /// Adds a record; it is lost where the queue stays full. Behind the end no note is taken any more.
    pub(super) fn add(&self, noted: Noted) {
        // Decisions come by the thousand too: a transaction for each would be slow.
        let is_decision = matches!(noted.record, Record::Judged(_));
        let is_allowed = is_decision || matches!(noted.record, Record::Allowed(_));
        let deadline = if is_decision { PATIENCE_OF_DECISIONS } else { PATIENCE };
        let most = if is_allowed { MOST_ALLOWED } else { MOST };
        let mut waiting = lock(&self.waiting);
        if waiting.records.len() >= most && !waiting.is_stuck && !waiting.is_closed {
            self.arrived.notify_one();
            let is_full = |waiting: &mut Waiting| waiting.records.len() >= most && !waiting.is_closed;
            let waited = self.taken.wait_timeout_while(waiting, deadline, is_full);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if waiting.is_closed {
            return;
        }
        if waiting.records.len() >= most {
            waiting.is_stuck = true;
            waiting.lost += 1;
            return;
        }
        waiting.records.push_back(noted);
        waiting.is_urgent |= !is_allowed || waiting.records.len() >= MANY;
        // Waking somebody costs more than the rest: not for each of many.
        if !is_allowed || matches!(waiting.records.len(), 1 | MANY) {
            self.arrived.notify_one();
        }
    }

    /// Waits for records and takes them all; after `deadline` it may have taken none.
    pub(super) fn take(&self, deadline: Duration) -> Taken {
        let waiting = lock(&self.waiting);
        let is_idle = |waiting: &mut Waiting| waiting.records.is_empty() && !waiting.is_closed;
        let waited = self.arrived.wait_timeout_while(waiting, deadline, is_idle);
        let waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        let is_early = |waiting: &mut Waiting| !waiting.records.is_empty() && !waiting.is_urgent && !waiting.is_closed;
        let waited = self.arrived.wait_timeout_while(waiting, COMPANY, is_early);
        let mut waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        (waiting.is_stuck, waiting.is_urgent) = (false, false);
        let taken = Taken {
            records: std::mem::take(&mut waiting.records),
            lost: std::mem::take(&mut waiting.lost),
            is_last: waiting.is_closed,
        };
        self.taken.notify_all();
        taken
    }

    /// Nothing comes any more.
    pub(super) fn close(&self) {
        lock(&self.waiting).is_closed = true;
        self.arrived.notify_one();
        self.taken.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade::audit::Lost;

    #[test]
    fn a_full_queue_is_waited_for_once_and_loses_what_it_says() {
        let queue = Queue::default();
        let note = || {
            queue.add(Noted {
                time_ms: 0,
                run: String::new(),
                record: Record::Lost(Lost { records: 0 }),
            });
        };
        let start = std::time::Instant::now();
        (0..MOST + 1000).for_each(|_| note());
        assert!(start.elapsed() < PATIENCE * 400, "{:?}", start.elapsed());
        let taken = queue.take(PATIENCE);
        assert_eq!((taken.records.len(), taken.lost), (MOST, 1000));
        note();
        queue.close();
        let taken = queue.take(PATIENCE);
        assert_eq!((taken.records.len(), taken.lost, taken.is_last), (1, 0, true));
    }
}
