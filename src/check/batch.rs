//! Batch checks: one JSON object per line in, one per line out, in the same order.
//!
//! A line that can't be read or answered gets an object with `error`, and the next one is read.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::super::REFUSED;
use super::super::message::Failure;
use super::asked_act;
use super::checker::{Asked, Checker};
use stockade_judge::{Answer, Decision};
use stockade_text::json;

/// Exit code: a line couldn't be answered.
const UNANSWERED: u8 = 1;

/// The most bytes of a line that are read.
const MAX_LINE: usize = 1024 * 1024;

/// One line of the input.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Question {
    /// The id, exactly as it was written.
    #[serde(deserialize_with = "as_written")]
    id: Option<Box<RawValue>>,
    tool: Option<String>,
    command: Option<String>,
    skill_name: Option<String>,
    action: Option<String>,
    path: Option<PathBuf>,
    host: Option<String>,
    agent: Option<String>,
    cwd: Option<PathBuf>,
    root: Option<PathBuf>,
    rules: Option<PathBuf>,
}

/// One line of the output.
#[derive(Serialize)]
struct Reply<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(flatten)]
    answer: &'a Answer,
}

/// A line that couldn't be answered.
#[derive(Serialize)]
struct Unanswered {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Box<RawValue>>,
    /// For a reader that looks only at the decision: it isn't a yes.
    decision: Decision,
    error: String,
}

fn as_written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// A line of input.
enum Line {
    Text(Vec<u8>),
    /// The beginning of a line that is too long.
    TooLong(Vec<u8>),
    End,
}

/// Answers until the input ends; the exit code tells whether every line was answered.
pub(super) fn answer_all(checker: &mut Checker, input: impl Read, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let unreadable = |error: io::Error| Failure::text(REFUSED, format!("can't read standard input: {error}"));
    let mut is_all_answered = true;
    loop {
        // Flush for a caller that waits for an answer before its next question.
        if input.buffer().is_empty() && out.flush().is_err() {
            return Ok(0);
        }
        let reply = match next_line(&mut input).map_err(unreadable)? {
            Line::End => return Ok(if is_all_answered { 0 } else { UNANSWERED }),
            Line::TooLong(head) => Err(unanswered(
                json::id_of(&head),
                format!("the line is longer than {MAX_LINE} bytes"),
            )),
            Line::Text(line) if line.trim_ascii().is_empty() => continue,
            Line::Text(line) => reply(checker, &line),
        };
        is_all_answered &= reply.is_ok();
        let (Ok(reply) | Err(reply)) = reply;
        writeln!(out, "{reply}").map_err(|error| Failure::new(REFUSED, &error))?;
    }
}

/// The answer; an error is the output line with the reason that there is none.
fn reply(checker: &mut Checker, line: &[u8]) -> Result<String, String> {
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err(unanswered(
            None,
            "the line isn't a question: it is no JSON object".into(),
        ));
    }
    let question: Result<Question, _> = json::from_slice(line);
    let question =
        question.map_err(|error| unanswered(json::id_of(line), format!("the line isn't a question: {error}")))?;
    let id = question.id;
    let act = asked_act(
        question.tool.as_deref(),
        question.command,
        question.skill_name.as_deref(),
        question.action.as_deref(),
        question.path,
        question.host.as_deref(),
    );
    let act = match act {
        Ok(act) => act,
        Err(message) => return Err(unanswered(id, message.to_string())),
    };
    let asked = Asked {
        agent: question.agent,
        cwd: question.cwd,
        root: question.root,
        rules: question.rules,
        ..Asked::about(act)
    };
    match checker.answer(&asked) {
        Ok(answer) => serde_json::to_string(&Reply {
            id: id.as_deref(),
            answer: &answer,
        })
        .map_err(|error| unanswered(None, error.to_string())),
        Err(wrong) => Err(unanswered(id, Failure::from(wrong).message)),
    }
}

fn unanswered(id: Option<Box<RawValue>>, error: String) -> String {
    let unanswered = Unanswered {
        id,
        decision: Decision::Deny,
        error,
    };
    serde_json::to_string(&unanswered).expect("texts alone")
}

/// The next line without its end; the rest of one that is too long is skipped.
fn next_line(input: &mut impl BufRead) -> io::Result<Line> {
    let mut line = Vec::new();
    let limit = MAX_LINE as u64 + 1;
    if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(Line::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Line::Text(line));
    }
    if line.len() <= MAX_LINE {
        return Ok(Line::Text(line));
    }
    let mut rest = Vec::new();
    while rest.last() != Some(&b'\n') {
        rest.clear();
        if input.by_ref().take(limit).read_until(b'\n', &mut rest)? == 0 {
            break;
        }
    }
    Ok(Line::TooLong(line))
}
