//! `stockade audit`: shows and verifies the audit trail.
//!
//! The trail's texts come from targets: each is escaped before a person sees it, in JSON too.

mod follow;
mod otel;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::REFUSED;
use super::args::Audit;
use super::message::{Failure, note, note_empty};
use super::{moment, page};
use stockade::internal::Surroundings;
use stockade_policy::profile::visible;
use stockade_report::approve::{Choice as Said, Extent, Lifetime, Requested};
use stockade_report::audit::{Ended, Record, Seen};
use stockade_store::{Choice, Row, StoreError, Trail, verify};
use stockade_text::quote::command_line;
use stockade_text::visible::visible_json;

/// The number of records that `audit list` shows without `--limit`.
const LISTED: u64 = 50;

/// Exit code: the trail was altered.
const ALTERED: u8 = 1;

/// The reason that printing stopped.
#[derive(Debug, thiserror::Error)]
enum Stop {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("can't write the output")]
    Output(#[from] io::Error),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        match stop {
            Stop::Store(error) => error.into(),
            Stop::Output(_) => Failure::new(REFUSED, &stop),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure {
            hint: error.hint().map(String::from),
            ..Failure::new(REFUSED, &error)
        }
    }
}

/// Carries out `stockade audit …`.
pub fn audit(task: &Audit, out: &mut dyn Write) -> Result<u8, Failure> {
    let state = state()?;
    match task {
        Audit::Verify { json } => return verified(&state, *json, out),
        Audit::Report { run, since, output, .. } => {
            let has_rows = page::of_trail(&state, run.as_deref(), *since, output.as_deref(), out)?;
            if let (Some(run), false) = (run, has_rows) {
                return Err(no_such_run(run));
            }
            note_empty("record in the audit trail for this page", !has_rows, false);
        }
        Audit::Export { since, otel, .. } => {
            let choice = Choice {
                since_ms: *since,
                ..Choice::default()
            };
            let print = if *otel { otel::exported } else { exported };
            each(&state, &choice, |row| print(&row, out))?;
        }
        Audit::List {
            run,
            limit,
            denied,
            since,
            follow,
            json,
        } => {
            let choice = Choice {
                run: run.clone(),
                kind: denied.then_some("denied"),
                since_ms: *since,
                limit: Some(limit.unwrap_or(LISTED)),
                ..Choice::default()
            };
            let print = if *json { exported } else { listed };
            if *follow {
                return follow::follow(&state, choice, print, out);
            }
            let count = each(&state, &choice, |row| print(&row, out))?;
            if let (Some(run), 0) = (run, count) {
                known_run(&state, run)?;
            }
            note_empty("record in the audit trail", count == 0, *json);
            if limit.is_none() && count == LISTED {
                out.flush().map_err(|error| Failure::from(Stop::Output(error)))?;
                note_older(self::count(&state, &choice)?);
            }
        }
        Audit::Show { run, json } => {
            let choice = Choice {
                run: Some(run.clone()),
                ..Choice::default()
            };
            let print = if *json { exported } else { shown };
            if each(&state, &choice, |row| print(&row, out))? == 0 {
                return Err(no_such_run(run));
            }
        }
    }
    Ok(0)
}

/// The failure where no row belongs to a run.
pub fn no_such_run(run: &str) -> Failure {
    let message = format!("the audit trail has no run `{run}`");
    Failure::text(REFUSED, message).hint("`stockade audit list` shows the newest records")
}

/// The failure, unless rows belong to the run.
fn known_run(state: &Path, run: &str) -> Result<(), Failure> {
    let choice = Choice {
        run: Some(run.to_string()),
        ..Choice::default()
    };
    match count(state, &choice)? {
        0 => Err(no_such_run(run)),
        _ => Ok(()),
    }
}

fn note_older(all: u64) {
    let older = all.saturating_sub(LISTED);
    if older > 0 {
        note(&format!(
            "older records that aren't shown: {older}; `--limit {all}` shows them"
        ));
    }
}

fn count(state: &Path, choice: &Choice) -> Result<u64, Failure> {
    Ok(Trail::open_existing(state)?.map_or(Ok(0), |mut trail| trail.count(choice))?)
}

/// The state directory.
pub fn state() -> Result<PathBuf, Failure> {
    let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
    Ok(surroundings.state.ok_or(StoreError::Stateless)?)
}

/// Calls a function for each row and returns the number of rows.
fn each(state: &Path, choice: &Choice, mut print: impl FnMut(Row) -> Result<(), Stop>) -> Result<u64, Failure> {
    let Some(mut trail) = Trail::open_existing(state)? else {
        return Ok(0);
    };
    let mut count = 0;
    trail.rows(choice, |row| {
        count += 1;
        print(row)
    })?;
    Ok(count)
}

fn verified(state: &Path, is_json: bool, out: &mut dyn Write) -> Result<u8, Failure> {
    let failed = |error: io::Error| Failure::from(Stop::Output(error));
    let verified = verify(state)?;
    if is_json {
        let (rows, newest, fault) = match &verified {
            Some(found) => (found.rows, found.newest.as_ref(), found.fault.as_ref()),
            None => (0, None, None),
        };
        let (newest, told) = (newest.map(ToString::to_string), fault.map(ToString::to_string));
        let line = json!({ "unaltered_rows": rows, "newest": newest, "fault": told }).to_string();
        writeln!(out, "{}", visible_json(&line)).map_err(failed)?;
        return Ok(if fault.is_some() { ALTERED } else { 0 });
    }
    let Some(verified) = verified else {
        writeln!(out, "the audit trail is empty").map_err(failed)?;
        return Ok(0);
    };
    let rows = verified.rows;
    let newest = verified
        .newest
        .map_or_else(String::new, |hash| format!(", the last with hash {hash}"));
    match verified.fault {
        None => {
            writeln!(out, "all {rows} rows are unaltered{newest}").map_err(failed)?;
            Ok(0)
        }
        Some(fault) => {
            let fault = fault.to_string();
            writeln!(out, "{}\nthe first {rows} rows are unaltered{newest}", visible(&fault)).map_err(failed)?;
            Ok(ALTERED)
        }
    }
}

/// Prints a row as one line of JSON.
fn exported(row: &Row, out: &mut dyn Write) -> Result<(), Stop> {
    Ok(writeln!(out, "{}", visible_json(&row.json().to_string()))?)
}

/// Prints a row as one line.
fn listed(row: &Row, out: &mut dyn Write) -> Result<(), Stop> {
    let run = if row.run.is_empty() { "-" } else { &row.run };
    writeln!(
        out,
        "{}  {:19}  {:8}  {}",
        moment::text(row.time_ms),
        visible(run),
        visible(&row.kind),
        summary(row)
    )?;
    Ok(())
}

/// Prints a row with its details.
fn shown(row: &Row, out: &mut dyn Write) -> Result<(), Stop> {
    writeln!(
        out,
        "{:>6}  {}  {:8}  {}",
        row.seq.cast_signed(),
        moment::text(row.time_ms),
        visible(&row.kind),
        summary(row)
    )?;
    for detail in details(row) {
        writeln!(out, "{:>37}{}", "", visible(&detail))?;
    }
    Ok(())
}

/// A row's content, escaped, on one line.
fn summary(row: &Row) -> String {
    let text = match serde_json::from_str::<Record>(&row.body) {
        Ok(Record::Started(started)) => format!("{}: {}", started.profile, command_line(&started.command)),
        Ok(Record::Ended(ended)) => ended_text(&ended),
        Ok(Record::Denied(seen) | Record::Allowed(seen)) => seen_text(&seen),
        Ok(Record::Asked(request)) => request.reason,
        Ok(Record::Answered(decided)) => {
            let reason = decided
                .answer
                .reason
                .map(|reason| format!(": {reason}"))
                .unwrap_or_default();
            format!("{} by {}{reason}", said_text(&decided.answer.choice), decided.answer.by)
        }
        Ok(Record::Granted(granted)) => format!(
            "{}, {}, by {}",
            requested_text(&granted.granted),
            lifetime_text(granted.lifetime),
            granted.by
        ),
        Ok(Record::Revoked(granted)) => {
            format!(
                "{} ({}) by {}",
                requested_text(&granted.granted),
                granted.request,
                granted.by
            )
        }
        Ok(Record::Judged(judged)) => {
            let agent = judged.agent.map(|agent| format!(" ({agent})")).unwrap_or_default();
            format!("{} {} {}{agent}", judged.result.name(), judged.action, judged.target)
        }
        Ok(Record::Lost(lost)) => format!("{} records couldn't be kept", lost.records),
        Err(_) => row.body.clone(),
    };
    visible(&text).into_owned()
}

fn details(row: &Row) -> Vec<String> {
    match serde_json::from_str::<Record>(&row.body) {
        Ok(Record::Started(started)) => {
            let flags = (!started.flags.is_empty()).then(|| format!("flags: {}", command_line(&started.flags)));
            let agent = started.agent.map(|agent| format!("agent: {agent}"));
            let root = format!("root: {}", started.root);
            [Some(root), agent, flags].into_iter().flatten().collect()
        }
        Ok(Record::Denied(seen) | Record::Allowed(seen)) => {
            let asked =
                (!seen.asked.is_empty() && seen.asked != seen.target).then(|| format!("asked as {}", seen.asked));
            let by = format!("{} by process {}, {}", seen.syscall, seen.pid, seen.program);
            let rule = seen.rule.map(|rule| format!("rule: {rule}"));
            [asked, Some(by), rule].into_iter().flatten().collect()
        }
        Ok(Record::Asked(request)) => {
            let mut details = vec![format!(
                "request {}: {}",
                request.id,
                requested_text(&request.requested)
            )];
            details.extend(request.evidence.warning);
            details
        }
        Ok(Record::Answered(decided)) => vec![format!("to request {}", decided.request)],
        Ok(Record::Judged(judged)) => {
            let mode = judged.mode.map(|mode| format!("mode: {mode}"));
            let rule = judged.matched.map(|rule| format!("rule: {rule}"));
            [Some(judged.reason), rule, mode].into_iter().flatten().collect()
        }
        Ok(Record::Granted(granted)) => vec![format!("on request {}", granted.request)],
        _ => Vec::new(),
    }
}

fn seen_text(seen: &Seen) -> String {
    let kind = serde_json::to_value(seen.access).unwrap_or_default();
    let program = seen.program.rsplit('/').next().unwrap_or_default();
    format!("{} {} ({program})", kind.as_str().unwrap_or("access"), seen.target)
}

fn ended_text(ended: &Ended) -> String {
    let how = match (ended.exit_code, &ended.signal) {
        (Some(code), _) => format!(", exit code {code}"),
        (None, Some(signal)) => format!(", {signal}"),
        (None, None) => String::new(),
    };
    format!(
        "{}{how}, {} refused, {} ms",
        ended.status, ended.denials, ended.duration_ms
    )
}

fn said_text(said: &Said) -> String {
    match said {
        Said::Yes { lifetime, extent } => {
            let extent = match extent {
                Extent::Requested => String::new(),
                Extent::Wider => ", wider".to_string(),
                Extent::Profile(name) => format!(", all of profile {name}"),
            };
            format!("yes, {}{extent},", lifetime_text(*lifetime))
        }
        Said::No { all: true } => "no to all".to_string(),
        Said::No { all: false } => "no".to_string(),
        Said::Silence => "no answer".to_string(),
    }
}

fn lifetime_text(lifetime: Lifetime) -> &'static str {
    match lifetime {
        Lifetime::Once => "once",
        Lifetime::Session => "for the session",
        Lifetime::Always => "always",
    }
}

fn requested_text(requested: &Requested) -> String {
    match requested {
        Requested::Grants(grants) => {
            let flags: Vec<String> = grants.iter().map(|words| command_line(words)).collect();
            flags.join(" ")
        }
        Requested::Profile(name) => format!("profile {name}"),
    }
}
