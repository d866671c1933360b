use std::time::{Duration, Instant};

use super::*;
use stockade_policy::config::OnViolation;
use stockade_report::approve::{Answer, EscalationRequest, Lifetime};
use stockade_report::audit::{Decided, Record, Seen};
use stockade_report::report::Kind;

fn seen(target: &str) -> Seen {
    Seen {
        access: Kind::Read,
        target: target.into(),
        asked: target.into(),
        syscall: "openat".into(),
        pid: 7,
        program: "/bin/cat".into(),
        rule: None,
    }
}

fn write(state: &State, level: Level, count: usize) -> Result<(), AuditError> {
    let writer = AuditWriter::start(Some(&state.path()), level, None);
    let observer = writer.observer();
    for number in 0..count {
        observer.note("run-a", Record::Allowed(seen("/srv/allowed")));
        observer.note("run-a", Record::Denied(seen(&format!("/srv/{number}?token=abc"))));
    }
    writer.finish()
}

fn kinds(state: &State) -> Vec<String> {
    rows(&state.path()).into_iter().map(|row| row.kind).collect()
}

#[test]
fn each_level_records_what_it_says_and_secrets_are_masked() {
    let state = State::new();
    write(&state, Level::Off, 3).unwrap();
    assert!(!state.path().exists());
    write(&state, Level::Denials, 3).unwrap();
    assert_eq!(kinds(&state), ["denied"; 3]);
    let body = rows(&state.path()).remove(0).body;
    assert!(body.contains("/srv/0?token=***") && !body.contains("abc"), "{body}");
    write(&state, Level::All, 1).unwrap();
    assert_eq!(kinds(&state)[3..], ["allowed", "denied"]);
    assert_eq!(verify(&state.path()).unwrap().unwrap().fault, None);
}

#[test]
fn a_flood_of_denials_does_not_fill_the_disk_and_displaces_nothing_else() {
    let state = State::new();
    let writer = AuditWriter::start(Some(&state.path()), Level::Denials, None);
    let observer = writer.observer();
    let long = "/x".repeat(1000);
    let deny = |run: &str| observer.note(run, Record::Denied(seen(&long)));
    (0..99).for_each(|_| deny("run-a"));
    deny("run-b");
    let answered = Decided {
        request: "a".into(),
        answer: Answer::no("Ada"),
    };
    observer.note("run-a", Record::Answered(answered));
    let error = writer.finish().unwrap_err();
    let kept = kinds(&state);
    let denied = kept.iter().filter(|kind| *kind == "denied").count();
    assert!(
        kept.contains(&"answered".into()) && (2..99).contains(&denied),
        "{kept:?}"
    );
    assert!(
        matches!(error, AuditError::Lost { records } if records == 100 - denied as u64),
        "{error}"
    );
    assert_eq!(kept.last().unwrap(), "lost");
    assert_eq!(rows(&state.path()).iter().filter(|row| row.run == "run-b").count(), 1);
}

#[test]
fn a_broken_database_loses_no_record_and_is_said_once_when_the_log_is_long() {
    let state = trail(1);
    let broken = "this is no database, and long enough to be told so".repeat(99);
    std::fs::write(state.file("audit.db"), &broken).unwrap();
    write(&state, Level::Denials, 3).unwrap();
    let error = write(&state, Level::Denials, 99).unwrap_err();
    assert!(matches!(error, AuditError::Untaken(_)), "{error:?}");
    for error in [error.hint(), Trail::open_existing(&state.path()).err().unwrap().hint()] {
        let hint = error.unwrap();
        for name in ["audit.db", "audit.db-wal", "audit.db-shm", "audit.head", "audit.log"] {
            assert!(hint.contains(&format!("`{name}`")), "{name} in {hint}");
        }
    }
    assert_eq!(std::fs::read_to_string(state.file("audit.db")).unwrap(), broken);
    let log = std::fs::read_to_string(state.file("audit.log")).unwrap();
    assert_eq!(log.lines().count(), 102);
}

#[test]
fn a_locked_database_or_log_holds_no_run_up() {
    // On a busy machine one record may be slow for another reason.
    assert!((0..5).any(|_| !is_held_up()));
}

/// Whether adding a record waits for another process, which has both locked for a second at least.
fn is_held_up() -> bool {
    let state = trail(1);
    let other = rusqlite::Connection::open(state.file("audit.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let log = std::fs::File::open(state.file("audit.log")).unwrap();
    log.lock().unwrap();
    let start = Instant::now();
    let writer = AuditWriter::start(Some(&state.path()), Level::Denials, None);
    writer.observer().note("run-a", Record::Denied(seen("/x")));
    let is_held_up = start.elapsed() > Duration::from_millis(500);
    log.unlock().unwrap();
    writer.finish().unwrap();
    let error = Trail::open_existing(&state.path())
        .unwrap()
        .unwrap()
        .take_in()
        .err()
        .unwrap();
    assert!(matches!(error, StoreError::Database { .. }), "{error:?}");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(verify(&state.path()).unwrap().unwrap().rows, 2);
    is_held_up
}

#[test]
fn a_long_log_is_taken_into_the_database_by_the_run_that_writes_it() {
    let state = State::new();
    write(&state, Level::All, 150).unwrap();
    let stored = || -> u32 {
        let connection = rusqlite::Connection::open(state.file("audit.db")).unwrap();
        connection
            .query_row("SELECT count(*) FROM records", [], |row| row.get(0))
            .unwrap()
    };
    let log = std::fs::metadata(state.file("audit.log")).unwrap().len();
    assert!(
        stored() > 0 && log <= crate::log::LONG,
        "{} rows, {log} bytes",
        stored()
    );
    let verified = verify(&state.path()).unwrap().unwrap();
    assert_eq!((verified.rows, verified.fault), (300, None));
    assert_eq!(stored(), 300);
}

#[test]
fn without_a_state_directory_only_the_trail_is_missing() {
    let writer = AuditWriter::start(None, Level::All, None);
    writer.observer().note("run-a", Record::Denied(seen("/x")));
    let error = writer.finish().unwrap_err();
    assert!(matches!(
        error,
        AuditError::Unwritten {
            source: StoreError::Stateless,
            ..
        }
    ));
}

#[test]
fn on_violation_gets_each_denial_as_json_with_no_signal_blocked() {
    let state = State::new();
    let told = state.0.path().join("told");
    let script = format!("grep SigBlk /proc/self/status >> {0}.mask; cat >> {0}", told.display());
    let on_violation = OnViolation {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script],
    };
    let writer = AuditWriter::start(Some(&state.path()), Level::All, Some(on_violation));
    let observer = writer.observer();
    for number in 0..20 {
        observer.note("run-a", Record::Allowed(seen("/srv/allowed")));
        observer.note("run-a", Record::Denied(seen(&format!("/srv/{number}"))));
    }
    let start = Instant::now();
    writer.finish().unwrap();
    let lines = || std::fs::read_to_string(&told).map_or(0, |text| text.lines().count());
    while lines() < 20 {
        assert!(start.elapsed() < Duration::from_secs(60), "{} rows were told", lines());
        std::thread::sleep(Duration::from_millis(10));
    }
    let text = std::fs::read_to_string(&told).unwrap();
    let mut targets: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|row| row["record"]["target"].as_str().unwrap().to_string())
        .collect();
    targets.sort();
    targets.dedup();
    assert_eq!(targets.len(), 20);
    let mask = std::fs::read_to_string(told.with_extension("mask")).unwrap();
    assert!(mask.lines().all(|line| line == "SigBlk:\t0000000000000000"), "{mask}");
}

#[test]
fn a_command_that_cannot_be_started_is_said_once() {
    let state = State::new();
    let on_violation = OnViolation {
        program: "/nonexistent/notify".into(),
        arguments: Vec::new(),
    };
    let writer = AuditWriter::start(Some(&state.path()), Level::Denials, Some(on_violation));
    writer.observer().note("run-a", Record::Denied(seen("/x")));
    let error = writer.finish().unwrap_err();
    assert!(
        matches!(
            error,
            AuditError::Unalerted {
                records: 1,
                source: Some(_)
            }
        ),
        "{error:?}"
    );
    assert_eq!(kinds(&state), ["denied"]);
}

#[test]
fn a_grant_for_always_is_kept_for_the_key_that_was_named_at_any_level() {
    let request: EscalationRequest = serde_json::from_value(serde_json::json!({
        "version": 1, "id": "q1", "run": "run-a", "capability_id": null, "current_profile": "minimal",
        "requested": { "grants": [["--read", "/x"]] }, "wider": null, "reason": "", "lifetimes": [], "live": true,
        "timeout_ms": 1,
        "evidence": {
            "access": "read", "target": "/x", "asked": "/x", "syscall": "openat", "pid": 7, "program": "", "command": [],
            "root": "/", "agent": null, "why": "", "warning": null, "at_ms": 1
        },
    }))
    .unwrap();
    let answer = Answer::yes(Lifetime::Always, "ada");
    let words = ["--read".into(), "/x".into()];
    let key = Key {
        project: "/".into(),
        profile: "minimal".into(),
        agent: None,
        script: None,
    };
    let state = State::new();
    let writer = AuditWriter::start(Some(&state.path()), Level::Off, None);
    let observer = writer.observer();
    assert!(!observer.keeps_grants() && !observer.keep_grant(&words, &request, &answer));
    writer.keep_grants(key.clone());
    assert!(observer.keeps_grants() && observer.keep_grant(&words, &request, &answer));
    writer.finish().unwrap();
    let kept = GrantStore::open(&state.path()).unwrap().matching(&key).unwrap();
    assert_eq!((kept.len(), kept[0].grant.request.as_deref()), (1, Some("q1")));

    let writer = AuditWriter::start(None, Level::Off, None);
    writer.keep_grants(key);
    assert!(!writer.observer().keep_grant(&words, &request, &answer));
    assert!(matches!(
        writer.finish(),
        Err(AuditError::Unkept(StoreError::Stateless))
    ));
}
