//! From text to parts: assembles the first parser's tokens, and the second parser must agree.

use std::ops::Range;

use super::normalise::normalise;
use super::scan::{Token, Why, Word, scan};
use super::{Line, NotPlain, Operator, Part, Plain, Redirection, grammar};
use stockade_text::visible::is_invisible;

/// Longer texts aren't parsed: no person could judge one either.
pub(super) const MAX_LENGTH: usize = 64 * 1024;

/// Parses a line.
#[must_use]
pub fn read(text: &str) -> Line {
    // For a text that isn't parsed, the beginning is enough for a person.
    let normalised = normalise(&text[..text.floor_char_boundary(MAX_LENGTH)]);
    match plain(text, &normalised) {
        Ok(parts) => Line::Plain(Plain {
            parts: parts.parts,
            operators: parts.operators,
            normalised,
        }),
        Err(why) => Line::NotPlain(NotPlain { why, normalised }),
    }
}

fn plain(text: &str, normalised: &str) -> Result<Parts, Why> {
    if text.len() > MAX_LENGTH {
        return Err("is longer than 64 KiB");
    }
    if !text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n')) {
        check_characters(text)?;
    }
    let parts = Parts::of(normalised)?;
    // It parses the original text: the normalised form needs checking too.
    grammar::check(text, &parts, normalised)?;
    Ok(parts)
}

/// Beyond ASCII accepts only visible characters, and no blanks other than the shell's own.
fn check_characters(text: &str) -> Result<(), Why> {
    let mut others = text.chars().filter(|c| !matches!(c, '\t' | '\n' | ' '));
    if others.clone().any(is_invisible) {
        return Err("holds characters that can't be seen");
    }
    // Unicode doesn't class the Braille blank as white space, yet it looks like one.
    match others.any(|c| c.is_whitespace() || c == '\u{2800}') {
        true => Err("holds blanks that aren't blanks to a shell"),
        false => Ok(()),
    }
}

/// A line's parts as the first parser sees them.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub parts: Vec<Part>,
    pub operators: Vec<Range<usize>>,
    /// The last command runs in the background.
    pub ends_in_background: bool,
}

impl Parts {
    fn of(normalised: &str) -> Result<Self, Why> {
        let mut tokens = scan(normalised)?.into_iter();
        let mut parts = Self::default();
        let mut part = Pending::default();
        let mut follows = None;
        while let Some((token, place)) = tokens.next() {
            match token {
                Token::Word(word) => part.words.push((word, place)),
                Token::Redirection => {
                    let operator = normalised[place.clone()].to_string();
                    parts.operators.push(place);
                    let target = tokens.next().ok_or(NO_TARGET)?;
                    part.redirect(operator, target)?;
                }
                Token::Operator(operator) => {
                    parts.operators.push(place);
                    // A newline may follow any operator, and isn't a second one.
                    if operator == Operator::Newline && part.is_empty() {
                        continue;
                    }
                    parts.push(std::mem::take(&mut part), follows, normalised)?;
                    follows = Some(operator);
                }
            }
        }
        if !part.is_empty() {
            parts.push(part, follows, normalised)?;
        } else if !matches!(
            follows,
            Some(Operator::Semicolon | Operator::Background | Operator::Newline)
        ) {
            return Err("has an empty command");
        } else {
            parts.ends_in_background = follows == Some(Operator::Background);
        }
        Ok(parts)
    }

    fn push(&mut self, pending: Pending, follows: Option<Operator>, normalised: &str) -> Result<(), Why> {
        let Some((first, ..)) = pending.words.first() else {
            return Err("has an empty command");
        };
        check_command(first)?;
        let texts = pending.words.iter().map(|(_, place)| &normalised[place.clone()]);
        let texts: Vec<_> = texts.collect();
        pending.check_globs(&texts)?;
        let text = texts.join(" ");
        let (words, places) = pending
            .words
            .into_iter()
            .map(|(word, place)| (word.value, place))
            .unzip();
        self.parts.push(Part {
            words,
            places,
            text,
            redirections: pending.redirections,
            follows,
        });
        Ok(())
    }
}

const NO_TARGET: Why = "has a redirection to nowhere";

/// Checks the first word of a command: no shell may read it as anything but a program's name.
fn check_command(word: &Word) -> Result<(), Why> {
    const RESERVED: &str = "! [[ ]] case coproc do done elif else end esac fi for foreach function if in nocorrect noglob \
                            repeat select then time until while -";
    if !word.is_bare || word.is_glob {
        return Err("hides its command's name behind quotes or patterns");
    }
    if word.value.contains('=') {
        return Err("sets a variable");
    }
    if RESERVED.split(' ').any(|reserved| reserved == word.value) {
        return Err("has a word of the shell's own language");
    }
    match word.value.starts_with(['%', '-', '+', '@']) {
        true => Err("has a command that no program is named like"),
        false => Ok(()),
    }
}

/// A command being assembled.
#[derive(Default)]
struct Pending {
    words: Vec<(Word, Range<usize>)>,
    redirections: Vec<Redirection>,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.redirections.is_empty()
    }

    fn redirect(&mut self, operator: String, (target, place): (Token, Range<usize>)) -> Result<(), Why> {
        let Token::Word(Word { value, is_glob, .. }) = target else {
            return Err(NO_TARGET);
        };
        if is_glob || value.is_empty() {
            return Err("redirects to a name that isn't literal");
        }
        // `2>&x` and `>&-` differ in other shells.
        let copies = operator.ends_with(">&");
        let is_descriptor = matches!(value.as_str(), "1" | "2");
        let may_be_descriptor = value.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        if copies && !is_descriptor && (operator != ">&" || may_be_descriptor) {
            return Err("copies or closes an unusual descriptor");
        }
        self.redirections.push(Redirection {
            operator,
            target: value,
            place,
        });
        Ok(())
    }

    /// A pattern expands to file names, and a file may be named like an option: so only patterns with a literal
    /// beginning, and only for commands whose operands are all files, in any number.
    fn check_globs(&self, texts: &[&str]) -> Result<(), Why> {
        if !self.words.iter().any(|(word, _)| word.is_glob) {
            return Ok(());
        }
        let is_of = |list: &str, text: &str| list.split(' ').any(|one| one == text);
        let takes_files = match texts {
            ["git", sub, ..] => is_of(FILE_SUBS, sub),
            [name, ..] => is_of(FILE_COMMANDS, name),
            [] => false,
        };
        let has_head = |text: &str| text.starts_with(|c: char| c.is_ascii_alphanumeric() || "./_".contains(c));
        let mut globs = self.words.iter().zip(texts).filter(|((word, _), _)| word.is_glob);
        match takes_files && globs.all(|(_, text)| has_head(text)) {
            true => Ok(()),
            false => Err("has a pattern that may become options"),
        }
    }
}

/// Commands whose operands may be any number of files, including such sub-commands of git.
const FILE_COMMANDS: &str = "ls cat head tail wc stat file grep rg du diff nl cut rm touch mkdir basename dirname realpath \
                             readlink pytest rustfmt";
const FILE_SUBS: &str = "add rm diff log ls-files status";

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
