//! A client of a server: lines out, lines in, and answers to what the server asks.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Place, STOCKADE, checkout, python, slowness};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Client {
    pub child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    last: u64,
    /// The answer to each request of the server, if any.
    pub answer: fn(&Value) -> Option<Value>,
    /// All lines that came.
    pub heard: Vec<String>,
}

/// How a server is started.
pub struct Start {
    words: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
    abilities: Value,
    version: &'static str,
    answer: fn(&Value) -> Option<Value>,
}

/// The command of the test's own server.
pub fn own_server() -> Vec<OsString> {
    vec![
        python().into(),
        "-I".into(),
        checkout().join("tests/mcp/server.py").into(),
    ]
}

impl Start {
    pub fn bare() -> Start {
        Start {
            words: own_server(),
            variables: Vec::new(),
            abilities: json!({}),
            version: "2025-06-18",
            answer: |_| None,
        }
    }

    pub fn wrapped(flags: &[&str]) -> Start {
        Start::under("mcp wrap", flags)
    }

    pub fn under(task: &str, flags: &[&str]) -> Start {
        let mut words: Vec<OsString> = vec![STOCKADE.into()];
        words.extend(task.split(' ').map(OsString::from));
        words.extend(flags.iter().map(OsString::from));
        words.push("--".into());
        words.extend(own_server());
        Start { words, ..Start::bare() }
    }

    /// Adds an argument to the server's own.
    pub fn argument(mut self, word: &str) -> Start {
        self.words.push(word.into());
        self
    }

    pub fn variable(mut self, name: &'static str, value: &str) -> Start {
        self.variables.push((name, value.into()));
        self
    }

    pub fn abilities(self, abilities: Value) -> Start {
        Start { abilities, ..self }
    }

    pub fn version(self, version: &'static str) -> Start {
        Start { version, ..self }
    }

    pub fn answering(self, answer: fn(&Value) -> Option<Value>) -> Start {
        Start { answer, ..self }
    }

    /// Starts it, with nothing said yet.
    pub fn silent(self, place: &Place) -> Client {
        let mut child = Command::new(&self.words[0])
            .args(&self.words[1..])
            .current_dir(&place.root)
            .env("HOME", &place.home)
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .envs(self.variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                let text = String::from_utf8_lossy(&line).into_owned();
                line.clear();
                if sender.send(text).is_err() {
                    return;
                }
            }
        });
        Client {
            input: child.stdin.take(),
            child,
            lines,
            last: 0,
            answer: self.answer,
            heard: Vec::new(),
        }
    }

    /// Starts it, and shakes hands.
    pub fn start(self, place: &Place) -> Client {
        let parameters = json!({
            "protocolVersion": self.version,
            "capabilities": self.abilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let mut client = self.silent(place);
        client.ask("initialize", parameters);
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }
}

impl Client {
    pub fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// The next line; `None` at the end.
    pub fn line(&mut self) -> Option<String> {
        let line = self.lines.recv_timeout(PATIENCE * slowness()).ok()?;
        self.heard.push(line.clone());
        Some(line)
    }

    /// Sends a request, and returns its id.
    pub fn send(&mut self, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters }));
        self.last
    }

    /// The response to a request; requests of the server are answered meanwhile.
    pub fn response(&mut self, id: u64) -> Value {
        loop {
            let line = self.line().expect("the server answers");
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if message.get("method").is_some() {
                if let Some(result) = message.get("id").and_then(|_| (self.answer)(&message)) {
                    let id = &message["id"];
                    self.say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
                }
            } else if message["id"] == json!(id) {
                return message;
            }
        }
    }

    pub fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.send(method, parameters);
        self.response(id)
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].clone()
    }

    /// The names of the listed tools.
    pub fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Closes the server's input; returns the exit code, and what it said on standard error.
    pub fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        self.ended()
    }

    /// Waits for the end.
    pub fn ended(mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap().code(), text)
    }
}

/// All texts of a result, one a line.
pub fn text(result: &Value) -> String {
    let content = result["content"].as_array().cloned().unwrap_or_default();
    let texts: Vec<&str> = content.iter().filter_map(|one| one["text"].as_str()).collect();
    texts.join("\n")
}

pub fn is_error(result: &Value) -> bool {
    result["isError"] == json!(true)
}
