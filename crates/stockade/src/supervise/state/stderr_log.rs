//! Text that a run writes to its standard error, kept for the report, since programs say there what failed.
//!
//! It is bounded, is dropped with the run, and grants or refuses nothing.
//!
//! A program lives with most of what it is refused, and its last words tell which refusal it couldn't live with. Each
//! text has its process, whether it went to `/dev/null`, and how many calls had been handed over.

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use crate::report::{StderrTail, StderrText};
use crate::supervise::call::caller::Caller;

/// Most bytes and most texts that are kept, from the end.
pub const MAX_BYTES: usize = 16 << 10;
const MAX_TEXTS: usize = 1024;

/// The end of the written text.
#[derive(Debug, Default)]
pub struct StderrLog {
    /// Each with the number of the innermost nested run that wrote it; `None` for the run itself.
    texts: VecDeque<(Option<usize>, StderrText)>,
    bytes: usize,
    writer: Option<Writer>,
}

/// The last thread that wrote, and where to, so that a frequent writer isn't checked each time.
#[derive(Debug, Clone, Copy)]
struct Writer {
    thread: i32,
    is_discarded: bool,
    at: Instant,
    /// The number of texts within [`HOLDS`] of a check.
    texts: usize,
}

/// How long the check of a frequent writer is valid. A shell sends one line to `/dev/null` and the next to its standard
/// error, so a writer of few texts is checked each time.
const HOLDS: Duration = Duration::from_millis(5);
const LOUD: usize = 8;

impl StderrLog {
    pub fn add(&mut self, run: Option<usize>, text: StderrText) {
        self.bytes += text.text.len();
        self.texts.push_back((run, text));
        while self.bytes > MAX_BYTES || self.texts.len() > MAX_TEXTS {
            let gone = self.texts.pop_front().map_or(0, |(_, first)| first.text.len());
            self.bytes -= gone;
        }
    }

    /// The text of all runs together, or of one nested run; after so many calls.
    pub fn tail(&self, nested: Option<usize>, calls: u64) -> StderrTail {
        let is_meant = |run: &Option<usize>| nested.is_none() || *run == nested;
        let texts = self.texts.iter().filter(|(run, _)| is_meant(run));
        StderrTail {
            texts: texts.map(|(_, text)| text.clone()).collect(),
            calls,
        }
    }

    /// Whether the caller's text goes to `/dev/null`, cached for a frequent writer.
    pub fn is_discarded(&mut self, caller: &Caller<'_>) -> bool {
        let (thread, now) = (caller.thread, Instant::now());
        let recent = self
            .writer
            .filter(|writer| writer.thread == thread && now < writer.at + HOLDS);
        if let Some(known) = recent.filter(|known| known.texts >= LOUD) {
            return known.is_discarded;
        }
        let is_discarded = goes_nowhere(caller);
        self.writer = Some(Writer {
            thread,
            is_discarded,
            at: recent.map_or(now, |known| known.at),
            texts: recent.map_or(1, |known| known.texts + 1),
        });
        is_discarded
    }
}

/// Whether descriptor 2 of the caller leads to `/dev/null`.
fn goes_nowhere(caller: &Caller<'_>) -> bool {
    /// Major 1, minor 3 (null(4)).
    const NULL: u64 = 0x103;
    let descriptor = format!("/proc/{}/fd/{}", caller.thread, libc::STDERR_FILENO);
    std::fs::metadata(descriptor).is_ok_and(|metadata| metadata.rdev() == NULL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_in_its_order_and_bounded() {
        let mut log = StderrLog::default();
        let text = |text: &str| StderrText {
            process: 1,
            is_discarded: false,
            calls: 0,
            text: text.into(),
        };
        log.add(None, text("one"));
        log.add(Some(1), text("two"));
        let texts = |log: &StderrLog, nested: Option<usize>| {
            let texts = log.tail(nested, 0).texts.into_iter();
            texts.map(|text| text.text).collect::<Vec<_>>()
        };
        assert_eq!(texts(&log, None), ["one", "two"]);
        assert_eq!(texts(&log, Some(1)), ["two"]);
        log.add(None, text(&"x".repeat(MAX_BYTES)));
        assert_eq!(texts(&log, None), ["x".repeat(MAX_BYTES)]);
        for _ in 0..2 * MAX_TEXTS {
            log.add(None, text("y"));
        }
        assert_eq!(texts(&log, None).len(), MAX_TEXTS);
    }

    #[test]
    fn a_writer_of_few_texts_is_looked_at_each_time_and_a_loud_one_for_a_moment_no_more() {
        use crate::supervise::testing::{notification, worker_fds};
        let fds = worker_fds();
        let caller = Caller::new(&fds, &notification(1));
        let mut log = StderrLog::default();
        let truth = log.is_discarded(&caller);
        let wrong = |texts| {
            Some(Writer {
                thread: caller.thread,
                is_discarded: !truth,
                at: Instant::now() + Duration::from_secs(3600),
                texts,
            })
        };
        log.writer = wrong(LOUD - 1);
        assert_eq!(log.is_discarded(&caller), truth);
        log.writer = wrong(LOUD);
        assert_eq!(log.is_discarded(&caller), !truth);
        log.writer.as_mut().unwrap().thread += 1;
        assert_eq!(log.is_discarded(&caller), truth);
    }
}
