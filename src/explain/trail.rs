//! The report of a past run, as far as the audit trail keeps it.

use std::path::{Path, PathBuf};

use super::super::REFUSED;
use super::super::audit;
use super::super::message::Failure;
use stockade::internal::Surroundings;
use stockade_report::audit::{Ended, Record, Seen, Started};
use stockade_report::report::{Denial, Explains, RefusingRule, Report, Status};
use stockade_store::{Choice, Row, StoreError, Trail};

/// Runs that are looked through for those of a directory.
const MAX_RUNS: u64 = 2000;

/// The report of a run, by its id.
pub fn of_run(run: &str) -> Result<Report, Failure> {
    let choice = Choice {
        run: Some(run.to_string()),
        ..Choice::default()
    };
    report(run, &rows(&choice)?).ok_or_else(|| audit::no_such_run(run))
}

/// The report of the last run of the current directory: one with this root, or else with a root around it; `last` counts
/// from 1, the newest.
pub fn of_last(last: u64) -> Result<Report, Failure> {
    let here = std::env::current_dir().map_err(|error| Failure::new(REFUSED, &error))?;
    let choice = Choice {
        kind: Some("started"),
        limit: Some(MAX_RUNS),
        ..Choice::default()
    };
    let started: Vec<(String, PathBuf)> = rows(&choice)?
        .into_iter()
        .rev()
        .filter_map(|row| match serde_json::from_str(&row.body) {
            Ok(Record::Started(started)) => Some((row.run, PathBuf::from(started.root))),
            _ => None,
        })
        .collect();
    let of = |is_meant: &dyn Fn(&Path) -> bool| {
        let mut runs = started.iter().filter(|(_, root)| is_meant(root)).map(|(run, _)| run);
        runs.nth(usize::try_from(last).unwrap_or(usize::MAX).saturating_sub(1))
    };
    match of(&|root| root == here).or_else(|| of(&|root| here.starts_with(root))) {
        Some(run) => of_run(run),
        None => {
            let which = if last > 1 {
                format!("no {last} runs")
            } else {
                "no run".to_string()
            };
            let message = format!("the audit trail has {which} of `{}` to explain", here.display());
            Err(Failure::text(REFUSED, message).hint("`stockade audit list` shows the newest records"))
        }
    }
}

fn rows(choice: &Choice) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    if let Some(mut trail) = Trail::open_existing(&audit::state()?)? {
        trail.rows(choice, |row| {
            rows.push(row);
            Ok::<(), StoreError>(())
        })?;
    }
    Ok(rows)
}

/// `None` if the rows have no start.
fn report(run: &str, rows: &[Row]) -> Option<Report> {
    let records = rows
        .iter()
        .filter_map(|row| Some((row.time_ms, serde_json::from_str(&row.body).ok()?)));
    let records: Vec<(u64, Record)> = records.collect();
    let (begun, started) = records.iter().find_map(|(at, record)| match record {
        Record::Started(started) => Some((*at, started)),
        _ => None,
    })?;
    let mut report = begun_report(run, started);
    for (_, record) in &records {
        if let Record::Ended(ended) = record {
            end(&mut report, ended);
        }
    }
    let home = Surroundings::here().ok().and_then(|surroundings| surroundings.home);
    for (at, record) in &records {
        if let Record::Denied(seen) = record {
            let is_it = |denial: &Denial| denial.access == seen.access && denial.target == seen.target;
            if !report.denials.iter().any(is_it) {
                report
                    .denials
                    .push(denial(seen, at.saturating_sub(begun), home.as_deref()));
            }
        }
    }
    Some(report)
}

fn begun_report(run: &str, started: &Started) -> Report {
    let mut report = Report::refused(&started.profile, &[], Path::new(&started.root));
    report.run = run.to_string();
    report.command.clone_from(&started.command);
    report
}

fn end(report: &mut Report, ended: &Ended) {
    report.status = Status::of_name(&ended.status).unwrap_or(Status::Completed);
    report.enforcement.supervisor = ended.supervisor;
    report.exit_code = ended.exit_code;
    report.signal.clone_from(&ended.signal);
    report.duration_ms = ended.duration_ms;
    report.denials.clone_from(&ended.likely);
    report.suggestion.clone_from(&ended.suggestion);
}

/// The trail keeps the first refusal of each kind, without how often it came.
fn denial(seen: &Seen, at_ms: u64, home: Option<&Path>) -> Denial {
    let rule = seen.rule.as_ref().map(|rule| RefusingRule {
        text: rule.clone(),
        origin: String::new(),
    });
    Denial {
        access: seen.access,
        target: seen.target.clone(),
        asked: seen.asked.clone(),
        syscall: seen.syscall.clone(),
        pid: seen.pid,
        program: seen.program.clone(),
        count: 1,
        at_ms,
        rule,
        capability: None,
        explains: Explains::No,
        usual: false,
        grant: seen.missing_grant(home).map(|grant| grant.words()),
        profile: None,
    }
}
