//! A page of rows of the audit trail: of one run, or of several.

mod question;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::Value;

use super::document::{Event, Page, Verdict, kind_of_access, kind_of_record};
use super::run::Run;
use super::words::{self, EndFacts};
use stockade_policy::config::Decision;
use stockade_report::audit::{Ended, Judged, Record, Seen, Started};
use stockade_store::Row;
use stockade_text::quote::command_line;
use stockade_text::visible::visible;

/// A page that grows by one row after the other.
#[derive(Debug)]
pub struct TrailPage {
    page: Page,
    /// The caller's home, which no grant is to open.
    home: Option<PathBuf>,
    runs: HashMap<String, u32>,
    /// Questions by the request's id.
    asked: HashMap<String, usize>,
    /// What was asked for, by run, access and target.
    offered: HashMap<(u32, u8, u32), u32>,
}

fn shown(text: &str) -> String {
    visible(text).into_owned()
}

fn optional(label: &'static str, text: Option<&str>) -> Option<(&'static str, String)> {
    text.filter(|text| !text.is_empty()).map(|text| (label, shown(text)))
}

impl TrailPage {
    /// An empty page. `source` says what was chosen of the trail.
    pub fn new(source: &str, home: Option<PathBuf>) -> TrailPage {
        TrailPage {
            page: Page::new(shown(source), 0),
            home,
            runs: HashMap::new(),
            asked: HashMap::new(),
            offered: HashMap::new(),
        }
    }

    /// Says at the page's top that the trail isn't as it was written.
    pub fn fault(&mut self, why: &str) {
        self.page.fault = Some(shown(why));
    }

    /// The number of rows so far.
    pub fn rows(&self) -> usize {
        self.page.rows()
    }

    /// Adds a row, in the order of the trail.
    pub fn row(&mut self, row: &Row) {
        let at = i64::try_from(row.time_ms).unwrap_or(i64::MAX);
        if self.page.rows() == 0 {
            self.page.start = at;
        }
        let mut event = Event {
            seq: row.seq,
            time: at.saturating_sub(self.page.start),
            run: self.run(&row.run),
            kind: kind_of_record(&row.kind),
            ..Event::default()
        };
        match serde_json::from_str::<Record>(&row.body) {
            Ok(record) => self.record(&mut event, &record),
            Err(_) => {
                event.kind = kind_of_record("unreadable");
                event.more = self.page.strings.number(&text_of_unreadable(&row.body));
            }
        }
        self.page.events.push(event);
    }

    /// The whole page.
    pub fn finish(self) -> Page {
        self.page
    }

    fn run(&mut self, id: &str) -> u32 {
        if id.is_empty() {
            return 0;
        }
        if let Some(run) = self.runs.get(id) {
            return *run;
        }
        let run = u32::try_from(self.page.runs.len()).expect("a page has fewer runs than that");
        self.runs.insert(id.to_string(), run);
        self.page.runs.push(Run {
            id: shown(id),
            ..Run::default()
        });
        run
    }

    fn record(&mut self, event: &mut Event, record: &Record) {
        match record {
            Record::Started(started) => self.started(event, started),
            Record::Ended(ended) => self.ended(event, ended),
            Record::Denied(seen) => self.seen(event, seen, Verdict::Refused),
            Record::Allowed(seen) => self.seen(event, seen, Verdict::Allowed),
            Record::Asked(request) => self.question(event, request),
            Record::Answered(decided) => self.answered(event, decided),
            Record::Granted(granted) => self.granted(event, granted),
            Record::Revoked(granted) => {
                let text = format!("{} by {}", words::requested(&granted.granted), visible(&granted.by));
                event.more = self.page.strings.number_of_shown(text);
            }
            Record::Judged(judged) => self.judged(event, judged),
            Record::Lost(lost) => {
                let text = format!("{} records couldn't be kept", lost.records);
                event.more = self.page.strings.number_of_shown(text);
            }
        }
    }

    fn started(&mut self, event: &mut Event, started: &Started) {
        let command = command_line(&started.command);
        event.more = self.page.strings.number_of_shown(command.clone());
        let flags = shown(&started.flags.join(" "));
        let facts = [
            Some(("command", command.clone())),
            optional("profile", Some(&started.profile)),
            Some(("flags", flags)).filter(|(_, flags)| !flags.is_empty()),
            optional("root", Some(&started.root)),
            optional("agent", started.agent.as_deref()),
        ];
        let run = &mut self.page.runs[event.run as usize];
        run.start = Some(event.time);
        run.command = command;
        run.profile = shown(&started.profile);
        run.facts.extend(facts.into_iter().flatten());
        run.brief = run.facts[1..].to_vec();
    }

    fn ended(&mut self, event: &mut Event, ended: &Ended) {
        let (text, tone) = words::ending(&EndFacts {
            status: &ended.status,
            exit_code: ended.exit_code,
            signal: ended.signal.as_deref(),
            limit: None,
        });
        event.more = self.page.strings.number_of_shown(text.clone());
        let run = &mut self.page.runs[event.run as usize];
        let facts = [
            (
                "took",
                format!("{}.{:03} s", ended.duration_ms / 1000, ended.duration_ms % 1000),
            ),
            ("different refusals", ended.denials.to_string()),
        ];
        run.brief.extend(facts.clone());
        run.facts.extend(facts);
        run.facts.push(("ended", text.clone()));
        let resources = "not in the trail; the report of `stockade run --report` has them";
        run.facts.push(("resources", resources.to_string()));
        (run.ended, run.tone, run.duration) = (text, tone, Some(ended.duration_ms));
    }

    fn seen(&mut self, event: &mut Event, seen: &Seen, verdict: Verdict) {
        let strings = &mut self.page.strings;
        event.verdict = verdict;
        event.kind = kind_of_access(seen.access);
        event.target = strings.number(&seen.target);
        event.asked = strings.number(&seen.asked);
        event.call = strings.number(&seen.syscall);
        event.pid = seen.pid;
        event.program = strings.number(&seen.program);
        event.rule = strings.number(seen.rule.as_deref().unwrap_or_default());
        if verdict == Verdict::Refused {
            event.grant = match self.offered.get(&(event.run, event.kind, event.target)) {
                Some(offered) => *offered,
                None => {
                    let grant = seen.missing_grant(self.home.as_deref());
                    let text = grant.map_or_else(
                        || words::without_grant(seen.rule.as_deref()).to_string(),
                        |grant| command_line(&grant.words()),
                    );
                    self.page.strings.number_of_shown(text)
                }
            };
        }
    }

    fn judged(&mut self, event: &mut Event, judged: &Judged) {
        let strings = &mut self.page.strings;
        event.verdict = match judged.result {
            Decision::Allow => Verdict::Allowed,
            Decision::Deny => Verdict::Refused,
            Decision::Confirm => Verdict::Asked,
        };
        event.target = strings.number(&judged.target);
        event.rule = strings.number(judged.matched.as_deref().unwrap_or_default());
        let agent = judged.agent.as_ref().map(|agent| format!("agent {agent}"));
        let parts = [
            Some(judged.action.clone()),
            agent,
            judged.mode.clone(),
            Some(judged.reason.clone()),
        ];
        let text: Vec<String> = parts.into_iter().flatten().collect();
        event.more = strings.number(&text.join("; "));
    }
}

/// What an altered row holds, or a record of a later release.
fn text_of_unreadable(body: &str) -> String {
    const MAX_LENGTH: usize = 4096;
    let text = match serde_json::from_str::<Value>(body) {
        Ok(value) => value.to_string(),
        Err(_) => body.to_string(),
    };
    text[..text.floor_char_boundary(MAX_LENGTH)].to_string()
}
