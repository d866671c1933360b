//! Reports are what `schemas/report.schema.json` promises, whichever way a run goes.

use std::path::Path;
use std::process::Command;

use crate::common::faults;
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../crates/report/schemas/report.schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

/// Runs `stockade run --report FILE …` in a fresh root and answers the report.
fn report(arguments: &[&str]) -> Value {
    let root = tempfile::tempdir().unwrap();
    let unexecutable = root.path().join("no-program");
    std::fs::write(&unexecutable, b"\x7fELF, and nothing that a kernel starts").unwrap();
    make_executable(&unexecutable);
    let file = root.path().join("report.json");
    let ended = Command::new(crate::common::STOCKADE)
        .args(["run", "--root"])
        .arg(root.path())
        .arg("--report")
        .arg(&file)
        .args(arguments)
        .env("XDG_STATE_HOME", root.path().join("state"))
        .output()
        .expect("stockade starts");
    let text = std::fs::read_to_string(&file).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("no report: {error}\n{text}\n{ended:?}"))
}

fn make_executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A report that the schema admits, as a text of the fields that tell how the run ended.
fn ending(arguments: &[&str]) -> Value {
    let report = report(arguments);
    let faults = faults(&schema(), &report);
    assert!(faults.is_empty(), "{faults:#?}\n{report:#}");
    json!([report["status"], report["exit_code"], report["signal"], report["limit"]])
}

#[test]
fn a_completed_run_has_the_programs_exit_code() {
    assert_eq!(
        ending(&["--", "/bin/sh", "-c", "exit 3"]),
        json!(["completed", 3, null, null])
    );
}

#[test]
fn a_signalled_run_names_the_signal() {
    let ending = ending(&["--", "/bin/sh", "-c", "kill -TERM $$"]);
    assert_eq!(ending, json!(["signalled", null, "SIGTERM", null]));
}

#[test]
fn a_run_past_its_time_limit_says_so() {
    let ending = ending(&["--time-limit", "100ms", "--", "/bin/sleep", "60"]);
    assert_eq!(ending, json!(["time_limit", null, "SIGKILL", "time"]));
}

#[test]
fn a_run_past_another_limit_names_it() {
    let report = report(&[
        "--output-limit",
        "10B",
        "--",
        "/bin/sh",
        "-c",
        "echo more than ten bytes; sleep 60",
    ]);
    assert_eq!(faults(&schema(), &report), Vec::<String>::new());
    assert_eq!(
        json!([report["status"], report["limit"]]),
        json!(["resource_limit", "output"])
    );
    assert_eq!(report["resources"]["stdout_bytes"], 10);
    assert_eq!(report["resources"]["output_cut"], true);
}

#[test]
fn a_run_with_accepted_shortfalls_lists_them() {
    // Inside another run hosts can't be told apart.
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("inner.json");
    let stockade = crate::common::STOCKADE.path();
    let inner = [
        "run",
        "--host",
        "a.example",
        "--accept-shortfall",
        "network",
        "--report",
    ];
    let ended = Command::new(stockade)
        .args(["run", "--profile", "trusted", "--exec", stockade, "--root"])
        .arg(root.path())
        .args(["--", stockade])
        .args(inner)
        .arg(&file)
        .args(["--root"])
        .arg(root.path())
        .args(["--", "/bin/true"])
        .output()
        .expect("stockade starts");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(faults(&schema(), &report), Vec::<String>::new());
    let shortfalls = report["enforcement"]["shortfalls"].as_array().unwrap();
    assert!(shortfalls.contains(&json!("network")), "{shortfalls:?}");
}

#[test]
fn a_run_that_never_started_says_so() {
    let ending = ending(&["--", "./no-program"]);
    assert_eq!(ending, json!(["not_started", null, null, null]));
}

#[test]
fn documents_that_break_the_promise_are_told_apart() {
    let good = report(&["--", "/bin/true"]);
    assert_eq!(faults(&schema(), &good), Vec::<String>::new());
    let broken = |path: &str, value: Option<Value>| {
        let mut bad = good.clone();
        let (parent, name) = path.rsplit_once('/').unwrap();
        let fields = bad.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
        match value {
            Some(value) => fields.insert(name.into(), value),
            None => fields.remove(name),
        };
        faults(&schema(), &bad)
    };
    assert_eq!(broken("/version", Some(json!(2))), ["/version: 2 isn't 1"]);
    assert_eq!(broken("/root", None), ["/: `root` is missing"]);
    assert_eq!(broken("/more", Some(json!(1))), ["/: `more` isn't known"]);
    assert_eq!(broken("/duration_ms", Some(json!(-1))), ["/duration_ms: -1 is below 0"]);
    assert_eq!(
        broken("/exit_code", Some(json!("0"))),
        ["/exit_code: a string isn't integer or null"]
    );
    assert_eq!(broken("/exit_code", Some(json!(256))), ["/exit_code: 256 is above 255"]);
    assert_eq!(
        broken("/command", Some(json!([]))),
        ["/command: 0 items are fewer than 1"]
    );
    assert_eq!(
        broken("/command", Some(json!(["a", 1]))),
        ["/command/1: a number isn't string"]
    );
    assert_eq!(
        broken("/enforcement/limits_by", Some(json!("hope"))),
        [r#"/enforcement/limits_by: "hope" isn't one of ["control group","control group and sampling","sampling"]"#]
    );
}

/// A report of a run that was refused things, of every kind and for every reason.
fn report_with_denials() -> Value {
    let mut report = report(&["--", "/bin/true"]);
    let kinds = schema()
        .pointer("/$defs/denial/properties/access/enum")
        .unwrap()
        .clone();
    let rules = [
        json!(null),
        json!({ "text": "secret pattern `**/.env`", "origin": "built in" }),
    ];
    let mut denials = Vec::new();
    for kind in kinds.as_array().unwrap() {
        for rule in &rules {
            denials.push(json!({
                "access": kind, "target": "/r/x", "asked": "x", "syscall": "openat", "pid": 1, "program": "/bin/true",
                "count": 1, "at_ms": 0, "rule": rule, "capability": null, "explains": if rule.is_null() { "yes" } else { "no" }, "usual": false,
                "grant": if rule.is_null() { json!(["--read", "/r/x"]) } else { json!(null) }, "profile": "filesystem",
            }));
        }
    }
    report["status"] = json!("permission_denied");
    report["denials"] = json!(denials);
    report["denials_dropped"] = json!(7);
    report["suggestion"] = json!({
        "flags": ["--read", "/r/x"], "profile": null,
        "candidates": [{ "access": "read", "target": "/r/x", "flags": ["--read", "/r/x"], "profile": null }],
    });
    let parts = schema().pointer("/$defs/fault/properties/part/enum").unwrap().clone();
    let fault = |part| json!({ "part": part, "message": "index out of bounds (src/x.rs:1)", "count": 2 });
    report["faults"] = parts.as_array().unwrap().iter().map(fault).collect();
    report
}

#[test]
fn denials_are_what_the_schema_says_and_the_library_reads_and_writes() {
    let document = report_with_denials();
    assert_eq!(faults(&schema(), &document), Vec::<String>::new());
    let parsed =
        stockade_report::report::Report::parse(document.to_string().as_bytes()).expect("the library knows them all");
    assert_eq!(serde_json::to_value(&parsed).unwrap(), document);
}

#[test]
fn denials_that_break_the_promise_are_told_apart() {
    let broken = |pointer: &str, value: Value| {
        let mut document = report_with_denials();
        *document.pointer_mut(pointer).unwrap() = value;
        faults(&schema(), &document)
    };
    assert_eq!(broken("/denials/0/count", json!(0)), ["/denials/0/count: 0 is below 1"]);
    assert_eq!(
        broken("/denials/0/rule", json!({ "text": "x" })),
        ["/denials/0/rule: `origin` is missing"]
    );
    assert_eq!(
        broken("/denials/0/grant", json!("--read /r/x")),
        ["/denials/0/grant: a string isn't array or null"]
    );
    assert_eq!(
        broken("/suggestion", json!({ "flags": [], "candidates": [] })),
        ["/suggestion: `profile` is missing"]
    );
}
