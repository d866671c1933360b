//! Normalises lines that differ only in blanks.

/// Trims blanks and newlines, and replaces each run of blanks outside quotes by one blank. An escaped blank is text.
#[must_use]
pub fn normalise(text: &str) -> String {
    let mut normalised = String::with_capacity(text.len());
    // The length of the text part, so that trimming the end never removes an escaped blank.
    let mut kept = 0;
    for (c, is_outside) in outside_quotes(text.trim_start_matches(WHITE)) {
        match c {
            ' ' | '\t' if is_outside => {
                if !normalised[kept..].ends_with(' ') {
                    normalised.push(' ');
                }
            }
            _ => {
                normalised.push(c);
                if c != '\n' || !is_outside {
                    kept = normalised.len();
                }
            }
        }
    }
    normalised.truncate(kept);
    normalised
}

/// Each character, and whether it is outside quotes and not after a backslash. After an unclosed quote none is.
pub fn outside_quotes(text: &str) -> impl Iterator<Item = (char, bool)> {
    let (mut quote, mut is_escaped) = (None, false);
    text.chars().map(move |c| {
        let is_outside = quote.is_none() && !is_escaped;
        match (c, quote) {
            _ if std::mem::take(&mut is_escaped) => {}
            ('\\', None | Some('"')) => is_escaped = true,
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
        (c, is_outside)
    })
}

const WHITE: [char; 3] = [' ', '\t', '\n'];

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn blanks_outside_quotes_are_one() {
        for (text, expected) in [
            ("  git \t status  ", "git status"),
            ("a  'b  c'  \"d  e\"", "a 'b  c' \"d  e\""),
            (r"a\   b\ ", r"a\  b\ "),
            ("a \n\n b\n", "a \n\n b"),
            (r#"a "b\"  c"  d"#, r#"a "b\"  c" d"#),
            ("a 'b  c", "a 'b  c"),
            (" \n ", ""),
            ("a\\", "a\\"),
            ("\u{a0} a", "\u{a0} a"),
        ] {
            assert_eq!(normalise(text), expected, "{text:?}");
            assert_eq!(normalise(expected), expected, "twice: {text:?}");
        }
    }
}
