//! One `stockade run` and its expected results.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

use serde_json::Value;

use super::{Finished, Place, STOCKADE, finish, python};

/// The expected content of a stream.
enum Expected {
    Exactly(String),
    Parts(Vec<String>),
    Anything,
}

/// A run to start. The root is a fresh directory, standard input is empty, the exit code must be 0.
pub struct Run {
    pub place: Place,
    flags: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    shell: Option<String>,
    command: Vec<OsString>,
    input: Vec<u8>,
    reports: bool,
    names_root: bool,
    status: Option<i32>,
    stdout: Expected,
    stderr: Expected,
}

/// The results of a run.
pub struct Ran {
    pub place: Place,
    pub finished: Finished,
    report: Option<PathBuf>,
}

/// Returns the builder of a run.
pub fn run() -> Run {
    Run {
        place: Place::new(),
        flags: Vec::new(),
        variables: Vec::new(),
        shell: None,
        command: vec!["true".into()],
        input: Vec::new(),
        reports: false,
        names_root: true,
        status: Some(0),
        stdout: Expected::Exactly(String::new()),
        stderr: Expected::Exactly(String::new()),
    }
}

impl Run {
    pub fn profile(self, name: &str) -> Self {
        self.flags(["--profile", name])
    }

    pub fn flags<T: AsRef<str>>(mut self, flags: impl IntoIterator<Item = T>) -> Self {
        let filled = flags.into_iter().map(|flag| self.place.fill(flag.as_ref()).into());
        self.flags.extend(filled);
        self
    }

    pub fn raw_flag(mut self, flag: impl Into<OsString>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Omits `--root`: a test names another one, or none.
    pub fn without_root(mut self) -> Self {
        self.names_root = false;
        self
    }

    pub fn file(self, name: &str, text: &str) -> Self {
        self.place.file(name, self.place.fill(text));
        self
    }

    pub fn program(self, name: &str, text: &str) -> Self {
        self.place.program(name, self.place.fill(text));
        self
    }

    pub fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.into(), value.as_ref().into()));
        self
    }

    /// Gives the run this older Landlock ABI.
    pub fn landlock(self, abi: &str) -> Self {
        let (name, value) = super::older_landlock(abi);
        self.variable(name, value)
    }

    pub fn command<T: Into<OsString>>(mut self, words: impl IntoIterator<Item = T>) -> Self {
        self.command = words.into_iter().map(Into::into).collect();
        self
    }

    pub fn python(self, code: &str) -> Self {
        let code = self.place.fill(code);
        self.command([python(), "-I", "-c", &code])
    }

    pub fn bash(self, code: &str) -> Self {
        let code = self.place.fill(code);
        self.command(["bash", "-c", &code])
    }

    /// Shell code that runs before Stockade, in the same process: `umask`, redirections.
    pub fn after(mut self, shell: &str) -> Self {
        self.shell = Some(self.place.fill(shell));
        self
    }

    pub fn input(mut self, input: impl AsRef<[u8]>) -> Self {
        self.input = input.as_ref().to_vec();
        self
    }

    /// Requests a report; [`Ran::report`] returns it.
    pub fn reporting(mut self) -> Self {
        self.reports = true;
        self
    }

    pub fn status(mut self, code: i32) -> Self {
        self.status = Some(code);
        self
    }

    pub fn any_status(mut self) -> Self {
        self.status = None;
        self
    }

    pub fn stdout(mut self, text: &str) -> Self {
        self.stdout = Expected::Exactly(self.place.fill(text));
        self
    }

    pub fn stdout_has(mut self, part: &str) -> Self {
        let part = self.place.fill(part);
        also(&mut self.stdout, part);
        self
    }

    pub fn any_stdout(mut self) -> Self {
        self.stdout = Expected::Anything;
        self
    }

    pub fn stderr(mut self, text: &str) -> Self {
        self.stderr = Expected::Exactly(self.place.fill(text));
        self
    }

    pub fn stderr_has(mut self, part: &str) -> Self {
        let part = self.place.fill(part);
        also(&mut self.stderr, part);
        self
    }

    pub fn any_stderr(mut self) -> Self {
        self.stderr = Expected::Anything;
        self
    }

    /// The arguments after `stockade`.
    pub fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["run".into()];
        if self.names_root {
            words.extend(["--root".into(), self.place.root.clone().into()]);
        }
        if self.reports {
            words.extend(["--report".into(), self.report_path().into()]);
        }
        if self.flags.iter().all(|flag| flag != "--ask") {
            // The tests may be run from a terminal.
            words.extend(["--ask".into(), "never".into()]);
        }
        words.extend(self.flags.iter().cloned());
        words.push("--".into());
        words.extend(self.command.iter().cloned());
        words
    }

    fn report_path(&self) -> PathBuf {
        self.place.home.join("report.json")
    }

    /// The process to start.
    pub fn process(&self) -> std::process::Command {
        let mut command = match &self.shell {
            None => self.place.command(STOCKADE),
            Some(shell) => {
                let mut command = self.place.command("bash");
                command.args(["-c", &format!("{shell}\nexec \"$@\""), "bash", STOCKADE.path()]);
                command
            }
        };
        command.args(self.words()).envs(self.variables.iter().cloned());
        command
    }

    /// Runs it and compares the results; all differences are reported at once.
    pub fn ends(self) -> Ran {
        let mut process = self.process();
        let finished = finish(&mut process, &self.input);
        let status = finished
            .status
            .code()
            .unwrap_or_else(|| -finished.status.signal().unwrap_or(0));
        let mut faults = Vec::new();
        if let Some(expected) = self.status.filter(|expected| *expected != status) {
            faults.push(format!("exit code {status}, expected {expected}"));
        }
        faults.extend(compare("stdout", &finished.stdout(), &self.stdout));
        faults.extend(compare("stderr", &finished.stderr(), &self.stderr));
        assert!(
            faults.is_empty(),
            "{}\nof stockade {:?}\n--- stdout\n{}\n--- stderr\n{}",
            faults.join("\n"),
            self.words(),
            finished.stdout(),
            finished.stderr()
        );
        let report = self.reports.then(|| self.report_path());
        Ran {
            place: self.place,
            finished,
            report,
        }
    }
}

impl Ran {
    pub fn stdout(&self) -> String {
        self.finished.stdout()
    }

    /// The requested report.
    pub fn report(&self) -> Value {
        let path = self.report.as_ref().expect("the run was asked for a report");
        let text = std::fs::read_to_string(path).expect("the report is there");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("the report is no JSON: {error}\n{text}"))
    }
}

fn also(expected: &mut Expected, part: String) {
    match expected {
        Expected::Parts(parts) => parts.push(part),
        other => *other = Expected::Parts(vec![part]),
    }
}

/// Where a line is broken since a path is long, it is compared as a whole, too.
fn compare(stream: &str, text: &str, expected: &Expected) -> Vec<String> {
    let joined = text
        .replace("`\n  (", "` (")
        .replace(";\n  ", "; ")
        .replace(",\n  or ", ", or ");
    match expected {
        Expected::Anything => Vec::new(),
        Expected::Exactly(wanted) if text == wanted => Vec::new(),
        Expected::Exactly(wanted) => vec![format!("{stream} isn't {wanted:?}")],
        Expected::Parts(parts) => parts
            .iter()
            .filter(|part| ![text, &joined].iter().any(|text| text.contains(part.as_str())))
            .map(|part| format!("{stream} lacks {part:?}"))
            .collect(),
    }
}
