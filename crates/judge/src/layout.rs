//! Where the words, operators and redirections of a plain line stand, so that a glob of an allow rule spells what it
//! has to spell.
//!
//! Only for texts that `stockade_shell::read` took as plain. It is read here once more, and where that gives other words than the
//! reader's, no glob matches.

use std::ops::Range;

use stockade_shell::Part;

/// The places in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// The words of each command.
    pub(super) commands: Vec<Vec<Range<usize>>>,
    /// Operators, redirections without the number before them, newlines.
    pub(super) operators: Vec<Range<usize>>,
    /// The targets of redirections, and the numbers before them.
    pub(super) targets: Vec<Range<usize>>,
}

/// Longer ones before their beginnings.
const OPERATORS: [&str; 14] = [
    "&>>", "&>", "&&", "&", "||", "|&", "|", ";", ">>", ">&", ">|", ">", "<&", "<",
];

impl Layout {
    /// Reads a text; `None` where its words aren't those of the parts.
    pub(super) fn of(text: &str, parts: &[Part]) -> Option<Layout> {
        let mut layout = Layout::default();
        let mut values: Vec<Vec<String>> = vec![Vec::new()];
        let mut ranges: Vec<Vec<Range<usize>>> = vec![Vec::new()];
        let (mut at, mut is_target) = (0, false);
        while let Some(c) = text[at..].chars().next() {
            if matches!(c, ' ' | '\t') {
                at += 1;
                continue;
            }
            let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 && text[at + digits..].starts_with(['<', '>']) {
                layout.targets.push(at..at + digits);
                at += digits;
            }
            if let Some(length) = operator(&text[at..]) {
                let is_redirection = text[at..at + length].contains(['<', '>']);
                layout.operators.push(at..at + length);
                at += length;
                is_target = is_redirection;
                if !is_redirection && values.last().is_some_and(|words| !words.is_empty()) {
                    values.push(Vec::new());
                    ranges.push(Vec::new());
                }
                continue;
            }
            let (value, length) = word(&text[at..]);
            if std::mem::take(&mut is_target) {
                layout.targets.push(at..at + length);
            } else {
                values.last_mut()?.push(value);
                ranges.last_mut()?.push(at..at + length);
            }
            at += length;
        }
        values.retain(|words| !words.is_empty());
        ranges.retain(|words| !words.is_empty());
        layout.commands = ranges;
        let is_same = values.len() == parts.len() && values.iter().zip(parts).all(|(words, part)| *words == part.words);
        is_same.then_some(layout)
    }
}

/// The length of the operator that stands here.
fn operator(text: &str) -> Option<usize> {
    if text.starts_with('\n') {
        return Some(1);
    }
    let found = OPERATORS.iter().find(|operator| text.starts_with(**operator));
    found.map(|operator| operator.len())
}

/// The word that stands here, without quotes, and its length.
fn word(text: &str) -> (String, usize) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' => return (value, at),
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            '\'' => value.extend(chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '\'')),
            '"' => double_quoted(&mut chars, &mut value),
            c => value.push(c),
        }
    }
    (value, text.len())
}

fn double_quoted(chars: &mut std::str::CharIndices<'_>, value: &mut String) {
    while let Some((_, c)) = chars.next() {
        match c {
            '"' => return,
            '\\' => match chars.next() {
                Some((_, c @ ('$' | '`' | '"' | '\\'))) => value.push(c),
                Some((_, c)) => value.extend(['\\', c]),
                None => {}
            },
            c => value.push(c),
        }
    }
}
