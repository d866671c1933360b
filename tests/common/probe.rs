//! Probes: small attempts at things that a profile refuses, each proved to work unconfined in a place like the run's.

use std::fmt::Write as _;

use super::process::Beside;
use super::{Finished, Place, STOCKADE, finish, older_landlock, python, skipped};

const PRELUDE: &str = include_str!("prelude.py");

struct Attempt {
    label: String,
    code: String,
    /// The expected answer of the unconfined attempt; `*` is anything but a refusal.
    unconfined: &'static str,
    /// The expected answer of the confined attempt, if it differs from the probe's common one.
    confined: Option<&'static str>,
    /// Whether the attempt depends on the machine's features or on what it lets ordinary users do.
    is_optional: bool,
}

/// Files, links and attempts, in this order.
#[derive(Default)]
pub struct Probe {
    files: Vec<(String, String, bool)>,
    links: Vec<(String, String)>,
    flags: Vec<String>,
    beside: Vec<String>,
    older: Option<&'static str>,
    attempts: Vec<Attempt>,
}

impl Probe {
    pub fn new() -> Probe {
        Probe::default()
    }

    pub fn file(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.into(), text.into(), false));
        self
    }

    pub fn program(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.into(), text.into(), true));
        self
    }

    /// Adds a symbolic link; `@ROOT` and `@HOME` in its target are filled in.
    pub fn link(mut self, name: &str, target: &str) -> Self {
        self.links.push((name.into(), target.into()));
        self
    }

    pub fn flags<T: Into<String>>(mut self, flags: impl IntoIterator<Item = T>) -> Self {
        self.flags.extend(flags.into_iter().map(Into::into));
        self
    }

    /// Gives the run each directory of files directly in its root to work in, so that what is guarded at the top of such a
    /// tree is guarded there.
    pub fn in_trees_of_their_own(mut self) -> Self {
        let tops = self.files.iter().filter_map(|(name, ..)| name.split_once('/'));
        let tops: std::collections::BTreeSet<String> = tops.map(|(top, _)| format!("@ROOT/{top}")).collect();
        self.flags
            .extend(tops.into_iter().flat_map(|top| ["--write".to_string(), top]));
        self
    }

    /// Python code of a process outside the run that lives as long as the probe; it calls `ready()` before the probe begins.
    pub fn beside(mut self, code: &str) -> Self {
        self.beside.push(code.into());
        self
    }

    /// Gives the run this older Landlock ABI.
    pub fn landlock(mut self, abi: &'static str) -> Self {
        self.older = Some(abi);
        self
    }

    /// Python code that works unconfined and must be refused.
    pub fn attempt(self, code: &str) -> Self {
        self.add(code, "ok", None, false)
    }

    /// The same, if the machine has the feature and lets this user use it.
    pub fn attempt_if_possible(self, code: &str) -> Self {
        self.add(code, "ok", None, true)
    }

    /// A call that passes the refusals unconfined, whatever it then answers.
    pub fn reaches_the_kernel(self, code: &str) -> Self {
        self.add(code, "*", None, true)
    }

    /// Code with answers of its own, unconfined and confined; several are separated by `|`.
    pub fn answers(self, code: &str, unconfined: &'static str, confined: &'static str) -> Self {
        self.add(code, unconfined, Some(confined), false)
    }

    /// The same, skipped if the unconfined answer differs.
    pub fn answers_if_possible(self, code: &str, unconfined: &'static str, confined: &'static str) -> Self {
        self.add(code, unconfined, Some(confined), true)
    }

    /// Code that must also work confined: it shows that the probe's refusals aren't due to a broken run.
    pub fn works(self, code: &str) -> Self {
        self.answers(code, "ok", "ok")
    }

    fn add(mut self, code: &str, unconfined: &'static str, confined: Option<&'static str>, is_optional: bool) -> Self {
        self.attempts.push(Attempt {
            label: code.lines().next().unwrap_or_default().trim().to_string(),
            code: code.into(),
            unconfined,
            confined,
            is_optional,
        });
        self
    }

    /// Runs all attempts unconfined, then under a profile, where each must answer `refusal` (several: `EACCES|EXDEV`).
    pub fn refused(&self, profile: &str, refusal: &str) {
        let free = self.unconfined();
        self.assert_proved(&free);
        let held = self.confined(profile);
        let mut faults = Vec::new();
        let mut proved = 0;
        for (index, attempt) in self.attempts.iter().enumerate() {
            let (free, held) = (free[index].as_str(), held[index].as_str());
            let wanted = attempt.confined.unwrap_or(refusal);
            if !attempt.is_proved_by(free) {
                skipped(&format!("unconfined `{}` answers {free} here", attempt.label));
                continue;
            }
            proved += 1;
            if !one_of(wanted, held) {
                faults.push(format!(
                    "`{}` under {profile}: {held}, expected {wanted}",
                    attempt.label
                ));
            }
        }
        if proved == 0 {
            skipped("this machine lets this user do none of it anyway");
        }
        assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    }

    /// Asserts that each required attempt works unconfined; otherwise refusing it would prove nothing.
    fn assert_proved(&self, free: &[String]) {
        let faults: Vec<String> = std::iter::zip(&self.attempts, free)
            .filter(|(attempt, word)| !attempt.is_optional && !attempt.is_proved_by(word))
            .map(|(attempt, word)| format!("unconfined `{}`: {word}, so this proves nothing", attempt.label))
            .collect();
        assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    }

    fn unconfined(&self) -> Vec<String> {
        let place = self.place();
        let _beside = self.start_beside(&place);
        let mut command = place.command(python());
        command.args(["-I", "-c", &self.script(&place)]);
        results(&finish(&mut command, b""), self.attempts.len())
    }

    fn confined(&self, profile: &str) -> Vec<String> {
        let place = self.place();
        let _beside = self.start_beside(&place);
        let mut command = place.command(STOCKADE);
        command
            .args(["run", "--profile", profile])
            .arg("--root")
            .arg(&place.root);
        command.args(self.flags.iter().map(|flag| place.fill(flag)));
        command.args(["--", python(), "-I", "-c", &self.script(&place)]);
        command.envs(self.older.map(older_landlock));
        results(&finish(&mut command, b""), self.attempts.len())
    }

    fn start_beside(&self, place: &Place) -> Vec<Beside> {
        let start = |code: &String| Beside::new(place, &format!("{PRELUDE}\n{}", place.fill(code)));
        self.beside.iter().map(start).collect()
    }

    fn place(&self) -> Place {
        let place = Place::new();
        for (name, text, is_program) in &self.files {
            match is_program {
                true => place.program(name, place.fill(text)),
                false => place.file(name, place.fill(text)),
            };
        }
        for (name, target) in &self.links {
            let path = place.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(place.fill(target), path).unwrap();
        }
        place
    }

    fn script(&self, place: &Place) -> String {
        let mut script = PRELUDE.to_string();
        for (index, attempt) in self.attempts.iter().enumerate() {
            let _ = writeln!(script, "attempt({index}, {})", quoted(&place.fill(&attempt.code)));
        }
        script
    }
}

impl Attempt {
    fn is_proved_by(&self, word: &str) -> bool {
        match self.unconfined {
            "*" => !["EPERM", "ENOSYS", "EACCES"].contains(&word),
            wanted => one_of(wanted, word),
        }
    }
}

fn one_of(wanted: &str, word: &str) -> bool {
    wanted.split('|').any(|one| one == word)
}

/// The result word of each attempt, in order.
pub fn results(finished: &Finished, count: usize) -> Vec<String> {
    let text = finished.stdout();
    let results: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(_, word)| word.to_string())
        .collect();
    assert_eq!(
        results.len(),
        count,
        "the probe broke off ({}):\n{text}\n{}",
        finished.status,
        finished.stderr()
    );
    results
}

/// Quotes a Python string.
fn quoted(code: &str) -> String {
    serde_json::to_string(code).unwrap()
}
