//! Rows of a trail as a page has them.

use super::*;
use stockade_report::approve::{Answer, EscalationRequest, Evidence, Lifetime, Requested};
use stockade_report::audit::{Decided, Granted};
use stockade_report::report::Kind;
use stockade_store::{Entry, Trail};

const SECRET: &str = "secret pattern `**/.env*` (built in)";

fn seen(target: &str, rule: Option<&str>) -> Seen {
    Seen {
        access: Kind::Read,
        target: target.into(),
        asked: target.into(),
        syscall: "openat".into(),
        pid: 7,
        program: "/usr/bin/cat".into(),
        rule: rule.map(String::from),
    }
}

fn started() -> Record {
    Record::Started(Started {
        profile: "minimal".into(),
        command: vec!["cat".into(), "a b".into()],
        root: "/r".into(),
        agent: None,
        flags: vec!["--read x".into()],
    })
}

fn asked(id: &str, target: &str) -> Record {
    Record::Asked(Box::new(EscalationRequest {
        version: 1,
        id: id.into(),
        run: "run-a".into(),
        capability_id: None,
        current_profile: "minimal".into(),
        requested: requested(target),
        wider: None,
        reason: format!("PermissionDenied: read {target}"),
        evidence: Evidence {
            access: Kind::Read,
            target: target.into(),
            asked: target.into(),
            syscall: "openat".into(),
            pid: 7,
            program: "/usr/bin/cat".into(),
            command: Vec::new(),
            root: "/r".into(),
            agent: None,
            why: "nothing grants it".into(),
            warning: None,
            at_ms: 5,
        },
        lifetimes: vec![Lifetime::Once],
        granted_beside: 0,
        refused_beside: 0,
        live: true,
        timeout_ms: 60_000,
    }))
}

fn requested(target: &str) -> Requested {
    Requested::Grants(vec![vec!["--read".into(), target.into()]])
}

fn answered(id: &str, answer: Answer) -> Record {
    Record::Answered(Decided {
        request: id.into(),
        answer,
    })
}

/// The page of these rows, each a second after the one before.
fn page(rows: impl IntoIterator<Item = (&'static str, Record)>) -> Page {
    let rows = rows.into_iter();
    page_of(rows.map(|(run, record)| (run, record.kind(), stockade_report::audit::body(&record))))
}

/// The same of run, kind and body.
fn page_of(rows: impl IntoIterator<Item = (&'static str, &'static str, String)>) -> Page {
    let place = tempfile::tempdir().unwrap();
    let entries: Vec<Entry> = rows
        .into_iter()
        .zip(0..)
        .map(|((run, kind, body), at)| Entry {
            time_ms: 1_000_000 + 1000 * at,
            run: run.into(),
            kind,
            body,
        })
        .collect();
    let mut page = TrailPage::new("trail", None);
    let rows = Trail::open(&place.path().join("state"))
        .unwrap()
        .append(&entries)
        .unwrap();
    rows.iter().for_each(|row| page.row(row));
    page.finish()
}

#[test]
fn a_question_has_its_answer_its_grant_and_how_long_it_was_open() {
    let page = page([
        ("run-a", started()),
        ("run-a", asked("q1", "/srv/\u{202e}a")),
        ("run-a", asked("q2", "/srv/b")),
        ("run-a", answered("q1", Answer::yes(Lifetime::Once, "ada"))),
        (
            "run-a",
            Record::Granted(Granted {
                request: "q1".into(),
                granted: requested("/srv/\u{202e}a"),
                lifetime: Lifetime::Once,
                by: "ada".into(),
            }),
        ),
        ("run-a", answered("of another page", Answer::no("ada"))),
    ]);
    let told: Vec<_> = page
        .questions
        .iter()
        .map(|question| (question.target.as_str(), question.answer.as_str(), question.waited))
        .collect();
    assert_eq!(
        told,
        [
            ("/srv/\\u{202e}a", "yes, once, by ada", Some(2000)),
            ("/srv/b", "no answer is recorded", None)
        ]
    );
    assert!(page.questions[0].facts.iter().any(|(label, _)| *label == "granted"));
    assert_eq!(page.strings.shown(page.events[4].target), "/srv/\\u{202e}a");
    assert_eq!(page.strings.shown(page.events[5].target), "");
}

#[test]
fn a_refusal_says_what_would_allow_it() {
    let page = page([
        ("run-a", asked("q1", "/srv/wide/file")),
        ("run-a", answered("q1", Answer::no("ada"))),
        (
            "run-a",
            Record::Denied(seen("/srv/wide/file", Some("refused by ada, from ada"))),
        ),
        ("run-a", Record::Denied(seen("/srv/x y", None))),
        ("run-a", Record::Denied(seen("/srv/.env", Some(SECRET)))),
        ("run-a", Record::Denied(seen("/home", None))),
        ("run-a", Record::Allowed(seen("/srv/x y", None))),
    ]);
    let grants: Vec<_> = page.events[2..]
        .iter()
        .map(|event| page.strings.shown(event.grant))
        .collect();
    assert_eq!(
        grants,
        [
            "--read /srv/wide/file",
            "--read '/srv/x y'",
            "no flag: only your configuration opens secrets",
            "no flag",
            ""
        ]
    );
}

#[test]
fn runs_are_told_apart_and_one_without_an_end_may_still_run() {
    let ended = Record::Ended(Ended {
        status: "completed".into(),
        exit_code: Some(0),
        signal: None,
        supervisor: true,
        denials: 0,
        duration_ms: 1200,
        likely: Vec::new(),
        suggestion: None,
    });
    let page = page([("run-a", started()), ("run-b", started()), ("run-a", ended)]);
    let told: Vec<_> = page
        .runs
        .iter()
        .map(|run| (run.id.as_str(), run.ended.as_str(), run.start))
        .collect();
    let open = "no end is recorded: it may still run";
    assert_eq!(
        told,
        [
            ("", open, None),
            ("run-a", "ended by itself, exit code 0", Some(0)),
            ("run-b", open, Some(1000))
        ]
    );
    assert_eq!(page.runs[1].command, "cat 'a b'");
    assert_eq!(page.start, 1_000_000);
}

#[test]
fn a_row_that_is_no_record_is_shown_escaped() {
    let page = page_of([
        ("run\u{1b}", "denied", "no record \u{202e}".to_string()),
        (
            "",
            "of a later release",
            "{\"kind\":\"of a later release\"}".to_string(),
        ),
    ]);
    assert_eq!(page.events[0].kind, kind_of_record("unreadable"));
    assert_eq!(page.strings.shown(page.events[0].more), "no record \\u{202e}");
    assert_eq!(page.runs[1].id, "run\\u{1b}");
    assert_eq!(page.events[1].run, 0);
}
