//! Splits a text as a shell does: into words and the parts between them.

/// A part of a text. Concatenated, they are the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// A word with its quotes.
    Word(&'t str),
    /// Blanks and operators.
    Between(&'t str),
}

/// The treatment of quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// The text between two of them belongs to one word. An unpaired one is a letter: an apostrophe.
    Hold,
    /// Quotes are ordinary letters.
    AreLetters,
}

/// The pieces, in order.
pub(super) fn of(text: &str, quotes: Quotes) -> impl Iterator<Item = Piece<'_>> {
    let mut at = 0;
    // The last quote of each kind: after it none is closed, so the search can stop.
    let lasts = match quotes {
        Quotes::Hold => [text.rfind('\''), text.rfind('"')],
        Quotes::AreLetters => [None, None],
    };
    std::iter::from_fn(move || {
        if at == text.len() {
            return None;
        }
        let rest = &text[at..];
        let between = rest.find(|c| !is_between(c)).unwrap_or(rest.len());
        let start = at;
        if between > 0 {
            at += between;
            return Some(Piece::Between(&text[start..at]));
        }
        at = end_of_word(text, at, lasts);
        Some(Piece::Word(&text[start..at]))
    })
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')' | '<' | '>' | '`')
}

fn end_of_word(text: &str, start: usize, lasts: [Option<usize>; 2]) -> usize {
    let mut characters = text[start..].char_indices().map(|(at, c)| (at + start, c));
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => {
                characters.next();
            }
            '\'' if lasts[0] > Some(at) => {
                characters.find(|(_, c)| *c == '\'');
            }
            '"' if lasts[1] > Some(at) => {
                let mut is_escaped = false;
                characters.find(|(_, c)| {
                    let ends = *c == '"' && !is_escaped;
                    is_escaped = *c == '\\' && !is_escaped;
                    ends
                });
            }
            c if is_between(c) => return at,
            _ => {}
        }
    }
    text.len()
}

/// A word without the quotes around all of it, and those quotes.
pub(super) fn unquoted(word: &str) -> (&str, &str, &str) {
    for quote in ["\\\"", "\\'", "\"", "'", "$'"] {
        let closing = quote.trim_start_matches('$');
        let inner = word.strip_prefix(quote).and_then(|rest| rest.strip_suffix(closing));
        if let Some(inner) = inner {
            return (quote, inner, closing);
        }
    }
    ("", word, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let word = |piece| match piece {
            Piece::Word(word) => Some(word),
            Piece::Between(_) => None,
        };
        of(text, Quotes::Hold).filter_map(word).collect()
    }

    #[test]
    fn quotes_hold_a_word_together_and_an_apostrophe_does_not() {
        assert_eq!(words("a 'b c' d\"e f\"g;h"), ["a", "'b c'", "d\"e f\"g", "h"]);
        assert_eq!(words(r#"x "a \" b" \' c"#), ["x", r#""a \" b""#, r"\'", "c"]);
        assert_eq!(words("I don't know"), ["I", "don't", "know"]);
        assert_eq!(words("a 'b"), ["a", "'b"]);
        assert!(words("").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn no_letter_is_lost(text in "[a' \"\\\\;é\n]{0,40}") {
            for quotes in [Quotes::Hold, Quotes::AreLetters] {
                let all: String = of(&text, quotes)
                    .map(|piece| match piece {
                        Piece::Word(text) | Piece::Between(text) => text,
                    })
                    .collect();
                proptest::prop_assert_eq!(&all, &text);
            }
        }
    }
}
