//! A program's words: options, their values, and operands.

use crate::text::Text;

/// Parsed words.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Options as they were given, with their values: `-o`, `--output`.
    pub options: Vec<(String, Option<Text>)>,
    /// The operands, in order.
    pub operands: Vec<Text>,
}

impl Arguments {
    /// Parses words; `valued` are the options that take a value. For a program that starts others (`stops`), options end at
    /// the first operand.
    pub fn of(words: &[Text], valued: &[&str], stops: bool) -> Arguments {
        let mut arguments = Arguments::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let known = word.prefix();
            if word.exact() == Some("--") {
                arguments.operands.extend(words.cloned());
                break;
            }
            if !known.starts_with('-') || word.exact() == Some("-") {
                arguments.operands.push(word.clone());
                if stops {
                    arguments.operands.extend(words.cloned());
                    break;
                }
                continue;
            }
            if valued.contains(&known) && word.exact().is_some() {
                arguments.options.push((known.to_string(), words.next().cloned()));
            } else if let Some((option, value)) = known.split_once('=').filter(|_| known.starts_with("--")) {
                let value = rest(word, option.len() + 1, value);
                arguments.options.push((option.to_string(), Some(value)));
            } else if known.starts_with("--") {
                arguments.options.push((known.to_string(), None));
            } else {
                arguments.letters(word, valued, &mut words);
            }
        }
        arguments
    }

    /// Parses a group of short options: `-xzf FILE`, `-ofile`.
    fn letters<'w>(&mut self, word: &Text, valued: &[&str], words: &mut impl Iterator<Item = &'w Text>) {
        let known = word.prefix();
        for (at, letter) in known.char_indices().skip(1) {
            let option = format!("-{letter}");
            let behind = at + letter.len_utf8();
            if !valued.contains(&&*option) {
                self.options.push((option, None));
                continue;
            }
            let value = match behind < known.len() || word.exact().is_none() {
                true => Some(rest(word, behind, &known[behind..])),
                false => words.next().cloned(),
            };
            self.options.push((option, value));
            return;
        }
    }

    /// Whether one of these options was given.
    pub fn has(&self, options: &[&str]) -> bool {
        self.options.iter().any(|(option, _)| options.contains(&&**option))
    }

    /// The values of these options.
    pub fn values<'a>(&'a self, options: &'a [&str]) -> impl Iterator<Item = &'a Text> {
        let given = self.options.iter().filter(|(option, _)| options.contains(&&**option));
        given.filter_map(|(_, value)| value.as_ref())
    }
}

/// The rest of a word, after the known prefix.
fn rest(word: &Text, from: usize, known: &str) -> Text {
    match word.exact() {
        Some(_) => known.into(),
        None => word.without_prefix(from),
    }
}
