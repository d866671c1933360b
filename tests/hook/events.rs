//! Each agent's events with the expected answers.

use std::ffi::OsStr;
use std::fs;

use serde_json::Value;

use super::place::{call, input, place, said};
use crate::common::checkout;

fn try_all(agent: &str) {
    let file = checkout().join(format!("tests/hook/events/{agent}.json"));
    let place = place();
    let root = place.root.to_str().unwrap();
    let text = fs::read_to_string(file).unwrap().replace("$ROOT", root);
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let wrong: Vec<String> = cases.iter().filter_map(|case| fault(agent, &place, case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with the answer to a case.
fn fault(agent: &str, place: &crate::common::Place, case: &Value) -> Option<String> {
    let what = case["what"].as_str().unwrap();
    let texts = |name: &str| -> Vec<String> {
        let entries = case[name].as_array().into_iter().flatten();
        entries.map(|entry| entry.as_str().unwrap().to_string()).collect()
    };
    let flags = texts("flags");
    let words: Vec<&str> = std::iter::once(agent).chain(flags.iter().map(String::as_str)).collect();
    let output = call(place, &words, case["event"].to_string().as_bytes());
    let is_right = |output: &std::process::Output| {
        let stdout = String::from_utf8_lossy(&output.stdout);
        said(agent, output) == case["expect"].as_str().unwrap()
            && texts("has")
                .iter()
                .all(|part| stdout.contains(&part.replace('"', "\\\"")))
            && is_confined(case, input(agent, output))
            && (said(agent, output) != "block" || !output.stderr.is_empty())
    };
    (!is_right(&output)).then(|| {
        let stdout = String::from_utf8_lossy(&output.stdout);
        format!("{what}: {stdout}{}", String::from_utf8_lossy(&output.stderr))
    })
}

/// Whether the line is confined as the case says, and every other argument as it was.
fn is_confined(case: &Value, input: Option<Value>) -> bool {
    let Some(line) = case["confined"].as_str() else {
        return input.is_none();
    };
    let Some(mut now) = input else { return false };
    let Some(text) = now["command"].as_str().map(String::from) else {
        return false;
    };
    let event = &case["event"];
    let arguments = if event["toolArgs"].is_null() {
        &event["tool_input"]
    } else {
        &event["toolArgs"]
    };
    let before: Value = match arguments {
        Value::String(text) => serde_json::from_str(text).unwrap(),
        other => other.clone(),
    };
    now["command"] = before["command"].clone();
    let goes_elsewhere = text.contains(r#""$PWD""#);
    let ends = format!(" {}", stockade_text::quote::for_any_shell(line));
    now == before
        && text.contains(" run ")
        && text.contains(" --root ")
        && text.contains(" -- bash -c ")
        && text.ends_with(&ends)
        && goes_elsewhere == (case["elsewhere"] == Value::Bool(true))
}

#[test]
fn claude_code() {
    try_all("claude-code");
}

#[test]
fn codex() {
    try_all("codex");
}

#[test]
fn gemini() {
    try_all("gemini");
}

#[test]
fn cursor() {
    try_all("cursor");
}

#[test]
fn copilot() {
    try_all("copilot");
}

#[test]
fn every_agent_has_its_events() {
    let files = fs::read_dir(checkout().join("tests/hook/events")).unwrap().flatten();
    let mut names: Vec<_> = files
        .map(|file| file.path().file_stem().map(OsStr::to_os_string).unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["claude-code", "codex", "copilot", "cursor", "gemini"]);
}
