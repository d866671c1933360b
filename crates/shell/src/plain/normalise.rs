//! One form for lines that differ in blanks alone.

/// Trims blanks and newlines, and makes one blank of each run of blanks outside quotes. An escaped blank is text.
#[must_use]
pub fn normalise(text: &str) -> String {
    let mut normalised = String::with_capacity(text.len());
    let mut chars = text.trim_start_matches(WHITE).chars();
    let mut quote = None;
    // How much of it is text, so that what is trimmed at the end is no escaped blank.
    let mut kept = 0;
    while let Some(c) = chars.next() {
        match (c, quote) {
            (' ' | '\t', None) => {
                if !normalised[kept..].ends_with(' ') {
                    normalised.push(' ');
                }
                continue;
            }
            ('\n', None) => {
                normalised.push('\n');
                continue;
            }
            ('\\', None | Some('"')) => {
                normalised.push('\\');
                normalised.extend(chars.next());
            }
            (c, _) => {
                quote = match (c, quote) {
                    ('\'' | '"', None) => Some(c),
                    (c, Some(open)) if c == open => None,
                    (_, quote) => quote,
                };
                normalised.push(c);
            }
        }
        kept = normalised.len();
    }
    normalised.truncate(kept);
    normalised
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
