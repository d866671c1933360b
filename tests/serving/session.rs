//! A client without an SDK: it writes lines and reads lines, so it can write any.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Place, STOCKADE, until};

/// The protocol whose server asks within a call.
pub const WITH_REQUESTS: &str = "2025-06-18";

/// The protocol whose server asks by a call's result.
pub const WITH_RESULTS: &str = "2026-07-28";

/// A server with its client's ends.
pub struct Session {
    pub server: Child,
    pub input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
    last: u64,
    /// What the server asked.
    pub asked: Vec<Value>,
    /// What the client answers it.
    pub answer: Value,
}

impl Session {
    /// Starts a server in a place, and shakes hands. The client shows forms where it has an answer for them.
    pub fn start(place: &Place, flags: &[&str], answer: Option<Value>) -> Session {
        Session::silent(place, flags).greet(answer)
    }

    /// The same, where the server has this search path, and without forms.
    pub fn with_path(place: &Place, flags: &[&str], path: &str) -> Session {
        Session::of(place.command(STOCKADE).env("PATH", path), flags).greet(None)
    }

    fn greet(mut self, answer: Option<Value>) -> Session {
        let capabilities = if answer.is_some() {
            json!({ "elicitation": {} })
        } else {
            json!({})
        };
        self.answer = answer.unwrap_or_default();
        let greeting = self.ask(
            "initialize",
            &json!({
                "protocolVersion": WITH_REQUESTS, "capabilities": capabilities, "clientInfo": { "name": "test", "version": "1" }
            }),
        );
        assert_eq!(greeting["result"]["serverInfo"]["name"], "stockade", "{greeting}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        self
    }

    /// The same, and the client says nothing yet.
    pub fn silent(place: &Place, flags: &[&str]) -> Session {
        Session::of(&mut place.command(STOCKADE), flags)
    }

    fn of(command: &mut Command, flags: &[&str]) -> Session {
        let mut server = command
            .args(["mcp", "serve"])
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the server starts");
        Session {
            input: server.stdin.take(),
            output: server.stdout.take().map(BufReader::new),
            server,
            last: 0,
            asked: Vec::new(),
            answer: Value::Null,
        }
    }

    pub fn send(&mut self, message: &Value) {
        self.write(message.to_string().as_bytes());
    }

    /// Writes any line.
    pub fn write(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("the session is open");
        input.write_all(line).expect("the server reads");
        input.write_all(b"\n").expect("the server reads");
    }

    /// Sends a request, and gives its id.
    pub fn post(&mut self, method: &str, parameters: &Value) -> u64 {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters }));
        self.last
    }

    /// The server's next message; `None` at its end. Whatever it writes is one.
    pub fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        let output = self.output.as_mut().expect("the session is open");
        match output.read_line(&mut line).expect("the server writes text") {
            0 => None,
            _ => Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("no message, {error}: {line}"))),
        }
    }

    /// Waits for a response. The server's questions are answered meanwhile.
    pub fn wait(&mut self, id: u64) -> Value {
        loop {
            let message = self.read().expect("the server answers before it ends");
            match (message.get("method"), message.get("id")) {
                (None, Some(answered)) if *answered == json!(id) => return message,
                (Some(_), Some(question)) => {
                    let reply = json!({ "jsonrpc": "2.0", "id": question, "result": self.answer });
                    self.asked.push(message.clone());
                    self.send(&reply);
                }
                _ => {}
            }
        }
    }

    pub fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.post(method, parameters);
        self.wait(id)
    }

    /// Calls a tool, and doesn't wait.
    pub fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.post("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Calls a tool; its result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin(tool, arguments);
        let answer = self.wait(id);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Runs a shell's line; its result.
    pub fn run(&mut self, line: &str) -> Value {
        self.call("run_command", json!({ "command": line }))
    }

    /// Closes the end that the client writes to.
    pub fn close(&mut self) {
        self.input = None;
    }

    /// Closes the client's ends, as one that has ended does.
    pub fn vanish(&mut self) {
        self.input = None;
        self.output = None;
    }

    /// Closes the client's output; whether the server ends.
    pub fn ends(mut self) -> Option<i32> {
        self.input = None;
        let mut code = None;
        until(Duration::from_secs(20), || {
            code = self.server.try_wait().expect("it is our child");
            code.is_some()
        });
        code.expect("the server ends with its input").code()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The first text of a result.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}
