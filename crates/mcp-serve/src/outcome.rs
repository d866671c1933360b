//! What a call answers: texts for a model or a person, the same as data, and links to reports.

use std::ffi::OsString;

use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Value, json};

use crate::child::Ended;
use crate::kept::{Kept, readable};
use stockade_report::report::{Denial, Kind, Report, Status, SuggestedGrant, Suggestion};
use stockade_text::quote::command_line;
use stockade_text::visible::{visible, visible_json};

/// The most denials in a result. The report has all.
const MAX_DENIALS: usize = 50;

/// The address of a run's report.
pub fn address(run: &str) -> String {
    format!("stockade://runs/{run}/report")
}

/// The report as a resource.
pub fn resource(run: &str) -> Resource {
    Resource::new(address(run), format!("report-{run}"))
        .with_title(format!("Report of run {run}"))
        .with_description("How the run ended, what was refused and asked, and by which rules")
        .with_mime_type("application/json")
}

/// A call that was refused before anything ran, or that can't be carried out.
pub fn refused(reason: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(reason.to_string())])
}

/// A run that the user's rules deny.
pub fn denied(reason: &str, profile: &str) -> CallToolResult {
    let text = format!("Permission denied: {}", visible(reason));
    let mut result = refused(&text);
    let nothing = Kept::new(0);
    result.structured_content = Some(data(
        None,
        ("refused", None),
        profile,
        (&nothing, &nothing),
        Some(&text),
        &[],
    ));
    result
}

/// The result of a run.
pub fn of_run(ended: &Ended, report: Option<&Report>, profile: &str, notes: &[String]) -> CallToolResult {
    let reason = report.and_then(denial_reason);
    let is_error = !matches!(report.map(|report| report.status), Some(Status::Completed));
    let mut content = Vec::new();
    content.extend(reason.as_ref().map(|text| ContentBlock::text(text.clone())));
    content.push(ContentBlock::text(text(ended, report, notes)));
    if let Some(report) = report {
        content.push(ContentBlock::resource_link(resource(&report.run)));
    }
    let mut result = match is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    let status = report.map_or("not_started", |report| report.status.name());
    let streams = (&ended.stdout, &ended.stderr);
    let code = report.map_or(Some(ended.code), |report| report.exit_code);
    result.structured_content = Some(data(report, (status, code), profile, streams, reason.as_deref(), notes));
    result
}

/// `Permission denied:` with the reason and the least grant.
fn denial_reason(report: &Report) -> Option<String> {
    let denial = report
        .explanation()
        .next()
        .or_else(|| report.closed_files().first().copied());
    let Some(denial) = denial else { return perhaps(report) };
    let mut text = format!(
        "Permission denied: {} {} ({})",
        word(denial.access),
        visible(&denial.target),
        why(denial)
    );
    let of_denial = || {
        Some(Suggestion {
            flags: denial.grant.clone()?,
            profile: None,
            candidates: Vec::new(),
        })
    };
    let suggestion = report.suggestion.clone().or_else(of_denial);
    if let Some(told) = suggestion.as_ref().and_then(suggested) {
        text += &format!("\n{told}");
    }
    Some(text)
}

/// The refusals that may be the reason, each with its own grant.
fn perhaps(report: &Report) -> Option<String> {
    let lines: Vec<String> = report
        .perhaps()
        .map(|denial| {
            let grant = denial.grant.as_ref().map(|words| format!("`{}`", command_line(words)));
            let grant = grant.unwrap_or_else(|| why(denial));
            format!(
                "\n{} {}: {}",
                word(denial.access),
                visible(&denial.target),
                visible(&grant)
            )
        })
        .collect();
    (!lines.is_empty()).then(|| format!("Refused, perhaps the reason:{}", lines.concat()))
}

/// What would allow it, and who can.
fn suggested(suggestion: &Suggestion) -> Option<String> {
    let flags =
        (!suggestion.flags.is_empty()).then(|| format!("the grant `{}`", visible(&command_line(&suggestion.flags))));
    let profile = suggestion
        .profile
        .as_ref()
        .map(|name| format!("the profile `{}`", visible(name)));
    match (flags, profile) {
        (Some(flags), Some(profile)) => Some(format!("least that would allow it: {flags}, or more widely {profile}")),
        (Some(one), None) | (None, Some(one)) => Some(format!("least that would allow it: {one}")),
        (None, None) => None,
    }
}

fn why(denial: &Denial) -> String {
    match (&denial.rule, &denial.capability) {
        (Some(rule), _) if denial.grant.is_none() => format!("{}; no grant opens it", visible(&rule.text)),
        (Some(rule), _) => visible(&rule.text).into_owned(),
        (None, Some(capability)) => format!("{} capability required", visible(capability)),
        (None, None) => "nothing grants it".into(),
    }
}

/// The output, and how it ended.
fn text(ended: &Ended, report: Option<&Report>, notes: &[String]) -> String {
    let mut text = ended.stdout.text();
    let errors = ended.stderr.text();
    if !errors.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text += "[stderr]\n";
        text += &errors;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let ending = match report.map(|report| (report.status, report.exit_code, &report.signal, &report.limit)) {
        Some((_, _, _, Some(limit))) => format!("ended by its limit: {}", visible(limit)),
        Some((_, _, Some(signal), _)) => format!("ended by {}", visible(signal)),
        Some((_, Some(code), _, _)) => format!("exit code {code}"),
        _ => format!("not started, exit code {}", ended.code),
    };
    text += &format!("[{ending}]");
    for note in notes {
        text += &format!("\n[{note}]");
    }
    text
}

/// The same as data.
fn data(
    report: Option<&Report>,
    (status, code): (&str, Option<i32>),
    profile: &str,
    (stdout, stderr): (&Kept, &Kept),
    reason: Option<&str>,
    notes: &[String],
) -> Value {
    let denials = report.map(|report| report.denials.as_slice()).unwrap_or_default();
    let suggestion = report.and_then(|report| report.suggestion.as_ref()).map(|suggestion| {
        json!({ "flags": shown_words(&suggestion.flags), "profile": suggestion.profile, "candidates": suggestion.candidates.iter().map(candidate).collect::<Vec<_>>() })
    });
    json!({
        "run": report.map(|report| &report.run),
        "status": status,
        "exit_code": code,
        "signal": report.and_then(|report| report.signal.as_ref()),
        "limit": report.and_then(|report| report.limit.as_ref()),
        "profile": profile,
        "duration_ms": report.map(|report| report.duration_ms),
        "stdout": stdout.text(),
        "stderr": stderr.text(),
        "stdout_bytes": stdout.count(),
        "stderr_bytes": stderr.count(),
        "stdout_left_out": stdout.left_out(),
        "stderr_left_out": stderr.left_out(),
        "reason": reason,
        "denials": denials.iter().take(MAX_DENIALS).map(denial).collect::<Vec<_>>(),
        "suggestion": suggestion,
        "report": report.map(|report| address(&report.run)),
        "notes": notes,
    })
}

fn candidate(candidate: &SuggestedGrant) -> Value {
    json!({
        "access": word(candidate.access),
        "target": shown(&candidate.target),
        "flags": shown_words(&candidate.flags),
        "profile": candidate.profile,
    })
}

fn shown_words(words: &[OsString]) -> Vec<String> {
    words.iter().map(|word| shown(&word.to_string_lossy())).collect()
}

fn denial(denial: &Denial) -> Value {
    let grant = denial.grant.as_ref().map(|words| shown_words(words));
    json!({
        "access": word(denial.access),
        "target": shown(&denial.target),
        "reason": why(denial),
        "explains": denial.explains,
        "count": denial.count,
        "grant": grant,
        "program": shown(&denial.program),
    })
}

fn shown(text: &str) -> String {
    visible(text).into_owned()
}

/// The word for a kind of access in reports.
fn word(access: Kind) -> String {
    let word = serde_json::to_value(access).unwrap_or_default();
    word.as_str().unwrap_or("use").to_string()
}

/// The answer of one of our own programs that prints JSON: as data and as text. Where it failed, its message.
pub fn of_json(ended: &Ended) -> CallToolResult {
    let parsed = ended
        .stdout
        .whole()
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    match parsed {
        Some(mut value @ Value::Object(_)) => {
            escape(&mut value);
            let text = serde_json::to_string_pretty(&value).unwrap_or_default();
            let mut result = CallToolResult::success(vec![ContentBlock::text(visible_json(&text).into_owned())]);
            result.structured_content = Some(value);
            result
        }
        _ => refused(&failure(ended)),
    }
}

/// The message of one of our own programs that failed.
pub fn failure(ended: &Ended) -> String {
    match ended.stderr.text() {
        text if text.trim().is_empty() => format!("no answer came (exit code {})", ended.code),
        text => text,
    }
}

/// Escapes each text in it.
fn escape(value: &mut Value) {
    match value {
        Value::String(text) => *text = readable(text.as_bytes()),
        Value::Array(list) => list.iter_mut().for_each(escape),
        Value::Object(fields) => fields.values_mut().for_each(escape),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
