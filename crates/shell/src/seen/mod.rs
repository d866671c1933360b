//! Every command that a line could start, for deny rules. It errs on one side: rather a command that isn't there than one
//! that is missed. What only running can tell (a command's name out of a file, a decoded text) isn't seen; such a line is
//! never plain, so no rule allows it.
//!
//! `lexer` reads a text as a shell would, `expand` guesses what expansions become, `inside` looks into the commands that start others.

mod expand;
mod inside;
mod lexer;

pub use expand::ansi_c;

use std::collections::{HashMap, HashSet};

/// Deeper nesting, and more work than this, and the rest is only cut into words.
const DEEPEST: usize = 32;
const MOST_COMMANDS: usize = 4096;
const MOST_BYTES: usize = 256 * 1024;
/// A command of more words is cut off, and a text with more than that many could do anything.
const MOST_WORDS: usize = 2048;
const MOST_FLAT: usize = 16 * 1024;
/// What a word counts for beside its bytes: keeping it costs more than reading it.
const WORD: usize = 16;
/// Longer texts could do anything: no system passes one to a shell.
const LONGEST: usize = 128 * 1024;
/// A variable's value beyond that is cut off.
const LONGEST_VALUE: usize = 4096;
/// Words that braces make.
const MOST_BRACES: usize = 1024;

/// Commands whose sub-commands are programs of their own too.
const WITH_PROGRAMS: [&str; 6] = ["git", "cargo", "docker", "podman", "kubectl", "helm"];

/// The words of every command that `text` could start, unquoted as far as can be told. A command whose name holds a
/// slash is there twice, the second time by its base name. A first word with `*`, `?` or `[` stands for every name that
/// the pattern matches (see [`could_name`]). `* *` among them says that the line could start anything.
#[must_use]
pub fn seen(text: &str) -> Vec<Vec<String>> {
    if text.len() > LONGEST {
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

/// Stands among the commands of a line that could start anything.
pub const ANYTHING: [&str; 2] = ["*", "*"];

/// Whether the first word of a command, as `seen` gives it, could be `name` when the shell is done with it.
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

/// A pattern of the shell, with every bracket taken as any one character.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let mut pattern = pattern.to_vec();
    while let Some(open) = pattern.iter().position(|c| *c == '[') {
        // `[]a]` holds a bracket: the first may be one of the set.
        let close = pattern.iter().skip(open + 2).position(|c| *c == ']');
        let end = close.map_or(open, |close| open + 2 + close);
        pattern.splice(open..=end, ['?']);
    }
    crate::pattern::matches(&pattern, name)
}

/// What has been found so far.
#[derive(Default)]
struct Seer {
    found: Vec<Vec<String>>,
    /// Values of variables that the line itself sets.
    variables: HashMap<String, String>,
    /// Texts that a command may read: here-documents and the like.
    fodder: Vec<String>,
    /// Something reads commands from its input.
    reads_commands: bool,
    /// What is looked at is no more than a guess: prose in quotes, most of the time.
    is_guess: bool,
    /// Bytes of texts and commands that were looked at.
    bytes: usize,
    /// Words that braces made.
    braced: usize,
    /// Something was left out, so the whole text is cut into words at the end.
    is_exhausted: bool,
    /// What expansions become was left out, or there are too many words: it could be anything.
    is_boundless: bool,
}

impl Seer {
    /// Whether no more work is taken on.
    fn is_full(&self) -> bool {
        self.bytes > MOST_BYTES || self.found.len() > MOST_COMMANDS
    }

    /// Whether there is room for a command of these words.
    fn has_room_for(&mut self, words: &[String], depth: usize) -> bool {
        let size = || words.iter().map(|word| word.len() + WORD).sum();
        let size = if self.is_full() { 0 } else { size() };
        self.has_room(size, depth)
    }

    /// Whether there is room for more work on a text of that size.
    fn has_room(&mut self, bytes: usize, depth: usize) -> bool {
        self.bytes += bytes + 1;
        let has_room = depth < DEEPEST && !self.is_full();
        self.is_exhausted |= !has_room;
        has_room
    }

    /// Takes every word of a text as the beginning of a command: less can't be known about a text that isn't read.
    fn flat(&mut self, text: &str) {
        let unquoted = text.replace(['\'', '"', '\\'], "");
        let words: Vec<&str> = unquoted
            .split(|c: char| c.is_whitespace() || "$`(){};|&<>=".contains(c))
            .collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        self.is_boundless |= words.len() > MOST_FLAT;
        let mut known = HashSet::new();
        for at in 0..words.len().min(MOST_FLAT) {
            let few = &words[at..words.len().min(at + 3)];
            if known.insert(few) {
                self.push(few.iter().map(|word| (*word).to_string()).collect());
            }
        }
    }

    /// Keeps a command, and once more by its base name.
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

    /// Where something reads commands, whatever another command prints may be one.
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
