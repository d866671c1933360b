//! One form for lines that differ in blanks alone.

/// Trims blanks and newlines, and makes one blank of each run of blanks outside quotes. An escaped blank is text.
#[must_use]
pub fn normalise(text: &str) -> String {
    let mut normalised = String::with_capacity(text.len());
    // How much of it is text, so that what is trimmed at the end is no escaped blank.
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

/// Each character, and whether it stands outside quotes and behind no backslash. Behind a quote that isn't closed none does.
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
