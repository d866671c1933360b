//! `--events fd:N`: what happens in a run, told to the program that started it while the run lives.
//!
//! One line of JSON each, as `schemas/events.schema.json` says. A refusal is written before the refused program goes on, so
//! a reader that hears of that program next has its refusals already. A reader that doesn't read loses rows, and the run never
//! waits for it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};
use stockade_report::approve::{Answer, EscalationRequest};
use stockade_report::audit::{self, Observer, Record, Refused};
use stockade_store::now_ms;
use stockade_text::visible::visible_json;

use super::message::{Failure, note};
use super::{REFUSED, refused};

/// Bytes that wait for the reader.
const MAX_WAITING: usize = 4 << 20;

/// How long the last rows wait for the reader.
const GRACE: Duration = Duration::from_secs(2);

/// How long a refusal waits for its row to be written. The thread that writes does nothing else.
const HANDOVER: Duration = Duration::from_millis(200);

/// The rows on their way. One thread writes them: those that serve the run have descriptors of their own.
pub struct Events {
    queue: Mutex<Queue>,
    /// Told when rows wait, and when they are written or can't be.
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    unsent: Vec<u8>,
    lost: u64,
    /// Whether the reader has no room.
    is_full: bool,
    is_over: bool,
}

impl Events {
    /// Writes to a descriptor of this process: `fd:N`.
    ///
    /// # Errors
    /// It isn't one that is open, or is a standard stream, which the run has too.
    pub fn open(place: &str) -> Result<Arc<Events>, Failure> {
        let number = place.strip_prefix("fd:").and_then(|number| number.parse::<i32>().ok());
        let number = number.filter(|number| *number > 2).ok_or_else(|| {
            Failure::text(REFUSED, format!("`{place}` can't take events"))
                .hint("`--events fd:N` takes a pipe or socket that Stockade inherits, with N above 2")
        })?;
        let failed = |error: io::Error| Failure::text(REFUSED, format!("can't write events to `{place}`: {error}"));
        let file = File::from(stockade_sys::duplicate(number).map_err(failed)?);
        let flags = fcntl(&file, FcntlArg::F_GETFL).map_err(|error| failed(error.into()))?;
        let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
        fcntl(&file, FcntlArg::F_SETFL(flags)).map_err(|error| failed(error.into()))?;
        let events = Arc::new(Events {
            queue: Mutex::default(),
            changed: Condvar::new(),
        });
        let serving = Arc::clone(&events);
        thread::Builder::new()
            .name("stockade-events".into())
            .spawn(move || serving.serve(file))
            .map_err(failed)?;
        Ok(events)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, run: &str, record: &Record, more: Option<Value>) {
        let row = row(run, record, more);
        let mut queue = self.lock();
        if queue.is_over {
            return;
        }
        if queue.unsent.len() + row.len() > MAX_WAITING {
            queue.lost += 1;
            return;
        }
        if queue.lost > 0 {
            let lost = Record::Lost(audit::Lost { records: queue.lost });
            queue.unsent.extend(self::row(run, &lost, None));
            queue.lost = 0;
        }
        queue.unsent.extend(row);
        self.changed.notify_all();
        let is_waiting = |queue: &mut Queue| !queue.unsent.is_empty() && !queue.is_full && !queue.is_over;
        drop(self.changed.wait_timeout_while(queue, HANDOVER, is_waiting));
    }

    /// Writes the rows.
    fn serve(&self, mut file: File) {
        let mut queue = self.lock();
        loop {
            while queue.unsent.is_empty() && !queue.is_over {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            if queue.is_over {
                return;
            }
            queue.send(&mut file);
            self.changed.notify_all();
            if queue.is_full {
                drop(queue);
                let mut waiting = [PollFd::new(file.as_fd(), PollFlags::POLLOUT)];
                let _ = poll(&mut waiting, PollTimeout::from(100_u8));
                queue = self.lock();
            }
        }
    }

    /// Waits a short time for the reader to take the last rows.
    pub fn close(&self) {
        let end = Instant::now() + GRACE;
        let mut queue = self.lock();
        while !queue.unsent.is_empty() && !queue.is_over && Instant::now() < end {
            let left = end.saturating_duration_since(Instant::now());
            let waited = self.changed.wait_timeout(queue, left);
            queue = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(queue, _)| queue);
        }
        queue.is_over = true;
        self.changed.notify_all();
    }
}

impl Queue {
    fn send(&mut self, file: &mut File) {
        self.is_full = false;
        while !self.unsent.is_empty() {
            match file.write(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.is_full = true;
                    return;
                }
                // The reader is gone: the run goes on without.
                Err(_) => {
                    self.unsent = Vec::new();
                    self.is_over = true;
                }
            }
        }
    }
}

/// A row as the audit trail has it, but for its place and hash.
fn row(run: &str, record: &Record, more: Option<Value>) -> Vec<u8> {
    let body: Value = serde_json::from_str(&audit::body(record)).unwrap_or(Value::Null);
    let mut row = json!({
        "seq": null,
        "time_ms": now_ms(),
        "run": run,
        "kind": record.kind(),
        "record": body,
        "hash": null,
    });
    if let (Value::Object(row), Some(Value::Object(more))) = (&mut row, more) {
        row.extend(more);
    }
    let mut line = visible_json(&row.to_string()).into_owned().into_bytes();
    line.push(b'\n');
    line
}

impl Observer for Events {
    fn note(&self, run: &str, record: Record) {
        // Each refusal comes by `refused`.
        if !matches!(record, Record::Denied(_)) {
            self.write(run, &record, None);
        }
    }

    fn refused(&self, run: &str, refused: &Refused) {
        let more = json!({ "exists": refused.exists, "quiet": refused.quiet, "grant": refused.grant });
        self.write(run, &Record::Denied(refused.seen.clone()), Some(more));
    }

    fn wants_refused(&self) -> bool {
        true
    }
}

/// Tells the trail, which keeps grants, and the events; and a person at once of a granted name whose address isn't: some
/// programs try it again for minutes.
pub struct Observers {
    trail: Arc<dyn Observer>,
    events: Option<Arc<Events>>,
    is_told: Once,
}

impl Observers {
    pub fn new(trail: Arc<dyn Observer>, events: Option<Arc<Events>>) -> Observers {
        let is_told = Once::new();
        Observers { trail, events, is_told }
    }

    /// Printed by a thread of its own: the supervisor doesn't wait for a terminal.
    fn tell_of_address(&self, record: &Record) {
        let Record::Denied(seen) = record else { return };
        if let Some(text) = refused::address_to_grant(seen) {
            self.is_told.call_once(|| {
                let _ = thread::Builder::new().spawn(move || note(&text));
            });
        }
    }
}

impl Observer for Observers {
    fn note(&self, run: &str, record: Record) {
        self.tell_of_address(&record);
        // The events leave out what is allowed, which is much.
        if let Some(events) = self.events.as_ref().filter(|_| !record.allows()) {
            events.note(run, record.clone());
        }
        self.trail.note(run, record);
    }

    fn keep_grant(&self, words: &[OsString], request: &EscalationRequest, answer: &Answer) -> bool {
        self.trail.keep_grant(words, request, answer)
    }

    fn keeps_grants(&self) -> bool {
        self.trail.keeps_grants()
    }

    fn wants_allowed(&self) -> bool {
        self.trail.wants_allowed()
    }

    fn refused(&self, run: &str, refused: &Refused) {
        if let Some(events) = &self.events {
            events.refused(run, refused);
        }
    }

    fn wants_refused(&self) -> bool {
        self.events.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_moves_a_terminal() {
        let lost = Record::Lost(audit::Lost { records: 1 });
        let row = row("r\u{9b}2J", &lost, Some(json!({ "grant": "\u{202e}" })));
        let text = String::from_utf8(row).unwrap();
        assert!(text.contains("r\\u009b2J") && text.contains("\\u202e"), "{text:?}");
        assert!(text.bytes().all(|byte| byte == b'\n' || (b' '..0x7f).contains(&byte)));
    }
}
