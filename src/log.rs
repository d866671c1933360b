//! `STOCKADE_LOG`, or `--verbose`: what a run does, stage by stage, and how long each takes, on standard error.
//!
//! Without the variable no subscriber is installed, and each span costs the look at one number. Fields are numbers and
//! names of Stockade's own: no path, no argument and no variable's value is ever one.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::{Debug, Write as _};
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::message::note;
use stockade_policy::profile::visible;

/// The variable.
const VARIABLE: &str = "STOCKADE_LOG";

/// The targets that are heard: dependencies use the same facade, and may tell anything.
const OWN: &str = "stockade";

/// Listens if a flag says so, unless the variable did.
pub fn start_if(is_verbose: bool) {
    if is_verbose {
        let _ = tracing::subscriber::set_global_default(Log::of(LevelFilter::DEBUG));
    }
}

/// Listens if the variable says so.
pub fn start() {
    let Some(value) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) else {
        return;
    };
    match value.to_str().and_then(|text| text.parse::<LevelFilter>().ok()) {
        Some(LevelFilter::OFF) => {}
        Some(level) => drop(tracing::subscriber::set_global_default(Log::of(level))),
        None => note(&format!(
            "`{VARIABLE}` is ignored: `{}` isn't off, error, warn, info, debug or trace",
            visible(&value.to_string_lossy())
        )),
    }
}

/// Writes a line for each event, and for each span at its end.
struct Log {
    level: LevelFilter,
    began: Instant,
    next: AtomicU64,
    open: Mutex<HashMap<u64, Open>>,
}

/// A span that hasn't ended.
struct Open {
    name: &'static str,
    began: Instant,
    fields: String,
}

thread_local! {
    /// How many spans this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

impl Log {
    fn of(level: LevelFilter) -> Log {
        Log {
            level,
            began: Instant::now(),
            next: AtomicU64::new(1),
            open: Mutex::default(),
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, text: &str) {
        let at = self.began.elapsed().as_secs_f64() * 1000.0;
        let indent = 2 * DEPTH.get();
        let _ = writeln!(
            std::io::stderr(),
            "stockade: {at:9.3} ms {:indent$}{}",
            "",
            visible(text)
        );
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level && metadata.target().starts_with(OWN)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut fields = Fields::default();
        span.record(&mut fields);
        self.open().insert(
            id,
            Open {
                name: span.metadata().name(),
                began: Instant::now(),
                fields: fields.0,
            },
        );
        Id::from_u64(id)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.write(fields.0.trim_start());
    }

    fn enter(&self, _: &Id) {
        DEPTH.set(DEPTH.get() + 1);
    }

    fn exit(&self, _: &Id) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
    }

    fn try_close(&self, id: Id) -> bool {
        let Some(span) = self.open().remove(&id.into_u64()) else {
            return false;
        };
        let took = span.began.elapsed().as_secs_f64() * 1000.0;
        self.write(&format!("{}{}: {took:.3} ms", span.name, span.fields));
        true
    }
}

/// Fields as text, the message first.
#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = write!(self.0, " {}={value}", field.name());
    }
}
