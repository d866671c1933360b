//! The queue of records for the writer. Adding one never waits for a disk.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use stockade_policy::mutex::lock;
use stockade_report::audit::Record;

/// The queue's capacity. An open is recorded in some 10 µs, so this covers a disk stall of milliseconds.
const MAX: usize = 1024;

/// The part of it that allowed accesses may take, so that a flood of them displaces no denial and no answer.
const MAX_ALLOWED: usize = MAX / 4 * 3;

/// The wait for a full queue, once, until it moves again.
const PATIENCE: Duration = Duration::from_millis(50);

/// A decision's wait for its place: a caller that asks for many of them at once can wait, and no run is held up.
const PATIENCE_OF_DECISIONS: Duration = Duration::from_secs(5);

/// This many allowed accesses are written without waiting for more.
const MANY: usize = 64;

/// The time that fewer of them wait for others: a transaction costs more than a row.
const COMPANY: Duration = Duration::from_millis(100);

/// One record with its time and run.
pub(super) struct Noted {
    pub(super) time_ms: u64,
    pub(super) run: String,
    pub(super) record: Record,
}

/// A batch for the writer.
pub(super) struct Taken {
    pub(super) records: VecDeque<Noted>,
    /// Records lost since the last batch.
    pub(super) lost: u64,
    /// Whether this is the last batch.
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
    /// A wait has timed out: the next ones don't wait.
    is_stuck: bool,
    /// The queue holds a record that is written at once.
    is_urgent: bool,
    is_closed: bool,
}

impl Queue {
    /// Adds a record; it is lost if the queue stays full. After closing, records are dropped.
    pub(super) fn add(&self, noted: Noted) {
        // Decisions may come by the thousand too: a transaction for each would be slow.
        let is_decision = matches!(noted.record, Record::Judged(_));
        let is_allowed = is_decision || matches!(noted.record, Record::Allowed(_));
        let deadline = if is_decision { PATIENCE_OF_DECISIONS } else { PATIENCE };
        let most = if is_allowed { MAX_ALLOWED } else { MAX };
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
        // A wake-up costs more than the rest, so not one for each of many.
        if !is_allowed || matches!(waiting.records.len(), 1 | MANY) {
            self.arrived.notify_one();
        }
    }

    /// Waits for records and takes all of them; after `deadline` there may be none.
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

    /// Closes the queue: no more records are added.
    pub(super) fn close(&self) {
        lock(&self.waiting).is_closed = true;
        self.arrived.notify_one();
        self.taken.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_report::audit::Lost;

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
        (0..MAX + 1000).for_each(|_| note());
        assert!(start.elapsed() < PATIENCE * 400, "{:?}", start.elapsed());
        let taken = queue.take(PATIENCE);
        assert_eq!((taken.records.len(), taken.lost), (MAX, 1000));
        note();
        queue.close();
        let taken = queue.take(PATIENCE);
        assert_eq!((taken.records.len(), taken.lost, taken.is_last), (1, 0, true));
    }
}
