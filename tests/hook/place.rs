//! A project with a configuration and a state of its own, and calls of a hook in it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::common::{Place, STOCKADE};

/// Rules that the cases name.
const RULES: &str = r#"
version = 1

[[permissions.allow]]
tool = "mcp__docs__search"

[[permissions.allow]]
tool = "bash"
command = "make test"

[[permissions.deny]]
tool = "mcp__shop__buy"

[[permissions.deny]]
tool = "bash"
command = "git push"
"#;

pub fn place() -> Place {
    let place = Place::new();
    place.file("~/.config/stockade/config.toml", RULES);
    place.file("sub/x", "x\n");
    place.file("a.txt", "a\n");
    place
}

/// A call of a hook; its standard input is `input`.
pub fn call(place: &Place, words: &[&str], input: &[u8]) -> Output {
    let mut child = command(place, STOCKADE.path().as_ref())
        .arg("hook")
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A hook that blocks at once doesn't read its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// A command in the project, with nothing but the user's own directories.
pub fn command(place: &Place, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(&place.root).env("HOME", &place.home);
    for name in [
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "CLAUDE_PROJECT_DIR",
        "GEMINI_PROJECT_DIR",
        "CURSOR_PROJECT_DIR",
    ] {
        command.env_remove(name);
    }
    command
}

/// What an answer says, in one word, by the agent's format.
pub fn said(agent: &str, output: &Output) -> String {
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let specific = &value["hookSpecificOutput"];
    let decision = match agent {
        "claude-code" | "codex" => match specific["hookEventName"].as_str() {
            Some("PermissionRequest") => &specific["decision"]["behavior"],
            _ => &specific["permissionDecision"],
        },
        "gemini" => &value["decision"],
        "cursor" => &value["permission"],
        "copilot" => &value["permissionDecision"],
        _ => panic!("{agent}"),
    };
    match (output.status.code(), decision.as_str()) {
        (Some(2), Some("deny" | "block")) => "block".into(),
        (Some(0), Some(decision)) => decision.into(),
        (Some(0), None) if value == serde_json::json!({}) => "pass".into(),
        other => panic!("{other:?}: {output:?}"),
    }
}

/// The input in place of the tool's.
pub fn input(agent: &str, output: &Output) -> Option<Value> {
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let specific = &value["hookSpecificOutput"];
    let input = match agent {
        "claude-code" | "codex" => match specific["hookEventName"].as_str() {
            Some("PermissionRequest") => &specific["decision"]["updatedInput"],
            _ => &specific["updatedInput"],
        },
        "gemini" => &specific["tool_input"],
        "cursor" => &value["updated_input"],
        _ => &value["modifiedArgs"],
    };
    (!input.is_null()).then(|| input.clone())
}
