//! Reading shell scripts, and what programs do with their arguments.
//!
//! `parse` has brush take a text apart, within bounds. `walk` goes through the commands as a shell would, every branch of
//! them, and keeps what is known of variables, functions and the current directory in a `State`. `expand` and `parameter`
//! say what a word stands for. `simple`, `builtin` and `feed` say what a command does and prints, `program` what a program
//! does with its words: rows of `table/commands.toml`, and `special` for those with a grammar of their own; `sed`, `awk` and
//! `git` start and write what their own programs and settings say, `started` what variables say.

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

/// What a process substitution that fetches stands for.
const FETCHED: &str = "/dev/fd/fetched";

/// What a script does.
pub fn read(source: &str, setting: &Setting) -> Vec<Finding> {
    let mut reader = Reader::new(setting);
    reader.script(source);
    reader.finish()
}

/// What a program does when it is started with these words; the first is its name. Spans are those of `at`.
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

/// What a line does of which parts may not be known. A part that isn't known stands where the line's words have it: it is
/// one word, or part of one.
pub fn line(line: &Text, setting: &Setting) -> Vec<Finding> {
    /// A name that no script has.
    const PART: &str = "STOCKADE_UNKNOWN_PART";
    let mut reader = Reader::new(setting);
    reader.state.set(PART, super::value::Value::Unknown);
    reader.script(&line.with_unknown_as(&format!("${{{PART}}}")));
    reader.finish()
}

/// The last part of a path.
fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}
