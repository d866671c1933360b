//! Tools that the configuration denies, that have changed, or that shadow another server's.

use std::process::Command;

use serde_json::json;

use super::client::{Start, is_error, text};
use crate::common::{Place, STOCKADE, finish};

fn configure(place: &Place, text: &str) {
    place.file("~/.config/stockade/config.toml", format!("version = 1\n{text}"));
}

fn stockade(place: &Place, words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(STOCKADE)
        .args(words)
        .current_dir(&place.root)
        .env("HOME", &place.home)
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

#[test]
fn a_denied_tool_is_neither_listed_nor_called() {
    let place = Place::new();
    for configuration in [
        "[mcp.servers.files]\ndeny_tools = [\"write\"]\n",
        "[mcp.servers.files]\nallow_tools = [\"echo\"]\n",
    ] {
        configure(&place, configuration);
        let mut client = Start::wrapped(&["--name", "files", "--write", "."]).start(&place);
        let tools = client.tools();
        assert!(
            tools.contains(&"echo".to_owned()) && !tools.contains(&"write".to_owned()),
            "{tools:?}"
        );
        let result = client.call("write", json!({ "path": place.path("x") }));
        assert!(
            is_error(&result) && text(&result).starts_with("Permission denied: the tool `write`"),
            "{result}"
        );
        assert!(!place.path("x").exists());
        assert!(!is_error(&client.call("echo", json!({}))));
        client.end();
    }
}

#[test]
fn a_tool_that_isnt_there_is_told_as_unknown_and_in_the_configuration_too() {
    let place = Place::new();
    configure(
        &place,
        "[mcp]\non_changed_tools = \"refuse\"\n[mcp.servers.files]\ndeny_tools = [\"wirte\", \"write\"]\n\
         [mcp.servers.files.tools.raed]\nread = [\"~/notes\"]\n",
    );
    let mut client = Start::wrapped(&["--name", "files"]).start(&place);
    client.tools();
    let result = client.call("none_such", json!({}));
    assert!(
        text(&result).contains("the server `files` has listed no tool `none_such`")
            && !text(&result).contains("new since"),
        "{result}"
    );
    let (_, told) = client.end();
    for name in ["wirte", "raed"] {
        let line = format!("`[mcp.servers.files]` names the tool `{name}`, which the server doesn't list");
        assert!(told.contains(&line), "{told}");
    }
    assert!(!told.contains("names the tool `write`"), "{told}");
}

#[test]
fn a_project_can_deny_tools_and_grant_nothing() {
    let place = Place::new();
    place.file(
        ".stockade/config.toml",
        "version = 1\n[mcp.servers.files]\ndeny_tools = [\"write\"]\n",
    );
    let mut client = Start::wrapped(&["--name", "files"]).start(&place);
    assert!(!client.tools().contains(&"write".to_owned()));
    client.end();
    place.file(
        ".stockade/config.toml",
        "version = 1\n[mcp.servers.files]\nwrite = [\"./\"]\n",
    );
    let (code, stderr) = Start::wrapped(&["--name", "files"]).silent(&place).end();
    assert_eq!(code, Some(125));
    assert!(stderr.contains("a project can't set `write` of a server"), "{stderr}");
}

#[test]
fn a_tool_that_changed_is_told_or_refused_until_it_is_accepted() {
    let place = Place::new();
    let session = |version: &str| {
        let version = format!("TOOL_VERSION={version}");
        let mut client = Start::wrapped(&["--name", "files", "--env", &version]).start(&place);
        let tools = client.tools();
        let result = client.call("echo", json!({ "text": "hey" }));
        let (_, stderr) = client.end();
        (tools.contains(&"echo".to_owned()), text(&result), stderr)
    };
    let first = session("1");
    assert_eq!((first.0, first.1.as_str(), first.2.as_str()), (true, "hey", ""));
    let told = session("2");
    assert!(
        told.0
            && told.1 == "hey"
            && told
                .2
                .ends_with("has changed since it was accepted\n  `stockade mcp tools files --accept` accepts it\n"),
        "{told:?}"
    );
    configure(&place, "[mcp]\non_changed_tools = \"refuse\"\n");
    let refused = session("2");
    assert!(
        !refused.0 && refused.1.contains("stockade mcp tools files --accept"),
        "{refused:?}"
    );
    assert!(session("1").0);
    let refused = session("2");
    assert!(!refused.0);
    let (code, listed) = stockade(&place, &["mcp", "tools", "files"]);
    assert!(code == Some(1) && listed.contains("changed   echo"), "{listed}");
    assert_eq!(
        stockade(&place, &["mcp", "tools", "files", "--accept"]),
        (Some(0), "accepted echo\n".to_owned())
    );
    assert_eq!(stockade(&place, &["mcp", "tools", "files"]).0, Some(0));
    for task in [&["mcp", "tools", "file"][..], &["mcp", "tools", "file", "--accept"]] {
        let done = finish(place.command(STOCKADE).args(task), b"");
        assert_eq!((done.status.code(), done.stdout().as_str()), (Some(125), ""));
        let said = "stockade: no server `file` has listed its tools\n\nhint: those that have: `files`\n";
        assert_eq!(done.stderr(), said);
    }
    let (_, servers) = stockade(&place, &["mcp", "list"]);
    assert!(
        servers.starts_with("files  ") && servers.lines().count() == 1,
        "{servers}"
    );
    assert!(session("2").0);
}

#[test]
fn a_change_in_the_midst_of_a_session_is_found() {
    let place = Place::new();
    configure(&place, "[mcp.servers.files]\non_changed_tools = \"refuse\"\n");
    let mut client = Start::wrapped(&["--name", "files"]).start(&place);
    assert!(client.tools().contains(&"echo".to_owned()));
    client.say(&json!({ "jsonrpc": "2.0", "method": "change" }));
    assert!(!client.tools().contains(&"echo".to_owned()));
    assert!(is_error(&client.call("echo", json!({}))));
    client.end();
}

#[test]
fn a_tool_with_the_name_of_another_servers_is_told_or_refused() {
    let place = Place::new();
    let mut client = Start::wrapped(&["--name", "first"]).start(&place);
    client.tools();
    client.end();
    // The same command is the same server, whatever its name.
    let mut client = Start::wrapped(&["--name", "later"]).start(&place);
    assert!(client.tools().contains(&"echo".to_owned()));
    assert_eq!(client.end().1, "");
    let second = || Start::wrapped(&["--name", "second"]).argument("other").start(&place);
    let mut client = second();
    assert!(client.tools().contains(&"echo".to_owned()));
    let (_, stderr) = client.end();
    assert!(stderr.contains("the server `first` has the tools `"), "{stderr}");
    assert!(stderr.contains(" more too") && stderr.lines().count() == 1, "{stderr}");
    configure(&place, "[mcp.servers.second]\non_shadowed_tools = \"refuse\"\n");
    let mut client = second();
    assert!(client.tools().is_empty());
    assert!(is_error(&client.call("echo", json!({}))));
    client.end();
}
