//! Interprets a program's words by its row in `table/commands.toml`.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::arguments::Arguments;
use super::{base_name, sed, special};
use crate::finding::{Act, Opaque};
use crate::text::Text;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    command: Vec<Row>,
}

/// A row of the table, for programs of some names. Options are written as on a command line, separated by blanks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// Names of the programs.
    names: String,
    /// Meaning of the operands.
    #[serde(default)]
    operands: Operands,
    /// Number of leading operands that aren't paths: a pattern, a program …
    #[serde(default)]
    skip: usize,
    /// … unless one of these options was given.
    #[serde(default)]
    no_skip: String,
    /// Path that is read if no operand is left …
    default: Option<String>,
    /// … and, if any are named here, one of these options was given.
    #[serde(default)]
    default_if: String,
    /// Options end at the first operand.
    #[serde(default)]
    ends_options: bool,
    /// Options whose value isn't a path.
    #[serde(default)]
    values: String,
    /// Options whose value is a path that is read.
    #[serde(default)]
    reads: String,
    /// Options whose value is a path that is written.
    #[serde(default)]
    writes: String,
    /// With one of these options, operands are written too.
    #[serde(default)]
    writes_if: String,
    /// With one of these options, operands are only read.
    #[serde(default)]
    reads_if: String,
    /// Paths that it always reads.
    #[serde(default)]
    always_reads: String,
    /// Environment variables that it reads and that matter.
    #[serde(default)]
    variables: String,
    /// Documentation of the program.
    #[serde(rename = "source")]
    _source: String,
}

/// Meaning of a program's operands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operands {
    /// They aren't paths.
    #[default]
    Ignored,
    /// Each is read.
    Read,
    /// Each is written.
    Write,
    /// All but the last are read, the last is written.
    Copy,
    /// All are written: they are moved.
    Move,
    /// The first is read, the second written: `uniq IN OUT`.
    InOut,
    /// Each is a host or URL.
    Connect,
    /// They are another command.
    Start,
}

static ROWS: LazyLock<HashMap<String, Arc<Row>>> = LazyLock::new(|| parse(include_str!("../table/commands.toml")));

fn parse(text: &str) -> HashMap<String, Arc<Row>> {
    let document: Document = toml::from_str(text).expect("a test reads the table");
    let mut rows = HashMap::new();
    for row in document.command {
        let row = Arc::new(row);
        let names = row.names.split_whitespace().map(str::to_string);
        rows.extend(names.map(|name| (name, row.clone())));
    }
    rows
}

/// Whether a program is known.
pub(super) fn is_known(name: &str) -> bool {
    ROWS.contains_key(name) || special::acts(name, &[]).is_some()
}

/// Returns the acts of a program; `words` begins with its name.
pub(super) fn acts(words: &[Text]) -> Vec<Act> {
    let Some(program) = words.first() else {
        return Vec::new();
    };
    let Some(path) = program.exact() else {
        return vec![Act::Opaque(Opaque::UnknownProgram(program.shown()))];
    };
    // Programs that start other programs are followed word by word.
    const MAX_WORDS: usize = 1000;
    if words.len() > MAX_WORDS {
        return vec![Act::Opaque(Opaque::TooMuch("too many words for one command"))];
    }
    let name = base_name(path);
    let arguments = &words[1..];
    let is_system = !path.contains('/') || ["/usr/", "/bin/", "/sbin/"].iter().any(|from| path.starts_with(from));
    if !is_system {
        return vec![Act::Read(path.into()), Act::Opaque(Opaque::OtherFile(path.to_string()))];
    }
    if let [only] = arguments
        && matches!(only.exact(), Some("--version" | "--help"))
    {
        return Vec::new();
    }
    if let Some(acts) = special::acts(name, arguments) {
        return acts;
    }
    match ROWS.get(name) {
        Some(row) if matches!(name, "sed" | "gsed") => [row.acts(arguments).1, sed::acts(arguments)].concat(),
        Some(row) => row.acts(arguments).1,
        None => vec![Act::Opaque(Opaque::UnknownProgram(name.to_string()))],
    }
}

/// Parses a program's words by its row, and returns the acts that follow from the row alone.
pub(super) fn by_row(name: &str, words: &[Text]) -> (Arguments, Vec<Act>) {
    ROWS.get(name).map(|row| row.acts(words)).unwrap_or_default()
}

/// Parses a program's words by its row.
pub(super) fn arguments(name: &str, words: &[Text]) -> Arguments {
    by_row(name, words).0
}

fn list(options: &str) -> Vec<&str> {
    options.split_whitespace().collect()
}

impl Row {
    fn acts(&self, words: &[Text]) -> (Arguments, Vec<Act>) {
        let (reads, writes) = (list(&self.reads), list(&self.writes));
        let valued = [&list(&self.values)[..], &reads, &writes].concat();
        let arguments = Arguments::of(words, &valued, self.ends_options || self.operands == Operands::Start);
        let mut acts: Vec<Act> = list(&self.always_reads)
            .into_iter()
            .map(|path| Act::Read(path.into()))
            .collect();
        acts.extend(list(&self.variables).into_iter().map(|name| match name {
            "*" => Act::Variable(Text::unknown()),
            name => Act::Variable(name.into()),
        }));
        acts.extend(arguments.values(&reads).cloned().map(Act::Read));
        acts.extend(arguments.values(&writes).cloned().map(Act::Write));
        let skip = if arguments.has(&list(&self.no_skip)) {
            0
        } else {
            self.skip
        };
        let operands = arguments.operands.get(skip..).unwrap_or_default();
        if operands.is_empty()
            && let Some(default) = &self.default
            && (self.default_if.is_empty() || arguments.has(&list(&self.default_if)))
        {
            acts.push(Act::Read(default.as_str().into()));
        }
        let operation = if arguments.has(&list(&self.reads_if)) {
            Operands::Read
        } else {
            self.operands
        };
        acts.extend(operation.acts(operands));
        if arguments.has(&list(&self.writes_if)) {
            acts.extend(operands.iter().cloned().map(Act::Write));
        }
        (arguments, acts)
    }
}

impl Operands {
    fn acts(self, operands: &[Text]) -> Vec<Act> {
        let each = |act: fn(Text) -> Act| operands.iter().cloned().map(act).collect::<Vec<Act>>();
        match (self, operands) {
            (Operands::Ignored, _) | (_, []) => Vec::new(),
            (Operands::Read, _) => each(Act::Read),
            (Operands::Write | Operands::Move, _) => each(Act::Write),
            (Operands::Connect, _) => each(Act::Connect),
            (Operands::Copy, [from @ .., to]) => {
                let read = from.iter().cloned().map(Act::Read);
                read.chain([Act::Write(to.clone())]).collect()
            }
            (Operands::InOut, [from, rest @ ..]) => {
                let write = rest.iter().take(1).cloned().map(Act::Write);
                std::iter::once(Act::Read(from.clone())).chain(write).collect()
            }
            (Operands::Start, words) => vec![Act::Start(words.to_vec())],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        assert!(ROWS.len() > 100);
    }
}
