//! What passes between a client and its server is what each wrote.

use std::fmt::Write as _;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Start, is_error, text};
use crate::common::{Place, STOCKADE};

/// The lines that a server got, as it told them in hexadecimal.
fn got(stderr: &str) -> Vec<String> {
    stderr
        .lines()
        .filter(|line| !line.starts_with("stockade"))
        .map(str::to_owned)
        .collect()
}

fn hex(line: &str) -> String {
    line.bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[test]
fn lines_come_to_the_server_byte_for_byte() {
    let place = Place::new();
    let lines = [
        "{ \"jsonrpc\" : \"2.0\",\"method\":\"odd\",\"params\":{\"z\":1.10,\"a\":1e2}}\r\n",
        "\n",
        "   \n",
        "no message\n",
        "[{\"jsonrpc\":\"2.0\",\"method\":\"odd\"}]\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"\\u006fdd\"}\n",
        "and no end",
    ];
    let mut client = Start::wrapped(&["--env", "ECHOES_LINES=1"]).silent(&place);
    for line in lines {
        // In two parts: the server gets whole lines all the same.
        let middle = line.len() / 2;
        client.write(&line.as_bytes()[..middle]);
        client.write(&line.as_bytes()[middle..]);
    }
    let (code, stderr) = client.end();
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(got(&stderr), lines.map(hex), "{stderr}");
}

#[test]
fn lines_come_to_the_client_byte_for_byte() {
    let place = Place::new();
    let odd = "{ \"jsonrpc\":\"2.0\", \"method\":\"notifications/message\",\"params\":{\"b\":1.0,\"a\":[ 1 ]} }\r\n";
    for line in ["\n", " \t\n", odd, "[]\n"] {
        let mut client = Start::wrapped(&[]).start(&place);
        let id = client.send("tools/call", json!({ "name": "raw", "arguments": { "line": line } }));
        client.response(id);
        assert!(
            client.heard.iter().any(|heard| heard == line),
            "{line:?}: {:?}",
            client.heard
        );
        assert_eq!(client.end().0, Some(0));
    }
}

// promise: agents.5
#[test]
fn a_line_that_only_looks_like_a_message_does_not_pass() {
    let place = Place::new();
    let hostile = [
        "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{},\"result\":{\"x\":1}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":NaN}\n",
        "{\"jsonrpc\"\n",
        "[[[[\n",
    ];
    let mut client = Start::wrapped(&[]).start(&place);
    for line in hostile {
        client.call("raw", json!({ "line": line }));
    }
    assert_eq!(
        text(&client.call("echo", json!({ "text": "still here" }))),
        "still here"
    );
    assert!(
        client.heard.iter().all(|line| !hostile.contains(&line.as_str())),
        "{:?}",
        client.heard
    );
    let (_, stderr) = client.end();
    assert_eq!(stderr.matches("isn't passed on").count(), hostile.len(), "{stderr}");
}

#[test]
fn a_server_whose_request_does_not_pass_gets_an_error() {
    let place = Place::new();
    let mut client = Start::wrapped(&["--env", "ECHOES_LINES=1"]).start(&place);
    let request = "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"roots/list\",\"params\":{\"a\":1,\"a\":2}}\n";
    client.call("raw", json!({ "line": request }));
    client.call("echo", json!({ "text": "x" }));
    assert!(client.heard.iter().all(|line| line != request), "{:?}", client.heard);
    let (_, stderr) = client.end();
    let error =
        "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"error\":{\"code\":-32700,\"message\":\"a member is there twice\"}}\n";
    assert!(got(&stderr).contains(&hex(error)), "{stderr}");
}

#[test]
fn texts_of_a_server_do_not_pass_and_are_told_once() {
    let place = Place::new();
    let mut client = Start::wrapped(&[]).start(&place);
    for line in ["the server listens on nothing\n", "and on no one\n"] {
        client.call("raw", json!({ "line": line }));
    }
    assert!(
        client.heard.iter().all(|line| line.starts_with('{')),
        "{:?}",
        client.heard
    );
    let (_, stderr) = client.end();
    assert_eq!(stderr.matches("no messages").count(), 1, "{stderr}");
    assert!(stderr.contains("listens on nothing"), "{stderr}");
}

#[test]
fn ten_megabytes_pass_both_ways() {
    let place = Place::new();
    let mut client = Start::wrapped(&[]).start(&place);
    let long = "ä".repeat(5 << 20);
    assert_eq!(text(&client.call("echo", json!({ "text": long }))), long);
    assert_eq!(text(&client.call("big", json!({ "bytes": 10 << 20 }))).len(), 10 << 20);
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn order_progress_cancellation_and_requests_of_the_server_are_as_without_stockade() {
    let talk = |start: Start| {
        let place = Place::new();
        let mut client = start
            .abilities(json!({ "sampling": {}, "roots": {}, "elicitation": {} }))
            .answering(|request| Some(json!({ "seen": request["params"], "method": request["method"] })))
            .start(&place);
        let slow = client.send("tools/call", json!({ "name": "sleep", "arguments": { "seconds": 60 } }));
        let fast = client.send(
            "tools/call",
            json!({ "name": "sleep", "arguments": { "seconds": 0.05 } }),
        );
        client.response(fast);
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": slow } }));
        let parameters = json!({ "name": "progress", "arguments": {}, "_meta": { "progressToken": "t" } });
        let id = client.send("tools/call", parameters);
        client.response(id);
        for method in ["sampling/createMessage", "roots/list", "elicitation/create"] {
            client.call("ask", json!({ "method": method, "params": { "x": 1.50 } }));
        }
        let heard = client.heard.clone();
        (heard, client.end().0)
    };
    let bare = talk(Start::bare());
    assert_eq!(
        bare.0
            .iter()
            .filter(|line| line.contains("notifications/progress"))
            .count(),
        3
    );
    assert_eq!(talk(Start::wrapped(&[])), bare);
}

#[test]
fn a_batch_passes_and_only_what_is_refused_in_it_changes() {
    let place = Place::new();
    place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[mcp.servers.server]\ndeny_tools = [\"big\"]\n",
    );
    let mut client = Start::wrapped(&["--name", "server"]).start(&place);
    let call = |id: u64, tool: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": { "text": "hey" } } });
    client.say(&json!([call(101, "echo"), call(102, "big")]));
    let (mut answered, mut refused) = (false, false);
    while !(answered && refused) {
        let line = client.line().expect("both are answered");
        answered |= line.contains("101") && line.contains("hey");
        refused |= line.contains("102") && line.contains("denied by the configuration");
    }
    client.end();
}

#[test]
fn standard_error_exit_codes_and_signals_are_the_servers() {
    let place = Place::new();
    let mut client = Start::wrapped(&[]).start(&place);
    client.call("stderr", json!({ "text": "as it is" }));
    client.send("tools/call", json!({ "name": "exit", "arguments": { "code": 7 } }));
    let (code, stderr) = client.ended();
    assert_eq!((code, stderr.as_str()), (Some(7), "as it is\n"));
    let mut client = Start::wrapped(&[]).start(&place);
    client.send("tools/call", json!({ "name": "die", "arguments": { "signal": 9 } }));
    assert_eq!(client.ended().0, Some(137));
}

#[test]
fn a_signal_ends_the_server_and_so_does_the_death_of_the_wrapper() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let place = Place::new();
    for (signal, code) in [(Signal::SIGTERM, Some(143)), (Signal::SIGKILL, None)] {
        let mut client = Start::wrapped(&["--env", "IGNORES_TERM=1"]).start(&place);
        let id = client.send("tools/call", json!({ "name": "sleep", "arguments": { "seconds": 0 } }));
        client.response(id);
        let pid = Pid::from_raw(client.child.id().cast_signed());
        let begun = Instant::now();
        kill(pid, signal).unwrap();
        // Standard error ends when the last process of the server does.
        assert!(client.ended().0 == code || code.is_some_and(|_| signal == Signal::SIGTERM));
        assert!(begun.elapsed() < Duration::from_secs(15), "{signal}");
    }
}

/// Its client may have been killed, and it may take the end of its input for nothing.
#[test]
fn a_server_that_stays_when_its_client_is_gone_is_ended() {
    assert_ended("trap '' TERM; while :; do sleep 1; done");
}

/// The first line that it writes then fails.
#[test]
fn a_server_that_writes_when_its_client_is_gone_is_ended_too() {
    let line = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    assert_ended(&format!(
        "trap '' TERM PIPE; while :; do echo '{line}'; sleep 0.1; done"
    ));
}

/// Asserts that a server whose client goes away is ended.
fn assert_ended(server: &str) {
    let place = Place::new();
    let mut wrapper = place
        .command(STOCKADE)
        .args(["mcp", "wrap", "--", "sh", "-c", server])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_secs(1));
    assert!(wrapper.try_wait().unwrap().is_none(), "so this proves nothing");
    drop((wrapper.stdin.take(), wrapper.stdout.take()));
    let begun = Instant::now();
    let ended = loop {
        match wrapper.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if begun.elapsed() > Duration::from_secs(40) => break None,
            None => thread::sleep(Duration::from_millis(100)),
        }
    };
    let _ = wrapper.kill();
    assert!(ended.is_some_and(|status| !status.success()), "{ended:?}");
}

#[test]
fn a_call_without_a_name_is_answered() {
    let place = Place::new();
    let mut client = Start::wrapped(&[]).start(&place);
    let response = client.ask("tools/call", json!({ "arguments": {} }));
    assert_eq!(response["error"]["code"], json!(-32602));
    assert!(!is_error(&client.call("echo", json!({}))));
    client.end();
}

#[test]
fn a_client_that_reads_late_gets_the_last_line_whole() {
    const LENGTH: usize = 3_000_000;
    let place = Place::new();
    let script = format!(
        r#"printf '{{"jsonrpc":"2.0","method":"notifications/x","params":{{"text":"'; head -c {LENGTH} /dev/zero | tr '\0' x
        printf '"}}}}\n'"#
    );
    let mut child = Command::new(STOCKADE.path())
        .args(["mcp", "wrap", "--", "sh", "-c", &script])
        .current_dir(&place.root)
        .env("HOME", &place.home)
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Longer than a server that has ended may keep its lines.
    thread::sleep(Duration::from_secs(6));
    let mut got = String::new();
    child.stdout.take().unwrap().read_to_string(&mut got).unwrap();
    assert!(got.len() > LENGTH && got.ends_with("\"}}\n"), "{} bytes", got.len());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
