//! Settings that an enemy or an accident made.

use super::{read, stockade};
use crate::common::Place;

/// The file stays as it is, and the message says where its fault is.
fn is_refused(text: impl AsRef<[u8]>, said: &str) {
    let place = Place::new();
    let path = place.file("~/.cursor/mcp.json", text.as_ref());
    place.file("~/.claude/settings.json", text.as_ref());
    for line in [
        "mcp install --for cursor --yes",
        "mcp uninstall --for cursor --yes",
        "hook install --for claude-code --yes",
    ] {
        let done = stockade(&place, line);
        let told = done.stderr();
        assert_eq!(done.status.code(), Some(125), "{line}: {told}");
        assert!(told.contains(said), "{line}: {told}");
        assert!(told.len() < 1000, "{line}: {} bytes", told.len());
        assert_eq!(std::fs::read(&path).unwrap(), text.as_ref());
    }
}

#[test]
fn a_file_with_a_fault_is_refused_with_its_place() {
    is_refused("{\n  \"a\": 1,\n  b\n}", "line 3, column 3");
    is_refused("{\"a\": 'x'}", "line 1, column 7");
    is_refused("{\"a\": 1} {}", "line 1, column 10");
    is_refused(b"{\"a\": \"\xff\"}", "isn't UTF-8");
    is_refused(vec![0_u8; 1 << 20], "line 1, column 1");
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        is_refused(format!("{{\"mcpServers\": {deep}, \"hooks\": {deep}}}"), "nesting");
    }
}

#[test]
fn a_key_that_is_there_twice_is_refused() {
    let place = Place::new();
    for (text, said) in [
        (
            r#"{"mcpServers": {}, "mcpServers": {"s": {"command": "x"}}}"#,
            "line 1, column 20: `mcpServers`",
        ),
        (
            r#"{"mcpServers": {"s": {"command": "x"}, "s": {"command": "y"}}}"#,
            "line 1, column 40: `s`",
        ),
        (
            r#"{"mcpServers": {"s": {"command": "x", "command": "y"}}}"#,
            "line 1, column 39: `command`",
        ),
        (
            r#"{"mcpServers": {"s": {"command": "x", "args": [], "ar\u0067s": ["y"]}}}"#,
            "`args`",
        ),
    ] {
        place.file("~/.cursor/mcp.json", text);
        let done = stockade(&place, "mcp install --for cursor --yes");
        assert_eq!(done.status.code(), Some(125), "{text}");
        assert!(done.stderr().contains(said), "{text}: {}", done.stderr());
    }
}

#[test]
fn a_long_file_with_mark_and_windows_line_ends_comes_back_byte_by_byte() {
    let history: String = (0..20_000)
        .map(|at| format!("    \"entry {at}: how do I …\",\r\n"))
        .collect();
    let servers = "  \"mcpServers\": {\r\n    \"s\": {\r\n      \"command\": \"x\"\r\n    }\r\n  }\r\n";
    let text = format!("\u{feff}{{\r\n  \"history\": [\r\n{history}    null\r\n  ],\r\n{servers}}}\r\n");
    let place = Place::new();
    place.file("~/.cursor/mcp.json", &text);
    assert_eq!(
        stockade(&place, "mcp install --for cursor --yes").status.code(),
        Some(0)
    );
    let new = read(&place, "~/.cursor/mcp.json");
    assert!(new.starts_with('\u{feff}') && new.matches('\n').count() == new.matches("\r\n").count());
    assert!(new.contains("\"wrap\""));
    assert_eq!(
        stockade(&place, "mcp uninstall --for cursor --yes").status.code(),
        Some(0)
    );
    assert!(read(&place, "~/.cursor/mcp.json") == text);
}

#[test]
fn names_and_words_move_no_terminal_and_stay_one_word() {
    let place = Place::new();
    let name = "--yes\\u001b[2J\\u202e";
    let text = format!(
        "{{\"mcpServers\": {{\"{name}\": {{\"command\": \"--\", \"args\": [\"--\", \"\\u0007\"], \"env\": {{\"A=b\": \"\", \"-x\": \"\", \"\\u001b\": \"\"}}}}}}}}"
    );
    place.file("~/.cursor/mcp.json", &text);
    let done = stockade(&place, "mcp install --for cursor --yes");
    let shown = done.stdout() + &done.stderr();
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown}");
    let new: serde_json::Value = serde_json::from_str(&read(&place, "~/.cursor/mcp.json")).unwrap();
    let entry = &new["mcpServers"]["--yes\u{1b}[2J\u{202e}"];
    let args: Vec<&str> = entry["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    let expected = [
        "mcp",
        "wrap",
        "--profile",
        "mcp-standard",
        "--name=--yes\u{1b}[2J\u{202e}",
        "--env",
        "\u{1b}",
        "--",
        "--",
        "--",
        "\u{7}",
    ];
    assert_eq!(args, expected);
    assert_eq!(
        stockade(&place, "mcp uninstall --for cursor --yes").status.code(),
        Some(0)
    );
    assert_eq!(read(&place, "~/.cursor/mcp.json"), text);
}
