//! Word expansion: quotes, variables, substitutions, globs. Written anew, in linear time; brush's own word parser
//! takes twice as long at every depth of `"$( … )"`.

use super::scan::{braces, closing};
use super::state::Field;
use super::walk::{Reader, join};
use crate::finding::Act;
use crate::text::Text;

/// Part of an expanded word.
pub(super) enum Part {
    /// One of several texts, not split.
    Text(Field),
    /// One of several texts, split at blanks.
    Cut(Field),
    /// Separate words: `"$@"`.
    Words(Vec<Field>),
}

/// The quoting around a text to be expanded.
#[derive(Clone, Copy, PartialEq)]
enum Quotes {
    None,
    /// In `"`, or in a here-document.
    Double,
}

/// The words that one word expands to, while they are built.
struct Making {
    done: Vec<Field>,
    now: Field,
    is_begun: bool,
    /// The current word has a glob, so the directory before it is listed.
    globs: bool,
    listed: Vec<Text>,
}

impl Reader<'_> {
    /// Expands words.
    pub fn words(&mut self, words: &[brush_parser::ast::Word]) -> Vec<Field> {
        words.iter().flat_map(|word| self.fields(&word.value)).collect()
    }

    /// Expands one word, with field splitting.
    pub fn fields(&mut self, word: &str) -> Vec<Field> {
        braces(word).iter().flat_map(|word| self.expanded(word, true)).collect()
    }

    /// Expands a word without field splitting: in an assignment, after a redirection.
    pub fn word(&mut self, word: &str) -> Field {
        let mut all = Vec::new();
        for field in self.expanded(word, false) {
            if !all.is_empty() {
                join(&mut all, &vec![" ".into()]);
            }
            join(&mut all, &field);
        }
        if all.is_empty() { vec!["".into()] } else { all }
    }

    /// Expands only `$` and backticks: in a here-document.
    pub fn document(&mut self, text: &str) -> Field {
        let mut making = Making::new();
        self.parts(text, Quotes::Double, &mut making, false);
        making.now
    }

    fn expanded(&mut self, word: &str, is_cut: bool) -> Vec<Field> {
        if !self.step() {
            return vec![vec![Text::unknown()]];
        }
        let mut making = Making::new();
        let rest = self.home(word, &mut making);
        self.parts(rest, Quotes::None, &mut making, is_cut);
        making.end();
        making.done
    }

    /// Expands a leading `~`.
    fn home<'w>(&mut self, word: &'w str, making: &mut Making) -> &'w str {
        let Some(rest) = word.strip_prefix('~') else {
            return word;
        };
        if rest.is_empty() || rest.starts_with('/') {
            self.act(Act::Variable("HOME".into()), "~");
            making.push(&vec!["~".into()]);
            return rest;
        }
        if let Some(rest) = rest.strip_prefix('+') {
            making.push(&vec![".".into()]);
            return rest;
        }
        word
    }

    fn parts(&mut self, text: &str, quotes: Quotes, making: &mut Making, is_cut: bool) {
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let after = &rest[letter.len_utf8()..];
            rest = match letter {
                '\\' => escaped(after, quotes, making),
                '\'' if quotes == Quotes::None => {
                    let length = after.find('\'').unwrap_or(after.len());
                    making.push(&vec![after[..length].into()]);
                    after.get(length + 1..).unwrap_or_default()
                }
                '"' if quotes == Quotes::None => {
                    let length = closing(after, '"').unwrap_or(after.len());
                    making.is_begun = true;
                    self.parts(&after[..length], Quotes::Double, making, false);
                    after.get(length + 1..).unwrap_or_default()
                }
                '$' if quotes == Quotes::None && after.starts_with('\'') => {
                    let length = closing(&after[1..], '\'').unwrap_or(after.len() - 1);
                    making.push(&vec![stockade_shell::ansi_c(&after[1..1 + length]).into()]);
                    after.get(length + 2..).unwrap_or_default()
                }
                '$' => self.dollar(after, quotes, making, is_cut),
                '`' => {
                    let length = closing(after, '`').unwrap_or(after.len());
                    let output = self.output(&after[..length].replace("\\`", "`"));
                    self.add(Part::Cut(output), quotes, making, is_cut);
                    after.get(length + 1..).unwrap_or_default()
                }
                '*' | '?' if quotes == Quotes::None && is_cut => self.glob(making, after),
                '[' if quotes == Quotes::None && is_cut && after.find(']').is_some_and(|at| at > 0) => {
                    let end = after.find(']').map_or(0, |at| at + 1);
                    self.glob(making, &after[end..])
                }
                _ => {
                    let is_special = |letter: char| "\\'\"$`*?[".contains(letter);
                    let length = after.find(is_special).unwrap_or(after.len());
                    making.push(&vec![rest[..letter.len_utf8() + length].into()]);
                    &after[length..]
                }
            };
        }
    }

    /// Expands the text after a `$`; returns the rest of the text.
    fn dollar<'w>(&mut self, after: &'w str, quotes: Quotes, making: &mut Making, is_cut: bool) -> &'w str {
        if let Some(inner) = after.strip_prefix("((")
            && let Some(length) = closing(inner, ')')
            && inner[length + 1..].starts_with(')')
        {
            self.arithmetic(&inner[..length]);
            self.add(Part::Text(vec![Text::unknown()]), quotes, making, is_cut);
            return &inner[length + 2..];
        }
        if let Some(inner) = after.strip_prefix('(') {
            let length = closing(inner, ')').unwrap_or(inner.len());
            let output = self.output(&inner[..length]);
            self.add(Part::Cut(output), quotes, making, is_cut);
            return inner.get(length + 1..).unwrap_or_default();
        }
        if let Some(inner) = after.strip_prefix('{') {
            let length = closing(inner, '}').unwrap_or(inner.len());
            let part = self.parameter(&inner[..length], quotes == Quotes::Double);
            self.add(part, quotes, making, is_cut);
            return inner.get(length + 1..).unwrap_or_default();
        }
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = match after.chars().next() {
            Some(letter) if letter.is_ascii_digit() || "@*#?-$!".contains(letter) => 1,
            Some(letter) if is_letter(letter) => after.find(|letter| !is_letter(letter)).unwrap_or(after.len()),
            _ => {
                making.push(&vec!["$".into()]);
                return after;
            }
        };
        let part = self.parameter(&after[..length], quotes == Quotes::Double);
        self.add(part, quotes, making, is_cut);
        &after[length..]
    }

    fn add(&mut self, part: Part, quotes: Quotes, making: &mut Making, is_cut: bool) {
        match part {
            Part::Cut(field) if quotes == Quotes::None && is_cut => {
                let [text] = &field[..] else {
                    return making.push(&field);
                };
                let Some(exact) = text.exact() else {
                    return making.push(&field);
                };
                const MAX: usize = 64;
                if exact.starts_with(char::is_whitespace) {
                    making.end();
                }
                for (at, word) in exact.split_whitespace().take(MAX).enumerate() {
                    if at > 0 {
                        making.end();
                    }
                    match word.find(['*', '?']) {
                        Some(glob) => {
                            making.push(&vec![word[..glob].into()]);
                            let rest = word[glob..].trim_start_matches(['*', '?']);
                            self.glob(making, "");
                            making.push(&vec![rest.into()]);
                        }
                        None => making.push(&vec![word.into()]),
                    }
                }
                if exact.ends_with(char::is_whitespace) {
                    making.end();
                }
            }
            Part::Text(field) | Part::Cut(field) => making.push(&field),
            Part::Words(fields) => {
                for (at, field) in fields.iter().enumerate() {
                    if at > 0 {
                        making.end();
                    }
                    making.push(field);
                }
                // `"$@"` without arguments expands to no word at all.
                making.is_begun &= !fields.is_empty();
            }
        }
    }

    /// Adds a part that matches file names: the directory is listed.
    fn glob<'w>(&mut self, making: &mut Making, after: &'w str) -> &'w str {
        if !std::mem::replace(&mut making.globs, true) {
            for text in making.now.clone() {
                let directory = match text.exact() {
                    Some(exact) => match exact.rsplit_once('/') {
                        Some(("", _)) => "/".into(),
                        Some((directory, _)) => directory.into(),
                        None => ".".into(),
                    },
                    None => text.then(&"x".into()).directory(),
                };
                making.listed.push(directory);
            }
        }
        making.push(&vec![Text::unknown()]);
        for directory in std::mem::take(&mut making.listed) {
            self.act(Act::Read(directory), "glob");
        }
        after
    }
}

fn escaped<'w>(after: &'w str, quotes: Quotes, making: &mut Making) -> &'w str {
    let Some(next) = after.chars().next() else {
        return after;
    };
    let rest = &after[next.len_utf8()..];
    if next == '\n' {
        return rest;
    }
    let is_kept = quotes == Quotes::Double && !"$`\"\\".contains(next);
    let text = if is_kept { format!("\\{next}") } else { next.to_string() };
    making.push(&vec![text.into()]);
    rest
}

impl Making {
    fn new() -> Making {
        Making {
            done: Vec::new(),
            now: vec!["".into()],
            is_begun: false,
            globs: false,
            listed: Vec::new(),
        }
    }

    fn push(&mut self, further: &Field) {
        self.is_begun = true;
        if further.len() == 1 && self.now.len() == 1 {
            self.now[0] = self.now[0].then(&further[0]);
        } else {
            join(&mut self.now, further);
        }
    }

    fn end(&mut self) {
        let now = std::mem::replace(&mut self.now, vec!["".into()]);
        if std::mem::take(&mut self.is_begun) {
            self.done.push(now);
        }
        self.globs = false;
    }
}
