//! Globs over command lines: `*` is any string, `?` any one character, all else stands for itself.
//!
//! Patterns may come from strangers too, so a match takes time by the length of the text times that of the pattern at
//! worst, whatever they are.

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandGlob {
    items: Vec<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    /// This character; whether it stands outside quotes, and is one of an operator.
    Literal(char, IsOperator),
    /// `?`
    One,
    /// `*`
    Many,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IsOperator {
    Yes,
    No,
}

/// What a pattern may do with a character of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A wildcard may stand for it.
    Free,
    /// The pattern has to spell it.
    Spelled,
    /// The pattern has to spell it, outside quotes: it is an operator, a redirection or a newline.
    Operator,
}

impl CommandGlob {
    pub(super) fn new(pattern: &str) -> CommandGlob {
        let mut items: Vec<Item> = Vec::with_capacity(pattern.len());
        let mut quoting = Quoting::None;
        for c in pattern.chars() {
            let is_operator = match quoting.after(c) {
                true if "|&;<>\n".contains(c) => IsOperator::Yes,
                _ => IsOperator::No,
            };
            match c {
                '*' if items.last() == Some(&Item::Many) => {}
                '*' => items.push(Item::Many),
                '?' => items.push(Item::One),
                _ => items.push(Item::Literal(c, is_operator)),
            }
        }
        CommandGlob { items }
    }

    /// Whether it begins with a wildcard, so that any command is meant.
    pub(super) fn begins_anywhere(&self) -> bool {
        matches!(self.items.first(), Some(Item::One | Item::Many))
    }

    /// Whether it matches the whole text; wildcards span anything.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.run(text, |_| None)
    }

    /// The same, where `place` says of each byte offset what may be done with the character there.
    pub(super) fn matches_within(&self, text: &str, place: impl Fn(usize) -> Place) -> bool {
        self.run(text, |at| Some(place(at)))
    }

    /// Follows all ways through the pattern at once.
    fn run(&self, text: &str, place: impl Fn(usize) -> Option<Place>) -> bool {
        let mut now = States::new(self.items.len());
        let mut next = States::new(self.items.len());
        self.enter(&mut now, 0);
        for (at, c) in text.char_indices() {
            next.clear();
            let place = place(at);
            let is_free = matches!(place, None | Some(Place::Free));
            for &state in &now.list {
                match self.items.get(state) {
                    Some(Item::Literal(literal, is_operator)) if *literal == c => {
                        let is_at_operator = place == Some(Place::Operator);
                        if place.is_none() || is_at_operator == (*is_operator == IsOperator::Yes) {
                            self.enter(&mut next, state + 1);
                        }
                    }
                    Some(Item::One) if is_free => self.enter(&mut next, state + 1),
                    Some(Item::Many) if is_free => self.enter(&mut next, state),
                    _ => {}
                }
            }
            if next.list.is_empty() {
                return false;
            }
            std::mem::swap(&mut now, &mut next);
        }
        now.list.contains(&self.items.len())
    }

    /// A `*` may also stand for nothing.
    fn enter(&self, states: &mut States, state: usize) {
        states.add(state);
        if self.items.get(state) == Some(&Item::Many) {
            states.add(state + 1);
        }
    }
}

/// Places in the pattern, each once.
struct States {
    list: Vec<usize>,
    is_in: Vec<bool>,
}

impl States {
    fn new(items: usize) -> States {
        States {
            list: Vec::new(),
            is_in: vec![false; items + 1],
        }
    }

    fn add(&mut self, state: usize) {
        if !std::mem::replace(&mut self.is_in[state], true) {
            self.list.push(state);
        }
    }

    fn clear(&mut self) {
        for state in self.list.drain(..) {
            self.is_in[state] = false;
        }
    }
}

/// Where in quotes a pattern is. A pattern whose quotes don't close spells no operator behind them.
enum Quoting {
    None,
    Escaped,
    Single,
    Double,
    EscapedInDouble,
}

impl Quoting {
    /// Takes one character along; whether it stands outside quotes.
    fn after(&mut self, c: char) -> bool {
        let was_outside = matches!(self, Quoting::None);
        *self = match (&self, c) {
            (Quoting::None, '\\') => Quoting::Escaped,
            (Quoting::None, '\'') => Quoting::Single,
            (Quoting::None, '"') => Quoting::Double,
            (Quoting::None | Quoting::Escaped, _) => Quoting::None,
            (Quoting::Single, '\'') | (Quoting::Double, '"') => Quoting::None,
            (Quoting::Single, _) => Quoting::Single,
            (Quoting::Double, '\\') => Quoting::EscapedInDouble,
            (Quoting::Double | Quoting::EscapedInDouble, _) => Quoting::Double,
        };
        was_outside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, text: &str) -> bool {
        CommandGlob::new(pattern).matches(text)
    }

    #[test]
    fn a_star_is_any_string_a_question_mark_any_one_character_and_all_else_is_literal() {
        for (pattern, text) in [
            ("rg*", "rg -n foo"),
            ("git push*", "git push origin main"),
            ("*", ""),
            ("a?c", "aüc"),
            ("*a*b*", "xxaxxbxx"),
            ("**", "x"),
            ("[a]", "[a]"),
            ("a.c", "a.c"),
            ("{a,b}", "{a,b}"),
        ] {
            assert!(is_match(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("rg", "rg -n"),
            ("?", ""),
            ("?", "ab"),
            ("a.c", "abc"),
            ("[a]", "a"),
            ("a*b", "a"),
            ("git push*", "git pull"),
            ("", "a"),
        ] {
            assert!(!is_match(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_exponential_time() {
        let start = std::time::Instant::now();
        assert!(!is_match(&"*a".repeat(200), &"a".repeat(190)));
        assert!(!is_match(&format!("{}b", "*?".repeat(100)), &"a".repeat(500)));
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }

    #[test]
    fn an_operator_is_spelled_by_an_operator_and_by_nothing_else() {
        let operator_at = |at: usize| move |byte: usize| if byte == at { Place::Operator } else { Place::Free };
        let is_match = |pattern: &str, text: &str, at| CommandGlob::new(pattern).matches_within(text, operator_at(at));
        assert!(is_match("a*;*b", "a ; b", 2));
        for pattern in ["a*b", "a*?*b", "a*';'*b", "a*\";\"*b", "a*\\;*b", "a*\";*b"] {
            assert!(!is_match(pattern, "a ; b", 2), "{pattern}");
        }
        // One in quotes isn't an operator for the text, so a pattern that spells an operator doesn't match it.
        assert!(!CommandGlob::new("a*;*").matches_within("a ';'", |_| Place::Free));
    }

    proptest::proptest! {
        #[test]
        fn it_agrees_with_the_plainest_matcher_there_is(pattern in "[ab*?]{0,8}", text in "[ab]{0,8}") {
            fn plain(pattern: &[u8], text: &[u8]) -> bool {
                match (pattern, text) {
                    ([], rest) => rest.is_empty(),
                    ([b'*', more @ ..], _) => (0..=text.len()).any(|skip| plain(more, &text[skip..])),
                    ([b'?', more @ ..], [_, rest @ ..]) => plain(more, rest),
                    ([c, more @ ..], [d, rest @ ..]) => c == d && plain(more, rest),
                    _ => false,
                }
            }
            proptest::prop_assert_eq!(is_match(&pattern, &text), plain(pattern.as_bytes(), text.as_bytes()));
        }
    }
}
