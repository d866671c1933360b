//! Analyses shell scripts, and the acts of programs with their arguments.
//!
//! `parse` has brush parse a text, within bounds. `walk` goes through the commands as a shell would, every branch of them,
//! and tracks variables, functions and the current directory in a `State`. `expand` and `parameter` expand words. `simple`,
//! `builtin` and `feed` decide what a command does and prints, `program` what a program does with its words: by the rows of
//! `table/commands.toml`, and by `special` for those with a grammar of their own; `sed`, `awk` and `git` add what their own
//! programs and settings start and write, `started` what variables start.

mod arguments;
mod awk;
mod builtin;
mod expand;
mod feed;
mod git;
mod parameter;
mod parse;
mod pattern;
mod program;
mod scan;
mod sed;
mod simple;
mod special;
mod started;
mod state;
mod transfer;
mod walk;

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::finding::Finding;
use super::setting::Setting;
use super::text::Text;
use walk::Reader;

/// The word that a process substitution expands to if it fetches.
const FETCHED: &str = "/dev/fd/fetched";

/// Returns the findings for a script.
pub fn read(source: &str, setting: &Setting) -> Vec<Finding> {
    let mut reader = Reader::new(setting);
    reader.script(source);
    reader.finish()
}

/// Returns the findings for a program started with these words; the first is its name. Their span is `at`.
pub fn command(words: &[Text], at: Range<usize>) -> Vec<Finding> {
    let Some(name) = words.first() else {
        return Vec::new();
    };
    let by = name.exact().map_or("a computed program", base_name).to_string();
    let acts = program::acts(words);
    acts.into_iter()
        .map(|act| Finding::new(act, &*by, at.clone()))
        .collect()
}

/// Returns the findings for a command line with parts that may be unknown. An unknown part keeps its place in the line: it
/// is one word, or part of one.
pub fn line(line: &Text, setting: &Setting) -> Vec<Finding> {
    /// A name that no script uses.
    const PART: &str = "STOCKADE_UNKNOWN_PART";
    let mut reader = Reader::new(setting);
    reader.state.set(PART, super::value::Value::Unknown);
    reader.script(&line.with_unknown_as(&format!("${{{PART}}}")));
    reader.finish()
}

/// The last component of a path.
fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}
