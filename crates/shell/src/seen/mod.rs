//! Finds every command that a line could start, for deny rules. It prefers a false command to a missed
//! one. Commands known only at run time (a name read from a file, a decoded text) aren't found; such a line is
//! never plain, so no rule allows it.
//!
//! `lexer` tokenizes a text, `expand` guesses the results of expansions, `inside` parses commands that start others.

mod expand;
mod inside;
mod lexer;

pub use expand::ansi_c;

use std::collections::{HashMap, HashSet};

/// Beyond this nesting and this work, the rest is only split into words.
const MAX_DEPTH: usize = 32;
const MAX_COMMANDS: usize = 4096;
const MAX_BYTES: usize = 256 * 1024;
/// A longer command is truncated, and a text with more words than this could do anything.
const MAX_WORDS: usize = 2048;
const MAX_FLAT: usize = 16 * 1024;
/// The cost of a word besides its bytes: storing it costs more than reading it.
const WORD: usize = 16;
/// Longer texts could do anything: no system passes one to a shell.
const MAX_LENGTH: usize = 128 * 1024;
/// Longer variable values are truncated.
const MAX_VALUE: usize = 4096;
/// Maximum number of words from brace expansion.
const MAX_BRACES: usize = 1024;

/// Commands whose sub-commands are also programs of their own.
const WITH_PROGRAMS: [&str; 6] = ["git", "cargo", "docker", "podman", "kubectl", "helm"];

/// The words of every command that `text` could start, unquoted as far as can be determined. A command whose name has a
/// slash is there twice, the second time by its base name. A first word with `*`, `?` or `[` stands for every name that
/// the pattern matches (see [`could_name`]). `* *` among them says that the line could start anything.
#[must_use]
pub fn seen(text: &str) -> Vec<Vec<String>> {
    if text.len() > MAX_LENGTH {
        return vec![ANYTHING.map(str::to_string).to_vec()];
    }
    let mut seer = Seer::default();
    seer.script(text, 0);
    seer.feed();
    if seer.is_exhausted {
        seer.flat(text);
    }
    if seer.is_boundless {
        seer.found.push(ANYTHING.map(str::to_string).to_vec());
    }
    let mut known = HashSet::new();
    let mut found = seer.found;
    let is_new: Vec<bool> = found.iter().map(|words| known.insert(words.as_slice())).collect();
    let mut is_new = is_new.into_iter();
    found.retain(|_| is_new.next().unwrap_or(true));
    found
}

/// The command that marks a line that could start anything.
pub const ANYTHING: [&str; 2] = ["*", "*"];

/// Whether the first word of a command, as `seen` returns it, could become `name` after expansion.
#[must_use]
pub fn could_name(word: &str, name: &str) -> bool {
    if word == name {
        return true;
    }
    if !word.contains(['*', '?', '[']) {
        return false;
    }
    let base = |text: &str| text.rsplit('/').next().unwrap_or(text).chars().collect::<Vec<_>>();
    matches(&base(word), &base(name))
}

/// Matches a shell pattern; every bracket expression matches any one character.
fn matches(pattern: &[char], name: &[char]) -> bool {
    // Where none follows, nothing is searched again for each `[`.
    let last = pattern.iter().rposition(|c| *c == ']');
    let mut single = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(c) = pattern.get(at) {
        single.push(if *c == '[' { '?' } else { *c });
        // `[]a]` contains a bracket: the first may be a member of the set.
        if *c == '[' && last.is_some_and(|last| last >= at + 2) {
            at += 2 + pattern[at + 2..].iter().take_while(|c| **c != ']').count();
        }
        at += 1;
    }
    crate::pattern::matches(&single, name)
}

/// The state of the search.
#[derive(Default)]
struct Seer {
    found: Vec<Vec<String>>,
    /// Values of variables that the line sets.
    variables: HashMap<String, String>,
    /// Texts that a command may read: here-documents and the like.
    fodder: Vec<String>,
    /// A command reads commands from its input.
    reads_commands: bool,
    /// The current text is only a guess: usually quoted prose.
    is_guess: bool,
    /// Bytes of texts and commands examined so far.
    bytes: usize,
    /// Words produced by brace expansion so far.
    braced: usize,
    /// Something was skipped, so the whole text is split into words at the end.
    is_exhausted: bool,
    /// An expansion was skipped, or there are too many words: the line could be anything.
    is_boundless: bool,
}

impl Seer {
    /// Whether the work limit is reached.
    fn is_full(&self) -> bool {
        self.bytes > MAX_BYTES || self.found.len() > MAX_COMMANDS
    }

    /// Whether the limits allow a command of these words.
    fn has_room_for(&mut self, words: &[String], depth: usize) -> bool {
        let size = || words.iter().map(|word| word.len() + WORD).sum();
        let size = if self.is_full() { 0 } else { size() };
        self.has_room(size, depth)
    }

    /// Whether the limits allow more work on a text of that size.
    fn has_room(&mut self, bytes: usize, depth: usize) -> bool {
        self.bytes += bytes + 1;
        let has_room = depth < MAX_DEPTH && !self.is_full();
        self.is_exhausted |= !has_room;
        has_room
    }

    /// Takes every word of a text as the start of a command: the fallback for a text that isn't parsed.
    fn flat(&mut self, text: &str) {
        let unquoted = text.replace(['\'', '"', '\\'], "");
        let words: Vec<&str> = unquoted
            .split(|c: char| c.is_whitespace() || "$`(){};|&<>=".contains(c))
            .collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        self.is_boundless |= words.len() > MAX_FLAT;
        let mut known = HashSet::new();
        for at in 0..words.len().min(MAX_FLAT) {
            let few = &words[at..words.len().min(at + 3)];
            if known.insert(few) {
                self.push(few.iter().map(|word| (*word).to_string()).collect());
            }
        }
    }

    /// Stores a command, and a second copy with its base name.
    fn push(&mut self, words: Vec<String>) {
        let base = words
            .first()
            .and_then(|first| first.rsplit_once('/'))
            .map(|(_, base)| base.to_string());
        if let Some(base) = base {
            let mut by_base = words.clone();
            by_base[0] = base;
            self.push(by_base);
        }
        // `git-push` is what `git push` starts.
        if let Some((command, sub)) = words.first().and_then(|first| first.split_once('-'))
            && WITH_PROGRAMS.contains(&command)
        {
            let mut apart = vec![command.to_string(), sub.to_string()];
            apart.extend_from_slice(&words[1..]);
            self.found.push(apart);
        }
        self.found.push(words);
    }

    /// If a command reads commands from its input, anything that another command prints may be one.
    fn feed(&mut self) {
        if !self.reads_commands {
            return;
        }
        self.is_guess = true;
        let printed: Vec<Vec<String>> = self.found.clone();
        for words in printed.iter().take(256) {
            for at in 1..words.len().min(64) {
                if self.is_full() {
                    break;
                }
                self.script(&words[at], 1);
                self.command(&words[at..], 1);
            }
        }
        for text in std::mem::take(&mut self.fodder) {
            self.script(&text, 1);
        }
    }
}

#[cfg(test)]
mod tests;
