//! `NAME=value` and `Name: value`, where the name marks the value as secret.

use super::{MASK, looks_secret};

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// One word of a command line: if it begins with a name, the value is the whole rest.
    Word,
    /// Any text: a value ends where a shell or a URL would end it.
    Text,
}

/// Masks the values of secret names.
pub(super) fn mask(text: &str, extent: Extent) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    let mut from = 0;
    while let Some(at) = text[from..].find(['=', ':']).map(|at| at + from) {
        let name = name_before(text, from, at);
        from = at + 1;
        let Some((start, end)) = name.and_then(|name| value_at(text, at, &name, extent)) else {
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

/// Whether the text can be the name of an option, a variable, a header or a field.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part_of_name)
}

fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c)
}

/// Whether the name of an option, a variable, a header or a field marks its value as secret.
pub(super) fn names_secret(name: &str) -> bool {
    const SHORT: [&str; 9] = [
        "sig",
        "signature",
        "pwd",
        "pw",
        "otp",
        "pin",
        "creds",
        "authorization",
        "masterauth",
    ];
    const ENDS: [&str; 14] = [
        "authorization",
        "signature",
        "pass",
        "passwd",
        "passphrase",
        "bearer",
        "_pwd",
        "_pw",
        "authkey",
        "passwort",
        "kennwort",
        "contrasena",
        "mot_de_passe",
        "senha",
    ];
    // The value of such a name is a place, a kind or a number.
    const PLACES: [&str; 10] = [
        "_file", "_stdin", "_path", "_dir", "_name", "_jar", "_type", "_format", "_size", "_length",
    ];
    // Real names aren't longer, and the whole name is scanned.
    const MAX_LENGTH: usize = 128;
    if name.len() > MAX_LENGTH {
        return false;
    }
    let name = name.trim_start_matches('-').replace(['-', '.'], "_");
    let lower = name.to_ascii_lowercase();
    if PLACES.iter().any(|place| lower.ends_with(place)) || matches!(lower.as_str(), "bypass" | "compass") {
        return false;
    }
    // `PWD` is the working directory, `pwd` a password.
    SHORT.iter().any(|short| name == *short)
        || ENDS.iter().any(|end| lower.ends_with(end))
        || looks_secret(name.as_ref())
}

/// A name before a `=` or `:`.
struct Name {
    start: usize,
    /// Whether blanks separate it from the sign.
    is_apart: bool,
    /// Whether it is in its own quotes, as in JSON.
    is_quoted: bool,
}

/// The secret name before the sign at `at`; it begins at `floor` or later.
fn name_before(text: &str, floor: usize, at: usize) -> Option<Name> {
    let whole = &text[floor..at];
    let before = whole.trim_end_matches([' ', '\t']);
    let is_apart = before.len() < whole.len();
    let unquoted = before.trim_end_matches(['"', '\'', '\\', ']']);
    let start = unquoted.trim_end_matches(is_part_of_name).len();
    let name = &unquoted[start..];
    (!name.is_empty() && names_secret(name)).then_some(Name {
        start: floor + start,
        is_apart,
        is_quoted: unquoted.len() < before.len() && unquoted[..start].ends_with(['"', '\'']),
    })
}

/// The start and end of the value after the sign at `at`.
fn value_at(text: &str, at: usize, name: &Name, extent: Extent) -> Option<(usize, usize)> {
    let after = &text[at + 1..];
    let blanks = after.len() - after.trim_start_matches([' ', '\t']).len();
    let is_assigned = text.as_bytes()[at] == b'=';
    if after.starts_with(['=', ':', '~', '>']) {
        return None;
    }
    if is_assigned && extent == Extent::Word && name.start == 0 && !name.is_apart {
        return (at + 1 < text.len()).then_some((at + 1, text.len()));
    }
    // At the end of a path it is a tag, as in `registry/image:tag`.
    if !is_assigned && !name.is_quoted && (name.is_apart || is_in_path(&text[..name.start])) {
        return None;
    }
    // `NAME= command` assigns nothing; `name = value` has blanks on both sides.
    let start = at + 1 + if is_assigned && !name.is_apart { 0 } else { blanks };
    let quote = text[..name.start].chars().next_back().filter(|c| "\"'".contains(*c));
    let sign = match (is_assigned, name.is_quoted) {
        (true, _) | (false, true) => Sign::Assigns,
        (false, false) => Sign::Says,
    };
    let (opening, length) = value(&text[start..], sign, quote.filter(|_| !name.is_quoted));
    (length > 0).then_some((start + opening, start + opening + length))
}

/// Whether a name behind this text is a part of a path, and not an option as `/password:…` is.
fn is_in_path(before: &str) -> bool {
    let path = before.strip_suffix('/');
    path.is_some_and(|path| !path.is_empty() && !path.ends_with(char::is_whitespace))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// The value is a word.
    Assigns,
    /// The value is the rest of the line, as in a header.
    Says,
}

/// The length of the opening quote, and of the value after it.
fn value(text: &str, sign: Sign, outside: Option<char>) -> (usize, usize) {
    for (quote, closing) in [("\\\"", '"'), ("\"", '"'), ("'", '\'')] {
        if let Some(rest) = text.strip_prefix(quote) {
            return (
                quote.len(),
                end_of_quoted(rest, closing, quote.len() > 1).unwrap_or(rest.len()),
            );
        }
    }
    let length = match (sign, outside) {
        // The whole header is in quotes, `'Authorization: Bearer …'`.
        (Sign::Says, Some(closing)) => text.find([closing, '\n', '\r']),
        (Sign::Says, None) => text.find(['\n', '\r']),
        (Sign::Assigns, _) => text.find(|c: char| c.is_whitespace() || "&;|\"'`)#,}".contains(c)),
    };
    (0, length.unwrap_or(text.len()))
}

/// The end of the quoted text; if the quotes are escaped themselves, at the backslash.
pub(super) fn end_of_quoted(value: &str, quote: char, is_escaped_itself: bool) -> Option<usize> {
    let mut backslash = None;
    for (at, c) in value.char_indices() {
        match (c, backslash) {
            (c, Some(before)) if c == quote && is_escaped_itself => return Some(before),
            (c, None) if c == quote => return Some(at),
            ('\\', None) => backslash = Some(at),
            _ => backslash = None,
        }
    }
    None
}
