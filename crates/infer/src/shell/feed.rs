//! Data flow between commands: one prints, another reads.

use brush_parser::ast::{Command, SimpleCommand};

use super::base_name;
use super::special::interpreted;
use super::state::Field;
use super::walk::Reader;
use crate::finding::{Act, Opaque};
use crate::language::Language;
use crate::text::Text;
use stockade_shell::without_version;

/// A command's standard input.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Feed {
    /// Nothing that comes from the script.
    Nothing,
    /// A text. With unknown parts, it is the pattern of every line: `data/….csv`.
    Text(Field),
    /// Data fetched from the network.
    Fetched,
}

impl Feed {
    pub fn of(printed: Field) -> Feed {
        match printed.is_empty() {
            true => Feed::Text(vec![Text::unknown()]),
            false => Feed::Text(printed),
        }
    }

    /// Its words, for `xargs` and `read`.
    pub fn words(&self) -> Vec<Field> {
        const MAX: usize = 64;
        let Feed::Text(field) = self else {
            return vec![vec![Text::unknown()]];
        };
        match &field[..] {
            [text] => match text.exact() {
                Some(exact) => exact
                    .split_whitespace()
                    .take(MAX)
                    .map(|word| vec![word.into()])
                    .collect(),
                None => vec![field.clone()],
            },
            _ => vec![field.clone()],
        }
    }
}

/// Whether a command fetches something and prints it.
pub(super) fn fetches(command: &Command) -> bool {
    let Command::Simple(SimpleCommand {
        word_or_name: Some(word),
        ..
    }) = command
    else {
        return false;
    };
    matches!(base_name(&word.value), "curl" | "wget" | "http" | "aria2c" | "lynx")
}

impl Reader<'_> {
    /// Records what a program does with its standard input: interpreters run it.
    pub fn feed_program(&mut self, words: &[Text]) {
        let name = words.first().and_then(Text::exact).map(base_name).unwrap_or_default();
        if matches!(without_version(name), "perl" | "ruby" | "php") {
            return self.feed_unknown(name, words);
        }
        let Some(language) = interpreted(name) else { return };
        if !reads_code(language, &words[1..]) {
            return;
        }
        match self.feed.clone() {
            Feed::Nothing => {}
            Feed::Fetched => self.act(Act::Opaque(Opaque::RemoteCode), name),
            Feed::Text(field) => {
                for code in field {
                    let act = match (code.exact().is_some(), language) {
                        (true, Language::Shell) => Act::Shell(code),
                        (true, language) => Act::Code(language, code),
                        (false, Language::Shell) if !code.is_unknown() => Act::Shell(code),
                        (false, _) => Act::Opaque(Opaque::BuiltCode),
                    };
                    self.act(act, name);
                }
            }
        }
    }

    fn feed_unknown(&mut self, name: &str, words: &[Text]) {
        if self.feed != Feed::Nothing && reads_code(Language::Python, &words[1..]) {
            let opaque = match self.feed {
                Feed::Fetched => Opaque::RemoteCode,
                _ => Opaque::UnknownProgram(name.to_string()),
            };
            self.act(Act::Opaque(opaque), name);
        }
    }

    /// Records a program's output, as far as it matters to the command that reads it.
    pub fn print_program(&mut self, words: &[Text]) {
        if self.printed.is_none() {
            return;
        }
        let output = self.output_of(words);
        self.print(vec![output]);
    }

    /// Appends to the output, where a command reads it.
    pub fn print(&mut self, field: Field) {
        if let Some(printed) = &mut self.printed {
            super::walk::join(printed, &field);
        }
    }

    fn output_of(&self, words: &[Text]) -> Text {
        let name = words.first().and_then(Text::exact).map(base_name).unwrap_or_default();
        let operands: Vec<&Text> = words
            .get(1..)
            .unwrap_or_default()
            .iter()
            .filter(|word| !word.prefix().starts_with('-'))
            .collect();
        let passed = || match &self.feed {
            Feed::Text(field) if operands.len() <= 1 => field.first().cloned().unwrap_or_else(Text::unknown),
            _ => Text::unknown(),
        };
        match (name, &operands[..]) {
            ("dirname", [path, ..]) => path.directory(),
            ("basename", [path, ..]) => last_part(path),
            ("realpath" | "readlink", [.., path]) => (*path).clone(),
            ("mktemp", [.., path]) if !words.iter().any(|word| word.exact() == Some("-t")) => {
                Text::from(path.prefix().trim_end_matches('X')).then(&Text::unknown())
            }
            ("mktemp", _) => Text::from("/tmp/").then(&Text::unknown()),
            ("which", [program]) => Text::from("/usr/bin/").then(program),
            ("find", [path, ..]) if path.prefix().is_empty() || !path.prefix().starts_with(['(', '!']) => {
                path.then(&"/".into()).then(&Text::unknown())
            }
            ("find", _) => Text::from("./").then(&Text::unknown()),
            ("ls", []) => Text::from("./").then(&Text::unknown()),
            ("ls", [path]) if path.exact().is_none() => (*path).clone(),
            ("git", [sub, what @ ..]) => match (sub.exact(), what) {
                (Some("rev-parse"), _) if words.iter().any(|word| word.exact() == Some("--show-toplevel")) => {
                    ".".into()
                }
                (Some("ls-files" | "diff"), _) => Text::from("./").then(&Text::unknown()),
                _ => Text::unknown(),
            },
            ("cat" | "tee", []) => passed(),
            ("sort" | "uniq" | "head" | "tail" | "tac" | "shuf", _) if self.feed != Feed::Nothing => lines_of(passed()),
            ("grep" | "egrep" | "fgrep" | "rg", [_]) => lines_of(passed()),
            ("seq", _) => Text::unknown(),
            _ => Text::unknown(),
        }
    }
}

/// Whether an interpreter runs its standard input: its words have neither a script nor code.
fn reads_code(language: Language, words: &[Text]) -> bool {
    let mut words = words.iter().map(|word| word.exact().unwrap_or("…"));
    let is_shell = language == Language::Shell;
    match words.find(|word| {
        !word.starts_with('-') || matches!(*word, "-" | "-c" | "-m" | "-e" | "-p" | "-s") || word.starts_with("-c")
    }) {
        None | Some("-") => true,
        Some("-s") => is_shell,
        Some("-e" | "-p") => is_shell,
        Some("/dev/stdin") => true,
        Some("run") if language == Language::TypeScript => words.any(|word| word == "-"),
        _ => false,
    }
}

/// Some lines of a text.
fn lines_of(text: Text) -> Text {
    match text.exact() {
        Some(exact) if exact.trim_end().contains('\n') => Text::unknown(),
        _ => text,
    }
}

fn last_part(path: &Text) -> Text {
    match path.exact() {
        Some(path) => base_name(path).into(),
        None => match path.suffix().rsplit_once('/') {
            Some((_, last)) => last.into(),
            None => Text::unknown(),
        },
    }
}
