//! The writer of a run's records: one thread, which appends all waiting records at once.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use super::alert::Alerts;
use super::chain::exported;
use super::keeper::Keeper;
use super::queue::{Noted, Queue, Taken};
use super::trail::{Entry, Trail};
use super::{AuditError, Given, Key, Level, NewGrant, StoreError, now_ms};
use stockade_policy::config::OnViolation;
use stockade_policy::mutex::lock;
use stockade_report::approve::{Answer, EscalationRequest};
use stockade_report::audit::{self, Lost, Observer, Record};
use stockade_report::fault::{self, Fault};
use stockade_sys::confine;
use stockade_sys::signals::SignalSet;

/// The time that the end of a run waits for its last records.
const PATIENCE: Duration = Duration::from_secs(5);

/// After this many failures, writing isn't tried again in this run.
const MAX_FAILURES: u32 = 2;

/// The most bytes of a run's accesses that are kept: about a quarter of a million accesses.
const MAX_BYTES_OF_ACCESSES: usize = if cfg!(test) { 64 << 10 } else { 64 << 20 };

/// Writes the records of one run, or of several, to the audit trail.
///
/// Its thread starts with it and opens the trail at the first record. No failure there affects a run:
/// [`finish`](AuditWriter::finish) reports it once.
pub struct AuditWriter {
    notes: Arc<Notes>,
    thread: Result<Thread, io::Error>,
}

struct Thread {
    handle: JoinHandle<()>,
    end: Receiver<Result<(), AuditError>>,
}

impl Thread {
    fn end(self) -> Result<(), AuditError> {
        let end = self.end.recv_timeout(PATIENCE).map_err(|_| AuditError::Late)?;
        let _ = self.handle.join();
        end
    }
}

/// State shared with the observers: the queue of records, and the storage of lasting grants.
struct Notes {
    level: Level,
    queue: Queue,
    state: Option<PathBuf>,
    /// Stores lasting grants; without it none are stored.
    keeper: OnceLock<Keeper>,
    /// The reason that the last grant couldn't be stored.
    unkept: Mutex<Option<StoreError>>,
}

impl AuditWriter {
    /// Starts a writer for the trail in this state directory.
    pub fn start(state: Option<&Path>, level: Level, on_violation: Option<OnViolation>) -> AuditWriter {
        let notes = Arc::new(Notes {
            level,
            queue: Queue::default(),
            state: state.map(Path::to_path_buf),
            keeper: OnceLock::new(),
            unkept: Mutex::new(None),
        });
        let writing = Writing {
            notes: Arc::clone(&notes),
            trail: None,
            failures: 0,
            accesses: HashMap::new(),
            unrecorded: 0,
            unwritten: 0,
            lost: 0,
            error: None,
            untaken: None,
            fault: None,
            alerts: Alerts::new(on_violation),
        };
        let thread = match level {
            Level::Off => Err(io::ErrorKind::Unsupported.into()),
            Level::Denials | Level::All => spawn(writing),
        };
        AuditWriter { notes, thread }
    }

    /// Lets the observer store grants that were answered with `always`, for runs with this key. The first key stays. Call
    /// it before the run starts, on an unconfined thread. If no thread can be started, none are stored.
    pub fn keep_grants(&self, key: Key) {
        if self.notes.keeper.get().is_none()
            && let Ok(keeper) = Keeper::start(self.notes.state.clone(), key)
        {
            let _ = self.notes.keeper.set(keeper);
        }
    }

    /// The observer that records for this writer. Records after the end are dropped.
    pub fn observer(&self) -> Arc<dyn Observer> {
        self.notes.clone()
    }

    /// Writes the remaining records and ends.
    ///
    /// # Errors
    /// Records are missing from the trail. This is the only report of it, and no run was affected.
    pub fn finish(mut self) -> Result<(), AuditError> {
        self.notes.queue.close();
        let thread = std::mem::replace(&mut self.thread, Err(io::ErrorKind::Unsupported.into()));
        let written = match thread {
            Ok(thread) => thread.end(),
            Err(_) if self.notes.level == Level::Off => Ok(()),
            Err(source) => Err(AuditError::Unstarted(source)),
        };
        // A missing grant comes first: a person would notice it first.
        let unkept = lock(&self.notes.unkept).take();
        unkept.map_or(written, |source| Err(AuditError::Unkept(source)))
    }
}

/// Without [`AuditWriter::finish`] the thread ends by itself, and unwritten records aren't reported.
impl Drop for AuditWriter {
    fn drop(&mut self) {
        self.notes.queue.close();
    }
}

impl Observer for Notes {
    fn note(&self, run: &str, record: Record) {
        let is_wanted = match self.level {
            Level::Off => false,
            Level::Denials => !record.allows(),
            Level::All => true,
        };
        if is_wanted {
            self.queue.add(Noted {
                time_ms: now_ms(),
                run: run.to_string(),
                record,
            });
        }
    }

    fn keep_grant(&self, words: &[OsString], request: &EscalationRequest, answer: &Answer) -> bool {
        let Some(keeper) = self.keeper.get() else {
            return false;
        };
        let grant = NewGrant {
            given: Given::Flag(words.to_vec()),
            by: answer.by.clone(),
            reason: answer.reason.clone(),
            request: Some(request.id.clone()),
        };
        match keeper.keep(grant) {
            Ok(()) => true,
            Err(error) => {
                *lock(&self.unkept) = Some(error);
                false
            }
        }
    }

    fn keeps_grants(&self) -> bool {
        self.keeper.get().is_some()
    }

    fn wants_allowed(&self) -> bool {
        self.level == Level::All
    }
}

/// Starts a thread on which all signals are blocked from the start: they are for the thread that waits for them.
fn spawn(writing: Writing) -> io::Result<Thread> {
    let (say, end) = channel();
    let before = SignalSet::full().block()?;
    let spawned = std::thread::Builder::new()
        .name("stockade-audit".into())
        .stack_size(512 * 1024)
        .spawn(move || {
            let ended = fault::contain(|| writing.serve());
            let _ = say.send(ended.unwrap_or_else(|fault| Err(AuditError::Fault(fault.to_string()))));
        });
    before.set()?;
    spawned.map(|handle| Thread { handle, end })
}

/// The thread's own state.
struct Writing {
    notes: Arc<Notes>,
    trail: Option<Trail>,
    failures: u32,
    /// The number of bytes of each run's recorded accesses.
    accesses: HashMap<String, usize>,
    /// Missing records that no row reports yet.
    unrecorded: u64,
    unwritten: u64,
    lost: u64,
    error: Option<StoreError>,
    /// The reason that the log stays long; taking it in isn't tried again in this run.
    untaken: Option<StoreError>,
    /// The last panic.
    fault: Option<Fault>,
    alerts: Alerts,
}

impl Writing {
    fn serve(mut self) -> Result<(), AuditError> {
        // It needs no more power than the user has, and neither do the commands that it starts.
        let _ = confine::drop_capabilities(false);
        loop {
            let deadline = if self.alerts.are_busy() {
                Duration::from_millis(100)
            } else {
                Duration::from_secs(3600)
            };
            let taken = self.notes.queue.take(deadline);
            let (records, is_last) = (taken.records.len() as u64, taken.is_last);
            if let Err(fault) = fault::contain(|| self.keep(taken)) {
                self.unrecorded += records;
                self.fault = Some(fault);
                // Its state is unknown.
                self.trail = None;
            }
            if is_last {
                self.trail = None;
                self.alerts.end();
                return self.ended();
            }
        }
    }

    /// Whether a record is kept. The accesses of one run, which makes as many as it likes, don't fill the disk.
    fn has_room(&mut self, entry: &Entry) -> bool {
        if !matches!(entry.kind, "allowed" | "denied") {
            if entry.kind == "ended" {
                self.accesses.remove(&entry.run);
            }
            return true;
        }
        let bytes = self.accesses.entry(entry.run.clone()).or_default();
        *bytes += entry.body.len();
        *bytes <= MAX_BYTES_OF_ACCESSES
    }

    /// Writes a batch.
    fn keep(&mut self, taken: Taken) {
        let last_run = taken.records.back().map(|noted| noted.run.clone());
        let noted = taken.records.len();
        let mut entries: Vec<Entry> = taken.records.into_iter().map(entry).collect();
        entries.retain(|entry| self.has_room(entry));
        let lost = taken.lost + (noted - entries.len()) as u64;
        self.lost += lost;
        self.unrecorded += lost;
        if self.unrecorded > 0 && (!entries.is_empty() || taken.is_last) {
            entries.push(entry(Noted {
                time_ms: now_ms(),
                run: last_run.unwrap_or_default(),
                record: Record::Lost(Lost {
                    records: self.unrecorded,
                }),
            }));
        }
        self.write(&entries);
        self.alerts.go_on();
    }

    /// Writes all of them, or none and keeps the error.
    fn write(&mut self, entries: &[Entry]) {
        if entries.is_empty() {
            return;
        }
        match self.append(entries) {
            Ok(rows) => {
                self.unrecorded = 0;
                let denials = rows.iter().filter(|row| is_violation(&row.kind, &row.body));
                denials.for_each(|row| self.alerts.tell(&row.json()));
            }
            Err(error) => {
                let records = entries.iter().filter(|entry| entry.kind != "lost").count() as u64;
                self.unwritten += records;
                self.unrecorded += records;
                self.failures += 1;
                if let Some(error) = error {
                    self.error = Some(error);
                }
                // Opened anew next time, because its state is unknown.
                self.trail = None;
                let denials = entries.iter().filter(|entry| is_violation(entry.kind, &entry.body));
                denials.for_each(|entry| {
                    self.alerts
                        .tell(&exported(entry.time_ms, &entry.run, entry.kind, &entry.body));
                });
            }
        }
    }

    /// The error is `None` if writing isn't even tried any more.
    fn append(&mut self, entries: &[Entry]) -> Result<Vec<super::Row>, Option<StoreError>> {
        if self.failures >= MAX_FAILURES {
            return Err(None);
        }
        let state = self.notes.state.as_deref().ok_or(StoreError::Stateless)?;
        let trail = match &mut self.trail {
            Some(trail) => trail,
            none => none.insert(Trail::open(state)?),
        };
        let rows = trail.append(entries)?;
        if self.untaken.is_none() {
            self.untaken = trail.take_in_if_long(state).err();
        }
        Ok(rows)
    }

    /// The report of missing records, the worst first.
    fn ended(self) -> Result<(), AuditError> {
        if let Some(source) = self.error {
            let records = self.unwritten;
            return Err(AuditError::Unwritten { records, source });
        }
        if let Some(fault) = self.fault {
            return Err(AuditError::Fault(fault.to_string()));
        }
        if let Some(source) = self.untaken {
            return Err(AuditError::Untaken(source));
        }
        if self.lost > 0 {
            return Err(AuditError::Lost { records: self.lost });
        }
        if self.alerts.untold > 0 {
            return Err(AuditError::Unalerted {
                records: self.alerts.untold,
                source: self.alerts.error,
            });
        }
        Ok(())
    }
}

/// Whether a record counts as a violation, where that is configured. Quotes within a text are escaped, so this field is
/// the record's own.
fn is_violation(kind: &str, body: &str) -> bool {
    kind == "denied" || (kind == "judged" && body.contains("\"result\":\"deny\""))
}

fn entry(noted: Noted) -> Entry {
    fault::point("audit", || noted.record.kind());
    Entry {
        time_ms: noted.time_ms,
        kind: noted.record.kind(),
        body: audit::body(&noted.record),
        run: noted.run,
    }
}
