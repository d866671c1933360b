//! The official SDKs of Python and TypeScript, in each of their ways to begin, and the inspector.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::session::WITH_RESULTS;
use crate::common::{Place, STOCKADE, checkout, finish_within, skipped};

/// Longer than any of these takes on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(100);

/// A directory that `tests/setup-programs.sh` fills, if it has this file.
fn prepared(variable: &str, default: &str, file: &str) -> Option<PathBuf> {
    let directory = std::env::var_os(variable).map_or_else(|| checkout().join("target").join(default), PathBuf::from);
    if directory.join(file).exists() {
        return Some(directory);
    }
    assert!(
        std::env::var_os("STOCKADE_TEST_ALL").is_none_or(|all| all != "1"),
        "{file} isn't installed"
    );
    skipped(&format!("{file} isn't installed (tests/setup-programs.sh)"));
    None
}

/// What a driver's steps answered.
fn steps(place: &Place, driver: &mut Command) -> Value {
    place.file("data/a.txt", "hi\n");
    let finished = finish_within(driver, b"", PATIENCE);
    assert!(
        finished.status.success(),
        "{}\n{}",
        finished.stdout(),
        finished.stderr()
    );
    serde_json::from_str(&finished.stdout()).expect("the driver prints its steps")
}

/// The promises, whatever client asks.
fn holds(place: &Place, steps: &Value) {
    let tools = json!([
        "run_command",
        "run_script",
        "infer_permissions",
        "check",
        "explain_denial"
    ]);
    assert_eq!(steps["tools"], tools);
    let allowed = &steps["allowed"];
    assert_eq!(
        (&allowed["error"], &allowed["data"]["stdout"]),
        (&json!(false), &json!("hi\n")),
        "{allowed}"
    );
    let refused = &steps["refused"];
    let out = place.root.join("out.txt");
    let first = refused["texts"][0].as_str().unwrap();
    let begins = format!("Permission denied: create {} (refused by MCP client", out.display());
    assert!(refused["error"] == true && first.starts_with(&begins), "{refused}");
    let denial = &refused["data"]["denials"][0];
    assert_eq!(denial["grant"], json!(["--write", out]), "{refused}");
    assert_eq!(
        (&refused["data"]["status"], &denial["explains"]),
        (&json!("permission_denied"), &json!("yes"))
    );
    // A yes made the very call succeed.
    let approved = &steps["approved"];
    assert_eq!(
        (&approved["error"], &approved["data"]["exit_code"]),
        (&json!(false), &json!(0)),
        "{approved}"
    );
    assert_eq!(std::fs::read_to_string(out).unwrap(), "hi\n");
    // One question for all that the client asked for.
    assert_eq!(
        (&steps["several"]["error"], &steps["several-questions"]),
        (&json!(false), &json!(1)),
        "{steps}"
    );
    assert_eq!(std::fs::read_to_string(place.root.join("two")).unwrap(), "2\n");
    assert!(!steps["progress"].as_array().unwrap().is_empty(), "{steps}");
    let script = &steps["script"];
    assert_eq!(
        (&script["data"]["profile"], &script["data"]["stdout"]),
        (&json!("readonly"), &json!("hi\n\n")),
        "{script}"
    );
    assert_eq!(steps["infer"]["data"]["reads"], json!(["./data/a.txt"]));
    assert_eq!(steps["check"]["data"]["decision"], "allow");
    let explained = steps["explain"]["texts"][0].as_str().unwrap();
    assert!(explained.contains("explains the failure"), "{explained}");
    assert_eq!(steps["report"]["run"], refused["data"]["run"]);
    assert_eq!(steps["report"]["escalation"]["requests"][0]["answer"], "no");
    let wrong = &steps["wrong"];
    assert!(
        wrong["error"] == true && wrong["texts"][0].as_str().unwrap().contains("isn't offered"),
        "{wrong}"
    );
    let question = steps["questions"][0].as_str().unwrap();
    assert!(
        question.contains("wants to create") && question.contains("would grant: --write"),
        "{question}"
    );
}

fn python(mode: &str) {
    let Some(directory) = prepared("STOCKADE_TEST_MCP", "test-mcp", "bin/python") else {
        return;
    };
    let place = Place::new();
    let mut driver = place.command(directory.join("bin/python"));
    driver.arg(checkout().join("tests/serving/client.py"));
    driver.args([mode, STOCKADE.path()]).arg(&place.root);
    let steps = steps(&place, &mut driver);
    holds(&place, &steps);
    assert_eq!(steps["version"] == WITH_RESULTS, mode == "auto", "{}", steps["version"]);
}

fn typescript(mode: &str) {
    let package = if mode == "v1" { "sdk" } else { "client" };
    let file = format!("node_modules/@modelcontextprotocol/{package}/package.json");
    let Some(directory) = prepared("STOCKADE_TEST_NPM", "test-npm", &file) else {
        return;
    };
    let place = Place::new();
    let mut driver = place.command("node");
    driver.arg(checkout().join("tests/serving/client.mjs"));
    driver
        .args([mode, STOCKADE.path()])
        .arg(&place.root)
        .arg(std::path::absolute(&directory).unwrap());
    let steps = steps(&place, &mut driver);
    holds(&place, &steps);
    assert_eq!(steps["cancelled"], "cancelled");
    assert_eq!(steps["version"] == WITH_RESULTS, mode == "auto", "{}", steps["version"]);
}

#[test]
fn the_python_sdk_runs_asks_and_reads_reports() {
    python("legacy");
}

#[test]
fn the_python_sdk_is_asked_by_results_too() {
    python("auto");
}

#[test]
fn the_typescript_sdk_runs_asks_and_reads_reports() {
    typescript("v1");
}

#[test]
fn the_newer_typescript_sdk_is_asked_by_requests_and_by_results() {
    typescript("legacy");
    typescript("auto");
}

#[test]
fn the_inspector_finds_no_fault_in_the_tools() {
    let program = "node_modules/.bin/mcp-inspector";
    let Some(directory) = prepared("STOCKADE_TEST_NPM", "test-npm", program) else {
        return;
    };
    let place = Place::new();
    let inspect = |words: &[&str]| {
        let mut command = place.command(std::path::absolute(directory.join(program)).unwrap());
        command
            .args(["--cli", STOCKADE.path(), "mcp", "serve", "--root"])
            .arg(&place.root)
            .args(words);
        let finished = finish_within(&mut command, b"", PATIENCE);
        assert!(
            finished.status.success(),
            "{}\n{}",
            finished.stdout(),
            finished.stderr()
        );
        (
            serde_json::from_str::<Value>(&finished.stdout()).unwrap(),
            finished.stderr(),
        )
    };
    let (listed, faults) = inspect(&["--method", "tools/list", "--strict"]);
    assert_eq!((listed["tools"].as_array().unwrap().len(), faults.as_str()), (5, ""));
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "run_command",
        "--tool-arg",
        "command=echo hi",
    ];
    assert_eq!(inspect(&call).0["structuredContent"]["stdout"], "hi\n");
    assert_eq!(inspect(&["--method", "resources/list"]).0["resources"], json!([]));
}
