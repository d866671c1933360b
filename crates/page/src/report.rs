//! A page of one report: what `stockade explain` tells, and the same rows as a trail without allowed accesses.

use super::document::{Event, Page, Question, Verdict, kind_of_access, kind_of_record};
use super::run::{Run, Suggested};
use super::words::{self, EndFacts};
use stockade_policy::profile::with_origin;
use stockade_report::report::{Denial, Escalated, Explains, Kind, Report, Resources};
use stockade_text::quote::command_line;
use stockade_text::visible::visible;

/// The page of a report. `source` says where it was read from.
pub fn of_report(report: &Report, source: &str) -> Page {
    let mut page = Page::new(format!("report, {}", visible(source)), 0);
    page.runs.push(run(report));
    let edge = |name, at: u64| Event {
        time: signed(at),
        run: 1,
        kind: kind_of_record(name),
        ..Event::default()
    };
    let mut events: Vec<Event> = report.denials.iter().map(|denial| event(&mut page, denial)).collect();
    events.sort_by_key(|event| event.time);
    page.events.push(edge("started", 0));
    page.events.extend(events);
    page.events.push(edge("ended", report.duration_ms));
    page.events[0].more = page.strings.number_of_shown(command_line(&report.command));
    let last = page.events.len() - 1;
    page.events[last].more = page.strings.number_of_shown(page.runs[1].ended.clone());
    let questions = report.escalation.iter().flat_map(|escalation| &escalation.requests);
    page.questions = questions.map(question).collect();
    page
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn shown(text: &str) -> String {
    visible(text).into_owned()
}

fn run(report: &Report) -> Run {
    let (ended, tone) = words::ending(&EndFacts {
        status: report.status.name(),
        exit_code: report.exit_code,
        signal: report.signal.as_deref(),
        limit: report.limit.as_deref(),
    });
    let suggestion = report.suggestion.as_ref().map(|suggestion| Suggested {
        flags: command_line(&suggestion.flags),
        profile: suggestion
            .profile
            .as_ref()
            .map_or_else(String::new, |name| command_line(&["--profile", name.as_str()])),
    });
    let brief = vec![
        ("profile", shown(&report.profile)),
        ("root", shown(&report.root.to_string_lossy())),
        (
            "took",
            format!("{}.{:03} s", report.duration_ms / 1000, report.duration_ms % 1000),
        ),
        ("refused", refused(report)),
    ];
    Run {
        id: shown(&report.run),
        start: Some(0),
        duration: Some(report.duration_ms),
        command: command_line(&report.command),
        profile: shown(&report.profile),
        ended,
        tone,
        facts: facts(report, &brief),
        brief,
        suggestion,
    }
}

/// How much was refused, and how sure that is.
fn refused(report: &Report) -> String {
    let mut text = match report.denials.len() {
        0 => report.without_denials().to_string(),
        1 => "1 access".to_string(),
        different => format!("{different} different accesses"),
    };
    if report.denials_dropped > 0 {
        text += &format!(", and {} that the report has no room for", report.denials_dropped);
    }
    if report.perhaps().next().is_some() {
        text += "; one of them may be why it failed";
    }
    text
}

fn facts(report: &Report, brief: &[(&'static str, String)]) -> Vec<(&'static str, String)> {
    let enforcement = &report.enforcement;
    let mut parts = vec![format!("Landlock ABI {}, seccomp", enforcement.landlock_abi)];
    parts.extend(enforcement.supervisor.then(|| "supervisor".to_string()));
    parts.extend(enforcement.namespaces.iter().map(|name| format!("{name} namespace")));
    let mut facts = vec![
        ("ended", report_ending(report)),
        ("command", command_line(&report.command)),
        ("enforced by", shown(&parts.join(", "))),
        ("accepted shortfalls", shown(&enforcement.shortfalls.join(", "))),
        (
            "all reads judged by the supervisor",
            shown(enforcement.kept_exact.as_deref().unwrap_or_default()),
        ),
        ("read natively", shown(&enforcement.read_natively.join(", "))),
        ("left to the supervisor", shown(&enforcement.read_supervised.join(", "))),
        ("limits kept by", shown(&enforcement.limits_by)),
        (
            "limit noticed by",
            shown(enforcement.limit_noticed_by.as_deref().unwrap_or_default()),
        ),
    ];
    facts.extend(brief.iter().cloned());
    facts.extend(resources(&report.resources));
    let ended = report
        .escalation
        .as_ref()
        .and_then(|escalation| escalation.ended.as_ref());
    facts.extend(ended.map(|why| ("asked nothing more", shown(why))));
    for fault in &report.faults {
        let (part, outcome) = fault.part.describe();
        let text = format!("{} in {part} ({} times; {outcome})", fault.message, fault.count);
        facts.push(("error of Stockade", shown(&text)));
    }
    facts.retain(|(_, text)| !text.is_empty());
    facts
}

fn report_ending(report: &Report) -> String {
    let (ended, _) = words::ending(&EndFacts {
        status: report.status.name(),
        exit_code: report.exit_code,
        signal: report.signal.as_deref(),
        limit: report.limit.as_deref(),
    });
    ended
}

fn resources(used: &Resources) -> [(&'static str, String); 5] {
    let counted = |count: Option<u64>, unit: &str| match count {
        Some(count) => format!("{count}{unit}"),
        None => "not counted".to_string(),
    };
    let cut = if used.output_cut { ", cut at the limit" } else { "" };
    [
        ("processor time", format!("{} ms", used.cpu_ms)),
        (
            "largest process",
            format!("{:.1} MiB resident", used.max_rss_bytes as f64 / f64::from(1 << 20)),
        ),
        ("most processes at once", counted(used.processes, "")),
        ("standard output", counted(used.stdout_bytes, " bytes") + cut),
        ("standard error", counted(used.stderr_bytes, " bytes") + cut),
    ]
}

fn event(page: &mut Page, denial: &Denial) -> Event {
    let rule = denial.rule.as_ref().map(|rule| with_origin(&rule.text, &rule.origin));
    let grant = match &denial.grant {
        Some(words) => command_line(words),
        None if wants_network(denial) => "--host NAME:PORT or --listen PORT".to_string(),
        None => words::without_grant(rule.as_deref()).to_string(),
    };
    let wider = denial.profile.as_ref();
    let more = wider.map(|name| format!("allowed by the profile {} too", visible(name)));
    let strings = &mut page.strings;
    Event {
        time: signed(denial.at_ms),
        run: 1,
        verdict: Verdict::Refused,
        kind: kind_of_access(denial.access),
        target: strings.number(&denial.target),
        asked: strings.number(&denial.asked),
        call: strings.number(&denial.syscall),
        pid: denial.pid,
        program: strings.number(&denial.program),
        rule: strings.number(rule.as_deref().unwrap_or_default()),
        grant: strings.number_of_shown(grant),
        more: strings.number_of_shown(more.unwrap_or_default()),
        count: denial.count,
        explains: match denial.explains {
            Explains::Yes => 2,
            Explains::Perhaps => 1,
            Explains::No => 0,
        },
        seq: 0,
    }
}

/// A socket without a destination yet: no address is known that a flag could name.
fn wants_network(denial: &Denial) -> bool {
    denial.access == Kind::Connect && denial.target == "internet" && denial.capability.is_none()
}

fn question(escalated: &Escalated) -> Question {
    let (answer, tone) = words::answer(&escalated.answer);
    let requested = words::requested(&escalated.requested);
    let granted = escalated.granted.as_ref().map(words::requested).unwrap_or_default();
    let target = shown(&escalated.target);
    Question {
        run: 1,
        time: None,
        waited: Some(escalated.waited_ms),
        access: escalated.access.name(),
        facts: words::facts([
            ("access", escalated.access.name().to_string()),
            ("target", target.clone()),
            ("asked for", requested.clone()),
            ("answer", answer.clone()),
            ("granted", granted),
            ("waited", format!("{} ms", escalated.waited_ms)),
            ("time", "not in the report".to_string()),
            ("question", shown(&escalated.id)),
        ]),
        target,
        requested,
        answer,
        tone,
        program: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use stockade_report::report::{RefusingRule, Suggestion};

    fn report() -> Report {
        let mut report = Report::refused("readonly", &["a b".into()], Path::new("/r"));
        report.run = "0000000000-00000000".into();
        report.duration_ms = 50;
        let denial = |target: &str, at_ms, rule: Option<&str>| Denial {
            access: Kind::Read,
            target: target.into(),
            asked: String::new(),
            syscall: "openat".into(),
            pid: 7,
            program: "/bin/cat".into(),
            count: 2,
            at_ms,
            rule: rule.map(|text| RefusingRule {
                text: text.into(),
                origin: "built in".into(),
            }),
            capability: None,
            explains: if at_ms > 10 { Explains::Yes } else { Explains::Perhaps },
            usual: false,
            grant: rule.is_none().then(|| vec!["--read".into(), target.into()]),
            profile: None,
        };
        report.denials = vec![
            denial("/r/x y", 20, None),
            denial("/r/.env", 5, Some("secret pattern `**/.env*`")),
        ];
        report.suggestion = Some(Suggestion {
            flags: vec!["--read".into(), "/r/x y".into()],
            profile: None,
            candidates: Vec::new(),
        });
        report
    }

    #[test]
    fn refusals_stand_in_the_order_of_time_with_what_would_allow_them() {
        let page = of_report(&report(), "`r.json`");
        let told: Vec<_> = page
            .events
            .iter()
            .map(|event| (event.time, page.strings.shown(event.grant), event.explains))
            .collect();
        assert_eq!(
            told,
            [
                (0, "", 0),
                (5, "no flag: only your configuration opens secrets", 1),
                (20, "--read '/r/x y'", 2),
                (50, "", 0)
            ]
        );
        assert_eq!(page.runs[1].suggestion.as_ref().unwrap().flags, "--read '/r/x y'");
    }

    #[test]
    fn what_no_supervisor_saw_is_unknown() {
        let mut report = report();
        report.denials.clear();
        assert!(refused(&report).starts_with("unknown"));
        report.enforcement.supervisor = true;
        assert_eq!(refused(&report), "nothing");
        report.denials_dropped = 3;
        assert_eq!(refused(&report), "nothing, and 3 that the report has no room for");
    }

    #[test]
    fn all_foreign_texts_are_escaped() {
        let odd = "/r/\u{1b}[2J\u{202e}\n";
        let mut report = report();
        report.command = vec![odd.into()];
        report.profile = odd.into();
        report.root = odd.into();
        report.enforcement.shortfalls = vec![odd.into()];
        report.denials[0].program = odd.into();
        report.denials[0].syscall = odd.into();
        report.denials[0].profile = Some(odd.into());
        let json = of_report(&report, odd).json().unwrap();
        // JSON writes a control character as one backslash and a letter, an escaped backslash as two.
        let json = json.replace(r"\\", "");
        assert!(!json.contains('\\') && !json.contains('\u{202e}'), "{json}");
    }
}
