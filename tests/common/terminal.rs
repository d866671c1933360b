//! A run on a terminal of its own, with a simulated person at the keyboard.

use serde_json::{Value, json};

use super::{Run, STOCKADE, finish, python};

const PLAYER: &str = include_str!("terminal.py");

/// The person's steps, in order.
#[derive(Default)]
pub struct Terminal {
    steps: Vec<Value>,
}

impl Terminal {
    pub fn new() -> Terminal {
        Terminal::default()
    }

    /// Waits until the program has printed this.
    pub fn awaits(self, text: &str) -> Self {
        self.step("await", json!(text))
    }

    /// Presses keys.
    pub fn types(self, keys: &str) -> Self {
        self.step("type", json!(keys))
    }

    /// Another process acts meanwhile: shell code, with the program's process id as `$PROGRAM`.
    pub fn meanwhile(self, code: &str) -> Self {
        self.step("do", json!(code))
    }

    /// From now on the terminal answers a query, as terminals do.
    pub fn replies(self, query: &str, answer: &str) -> Self {
        self.step("reply", json!([query, answer]))
    }

    /// The program must not have printed this before the last awaited text, or at all once it has ended.
    pub fn never_saw(self, text: &str) -> Self {
        self.step("unsaid", json!(text))
    }

    /// No row up to what was awaited last, but for prompts, is longer than this many columns or holds more than ASCII and
    /// signs of ours.
    pub fn rows_within(self, columns: u32) -> Self {
        self.step("rows", json!(columns))
    }

    /// The program must end within this time.
    pub fn ends_within(self, seconds: u32) -> Self {
        self.step("ended", json!(seconds))
    }

    fn step(mut self, name: &str, value: Value) -> Self {
        self.steps.push(json!([name, value]));
        self
    }

    /// Plays the steps with a run in the foreground; returns the exit code.
    pub fn plays(self, run: &Run) -> i32 {
        let mut argv = vec![STOCKADE.into()];
        argv.extend(run.words());
        self.plays_command(run, argv)
    }

    /// Plays the steps with any program, a shell for example.
    pub fn plays_command(self, run: &Run, argv: Vec<std::ffi::OsString>) -> i32 {
        let steps = Value::from(self.steps).to_string();
        let mut command = run.place.command(python());
        command
            .args(["-I", "-c", PLAYER, &steps])
            .args(argv)
            .env("TERM", "dumb");
        let finished = finish(&mut command, b"");
        let said = finished.stdout();
        let status = said.strip_prefix("status ").and_then(|code| code.trim().parse().ok());
        status.unwrap_or_else(|| panic!("{said}{}", finished.stderr()))
    }
}
