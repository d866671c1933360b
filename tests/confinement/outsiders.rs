//! Programs among processes outside, which tell what signals reach them: bare, and in runs with each Landlock.

use serde_json::{Value, json};

use crate::common::{Finished, Place, STOCKADE, finish, is_root, older_landlock, python};

const OUTSIDERS: &str = include_str!("programs/outsiders.py");
const PRELUDE: &str = include_str!("../common/prelude.py");

/// Landlock as the machine has it, the last one without the scope for signals, and the oldest of a kernel in wide use.
pub const ABIS: [Option<&str>; 3] = [None, Some("5"), Some("2")];

/// What outsiders saw.
pub struct Seen {
    pub words: Vec<String>,
    pub status: i64,
    pub outside: Value,
}

impl Seen {
    pub fn signals(&self, name: &str) -> Vec<i64> {
        let list = self.outside[name].as_array().unwrap();
        list.iter().map(|signal| signal.as_i64().unwrap()).collect()
    }

    pub fn has_seen(&self, signal: i64) -> bool {
        ["V", "G", "L"].iter().any(|name| self.signals(name).contains(&signal))
    }

    pub fn assert_untouched(&self, what: &str) {
        for name in ["V", "G", "L"] {
            assert_eq!(
                self.signals(name),
                [0_i64; 0],
                "{what} reached {name}: {:?}",
                self.words
            );
        }
    }
}

/// A program among outsiders.
pub struct Stage {
    pub script: String,
    /// What its standard input is, see `programs/outsiders.py`.
    pub stdin: Option<&'static str>,
    /// Python code of the processes outside, see `programs/outsiders.py`.
    pub after: &'static str,
    /// Starts it in a PID namespace, where numbers can be chosen.
    pub is_numbered: bool,
}

impl Stage {
    pub fn new(script: &str) -> Stage {
        Stage {
            script: format!("{PRELUDE}\nimport fcntl, threading\nLAUNCHER = int(sys.argv[-1])\n{script}"),
            stdin: None,
            after: "",
            is_numbered: false,
        }
    }

    pub fn bare(&self) -> Seen {
        self.plays(&[], None).expect("the outsiders start")
    }

    pub fn confined(&self, abi: Option<&str>) -> Seen {
        self.plays(
            &[STOCKADE.path(), "run", "--ask", "never", "--profile", "workspace", "--"],
            abi,
        )
        .expect("the outsiders start")
    }

    pub fn plays(&self, around: &[&str], abi: Option<&str>) -> Option<Seen> {
        let place = Place::new();
        let argv: Vec<&str> = around
            .iter()
            .copied()
            .chain([python(), "-I", "-c", &self.script])
            .collect();
        let task = json!({ "argv": argv, "stdin": self.stdin, "after": self.after });
        let mut command = match self.is_numbered {
            false => place.command(python()),
            true => {
                let mut command = place.command("unshare");
                if !is_root() {
                    command.arg("--map-root-user");
                }
                command.args(["--pid", "--fork", "--kill-child", "--mount-proc", python()]);
                command
            }
        };
        command.args(["-I", "-c", OUTSIDERS, &task.to_string()]);
        command.envs(abi.map(older_landlock));
        told(&finish(&mut command, b""))
    }
}

fn told(finished: &Finished) -> Option<Seen> {
    let text = finished.stdout();
    let lines: Vec<&str> = text.lines().collect();
    let (last, words) = lines.split_last()?;
    let last: Value = serde_json::from_str(last).unwrap_or_else(|_| panic!("{text}{}", finished.stderr()));
    Some(Seen {
        words: words.iter().map(ToString::to_string).collect(),
        status: last["status"].as_i64().unwrap(),
        outside: last["outside"].clone(),
    })
}
