//! Matches shell patterns: `*`, `?` and literal characters; `[…]` isn't supported.

/// Whether a pattern matches a whole text; `None` if it uses unsupported syntax.
pub(super) fn matches(pattern: &str, text: &str) -> Option<bool> {
    const MAX_LENGTH: usize = 256;
    if pattern.contains(['[', '(', '\\']) || pattern.len() > MAX_LENGTH || text.len() > MAX_LENGTH {
        return None;
    }
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    Some(stockade_shell::matches(&pattern, &text))
}

/// Removes the matching prefix from a text: the shortest, or the longest.
pub(super) fn without_prefix(text: &str, pattern: &str, longest: bool) -> Option<String> {
    cut(text, longest, |at| matches(pattern, &text[..at])).map(|at| text[at.unwrap_or(0)..].to_string())
}

/// Removes the matching suffix from a text.
pub(super) fn without_suffix(text: &str, pattern: &str, longest: bool) -> Option<String> {
    cut(text, !longest, |at| matches(pattern, &text[at..])).map(|at| text[..at.unwrap_or(text.len())].to_string())
}

/// The first, or last, position at which the text may be cut.
fn cut(text: &str, from_end: bool, is_right: impl Fn(usize) -> Option<bool>) -> Option<Option<usize>> {
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    if from_end {
        places.reverse();
    }
    for at in places {
        if is_right(at)? {
            return Some(Some(at));
        }
    }
    Some(None)
}
