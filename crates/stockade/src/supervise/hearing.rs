//! Text that a run writes to its standard error, kept for the report, since programs say there what failed.
//!
//! The descriptor's number is in a register, so the call continues unchanged, whatever its memory holds by then. The
//! kept text is bounded, is dropped with the run, and grants or refuses nothing.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use super::answer::{CallAnswer, Errno, MayContinue};
use super::caller::Caller;
use super::shared::Shared;
use super::worker_fds::WorkerFds;
use crate::report::{Got, Kind, Said, Stream, Timeline, is_own_work};

/// Most bytes and most texts that are kept, from the end.
const MOST_BYTES: usize = 16 << 10;
const MOST_TEXTS: usize = 1024;
/// Most judged calls whose times are kept.
const MOST_CALLS: usize = 4096;
/// Most allowed accesses that are kept, from the end, and most targets that are remembered.
const MOST_GOT: usize = 512;
const MOST_SEEN: usize = 16_384;
/// Most threads whose process is remembered.
const MOST_THREADS: usize = 4096;

/// The end of the written text, the times of judged calls, and the allowed accesses.
#[derive(Debug, Default)]
pub struct Heard {
    said: VecDeque<(Run, Said)>,
    bytes: usize,
    calls: VecDeque<(Run, (Duration, i32))>,
    got: VecDeque<(Run, Got)>,
    /// Hashes of targets that were allowed before.
    seen: HashSet<u64>,
    hashing: RandomState,
    threads: HashMap<i32, ProcessFamily>,
    /// Launchers and wardens of nested runs: what they do after their program says nothing about it.
    launchers: HashSet<i32>,
    writers: HashMap<i32, Writer>,
}

/// The number of the innermost nested run that a process is in; `None` for the run itself.
type Run = Option<usize>;

/// A thread's process, and its parent when the thread was first seen.
#[derive(Debug, Clone, Copy)]
struct ProcessFamily {
    process: i32,
    parent: i32,
}

/// The stream of a thread's texts, cached so that a frequent writer isn't checked each time.
#[derive(Debug, Clone, Copy)]
struct Writer {
    stream: Stream,
    at: Duration,
    /// The number of texts within [`HOLDS`] of a check.
    texts: usize,
}

/// How long the check of a frequent writer is valid. A shell sends one line to `/dev/null` and the next to its standard
/// error, so a writer of few texts is checked each time.
const HOLDS: Duration = Duration::from_millis(5);
const LOUD: usize = 8;
/// Most writers that are remembered.
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

    fn note_call(&mut self, run: Run, at: Duration, process: i32) {
        if self.calls.len() == MOST_CALLS {
            self.calls.pop_front();
        }
        self.calls.push_back((run, (at, process)));
    }

    fn note_got(&mut self, run: Run, at: Duration, process: i32, (kind, target): (Kind, &[u8])) {
        if self.seen.len() >= MOST_SEEN {
            self.seen.clear();
        }
        let is_new = self.seen.insert(self.hashing.hash_one(target));
        if self.got.len() == MOST_GOT {
            self.got.pop_front();
        }
        let got = Got {
            at,
            process,
            kind,
            target: target.to_vec(),
            is_new,
        };
        self.got.push_back((run, got));
    }

    /// Records the warden of a nested run, and its launcher.
    pub fn note_launchers(&mut self, processes: [i32; 2]) {
        if self.launchers.len() >= MOST_THREADS {
            self.launchers.clear();
        }
        self.launchers.extend(processes);
    }

    /// The timeline of all runs together.
    pub fn timeline(&self) -> Timeline {
        self.of_runs(|_| true)
    }

    /// The timeline of a nested run.
    pub fn timeline_of(&self, run: usize) -> Timeline {
        self.of_runs(|of| of == Some(run))
    }

    fn of_runs(&self, is_among: impl Fn(Run) -> bool) -> Timeline {
        let calls = self.calls.iter();
        let calls = calls.filter(|(run, (_, process))| is_among(*run) && !self.launchers.contains(process));
        // Several workers record calls, so the order isn't exact.
        let mut calls: Vec<_> = calls.map(|(_, call)| *call).collect();
        calls.sort_by_key(|(at, _)| *at);
        let got = self.got.iter().filter(|(run, _)| is_among(*run));
        let mut got: Vec<_> = got.map(|(_, got)| got.clone()).collect();
        got.sort_by_key(|got| got.at);
        let said = self.said.iter().filter(|(run, _)| is_among(*run));
        let processes: HashSet<i32> = calls.iter().map(|(_, process)| *process).collect();
        let families = self
            .threads
            .values()
            .filter(|family| processes.contains(&family.process));
        Timeline {
            said: said.map(|(_, said)| said.clone()).collect(),
            calls,
            got,
            parents: families.map(|family| (family.process, family.parent)).collect(),
        }
    }
}

/// The caller's process and its parent.
pub fn with_parent(shared: &Shared, caller: &Caller<'_>) -> [i32; 2] {
    let ProcessFamily { process, parent } = family(shared, caller);
    [process, parent]
}

/// Records the time of a judged call.
pub fn note_call(shared: &Shared, caller: &Caller<'_>, run: Option<usize>) {
    let at = shared.started.elapsed();
    let process = family(shared, caller).process;
    shared.heard().note_call(run, at, process);
}

/// Records an allowed access, if it shows what the run is working on.
pub fn note_got(shared: &Shared, caller: &Caller<'_>, run: Option<usize>, (kind, target): (Kind, &[u8])) {
    if is_own_work(kind, target) {
        let at = shared.started.elapsed();
        let process = family(shared, caller).process;
        shared.heard().note_got(run, at, process, (kind, target));
    }
}

/// The process of a thread, cached. A reused thread id gives a wrong process, which affects only a guess about blame
/// and nothing that is allowed.
fn family(shared: &Shared, caller: &Caller<'_>) -> ProcessFamily {
    let known = shared.heard().threads.get(&caller.thread).copied();
    if let Some(known) = known {
        return known;
    }
    let found = ProcessFamily {
        process: caller.process(),
        parent: caller.status_number("PPid:").unwrap_or(0),
    };
    let mut heard = shared.heard();
    if heard.threads.len() >= MOST_THREADS {
        heard.threads.clear();
    }
    heard.threads.insert(caller.thread, found);
    found
}

/// Records a `write` or `writev` to descriptor 2, and continues it.
pub fn hear(shared: &Shared, worker_fds: &WorkerFds, caller: &Caller<'_>, number: i64) -> Result<CallAnswer, Errno> {
    let (address, count) = (caller.registers.long(1), caller.registers.long(2));
    let goes_on = CallAnswer::Continue(MayContinue::registers_decided(&caller.registers));
    let at = shared.started.elapsed();
    let stream = stream_of(shared, caller, at);
    let process = family(shared, caller).process;
    let text = match number {
        libc::SYS_writev => gathered(caller, address, count),
        _ => end_of(caller, address, count),
    };
    if let Some(text) = text.filter(|text| !text.is_empty() && caller.confirm().is_ok()) {
        let run = shared.nested_runs.of(worker_fds, caller).innermost();
        let said = Said {
            at,
            process,
            stream,
            // GNU programs quote a name for the shell if it contains a quote: `'it'\''s'`.
            text: String::from_utf8_lossy(&text).replace("'\\''", "'"),
        };
        shared.heard().add(run, said);
    }
    Ok(goes_on)
}

/// The stream of the caller's texts, cached for a frequent writer.
fn stream_of(shared: &Shared, caller: &Caller<'_>, at: Duration) -> Stream {
    let known = shared.heard().writers.get(&caller.thread).copied();
    let recent = known.filter(|known| at < known.at + HOLDS);
    let found = match recent {
        Some(known) if known.texts >= LOUD => return known.stream,
        Some(known) => Writer {
            stream: stream(caller),
            texts: known.texts + 1,
            ..known
        },
        None => Writer {
            stream: stream(caller),
            at,
            texts: 1,
        },
    };
    let mut heard = shared.heard();
    if heard.writers.len() >= MOST_WRITERS {
        heard.writers.clear();
    }
    heard.writers.insert(caller.thread, found);
    found.stream
}

/// The stream that descriptor 2 of the caller leads to.
fn stream(caller: &Caller<'_>) -> Stream {
    /// `/dev/null`: major 1, minor 3 (null(4)).
    const NULL: u64 = 0x103;
    let descriptor = format!("/proc/{}/fd/{}", caller.thread, libc::STDERR_FILENO);
    match std::fs::metadata(descriptor) {
        Ok(metadata) if metadata.rdev() == NULL => Stream::Nowhere,
        _ => Stream::Error,
    }
}

/// The end of the buffer of a `write`.
fn end_of(caller: &Caller<'_>, address: u64, count: u64) -> Option<Vec<u8>> {
    let kept = count.min(MOST_BYTES as u64);
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
