//! `NAME=value` and `Name: value`, where the name says that the value is secret.

use super::MASK;
use crate::policy::looks_secret;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// One word of a command line: where it begins with a name, the value is all the rest.
    Word,
    /// Anything: a value ends where a shell or a URL would end it.
    Text,
}

/// Masks the values of secret names.
pub(super) fn mask(text: &str, extent: Extent) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    let mut from = 0;
    while let Some(at) = text[from..].find(['=', ':']).map(|at| at + from) {
        from = at + 1;
        let Some((start, end)) = value_at(text, at, copied, extent) else {
            continue;
        };
        masked.push_str(&text[copied..start]);
        masked.push_str(MASK);
        copied = end;
        from = end;
    }
    masked.push_str(&text[copied..]);
    masked
}

/// Whether a name, of an option, a variable, a header or a field, says that its value is secret.
pub(super) fn names_secret(name: &str) -> bool {
    const SHORT: [&str; 6] = ["sig", "signature", "pwd", "otp", "pin", "authorization"];
    let name = name.trim_start_matches('-').replace(['-', '.'], "_");
    // `PWD` is the working directory, `pwd` a password.
    SHORT.iter().any(|short| name == *short)
        || name.to_ascii_lowercase().ends_with("authorization")
        || name.to_ascii_lowercase().ends_with("signature")
        || looks_secret(name.as_ref())
}

/// Where the value behind the sign at `at` starts and ends, if its name is secret.
fn value_at(text: &str, at: usize, floor: usize, extent: Extent) -> Option<(usize, usize)> {
    let before = text[floor..at].trim_end_matches(['"', '\'', ']']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let name = &before[before.trim_end_matches(is_name).len()..];
    if name.is_empty() || !names_secret(name) {
        return None;
    }
    let name_start = floor + before.len() - name.len();
    let after = &text[at + 1..];
    let start = at + 1 + (after.len() - after.trim_start_matches([' ', '\t']).len());
    let is_assigned = text.as_bytes()[at] == b'=';
    if is_assigned && extent == Extent::Word && name_start == 0 {
        return (at + 1 < text.len()).then_some((at + 1, text.len()));
    }
    let start = if is_assigned { at + 1 } else { start };
    if !is_assigned && !is_said(after, name) || after.starts_with(['=', ':']) {
        return None;
    }
    let quote = text[..name_start].chars().next_back().filter(|c| "\"'".contains(*c));
    let end = end_of_value(text, start, is_assigned, quote);
    let start = start + usize::from(text[start..].starts_with(['"', '\'']));
    (start < end).then_some((start, end))
}

/// Whether a colon is a field's or a header's and not a part of a name (`image:tag`, `crate::token`).
fn is_said(after: &str, name: &str) -> bool {
    after.starts_with([' ', '\t', '"', '\'']) || name.to_ascii_lowercase().ends_with("authorization")
}

fn end_of_value(text: &str, start: usize, is_assigned: bool, quote: Option<char>) -> usize {
    let value = &text[start..];
    let opened = value.chars().next().filter(|c| "\"'".contains(*c));
    let length = match (opened, is_assigned, quote) {
        (Some(closing), ..) => end_of_quoted(value, closing),
        // The whole header stands in quotes, `'Authorization: Bearer …'`.
        (None, false, Some(closing)) => value.find(closing),
        (None, false, None) => value.find(['\n', '\r']),
        (None, true, _) => value.find(|c: char| c.is_whitespace() || "&;|\"'`)#".contains(c)),
    };
    start + length.unwrap_or(value.len())
}

/// Where the text in quotes ends, its first character being the quote.
fn end_of_quoted(value: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in value.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return Some(at),
            _ => {}
        }
    }
    None
}
