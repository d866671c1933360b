//! One result: a line of JSON.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use stockade_report::report::{Denial, Report, Resources, Suggestion};
use stockade_text::visible::visible_json;

use crate::capture::{Capture, Text};
use crate::job::JobError;
use crate::lines::Line;

/// How every result begins, by which a torn one is known.
pub const BEGINNING: &[u8] = b"{\"index\":";

/// A result, in the order of its fields.
#[derive(Serialize)]
struct Row<'a> {
    index: u64,
    hash: &'a str,
    id: Option<&'a RawValue>,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(flatten)]
    ran: Option<Ran<'a>>,
}

/// The part of a job that ran.
#[derive(Serialize)]
struct Ran<'a> {
    run: &'a str,
    profile: &'a str,
    exit_code: Option<i32>,
    signal: Option<&'a str>,
    limit: Option<&'a str>,
    stdout: &'a str,
    stdout_cut: bool,
    stdout_lossy: bool,
    stderr: &'a str,
    stderr_cut: bool,
    stderr_lossy: bool,
    denials: &'a [Denial],
    denials_dropped: u64,
    suggestion: Option<&'a Suggestion>,
    duration_ms: u64,
    resources: &'a Resources,
}

/// What came of a job.
#[derive(Debug)]
pub enum Answer {
    /// It ran to its end.
    Ran(Box<Report>, [Capture; 2]),
    /// Its line isn't a job.
    Invalid(JobError),
    /// It couldn't be started.
    NotStarted(JobError),
    /// A fault of Stockade's own ended it.
    Lost(JobError),
}

/// The fields of a result that tell whose it is.
#[derive(Debug, Deserialize)]
pub struct Head {
    /// The job's place, from 0.
    pub index: u64,
    /// The hash of its line.
    pub hash: String,
    /// The error, of a job without an answer.
    pub error: Option<String>,
}

/// The line of a result, with its end, and whether it is an answer.
pub fn line(of: &Line, id: Option<&RawValue>, answer: Answer) -> (Vec<u8>, bool) {
    let row = Row {
        index: of.index,
        hash: &of.hash,
        id,
        status: "",
        error: None,
        hint: None,
        ran: None,
    };
    match answer {
        Answer::Ran(report, streams) => (ran(row, &report, streams), true),
        Answer::Invalid(error) => (failed(row, "invalid", &error), false),
        Answer::NotStarted(error) => (failed(row, "not_started", &error), false),
        Answer::Lost(error) => (failed(row, "lost", &error), false),
    }
}

fn failed(row: Row<'_>, status: &str, error: &JobError) -> Vec<u8> {
    ended(&Row {
        status,
        error: Some(&error.message),
        hint: error.hint.as_deref(),
        ..row
    })
}

fn ran(row: Row<'_>, report: &Report, [output, error]: [Capture; 2]) -> Vec<u8> {
    let (stdout, stderr): (Text, Text) = (output.text(), error.text());
    ended(&Row {
        status: report.status.name(),
        ran: Some(Ran {
            run: &report.run,
            profile: &report.profile,
            exit_code: report.exit_code,
            signal: report.signal.as_deref(),
            limit: report.limit.as_deref(),
            stdout: &stdout.text,
            stdout_cut: stdout.is_cut,
            stdout_lossy: stdout.is_lossy,
            stderr: &stderr.text,
            stderr_cut: stderr.is_cut,
            stderr_lossy: stderr.is_lossy,
            denials: &report.denials,
            denials_dropped: report.denials_dropped,
            suggestion: report.suggestion.as_ref(),
            duration_ms: report.duration_ms,
            resources: &report.resources,
        }),
        ..row
    })
}

/// With what a terminal wouldn't show escaped: results are read there too.
fn ended(row: &Row<'_>) -> Vec<u8> {
    let json = serde_json::to_string(row).expect("texts and numbers alone");
    let mut line = visible_json(&json).into_owned().into_bytes();
    // Blanks that stood between the parts of an id: in a text they are escaped.
    line.retain(|byte| *byte >= b' ');
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Line {
        Line {
            index: 3,
            number: 4,
            hash: "00ff".into(),
            text: text.into(),
            is_too_long: false,
        }
    }

    #[test]
    fn a_result_begins_with_its_place_and_hash() {
        let error = Answer::Invalid(JobError::new("no\u{1b}[2J\u{9b}job").hint("write one"));
        let id = RawValue::from_string("\"a\"".into()).unwrap();
        let (line, is_answer) = line(&of("x"), Some(&id), error);
        let text = String::from_utf8(line).unwrap();
        assert!(text.as_bytes().starts_with(BEGINNING) && !is_answer);
        assert_eq!(
            text,
            "{\"index\":3,\"hash\":\"00ff\",\"id\":\"a\",\"status\":\"invalid\",\
             \"error\":\"no\\u001b[2J\\u009bjob\",\"hint\":\"write one\"}\n"
        );
        let head: Head = serde_json::from_str(&text).unwrap();
        assert_eq!((head.index, &*head.hash, head.error.is_some()), (3, "00ff", true));
    }

    #[test]
    fn blanks_within_an_id_move_no_terminal() {
        let id = RawValue::from_string("[1,\r\t2, \"a b\"]".into()).unwrap();
        let (line, _) = line(&of("x"), Some(&id), Answer::Invalid(JobError::new("no")));
        let text = String::from_utf8(line).unwrap();
        assert!(text.contains("\"id\":[1,2, \"a b\"]"), "{text:?}");
    }

    #[test]
    fn output_is_escaped_and_what_is_lost_of_it_is_said() {
        let report = Report::refused("minimal", &["x".into()], "/".as_ref());
        let mut streams = [Capture::of(4), Capture::of(100)];
        streams[0].add("ab\u{202e}cd".as_bytes());
        streams[1].add(b"\x1b]0;\xff\n");
        let (line, is_answer) = line(&of("x"), None, Answer::Ran(Box::new(report), streams));
        let text = String::from_utf8(line).unwrap();
        assert!(
            is_answer && text.chars().all(|c| c == '\n' || !c.is_control()),
            "{text}"
        );
        let row: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&row["stdout"], &row["stdout_cut"], &row["stdout_lossy"]),
            (&"ab".into(), &true.into(), &false.into())
        );
        assert_eq!(
            (&row["stderr"], &row["stderr_lossy"]),
            (&"\u{1b}]0;\u{fffd}\n".into(), &true.into())
        );
        assert_eq!(row["id"], serde_json::Value::Null);
    }
}
