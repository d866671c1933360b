//! Reads nested code: programs with their arguments, shell lines, code in strings.

use super::finding::{Act, Finding, Opaque};
use super::language::Language;
use super::setting::Setting;
use super::text::Text;
use super::{read, shell};

/// Maximum nesting depth of embedded code.
const MAX_DEPTH: usize = 6;

/// Maximum number of findings.
const MAX: usize = 4096;

/// Expands findings with those of nested code, which get the location at which the outer text starts it.
pub fn unfold(found: Vec<Finding>, setting: &Setting) -> Vec<Finding> {
    let mut all = Vec::new();
    let mut work = Unfolding {
        setting,
        directory: None,
        start: None,
        all: &mut all,
    };
    for finding in found {
        work.take(finding, 0);
    }
    all
}

struct Unfolding<'a> {
    setting: &'a Setting,
    /// The current directory, if the script has changed it.
    directory: Option<Text>,
    /// The directory in which the current text started.
    start: Option<Text>,
    all: &'a mut Vec<Finding>,
}

impl Unfolding<'_> {
    fn take(&mut self, finding: Finding, depth: usize) {
        if self.all.len() >= MAX {
            return;
        }
        if depth > MAX_DEPTH || self.all.len() == MAX - 1 {
            let why = "too much that is embedded";
            self.all
                .push(Finding::new(Act::Opaque(Opaque::TooMuch(why)), finding.by, finding.at));
            return;
        }
        let at = finding.at.clone();
        let inside = match &finding.act {
            Act::Enter(path) => {
                self.directory = Some(self.placed(path));
                return;
            }
            Act::Back => {
                self.directory = self.start.clone();
                return;
            }
            Act::Start(words) => shell::command(words, at),
            Act::Shell(line) => shell::line(line, self.setting),
            Act::Code(language, code) => self.embedded(*language, code),
            Act::Read(path) => return self.all.push(self.moved(&finding, Act::Read(self.placed(path)))),
            Act::Write(path) => return self.all.push(self.moved(&finding, Act::Write(self.placed(path)))),
            _ => return self.all.push(finding),
        };
        let (at, is_guess) = (finding.at.clone(), finding.is_guess);
        self.all.push(finding);
        let directory = self.directory.clone();
        let start = std::mem::replace(&mut self.start, directory.clone());
        for mut inner in inside {
            inner.at = at.clone();
            inner.is_guess |= is_guess;
            self.take(inner, depth + 1);
        }
        // A child process has its own current directory.
        (self.directory, self.start) = (directory, start);
    }

    fn moved(&self, finding: &Finding, act: Act) -> Finding {
        Finding { act, ..finding.clone() }
    }

    fn embedded(&self, language: Language, code: &Text) -> Vec<Finding> {
        match code.exact() {
            Some(code) => read(code, language, self.setting),
            None => vec![Finding::new(Act::Opaque(Opaque::BuiltCode), language.name(), 0..0)],
        }
    }

    fn placed(&self, path: &Text) -> Text {
        match &self.directory {
            Some(directory) if !path.prefix().starts_with('~') && !path.is_unknown() => directory.joined(path),
            _ => path.clone(),
        }
    }
}
