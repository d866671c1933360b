//! `stockade audit` and `stockade grant`: what they print, what they find, and that nothing in a row reaches a terminal
//! as it is. Rows and grants are written through the library.

use std::process::Command;

use crate::common::{Finished, Place, STOCKADE, faults, finish};
use serde_json::{Value, json};
use stockade_report::approve::{Answer, EscalationRequest, Evidence, Lifetime, Requested};
use stockade_report::audit::{Decided, Ended, Granted, Judged, Lost, Record, Seen, Started};
use stockade_report::report::Kind;
use stockade_store::{Added, AuditWriter, Given, GrantStore, Key, Level, NewGrant};

const RUN: &str = "006543210a-0badcafe";

fn stockade(place: &Place, words: &[&str]) -> Finished {
    let mut command: Command = place.command(STOCKADE);
    finish(command.args(words), b"")
}

/// The output of a call that succeeds and says nothing else.
fn output(place: &Place, words: &[&str]) -> String {
    let finished = stockade(place, words);
    assert_eq!(
        (finished.status.code(), finished.stderr().as_str()),
        (Some(0), ""),
        "{words:?}"
    );
    finished.stdout()
}

fn record(place: &Place, run: &str, records: impl IntoIterator<Item = Record>) {
    let writer = AuditWriter::start(Some(&place.state()), Level::All, None);
    let observer = writer.observer();
    records.into_iter().for_each(|record| observer.note(run, record));
    writer.finish().expect("the trail can be written");
}

fn seen(target: &str) -> Seen {
    Seen {
        access: Kind::Read,
        target: target.into(),
        asked: "hosts".into(),
        syscall: "openat".into(),
        pid: 7,
        program: "/usr/bin/python3".into(),
        rule: None,
    }
}

fn granted(what: Requested) -> Granted {
    Granted {
        request: "q1".into(),
        granted: what,
        lifetime: Lifetime::Always,
        by: "ada at the terminal".into(),
    }
}

/// One of every kind.
fn all_kinds() -> Vec<Record> {
    let requested = Requested::Grants(vec![vec!["--read".into(), "/etc/hosts".into()]]);
    let request = EscalationRequest {
        version: 1,
        id: "q1".into(),
        run: RUN.into(),
        capability_id: None,
        current_profile: "minimal".into(),
        requested: requested.clone(),
        wider: None,
        reason: "PermissionDenied: read /etc/hosts".into(),
        evidence: Evidence {
            access: Kind::Read,
            target: "/etc/hosts".into(),
            asked: "hosts".into(),
            syscall: "openat".into(),
            pid: 7,
            program: "/usr/bin/python3".into(),
            command: vec!["python3".into(), "x.py".into()],
            root: "/srv/project".into(),
            agent: None,
            why: "nothing grants it".into(),
            warning: None,
            at_ms: 5,
        },
        lifetimes: vec![Lifetime::Once, Lifetime::Always],
        granted_beside: 0,
        refused_beside: 0,
        live: true,
        timeout_ms: 60_000,
    };
    vec![
        Record::Started(Started {
            profile: "minimal".into(),
            command: vec!["python3".into(), "--token".into(), "hush".into()],
            root: "/srv/project".into(),
            agent: None,
            flags: vec!["--env".into(), "API_KEY=hush".into()],
        }),
        Record::Denied(seen("/etc/hosts")),
        Record::Asked(Box::new(request)),
        Record::Answered(Decided {
            request: "q1".into(),
            answer: Answer::yes(Lifetime::Always, "ada"),
        }),
        Record::Answered(Decided {
            request: "q1".into(),
            answer: Answer::no("ada").because("not today"),
        }),
        Record::Answered(Decided {
            request: "q1".into(),
            answer: Answer::silence("no answer"),
        }),
        Record::Granted(granted(requested)),
        Record::Allowed(seen("/etc/hosts")),
        Record::Revoked(granted(Requested::Profile("readonly".into()))),
        Record::Judged(Judged {
            agent: Some("worker".into()),
            action: "tool".into(),
            target: "bash: rm x".into(),
            result: stockade_judge::Decision::Deny,
            mode: Some("manual".into()),
            reason: "a rule denies it".into(),
            matched: None,
        }),
        Record::Lost(Lost { records: 2 }),
        Record::Ended(Ended {
            status: "completed".into(),
            exit_code: Some(0),
            signal: None,
            supervisor: true,
            denials: 1,
            duration_ms: 12,
            likely: Vec::new(),
            suggestion: None,
        }),
    ]
}

fn sql(place: &Place, sql: &str) {
    let connection = rusqlite::Connection::open(place.state().join("audit.db")).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[test]
fn every_exported_row_is_what_its_schema_says_and_holds_no_secret() {
    let place = Place::new();
    record(&place, RUN, all_kinds());
    let text = output(&place, &["audit", "export", "--jsonl"]);
    let schema: Value = serde_json::from_str(include_str!("../crates/report/schemas/audit.schema.json")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), all_kinds().len());
    for (row, record) in rows.iter().zip(all_kinds()) {
        assert_eq!(faults(&schema, row), Vec::<String>::new(), "{row}");
        assert_eq!((&row["kind"], &row["run"]), (&json!(record.kind()), &json!(RUN)));
    }
    assert!(!text.contains("hush"), "{text}");
    assert_eq!(output(&place, &["audit", "export", "--jsonl", "--since", "1h"]), text);
    assert_eq!(
        output(&place, &["audit", "export", "--jsonl", "--since", "9999-01-01"]),
        ""
    );
    assert_eq!(stockade(&place, &["audit", "export"]).status.code(), Some(125));
}

#[test]
fn records_are_shown_as_text_that_moves_no_terminal() {
    let place = Place::new();
    record(&place, RUN, all_kinds());
    record(&place, "other", [Record::Denied(seen("/srv/\x1b[2J\u{202e}"))]);
    let listed = output(&place, &["audit", "list"]);
    assert_eq!(listed.lines().count(), 13);
    for part in [
        "judged    deny tool bash: rm x (worker)",
        "started   minimal: python3 --token '***'",
        "denied    read /etc/hosts (python3)",
        "answered  no by ada: not today",
        "granted   --read /etc/hosts, always, by ada at the terminal",
        "ended     completed, exit code 0, 1 refused, 12 ms",
        "other                denied    read /srv/\\u{1b}[2J\\u{202e} (python3)",
    ] {
        assert!(listed.contains(part), "{part}\n{listed}");
    }
    assert_eq!(output(&place, &["audit", "list", "--limit", "1"]).lines().count(), 1);
    assert_eq!(output(&place, &["audit", "list", "--run", "other"]).lines().count(), 1);
    let shown = output(&place, &["audit", "show", RUN]);
    assert!(
        shown.contains("openat by process 7, /usr/bin/python3") && !shown.contains("[2J"),
        "{shown}"
    );
    for words in [&["audit", "show", "nosuch"][..], &["audit", "list", "--run", "nosuch"]] {
        let unknown = stockade(&place, words);
        assert_eq!(unknown.status.code(), Some(125));
        assert!(
            unknown.stderr().contains("the audit trail has no run `nosuch`"),
            "{}",
            unknown.stderr()
        );
    }
    let of_known = stockade(&place, &["audit", "list", "--run", "other", "--since", "2999-01-01"]);
    assert_eq!(of_known.status.code(), Some(0));
}

#[test]
fn a_list_without_a_limit_says_how_many_records_it_leaves_out() {
    let place = Place::new();
    let denied = |number| Record::Denied(seen(&format!("/srv/{number}")));
    record(&place, RUN, (0..50).map(denied));
    assert_eq!(stockade(&place, &["audit", "list", "--denied"]).stderr(), "");
    record(
        &place,
        "other",
        (0..3).map(denied).chain([Record::Lost(Lost { records: 1 })]),
    );
    for (words, said) in [
        (&[][..], "older records that aren't shown: 4; `--limit 54` shows them"),
        (
            &["--denied"],
            "older records that aren't shown: 3; `--limit 53` shows them",
        ),
        (
            &["--denied", "--json"],
            "older records that aren't shown: 3; `--limit 53` shows them",
        ),
        (&["--denied", "--limit", "50"], ""),
        (&["--run", "other"], ""),
    ] {
        let listed = stockade(&place, &[&["audit", "list"], words].concat());
        let said = if said.is_empty() {
            String::new()
        } else {
            format!("stockade: {said}\n")
        };
        assert_eq!(listed.stderr(), said, "{words:?}");
    }
}

#[test]
fn verify_answers_0_1_or_125() {
    let place = Place::new();
    assert_eq!(output(&place, &["audit", "verify"]), "the audit trail is empty\n");
    record(&place, RUN, all_kinds());
    assert!(output(&place, &["audit", "verify"]).starts_with("all 12 rows are unaltered, the last with hash "));
    sql(
        &place,
        "UPDATE records SET body = replace(body, 'hosts', 'host') WHERE seq = 8",
    );
    let altered = stockade(&place, &["audit", "verify"]);
    assert_eq!(altered.status.code(), Some(1));
    let expected = format!("row 8 of run {RUN} was altered, or the row before it was replaced\nthe first 7 rows are ");
    assert!(altered.stdout().starts_with(&expected), "{}", altered.stdout());
    record(&place, RUN, [Record::Lost(Lost { records: 1 })]);
    let log = place.state().join("audit.log");
    let damaged = std::fs::read_to_string(&log).unwrap().replace("lost", "\\lost");
    std::fs::write(&log, damaged).unwrap();
    sql(
        &place,
        "UPDATE records SET body = replace(body, 'host', 'hosts') WHERE seq = 8",
    );
    let altered = stockade(&place, &["audit", "verify"]);
    assert_eq!(altered.status.code(), Some(1));
    let expected = "line 1 of `audit.log` was altered, or its row was replaced, and rows can be read up to row 12\n";
    assert!(altered.stdout().starts_with(expected), "{}", altered.stdout());
    let listed = stockade(&place, &["audit", "list"]);
    assert_eq!((listed.status.code(), listed.stdout().lines().count()), (Some(125), 12));
    assert!(
        listed.stderr().contains("line 1 of `") && listed.stderr().contains("hint: "),
        "{}",
        listed.stderr()
    );
    std::fs::write(place.state().join("audit.db"), "no database".repeat(400)).unwrap();
    let broken = stockade(&place, &["audit", "verify"]);
    assert_eq!(broken.status.code(), Some(125));
    assert!(
        broken.stderr().contains("audit.db") && broken.stderr().contains("hint: "),
        "{}",
        broken.stderr()
    );
}

#[test]
fn a_stored_grant_is_shown_revoked_once_and_its_end_recorded() {
    let place = Place::new();
    assert_eq!(stockade(&place, &["grant", "list"]).stdout(), "");
    assert!(!place.state().join("grants.db").exists());
    let key = Key {
        project: "/srv/project".into(),
        profile: "minimal".into(),
        agent: Some("fixer".into()),
        script: None,
    };
    let grant = NewGrant {
        given: Given::Flag(vec!["--read".into(), "/srv/a b".into()]),
        by: "ada at the terminal".into(),
        reason: None,
        request: Some("q1".into()),
    };
    let Added::New(id) = GrantStore::open(&place.state()).unwrap().add(&key, &grant).unwrap() else {
        panic!("the store was empty");
    };
    let listed = output(&place, &["grant", "list"]);
    assert!(
        listed.starts_with(&format!(
            "{id}  --read '/srv/a b'\n        in /srv/project under minimal, for agent fixer; "
        )),
        "{listed}"
    );
    let exported: Value = serde_json::from_str(&output(&place, &["grant", "export"])).unwrap();
    assert_eq!(
        (&exported["id"], &exported["grant"]),
        (&json!(id), &json!(["--read", "/srv/a b"]))
    );
    assert_eq!(
        output(&place, &["grant", "remove", &id]),
        format!("removed {id}: --read '/srv/a b'\n")
    );
    assert_eq!(stockade(&place, &["grant", "list"]).stdout(), "");
    assert!(output(&place, &["grant", "list", "--all"]).contains("; removed "));
    assert!(output(&place, &["audit", "list"]).contains("revoked   --read '/srv/a b'"));
    let unknown = stockade(&place, &["grant", "remove", "nosuch"]);
    assert_eq!(unknown.status.code(), Some(125));
    assert!(
        unknown.stderr().contains("there is no stored grant `nosuch`"),
        "{}",
        unknown.stderr()
    );
}

#[test]
fn following_prints_each_new_row_once_and_escaped() {
    let place = Place::new();
    let mut child = place
        .command(STOCKADE)
        .args(["audit", "list", "--follow", "--limit", "1"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    // The trail need not be there, and another process makes it.
    for round in 0..3 {
        record(&place, RUN, [Record::Denied(seen(&format!("/round\u{1b}[2J{round}")))]);
        let line = lines.next().unwrap().unwrap();
        assert!(line.contains(&format!("/round\\u{{1b}}[2J{round}")), "{line:?}");
    }
    record(&place, RUN, (0..3).map(|n| Record::Denied(seen(&format!("/many{n}")))));
    for n in 0..3 {
        assert!(lines.next().unwrap().unwrap().contains(&format!("/many{n}")));
    }
    let id = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).unwrap();
    assert!(!child.wait().unwrap().success());
    assert!(lines.next().is_none());
}

#[test]
fn following_goes_on_with_the_trail_that_takes_the_place_of_one_moved_away() {
    let place = Place::new();
    record(&place, RUN, (0..3).map(|n| Record::Denied(seen(&format!("/old{n}")))));
    let mut child = place
        .command(STOCKADE)
        .args(["audit", "list", "--follow"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    for n in 0..3 {
        assert!(lines.next().unwrap().unwrap().contains(&format!("/old{n}")));
    }
    let away = place.path("away");
    std::fs::create_dir(&away).unwrap();
    for name in ["audit.db", "audit.db-wal", "audit.db-shm", "audit.head", "audit.log"] {
        let _ = std::fs::rename(place.state().join(name), away.join(name));
    }
    record(&place, RUN, [Record::Denied(seen("/new"))]);
    assert!(lines.next().unwrap().unwrap().contains("/new"));
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("the audit trail was moved away"));
}

#[test]
fn no_row_as_json_moves_a_terminal() {
    let place = Place::new();
    let odd = "/a\u{9b}2J\u{202e}b\u{200b}\u{7f}c";
    record(&place, RUN, [Record::Denied(seen(odd))]);
    for words in [
        &["audit", "list", "--json"][..],
        &["audit", "show", RUN, "--json"],
        &["audit", "export", "--jsonl"],
        &["audit", "export", "--otel"],
    ] {
        let text = output(&place, words);
        assert!(
            text.contains("/a\\u009b2J\\u202eb\\u200b\\u007fc"),
            "{words:?}: {text:?}"
        );
        assert!(
            text.bytes().all(|byte| byte == b'\n' || (b' '..0x7f).contains(&byte)),
            "{text:?}"
        );
        assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }
    let row: Value = serde_json::from_str(&output(&place, &["audit", "list", "--json"])).unwrap();
    assert_eq!(row["record"]["target"], odd);
}

#[test]
fn following_ends_with_its_reader() {
    let place = Place::new();
    record(&place, RUN, [Record::Denied(seen("/first"))]);
    let shell = format!("{STOCKADE} audit list --follow --json | head -n 1");
    let finished = finish(place.command("sh").args(["-c", &shell]), b"");
    assert!(
        finished.stdout().contains("/first") && finished.stderr().is_empty(),
        "{finished:?}"
    );
}

/// What the mapping of OTLP allows (opentelemetry-proto, `logs.proto` and `common.proto`), checked by hand: protobuf's own
/// parser checks it where it is installed.
#[test]
fn an_export_for_open_telemetry_is_one_logs_data_a_line() {
    let place = Place::new();
    record(&place, RUN, all_kinds());
    let text = output(&place, &["audit", "export", "--otel"]);
    let rows = output(&place, &["audit", "export", "--jsonl"]);
    assert_eq!(text.lines().count(), rows.lines().count());
    for (line, row) in text.lines().zip(rows.lines()) {
        let (data, row): (Value, Value) = (serde_json::from_str(line).unwrap(), serde_json::from_str(row).unwrap());
        let record = &data["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
        let nanoseconds = format!("{}000000", row["time_ms"]);
        assert_eq!(record["timeUnixNano"], json!(nanoseconds));
        assert_eq!(
            record["eventName"],
            json!(format!("stockade.audit.{}", row["kind"].as_str().unwrap()))
        );
        let severity = match row["kind"].as_str().unwrap() {
            "denied" => 13,
            "lost" => 17,
            _ => record["severityNumber"].as_u64().unwrap(),
        };
        assert_eq!(record["severityNumber"], json!(severity));
        let attributes = record["attributes"].as_array().unwrap();
        let attribute = |key: &str| &attributes.iter().find(|one| one["key"] == key).unwrap()["value"];
        assert_eq!(attribute("stockade.run"), &json!({"stringValue": row["run"]}));
        assert_eq!(
            attribute("stockade.audit.seq"),
            &json!({"intValue": row["seq"].to_string()})
        );
        let record_of_row = row["record"].as_object().unwrap();
        let values = attribute("stockade.record")["kvlistValue"]["values"]
            .as_array()
            .unwrap();
        assert_eq!(values.len(), record_of_row.len());
    }
    parsed_by_protobuf(&text);
}

/// Has protobuf's parser read each line, which takes no field that it doesn't know.
fn parsed_by_protobuf(text: &str) {
    const PARSE: &str = "import sys\n\
        from google.protobuf import json_format\n\
        from opentelemetry.proto.logs.v1.logs_pb2 import LogsData\n\
        for line in sys.stdin: print(json_format.Parse(line, LogsData()).resource_logs[0].scope_logs[0].scope.name)";
    let Some(python) = crate::common::python_with(&["opentelemetry.proto.logs.v1.logs_pb2"]) else {
        return crate::common::skipped("the Python package opentelemetry-proto isn't installed");
    };
    let finished = finish(Command::new(python).args(["-c", PARSE]), text.as_bytes());
    assert_eq!(finished.stderr(), "");
    assert_eq!(finished.stdout(), "stockade.audit\n".repeat(text.lines().count()));
}
