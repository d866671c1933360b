//! The tables of safe options, from `options.txt`.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use crate::names::{self, Class};

/// The options and operands that a command may have.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Row {
    pub kind: Kind,
    letters: HashMap<char, Vec<Value>>,
    words: HashMap<&'static str, Vec<Value>>,
    /// Prefixes of options with an attached value, for compilers.
    pub beginnings: Vec<&'static str>,
    /// Whether it accepts `-20`.
    pub takes_numbers: bool,
}

/// The kind of the words that aren't options.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    #[default]
    Files,
    Pass,
    None,
    One,
    Plus,
    Rest,
    Free,
    Remote,
    Make,
    Tar,
    Sed,
    Awk,
    Sub,
    Whole,
    Test,
    Exact,
    Compiler,
    Sqlite,
    Never,
}

impl Kind {
    /// Whether an option after one `-` is a word, not a bundle of letters.
    pub fn has_whole_words(self) -> bool {
        matches!(
            self,
            Kind::Whole | Kind::Test | Kind::Exact | Kind::Sqlite | Kind::Compiler
        )
    }
}

/// The value that an option takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    /// Nothing.
    None,
    /// A value, attached or in the next word.
    Any,
    /// A value that can only be attached, or none.
    Attached,
    /// Only this value.
    Exactly(&'static str),
    /// A value that names no file to read or write.
    NoFile,
    /// A format that asks for no signature, attached, or none.
    AttachedFormat,
    /// The same, attached or in the next word.
    Format,
    /// Two values in the next words.
    Two,
    /// A value; all following words belong to the program that it names.
    AndRest,
}

impl Row {
    /// The values of a one-letter option; empty if it isn't safe.
    pub fn letter(&self, letter: char) -> &[Value] {
        self.letters.get(&letter).map_or(&[], Vec::as_slice)
    }

    /// The values of an option of more than one letter; empty if it isn't safe.
    pub fn word(&self, word: &str) -> &[Value] {
        self.words.get(word).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, option: &'static str) {
        if option == "-#" {
            self.takes_numbers = true;
            return;
        }
        if let (Kind::Compiler, Some(beginning)) = (self.kind, option.strip_suffix('*')) {
            return self.beginnings.push(beginning);
        }
        let is_whole = self.kind.has_whole_words();
        if is_whole || option.starts_with("--") || !option.starts_with('-') {
            let (name, value) = parted(option);
            self.words.entry(name).or_default().push(value);
            return;
        }
        let letters = &option[1..];
        let mut chars = letters.char_indices().peekable();
        while let Some((at, letter)) = chars.next() {
            let behind = &letters[at + letter.len_utf8()..];
            let value = match (at, behind.chars().next()) {
                // A value can be attached with `=` to a single letter only; in a bundle `=` ends one of the letters.
                (0, Some('=')) if behind.len() > 1 && !behind[2..].contains('=') => {
                    let value = Value::Exactly(&behind[1..]);
                    self.letters.entry(letter).or_default().push(value);
                    return;
                }
                (_, Some(mark @ ('=' | '?' | '@' | '!' | '%' | '$'))) => {
                    chars.next();
                    marked(mark)
                }
                _ => Value::None,
            };
            let values = self.letters.entry(letter).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
}

fn marked(mark: char) -> Value {
    match mark {
        '=' => Value::Any,
        '?' => Value::Attached,
        '@' => Value::NoFile,
        '%' => Value::AttachedFormat,
        '$' => Value::Format,
        _ => Value::AndRest,
    }
}

/// Splits a long option into its name and its value.
fn parted(option: &'static str) -> (&'static str, Value) {
    if let Some(name) = option.strip_suffix("==") {
        return (name, Value::Two);
    }
    match option.split_once('=') {
        Some((name, "")) => (name, Value::Any),
        Some((name, value)) => (name, Value::Exactly(value)),
        None => match option.strip_suffix(['?', '@', '!', '%', '$']) {
            Some(name) => (name, marked(option.chars().next_back().unwrap_or('='))),
            None => (option, Value::None),
        },
    }
}

fn kind(word: &str) -> Option<Kind> {
    Some(match word {
        "files" => Kind::Files,
        "pass" => Kind::Pass,
        "none" => Kind::None,
        "one" => Kind::One,
        "plus" => Kind::Plus,
        "rest" => Kind::Rest,
        "free" => Kind::Free,
        "remote" => Kind::Remote,
        "make" => Kind::Make,
        "tar" => Kind::Tar,
        "sed" => Kind::Sed,
        "awk" => Kind::Awk,
        "sub" => Kind::Sub,
        "whole" => Kind::Whole,
        "test" => Kind::Test,
        "exact" => Kind::Exact,
        "compiler" => Kind::Compiler,
        "sqlite" => Kind::Sqlite,
        "never" => Kind::Never,
        _ => return None,
    })
}

const OPTIONS: &str = include_str!("options.txt");

/// Rows by command and sub-command (empty if there is none).
type Rows = HashMap<(&'static str, &'static str), Unread>;

static ROWS: LazyLock<Rows> = LazyLock::new(rows);

/// A row that is read when it is asked for: all together fill 2.5 MB of maps, and a line needs one or two.
struct Unread {
    /// The tables from this row's kind on.
    text: &'static str,
    row: OnceLock<Box<Row>>,
}

/// The row of a command, and of its sub-command unless `sub` is empty.
pub(super) fn row<'n>(command: &'n str, sub: &'n str) -> Option<&'n Row> {
    let rows: &HashMap<(&'n str, &'n str), Unread> = &ROWS;
    let unread = rows.get(&(command, sub))?;
    Some(unread.row.get_or_init(|| Box::new(read(unread.text))))
}

/// Finds the rows in the embedded tables; lines that can't be parsed are skipped here and found by a test.
fn rows() -> Rows {
    let mut rows = Rows::with_capacity(840);
    let mut add = |name, text| {
        let row = OnceLock::new();
        rows.insert(name, Unread { text, row });
    };
    let mut rest = OPTIONS;
    while let Some((line, after)) = rest.split_once('\n') {
        if !line.starts_with(['#', ' '])
            && let Some((head, _)) = line.split_once(" :")
        {
            let text = &rest[head.len() + 2..];
            named(head).for_each(|name| add(name, text));
        }
        rest = after;
    }
    names::all(Class::Never).for_each(|name| add((name, ""), "never"));
    rows
}

/// Reads the row that a text begins with.
fn read(text: &'static str) -> Row {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let first = lines.next().unwrap_or_default().trim_start();
    let (word, options) = first.split_once(' ').unwrap_or((first, ""));
    let mut row = Row {
        kind: kind(word).unwrap_or(Kind::Never),
        ..Row::default()
    };
    let more = lines.take_while(|line| line.starts_with(' '));
    let options = std::iter::once(options).chain(more).flat_map(str::split_whitespace);
    options.for_each(|option| row.add(option));
    row
}

/// `git/mv|rm` are two rows, `npm|yarn/run|test` four, `true false` two commands.
fn named(head: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    head.split_whitespace().flat_map(|name| {
        let (commands, subs) = name.split_once('/').unwrap_or((name, ""));
        commands
            .split('|')
            .flat_map(move |command| subs.split('|').map(move |sub| (command, sub)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_can_be_read_and_none_contradicts_another() {
        let heads = || {
            OPTIONS
                .lines()
                .filter(|line| !line.is_empty() && !line.starts_with(['#', ' ']))
        };
        for line in heads() {
            let (_, tail) = line.split_once(" :").unwrap_or_else(|| panic!("{line}"));
            let word = tail.split_whitespace().next();
            assert!(word.is_some_and(|word| kind(word).is_some()), "{line}");
        }
        let mut all: Vec<_> = heads()
            .flat_map(|line| named(line.split_once(" :").unwrap().0))
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "a command has two rows");
        for (command, sub) in all {
            let row = row(command, sub).unwrap();
            let letters = row.letters.iter().map(|(letter, values)| (letter.to_string(), values));
            let words = row.words.iter().map(|(word, values)| (word.to_string(), values));
            for (option, values) in letters.chain(words) {
                let exact = values.iter().all(|value| matches!(value, Value::Exactly(_)));
                let same = values.iter().all(|value| *value == values[0]);
                assert!(exact || same, "{command} {sub} {option} {values:?}");
            }
        }
    }
}
