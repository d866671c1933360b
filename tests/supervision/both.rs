//! The same code in two equal places: bare, and in a run.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::common::{Finished, Place, STOCKADE, finish, finish_within, python, skipped, tries};

const PRELUDE: &str = include_str!("../common/prelude.py");

/// What is slow for good reasons, thousands of processes say, on a machine with others on it.
const PATIENCE: Duration = Duration::from_secs(120);

type Setup = Box<dyn Fn(&Place)>;

/// A program, and what is there before it starts.
pub struct Both {
    argv: Vec<String>,
    setup: Vec<Setup>,
    shell: Option<String>,
}

/// Python code, which may be indented and has the functions of the probes and `tries`, as it is in Rust.
pub fn both(code: &str) -> Both {
    let chosen = tries("usually", "soaking");
    let code = format!(
        "{PRELUDE}\ndef tries(usually, soaking): return {chosen}\n{}",
        dedent(code)
    );
    both_of(&[python(), "-I", "-c", &code])
}

/// Any program; `@ROOT` and `@HOME` are filled in, here as in Python code.
pub fn both_of(argv: &[&str]) -> Both {
    Both {
        argv: argv.iter().map(ToString::to_string).collect(),
        setup: Vec::new(),
        shell: None,
    }
}

impl Both {
    /// Prepares each of the places, outside the run.
    pub fn given(mut self, setup: impl Fn(&Place) + 'static) -> Self {
        self.setup.push(Box::new(setup));
        self
    }

    pub fn file(self, name: &'static str, text: &'static str) -> Self {
        self.given(move |place| drop(place.file(name, text)))
    }

    /// Shell code that runs first, in the process that becomes the program, or Stockade: `umask`, redirections.
    pub fn after(mut self, shell: &str) -> Self {
        self.shell = Some(shell.into());
        self
    }

    /// Both end well and print this.
    pub fn print(self, expected: &str) {
        self.print_each(expected, expected);
    }

    /// Each ends well and prints its own.
    pub fn print_each(self, bare: &str, confined: &str) {
        let [(free, _), (held, _)] = self.run();
        assert_eq!(text(&free), bare, "bare, so this proves nothing: {}", told(&free));
        assert_eq!(text(&held), confined, "confined: {}", told(&held));
    }

    /// Both print the same, and something; it is given back.
    pub fn print_the_same(self) -> String {
        let [(free, _), (held, _)] = self.run();
        assert_ne!(text(&free).trim(), "", "bare, so this proves nothing: {}", told(&free));
        assert_eq!(
            text(&held),
            text(&free),
            "confined (left) and bare differ: {}",
            told(&held)
        );
        free.stdout()
    }

    /// A file of each place afterwards, bare first.
    pub fn leave(self, name: &str) -> [String; 2] {
        self.run().map(|(finished, place)| {
            assert!(finished.status.success(), "{}", told(&finished));
            std::fs::read_to_string(place.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
        })
    }

    /// The same, where the two must hold these.
    pub fn leave_each(self, name: &str, bare: &str, confined: &str) {
        let [free, held] = self.leave(name);
        assert_eq!(free, bare, "bare, so this proves nothing");
        assert_eq!(held, confined, "confined");
    }

    fn run(&self) -> [(Finished, Place); 2] {
        [false, true].map(|is_confined| {
            let place = Place::new();
            self.setup.iter().for_each(|setup| setup(&place));
            let finished = finish_within(&mut self.command(&place, is_confined), b"", PATIENCE);
            (finished, place)
        })
    }

    fn command(&self, place: &Place, is_confined: bool) -> Command {
        let mut words: Vec<String> = Vec::new();
        if is_confined {
            let root = place.root.to_str().unwrap();
            words.extend([STOCKADE.path(), "run", "--profile", "workspace", "--root", root, "--"].map(String::from));
        }
        words.extend(self.argv.iter().map(|word| place.fill(word)));
        if let Some(shell) = &self.shell {
            let shell = format!("{}\nexec \"$@\"", place.fill(shell));
            words.splice(0..0, ["bash", "-c", &shell, "bash"].map(String::from));
        }
        let mut command = place.command(&words[0]);
        command.args(&words[1..]);
        command
    }
}

/// The output, with how it ended where it didn't end well.
fn text(finished: &Finished) -> String {
    match finished.status.success() {
        true => finished.stdout(),
        false => format!("{}\n{}", finished.status, finished.stdout()),
    }
}

fn told(finished: &Finished) -> String {
    format!("{}\n--- stderr\n{}", finished.status, finished.stderr())
}

/// Takes off the indentation that all lines share.
pub fn dedent(code: &str) -> String {
    let shared = code
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let lines: Vec<&str> = code.lines().map(|line| line.get(shared..).unwrap_or("")).collect();
    lines.join("\n")
}

/// Whether there's a C compiler; says so aloud where there's none.
pub fn has_compiler() -> bool {
    let is_there = Command::new("gcc").arg("--version").output().is_ok();
    if !is_there {
        skipped("there's no gcc");
    }
    is_there
}

/// Compiles a C program.
pub fn compile(place: &Place, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let source = place.file(&format!("~/{name}.c"), source);
    let program = place.path(name);
    let mut command = place.command("gcc");
    command
        .args(["-O1", "-pthread", "-o"])
        .arg(&program)
        .arg(source)
        .args(flags);
    let finished = finish(&mut command, b"");
    assert!(finished.status.success(), "gcc: {}", finished.stderr());
    program
}
