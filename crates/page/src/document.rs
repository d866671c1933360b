//! The data of a page: rows by column, so that a hundred thousand of them are a few megabytes and are read at once.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::run::{Run, Tone};
use super::strings::Strings;
use stockade_report::report::Kind;

/// The accesses by number, as reports name them, in front of the kinds of records.
pub const ACCESSES: [Kind; 14] = [
    Kind::Read,
    Kind::Write,
    Kind::Create,
    Kind::Delete,
    Kind::Metadata,
    Kind::Execute,
    Kind::Connect,
    Kind::Listen,
    Kind::Socket,
    Kind::Resolve,
    Kind::Signal,
    Kind::Spawn,
    Kind::Syscall,
    Kind::Variable,
];
const RECORDS: [&str; 9] = [
    "started",
    "ended",
    "asked",
    "answered",
    "granted",
    "revoked",
    "judged",
    "lost",
    "unreadable",
];

/// What was decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: the row is no access.
    #[default]
    None = 0,
    /// The access was allowed.
    Allowed = 1,
    /// The access was refused.
    Refused = 2,
    /// A question, or an answer to one.
    Asked = 3,
}

/// One row. Texts are numbers of [`Strings`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Event {
    /// The row's place in the trail; 0 where it has none.
    pub seq: u64,
    /// Milliseconds since the page's start.
    pub time: i64,
    /// The run, by its place in [`Page::runs`]; 0 for none.
    pub run: u32,
    pub verdict: Verdict,
    /// The access or kind of record, by [`kind_of_access`] and [`kind_of_record`].
    pub kind: u8,
    pub target: u32,
    pub asked: u32,
    pub call: u32,
    pub pid: i32,
    pub program: u32,
    /// What decided, and where that is written.
    pub rule: u32,
    /// The flags that would allow it, or why there are none.
    pub grant: u32,
    /// What else the record says.
    pub more: u32,
    /// How often it was so, where that is known.
    pub count: u64,
    /// Whether it explains why the run failed: 2 if it does, 1 if it may.
    pub explains: u8,
}

/// A question with its answer. Texts are escaped.
#[derive(Debug, Clone, Serialize)]
pub struct Question {
    pub run: u32,
    /// Milliseconds since the page's start; `None` where that isn't recorded.
    pub time: Option<i64>,
    /// Milliseconds until the answer.
    pub waited: Option<u64>,
    pub access: &'static str,
    pub target: String,
    pub requested: String,
    pub answer: String,
    pub tone: Tone,
    pub program: String,
    /// All that is known of it: label, text.
    pub facts: Vec<(&'static str, String)>,
}

/// All that a page shows.
#[derive(Debug)]
pub struct Page {
    /// Milliseconds since 1970 that all times count from; 0 where only the distance is known.
    pub(super) start: i64,
    /// What the page was made of, in a line.
    pub(super) source: String,
    /// Why the trail that it was made of can't be trusted.
    pub(super) fault: Option<String>,
    pub(super) strings: Strings,
    pub(super) events: Vec<Event>,
    /// The runs from number 1 on; number 0 stands for none.
    pub(super) runs: Vec<Run>,
    pub(super) questions: Vec<Question>,
}

/// The number of an access.
pub fn kind_of_access(access: Kind) -> u8 {
    let at = ACCESSES.iter().position(|kind| *kind == access);
    u8::try_from(at.expect("the list has every kind")).expect("a short list")
}

/// The number of a kind of record; what isn't known is unreadable.
pub fn kind_of_record(name: &str) -> u8 {
    let at = RECORDS.iter().position(|kind| *kind == name);
    u8::try_from(ACCESSES.len() + at.unwrap_or(RECORDS.len() - 1)).expect("a short list")
}

impl Page {
    /// An empty page.
    pub(super) fn new(source: String, start: i64) -> Page {
        Page {
            start,
            source,
            fault: None,
            strings: Strings::new(),
            events: Vec::new(),
            runs: vec![Run::default()],
            questions: Vec::new(),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.events.len()
    }

    /// The document's data as JSON.
    pub(super) fn json(self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Data {
            start: i64,
            source: String,
            fault: Option<String>,
            rows: usize,
            accesses: usize,
            kinds: Vec<&'static str>,
            runs: Vec<Run>,
            questions: Vec<Question>,
            columns: Columns,
            strings: Vec<String>,
        }
        let accesses = ACCESSES.iter().map(|kind| kind.name());
        serde_json::to_string(&Data {
            start: self.start,
            source: self.source,
            fault: self.fault,
            rows: self.events.len(),
            accesses: ACCESSES.len(),
            kinds: accesses.chain(RECORDS).collect(),
            runs: self.runs,
            questions: self.questions,
            columns: Columns(self.events),
            strings: self.strings.into_shown(),
        })
    }
}

/// Rows, written as columns. One without anything but zeros is left out.
struct Columns(Vec<Event>);

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        type Value = fn(&Event) -> i64;
        const COLUMNS: [(&str, Value); 15] = [
            ("seq", |event| event.seq.cast_signed()),
            ("time", |event| event.time),
            ("run", |event| event.run.into()),
            ("verdict", |event| event.verdict as i64),
            ("kind", |event| event.kind.into()),
            ("target", |event| event.target.into()),
            ("asked", |event| event.asked.into()),
            ("call", |event| event.call.into()),
            ("pid", |event| event.pid.into()),
            ("program", |event| event.program.into()),
            ("rule", |event| event.rule.into()),
            ("grant", |event| event.grant.into()),
            ("more", |event| event.more.into()),
            // The page counts in 32 bits.
            ("count", |event| event.count.min(i32::MAX as u64).cast_signed()),
            ("explains", |event| event.explains.into()),
        ];
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in COLUMNS {
            if self.0.iter().any(|event| value(event) != 0) {
                let column: Vec<i64> = self.0.iter().map(value).collect();
                map.serialize_entry(name, &column)?;
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_written_as_columns_without_empty_ones() {
        let mut page = Page::new("a".into(), 5);
        page.events = vec![
            Event {
                time: 1,
                verdict: Verdict::Refused,
                ..Event::default()
            },
            Event {
                explains: 2,
                ..Event::default()
            },
        ];
        let json: serde_json::Value = serde_json::from_str(&page.json().unwrap()).unwrap();
        assert_eq!(
            json["columns"],
            serde_json::json!({ "time": [1, 0], "verdict": [2, 0], "explains": [0, 2] })
        );
        assert_eq!((&json["rows"], &json["start"]), (&2.into(), &5.into()));
    }

    #[test]
    fn every_kind_has_its_number() {
        for access in ACCESSES {
            assert_eq!(ACCESSES[usize::from(kind_of_access(access))], access);
        }
        assert_eq!(kind_of_record("started"), 14);
        assert_eq!(kind_of_record("of a later release"), kind_of_record("unreadable"));
    }
}
