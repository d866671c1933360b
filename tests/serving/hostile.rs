//! Clients that say what no client should.

use std::time::Duration;

use serde_json::{Value, json};

use super::session::{Session, WITH_RESULTS, text};
use crate::common::{Place, finish, until};

#[test]
fn garbage_gets_an_error_or_nothing_and_the_session_goes_on() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    let deep = "[".repeat(100_000);
    let huge = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"ping\",\"params\":{{\"x\":\"{}\"}}}}",
        "x".repeat(5 << 20)
    );
    for line in [
        "",
        " ",
        "x",
        "{",
        "null",
        "true",
        "17",
        "\"a\"",
        "[]",
        "[1]",
        "{}",
        &deep,
        &huge,
        "{\"jsonrpc\":\"1.0\",\"id\":901,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":902,\"method\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":903,\"method\":\"tools/call\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":904,\"method\":\"tools/call\",\"params\":[1]}",
        "{\"jsonrpc\":\"2.0\",\"id\":905,\"method\":\"tools/call\",\"params\":{\"name\":7}}",
        "{\"jsonrpc\":\"2.0\",\"id\":906,\"method\":\"tools/call\",\"params\":{\"name\":\"run_command\",\"arguments\":\"x\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":907,\"result\":{\"action\":\"accept\",\"content\":{\"answer\":\"session\"}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"none\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/none\"}",
    ] {
        session.write(line.as_bytes());
    }
    session.write(b"\xff\xfe\x00");
    assert_eq!(session.ask("none/such", &json!({}))["error"]["code"], -32601);
    assert_eq!(session.ask("ping", &json!({}))["result"], json!({}));
    assert_eq!(session.run("echo fine")["structuredContent"]["stdout"], "fine\n");
    assert_eq!(session.ends(), Some(0));
}

#[test]
fn parameters_that_dont_fit_are_told_with_what_is_missing() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    for (method, parameters, needed) in [
        ("tools/call", json!({}), "needs `name`"),
        ("tools/call", json!({ "name": 5 }), "needs `name`"),
        (
            "tools/call",
            json!({ "name": "check", "arguments": "x" }),
            "needs `arguments`",
        ),
        ("resources/read", json!({}), "needs `uri`"),
    ] {
        let error = &session.ask(method, &parameters)["error"];
        assert_eq!(error["code"], -32602, "{parameters}: {error}");
        assert!(error["message"].as_str().unwrap().contains(needed), "{error}");
    }
    assert_eq!(session.ask("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_path_from_the_home_is_refused_in_words() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    for (tool, arguments) in [
        ("check", json!({ "action": "read", "path": "~/x" })),
        (
            "run_command",
            json!({ "command": "true", "grants": { "read": ["~/x"] } }),
        ),
        (
            "run_command",
            json!({ "command": "true", "grants": { "write": ["~"] } }),
        ),
    ] {
        let result = session.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert!(text(&result).contains("isn't expanded here"), "{result}");
    }
}

/// No one watches, so nothing is waited for.
#[test]
fn a_question_that_no_one_watches_for_is_a_no_at_once() {
    let place = Place::new();
    let mut session = Session::start(&place, &["--ask", "socket", "--ceiling", "readonly"], None);
    let begun = std::time::Instant::now();
    let result = session.run("echo >>x");
    assert_eq!(result["structuredContent"]["status"], "permission_denied", "{result}");
    assert!(begun.elapsed() < Duration::from_secs(15));
}

// promise: others.5
#[test]
fn a_client_reads_no_file_for_naming_it_as_a_script() {
    let place = Place::new();
    place.file("~/notes", "NOTES");
    let notes = place.path("~/notes");
    let free = finish(place.command("bash").arg("-v").arg(&notes), b"");
    assert!(free.stderr().contains("NOTES"), "so this proves nothing");
    let mut session = Session::start(&place, &[], None);
    let result = session.call("run_command", json!({ "argv": ["bash", "-v", notes] }));
    assert_eq!(result["isError"], true, "{result}");
    assert!(!result.to_string().contains("NOTES"), "{result}");
    assert!(text(&result).starts_with("Permission denied:"), "{result}");
}

/// A call's narrower profile makes no program the user's that another call may have made.
// promise: others.6
#[test]
fn a_client_gets_no_program_from_where_calls_with_another_profile_write() {
    let place = Place::new();
    place.program("~/notes.sh", "#!/bin/sh\necho NOTES");
    // Outside of the home, in which `PATH` guards its directories.
    let tools = place.root.with_file_name("tools");
    std::fs::create_dir_all(&tools).unwrap();
    place.file(
        "~/wide.toml",
        format!(
            "version = 1\nname = \"wide\"\ndescription = \"own\"\nextends = \"workspace\"\n\
             [[write]]\npath = \"{}\"\nwhy = \"tools\"\n",
            tools.display()
        ),
    );
    let link = tools.join("tool");
    let line = format!("ln -s {} {}", place.path("~/notes.sh").display(), link.display());
    let path = format!("{}:/usr/bin:/bin", tools.display());
    let wide = place.path("~/wide.toml").display().to_string();
    let mut session = Session::with_path(&place, &["--ceiling", &wide], &path);
    let made = session.call("run_command", json!({"command": line, "profile": "wide"}));
    assert!(link.exists(), "so this proves nothing: {made}");
    for profile in ["wide", "workspace", "minimal"] {
        let result = session.call("run_command", json!({"argv": ["tool"], "profile": profile}));
        assert_eq!(result["isError"], true, "{result}");
        assert!(!result.to_string().contains("NOTES"), "{result}");
    }
}

#[test]
fn arguments_of_wrong_types_run_nothing() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    for arguments in [
        json!({}),
        json!({ "argv": [] }),
        json!({ "argv": [""] }),
        json!({ "argv": "touch ran" }),
        json!({ "argv": ["touch", 5] }),
        json!({ "argv": ["touch", "ran"], "command": "touch ran" }),
        json!({ "command": ["touch", "ran"] }),
        json!({ "command": "touch ran", "stdin": 5 }),
        json!({ "command": "touch ran", "profile": ["workspace"] }),
        json!({ "command": "touch ran", "env": ["A=b"] }),
        json!({ "command": "touch ran", "env": { "A": 1 } }),
        json!({ "command": "touch ran", "grants": ["--read", "/"] }),
        json!({ "command": "touch ran", "grants": { "exec": ["/"] } }),
        json!({ "command": "touch ran", "grants": { "read": ["../x"] } }),
        json!({ "command": "touch ran", "time_limit_seconds": -1 }),
        json!({ "command": "touch ran", "time_limit_seconds": 0 }),
        json!({ "command": "touch ran\u{0}" }),
        json!({ "command": format!("touch ran; : {}", "x".repeat(200_000)) }),
        json!({ "command": "touch ran", "stdin": "x".repeat(2 << 20) }),
    ] {
        let result = session.call("run_command", arguments.clone());
        assert_eq!(result["isError"], true, "{arguments}");
        assert!(!text(&result).is_empty());
    }
    for arguments in [
        json!({ "language": "ruby", "code": "x" }),
        json!({ "code": "x" }),
        json!({ "language": "python", "code": "x".repeat(2 << 20) }),
    ] {
        assert_eq!(session.call("run_script", arguments.clone())["isError"], true);
        assert_eq!(session.call("infer_permissions", arguments)["isError"], true);
    }
    for arguments in [
        json!({}),
        json!({ "tool": "--rules=x" }),
        json!({ "action": "read", "path": "a", "host": "b" }),
        json!({ "command": "ls", "rules": "x" }),
        json!({ "action": "fly" }),
    ] {
        let result = session.call("check", arguments.clone());
        let is_allowed = result["structuredContent"]["decision"] == "allow";
        assert!(!is_allowed, "{arguments}: {result}");
    }
    for run in ["none", "../../etc/passwd", "--help", ""] {
        assert_eq!(session.call("explain_denial", json!({ "run": run }))["isError"], true);
    }
    for address in [
        "file:///etc/passwd",
        "stockade://runs//report",
        "stockade://runs/../report",
        "",
    ] {
        assert!(session.ask("resources/read", &json!({ "uri": address }))["error"].is_object());
    }
    assert!(!place.root.join("ran").exists());
}

#[test]
fn calls_at_once_are_bounded_and_all_answered() {
    let place = Place::new();
    let mut session = Session::start(&place, &["--parallel", "2"], None);
    let line = "mkdir here.$$; ls -d here.* | wc -l; sleep 0.05; rmdir here.$$";
    let calls: Vec<u64> = (0..60)
        .map(|_| session.begin("run_command", json!({ "command": line })))
        .collect();
    let mut answers = std::collections::HashMap::new();
    while answers.len() < calls.len() {
        let message = session.read().expect("the server goes on");
        if let Some(id) = message["id"].as_u64() {
            answers.insert(id, message["result"].clone());
        }
    }
    let (ran, refused): (Vec<&Value>, Vec<&Value>) = answers.values().partition(|answer| answer["isError"] == false);
    assert!(ran.len() >= 30 && !refused.is_empty(), "{} ran", ran.len());
    let most = ran.iter().filter_map(|answer| {
        answer["structuredContent"]["stdout"]
            .as_str()?
            .trim()
            .parse::<u32>()
            .ok()
    });
    assert!(most.max().unwrap() <= 2);
    assert!(
        refused
            .iter()
            .all(|answer| text(answer).contains("too many calls wait"))
    );
}

#[test]
fn calls_of_one_id_take_no_others_place() {
    let place = Place::new();
    let mut session = Session::start(&place, &["--parallel", "2"], None);
    for _ in 0..5 {
        let call = json!({ "name": "run_command", "arguments": { "command": "echo a >> log; sleep 0.1" } });
        session.send(&json!({ "jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": call }));
    }
    // The end of one of them may end another: they have one name.
    for _ in 0..3 {
        assert_eq!(session.run("echo fine")["structuredContent"]["stdout"], "fine\n");
    }
    assert_eq!(session.ends(), Some(0));
    assert!(
        until(Duration::from_secs(20), || place.leftovers().is_empty()),
        "{:?}",
        place.leftovers()
    );
}

/// A request of the protocol without a handshake.
fn modern(parameters: Value) -> Value {
    let mut parameters = parameters;
    parameters["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": WITH_RESULTS,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } }
    });
    parameters
}

#[test]
fn a_run_that_waits_is_taken_up_by_its_own_call_alone() {
    let place = Place::new();
    place.file("a.txt", "hi\n");
    let mut session = Session::silent(&place, &["--profile", "minimal"]);
    let mut call = |arguments: &Value, more: Value| {
        let mut parameters = modern(json!({ "name": "run_command", "arguments": arguments }));
        for (name, value) in more.as_object().unwrap() {
            parameters[name] = value.clone();
        }
        let answer = session.ask("tools/call", &parameters);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    };
    let arguments = json!({ "argv": ["cat", "a.txt"] });
    let asked = call(&arguments, json!({}));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let state = &asked["requestState"];
    let id = asked["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap()
        .clone();
    let yes = json!({ id: { "action": "accept", "content": { "answer": "session" } } });
    let other = json!({ "argv": ["cat", "/etc/shadow"] });
    let stolen = call(&other, json!({ "requestState": state, "inputResponses": yes }));
    assert!(text(&stolen).contains("belongs to another call"), "{stolen}");
    let guessed = call(&arguments, json!({ "requestState": "run-17", "inputResponses": yes }));
    assert!(text(&guessed).contains("isn't waited for"), "{guessed}");
    let ran = call(&arguments, json!({ "requestState": state, "inputResponses": yes }));
    assert_eq!(ran["structuredContent"]["stdout"], "hi\n", "{ran}");
    let again = call(&arguments, json!({ "requestState": state, "inputResponses": yes }));
    assert_eq!(again["isError"], true);
    // Without an answer it is a no.
    let asked = call(&arguments, json!({}));
    let refused = call(&arguments, json!({ "requestState": asked["requestState"] }));
    assert!(text(&refused).starts_with("Permission denied: read"), "{refused}");
}
