//! `--events fd:N`: what happens in a run, told while it lives.

use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::Command;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use serde_json::Value;

use crate::common::{Place, STOCKADE, faults};

#[test]
fn each_refusal_is_told_with_its_grant_as_the_schema_says() {
    let place = Place::new();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    fcntl(&theirs, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    let output = Command::new(STOCKADE)
        .args(["run", "--profile", "mcp-standard", "--ask", "never", "--events"])
        .arg(format!("fd:{}", theirs.as_raw_fd()))
        .args([
            "--",
            "sh",
            "-c",
            "echo > out; echo > out; cat /etc/shadow; test -r missing",
        ])
        .current_dir(&place.root)
        .env("HOME", &place.home)
        .output()
        .unwrap();
    drop(theirs);
    let mut text = String::new();
    ours.read_to_string(&mut text).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let schema: Value = serde_json::from_str(include_str!("../../crates/report/schemas/events.schema.json")).unwrap();
    for row in &rows {
        assert_eq!(faults(&schema, row), [""; 0], "{row}");
    }
    assert_eq!(
        (
            rows.first().unwrap()["kind"].as_str(),
            rows.last().unwrap()["kind"].as_str()
        ),
        (Some("started"), Some("ended"))
    );
    let out = place.path("out").display().to_string();
    let created: Vec<&Value> = rows.iter().filter(|row| row["record"]["access"] == "create").collect();
    assert_eq!(created.len(), 2, "{text}{}", String::from_utf8_lossy(&output.stderr));
    for row in created {
        assert_eq!(row["grant"], serde_json::json!(["--write", out]));
        assert_eq!(row["quiet"], false);
    }
    let secret = rows
        .iter()
        .find(|row| row["record"]["target"] == "/etc/shadow")
        .unwrap();
    assert_eq!(
        (&secret["grant"], &secret["exists"]),
        (&Value::Null, &Value::Bool(true))
    );
}

#[test]
fn a_standard_stream_takes_no_events() {
    let output = Command::new(STOCKADE)
        .args(["run", "--events", "fd:1", "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&output.stderr).contains("can't take events"));
}
