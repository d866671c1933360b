//! Text that a run writes to its standard error, kept for the report, since programs say there what failed.
//!
//! The descriptor's number is in a register, so the call continues unchanged, whatever its memory holds by then. The
//! kept text is bounded, is dropped with the run, and grants or refuses nothing.

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use super::answer::{CallAnswer, Errno, MayContinue};
use super::caller::Caller;
use super::shared::Shared;
use super::worker_fds::WorkerFds;
use crate::report::{StderrTail, StderrText};

/// Most bytes and most texts that are kept, from the end.
const MAX_BYTES: usize = 16 << 10;
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
    fn add(&mut self, run: Option<usize>, text: StderrText) {
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
    fn is_discarded(&mut self, caller: &Caller<'_>) -> bool {
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

/// Records a `write` or `writev` to descriptor 2, and continues it.
pub fn record(shared: &Shared, worker_fds: &WorkerFds, caller: &Caller<'_>, number: i64) -> Result<CallAnswer, Errno> {
    let (address, count) = (caller.registers.long(1), caller.registers.long(2));
    let goes_on = CallAnswer::Continue(MayContinue::registers_decided(&caller.registers));
    let text = match number {
        libc::SYS_writev => gathered(caller, address, count),
        _ => end_of(caller, address, count),
    };
    if let Some(text) = text.filter(|text| !text.is_empty() && caller.confirm().is_ok()) {
        let nested_runs = shared.nested_runs.of(worker_fds, caller);
        let run = nested_runs.innermost();
        let process = caller.process();
        let calls = shared.handled_calls();
        nested_runs.note_call(calls);
        let mut log = shared.stderr_log();
        let is_discarded = log.is_discarded(caller);
        let text = StderrText {
            process,
            is_discarded,
            calls,
            // GNU programs quote a name for the shell if it contains a quote: `'it'\''s'`.
            text: String::from_utf8_lossy(&text).replace("'\\''", "'"),
        };
        log.add(run, text);
    }
    Ok(goes_on)
}

/// Whether descriptor 2 of the caller leads to `/dev/null`.
fn goes_nowhere(caller: &Caller<'_>) -> bool {
    /// Major 1, minor 3 (null(4)).
    const NULL: u64 = 0x103;
    let descriptor = format!("/proc/{}/fd/{}", caller.thread, libc::STDERR_FILENO);
    std::fs::metadata(descriptor).is_ok_and(|metadata| metadata.rdev() == NULL)
}

/// The end of the buffer of a `write`.
fn end_of(caller: &Caller<'_>, address: u64, count: u64) -> Option<Vec<u8>> {
    let kept = count.min(MAX_BYTES as u64);
    let mut text = vec![0; usize::try_from(kept).ok()?];
    caller.read(address.checked_add(count - kept)?, &mut text).ok()?;
    Some(text)
}

/// The end of the buffers of a `writev`: `struct iovec` is an address and a length (readv(2)).
fn gathered(caller: &Caller<'_>, address: u64, count: u64) -> Option<Vec<u8>> {
    const MOST: u64 = 64;
    let mut table = vec![0; usize::try_from(count.min(MOST)).ok()? * 16];
    caller.read(address, &mut table).ok()?;
    let word = |bytes: &[u8]| bytes.try_into().map(u64::from_ne_bytes).unwrap_or(0);
    let mut text = Vec::new();
    for entry in table.chunks_exact(16) {
        text.extend(end_of(caller, word(&entry[..8]), word(&entry[8..]))?);
        text.drain(..text.len().saturating_sub(MAX_BYTES));
    }
    Some(text)
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
}
