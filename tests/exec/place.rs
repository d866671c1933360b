//! A root with scripts, and a state of its own.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::common::STOCKADE;

pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        for directory in ["config/stockade", "root/data", "home"] {
            std::fs::create_dir_all(place.0.path().join(directory)).unwrap();
        }
        place.file("data/a.csv", "shop,price\nmarket,3\n");
        place.file("notes.txt", "notes\n");
        place
    }

    pub fn root(&self) -> std::path::PathBuf {
        self.0.path().join("root")
    }

    pub fn file(&self, name: &str, text: &str) {
        std::fs::write(self.root().join(name), text).unwrap();
    }

    pub fn configuration(&self, text: &str) {
        std::fs::write(self.0.path().join("config/stockade/config.toml"), text).unwrap();
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(STOCKADE);
        command
            .args(words)
            .current_dir(self.root())
            .stdin(Stdio::null())
            .env("HOME", self.0.path().join("home"))
            .env("XDG_CONFIG_HOME", self.0.path().join("config"))
            .env("XDG_STATE_HOME", self.0.path().join("state"));
        command
    }

    pub fn call(&self, words: &[&str]) -> Called {
        Called::of(self.command(words).output().unwrap())
    }

    /// `stockade exec`, without an asker.
    pub fn exec(&self, words: &[&str]) -> Called {
        self.call(&[&["exec", "--ask", "never"], words].concat())
    }

    /// `stockade exec`, with a program that answers.
    pub fn exec_with(&self, answer: &str, words: &[&str]) -> Called {
        let answer = format!("command=cat > /dev/null; echo '{answer}'");
        self.call(&[&["exec", "--ask", &answer], words].concat())
    }

    pub fn json(&self, words: &[&str]) -> Value {
        let called = self.call(words);
        assert_eq!((called.code, &*called.stderr), (0, ""));
        serde_json::from_str(&called.stdout).unwrap()
    }
}

/// What came of a call.
pub struct Called {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Called {
    fn of(output: Output) -> Called {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Called {
            code: output.status.code().unwrap(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    pub fn says(&self, text: &str) {
        assert!(self.stderr.contains(text), "{text:?} isn't in:\n{}", self.stderr);
    }
}

/// The exit code of a command in the root, without Stockade.
pub fn bare(place: &Place, words: &[&str]) -> Option<i32> {
    let (program, arguments) = words.split_first().unwrap();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(Path::new(&place.root()));
    command.output().unwrap().status.code()
}
