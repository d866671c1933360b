//! Real MCP servers, driven through their handshake over standard streams under `mcp-standard`.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{fs, thread, time};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{installed, missing, prepared, stockade};

/// A client with its server.
struct Session {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
    _directory: TempDir,
}

impl Session {
    fn start(confined: bool, arguments: &[&str]) -> Session {
        let mut words = vec!["timeout".into(), "100".into()];
        if confined {
            words.extend(stockade("mcp-standard"));
        }
        let directory = TempDir::new().expect("a directory for the server");
        let mut server = Command::new(&words[0])
            .args(&words[1..])
            .args(arguments)
            .current_dir(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`timeout` of coreutils starts");
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("its output is piped"));
        Session {
            server,
            input,
            output,
            last: 0,
            _directory: directory,
        }
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("the session is open");
        writeln!(input, "{message}").expect("the server reads");
        input.flush().expect("the server reads");
    }

    /// Asks and waits for the answer. Questions of the server are refused meanwhile.
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        loop {
            let mut line = String::new();
            let length = self.output.read_line(&mut line).expect("the server writes text");
            assert!(length > 0, "the server ended before it answered {method}");
            let message: Value = serde_json::from_str(&line).expect("the server writes JSON");
            if message.get("method").is_none() && message["id"] == json!(id) {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            if let (Some(_), Some(question)) = (message.get("method"), message.get("id")) {
                let error = json!({ "code": -32601, "message": "not here" });
                self.send(&json!({ "jsonrpc": "2.0", "id": question, "error": error }));
            }
        }
    }

    fn handshake(&mut self) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let parameters = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let greeting = self.ask("initialize", parameters);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        json!([greeting["serverInfo"], self.ask("tools/list", json!({}))])
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Closes its input, as clients do, and gives its exit code.
    fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        for _ in 0..200 {
            if let Some(status) = self.server.try_wait().expect("it is our child") {
                return status.code();
            }
            thread::sleep(time::Duration::from_millis(50));
        }
        self.server.kill().expect("it is our child");
        panic!("the server doesn't end with its input");
    }
}

/// The program of an installed server.
fn server(name: &str) -> Option<String> {
    let path: PathBuf = prepared("STOCKADE_TEST_NPM", "test-npm")
        .join("node_modules/.bin")
        .join(name);
    if !installed(&["node"]) {
        return None;
    }
    if !path.exists() {
        missing(name);
        return None;
    }
    Some(path.to_string_lossy().into_owned())
}

#[test]
fn the_everything_server_answers_under_mcp_standard() {
    let Some(program) = server("mcp-server-everything") else {
        return;
    };
    let talk = |confined| {
        let mut session = Session::start(confined, &[&program, "stdio"]);
        let hands = session.handshake();
        let echo = session.call("echo", json!({ "message": "hey" }));
        let sum = session.call("get-sum", json!({ "a": 40, "b": 2 }));
        (hands, echo, sum, session.end())
    };
    let bare = talk(false);
    assert!(bare.1.to_string().contains("hey"), "{}", bare.1);
    assert_eq!(talk(true), bare);
}

#[test]
fn the_filesystem_server_reads_writes_and_moves_in_tmp_under_mcp_standard() {
    let Some(program) = server("mcp-server-filesystem") else {
        return;
    };
    let talk = |confined| {
        let place = tempfile::Builder::new()
            .prefix("mcp-")
            .tempdir_in("/tmp")
            .expect("a place in /tmp");
        let path = |name: &str| place.path().join(name).to_string_lossy().into_owned();
        fs::write(path("there"), "content\n").expect("a file to read");
        fs::create_dir(path("sub")).expect("a directory to move into");
        let mut session = Session::start(confined, &[&program, &path("")]);
        let said = [
            session.handshake(),
            session.call("read_text_file", json!({ "path": path("there") })),
            session.call("write_file", json!({ "path": path("new"), "content": "a\n" })),
            session.call(
                "edit_file",
                json!({ "path": path("new"), "edits": [{ "oldText": "a", "newText": "b" }] }),
            ),
            session.call(
                "move_file",
                json!({ "source": path("new"), "destination": path("sub/moved") }),
            ),
            session.call("list_directory", json!({ "path": path("sub") })),
        ];
        let moved = fs::read_to_string(path("sub/moved")).ok();
        let said = said.map(|one| one.to_string().replace(&*place.path().to_string_lossy(), "HERE"));
        (said, moved, session.end())
    };
    let bare = talk(false);
    assert_eq!(bare.1.as_deref(), Some("b\n"), "{:?}", bare.0);
    assert_eq!(talk(true), bare);
}

#[test]
fn a_server_doesnt_read_the_users_keys_under_mcp_standard() {
    let Some(program) = server("mcp-server-filesystem") else {
        return;
    };
    let home = tempfile::tempdir_in("/var/tmp").expect("a home");
    let key = home.path().join(".ssh/id_test");
    fs::create_dir(home.path().join(".ssh")).expect("a directory for keys");
    fs::write(&key, "private\n").expect("a key");
    let talk = |confined| {
        let place = home.path().to_string_lossy().into_owned();
        let mut words = vec!["env".to_owned(), format!("HOME={place}")];
        if confined {
            words.extend(
                stockade("mcp-standard")
                    .into_iter()
                    .filter_map(|word| word.into_string().ok()),
            );
        }
        words.extend([program.clone(), place]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut session = Session::start(false, &words);
        session.handshake();
        let answer = session.call("read_text_file", json!({ "path": key }));
        session.end();
        answer.to_string()
    };
    assert!(talk(false).contains("private"));
    let confined = talk(true);
    assert!(
        !confined.contains("private") && confined.contains("EACCES"),
        "{confined}"
    );
}
