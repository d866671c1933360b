//! What a run writes to its standard error, kept for its report: there a program says what it failed on.
//!
//! The descriptor's number is in a register, so the call goes on as it is, whatever its memory holds meanwhile. What is
//! heard is bounded, is forgotten with the run, and grants or refuses nothing.

use std::collections::{HashMap, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use super::answer::{Answer, Errno, MayContinue};
use super::caller::Caller;
use super::shared::Shared;
use super::station::Station;
use crate::report::{Said, Stream, Timeline};

/// Bytes of text that are kept, of the end, and texts.
const MOST_BYTES: usize = 16 << 10;
const MOST_TEXTS: usize = 1024;
/// Judged calls whose moments are kept.
const MOST_CALLS: usize = 4096;

/// The end of what was written, and when calls were judged.
#[derive(Debug, Default)]
pub struct Heard {
    said: VecDeque<(Run, Said)>,
    bytes: usize,
    calls: VecDeque<(Run, (Duration, i32))>,
    writers: HashMap<i32, Writer>,
}

/// The innermost run that a process is in, by its label's number; `None` for the run itself.
type Run = Option<usize>;

/// What was found of a thread that writes, so that a loud one isn't looked at each time.
#[derive(Debug, Clone, Copy)]
struct Writer {
    process: i32,
    stream: Stream,
    run: Run,
    at: Duration,
}

/// How long that holds, and how many are kept.
const HOLDS: Duration = Duration::from_millis(5);
const MOST_WRITERS: usize = 256;

impl Heard {
    fn add(&mut self, run: Run, said: Said) {
        self.bytes += said.text.len();
        self.said.push_back((run, said));
        while self.bytes > MOST_BYTES || self.said.len() > MOST_TEXTS {
            let gone = self.said.pop_front().map_or(0, |(_, first)| first.text.len());
            self.bytes -= gone;
        }
    }

    /// Takes note of a call that was judged for a thread.
    pub fn note_call(&mut self, run: Option<usize>, at: Duration, thread: i32) {
        if self.calls.len() == MOST_CALLS {
            self.calls.pop_front();
        }
        self.calls.push_back((run, (at, thread)));
    }

    /// All of it.
    pub fn timeline(&self) -> Timeline {
        self.of_runs(|_| true)
    }

    /// What a run inside the run said and did.
    pub fn timeline_of(&self, run: usize) -> Timeline {
        self.of_runs(|of| of == Some(run))
    }

    fn of_runs(&self, is_among: impl Fn(Run) -> bool) -> Timeline {
        let said = self.said.iter().filter(|(run, _)| is_among(*run));
        let calls = self.calls.iter().filter(|(run, _)| is_among(*run));
        Timeline {
            said: said.map(|(_, said)| said.clone()).collect(),
            calls: calls.map(|(_, call)| *call).collect(),
        }
    }
}

/// Takes note of a `write` or `writev` to descriptor 2, and lets it go on.
pub fn hear(shared: &Shared, station: &Station, caller: &Caller<'_>, number: i64) -> Result<Answer, Errno> {
    let (address, count) = (caller.registers.long(1), caller.registers.long(2));
    let goes_on = Answer::Continue(MayContinue::registers_decided(&caller.registers));
    let at = shared.started.elapsed();
    let writer = writer(shared, station, caller, at);
    let text = match number {
        libc::SYS_writev => gathered(caller, address, count),
        _ => end_of(caller, address, count),
    };
    if let Some(text) = text.filter(|text| !text.is_empty() && caller.confirm().is_ok()) {
        let said = Said {
            at,
            process: writer.process,
            stream: writer.stream,
            text: String::from_utf8_lossy(&text).into_owned(),
        };
        shared.heard().add(writer.run, said);
    }
    Ok(goes_on)
}

/// Who writes, and where to.
fn writer(shared: &Shared, station: &Station, caller: &Caller<'_>, at: Duration) -> Writer {
    let known = shared.heard().writers.get(&caller.thread).copied();
    if let Some(known) = known.filter(|known| at < known.at + HOLDS) {
        return known;
    }
    let found = Writer {
        process: caller.process(),
        stream: stream(caller),
        run: shared.labels.of(station, caller).innermost(),
        at,
    };
    let mut heard = shared.heard();
    if heard.writers.len() >= MOST_WRITERS {
        heard.writers.clear();
    }
    heard.writers.insert(caller.thread, found);
    found
}

/// Where a text goes.
fn stream(caller: &Caller<'_>) -> Stream {
    /// `/dev/null`: major 1, minor 3 (null(4)).
    const NULL: u64 = 0x103;
    let descriptor = format!("/proc/{}/fd/{}", caller.thread, libc::STDERR_FILENO);
    match std::fs::metadata(descriptor) {
        Ok(metadata) if metadata.rdev() == NULL => Stream::Nowhere,
        _ => Stream::Error,
    }
}

/// The end of a buffer.
fn end_of(caller: &Caller<'_>, address: u64, count: u64) -> Option<Vec<u8>> {
    let kept = count.min(MOST_BYTES as u64);
    let mut text = vec![0; usize::try_from(kept).ok()?];
    caller.read(address.checked_add(count - kept)?, &mut text).ok()?;
    Some(text)
}

/// Of several: `struct iovec` is an address and a length (readv(2)).
fn gathered(caller: &Caller<'_>, address: u64, count: u64) -> Option<Vec<u8>> {
    const MOST: u64 = 64;
    let mut table = vec![0; usize::try_from(count.min(MOST)).ok()? * 16];
    caller.read(address, &mut table).ok()?;
    let word = |bytes: &[u8]| bytes.try_into().map(u64::from_ne_bytes).unwrap_or(0);
    let mut text = Vec::new();
    for entry in table.chunks_exact(16) {
        text.extend(end_of(caller, word(&entry[..8]), word(&entry[8..]))?);
        text.drain(..text.len().saturating_sub(MOST_BYTES));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_in_its_order_and_bounded() {
        let mut heard = Heard::default();
        let said = |text: &str| Said {
            at: Duration::ZERO,
            process: 1,
            stream: Stream::Error,
            text: text.into(),
        };
        heard.add(None, said("one"));
        heard.add(Some(1), said("two"));
        let texts = |heard: &Heard| {
            heard
                .timeline()
                .said
                .iter()
                .map(|said| said.text.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(texts(&heard), ["one", "two"]);
        assert_eq!(heard.timeline_of(1).said.len(), 1);
        heard.add(None, said(&"x".repeat(MOST_BYTES)));
        assert_eq!(texts(&heard), ["x".repeat(MOST_BYTES)]);
        for _ in 0..2 * MOST_TEXTS {
            heard.add(None, said("y"));
        }
        assert_eq!(texts(&heard).len(), MOST_TEXTS);
    }
}
