//! Globs over command lines: `*` matches any string, `?` any one character; all else is literal.
//!
//! Patterns may come from untrusted files, so a match takes at most text length times pattern length steps,
//! and all matches of one request together take at most `Work`'s.

use std::cell::Cell;

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandGlob {
    items: Vec<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    /// A literal character; whether it is outside quotes and part of an operator.
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

/// How a pattern may match a character of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A wildcard may match it.
    Free,
    /// The pattern has to spell it out.
    Spelled,
    /// The pattern has to spell it out, outside quotes: it is an operator, a redirection or a newline.
    Operator,
}

/// The step budget of one request. Steps are counted, not timed, so the answer is the same on every machine.
pub(super) struct Work {
    left: Cell<u64>,
}

impl Work {
    /// Maximum steps for all rules and all texts of one request.
    const MAX: u64 = 4_000_000;

    pub(super) fn new() -> Work {
        Work {
            left: Cell::new(Work::MAX),
        }
    }

    /// Spends steps; `None` if fewer are left, now and from then on.
    pub(super) fn spend(&self, steps: usize) -> Option<()> {
        let left = self.left.get().checked_sub(steps as u64);
        self.left.set(left.unwrap_or(0));
        left.map(drop)
    }
}

impl CommandGlob {
    pub(super) fn new(pattern: &str) -> CommandGlob {
        let mut items: Vec<Item> = Vec::with_capacity(pattern.len());
        // A pattern with unclosed quotes spells no operator after them.
        for (c, is_outside) in stockade_shell::outside_quotes(pattern) {
            let is_operator = match is_outside {
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

    /// Whether it begins with a wildcard and so matches any command.
    pub(super) fn begins_anywhere(&self) -> bool {
        matches!(self.items.first(), Some(Item::One | Item::Many))
    }

    /// Whether it matches the whole text; wildcards match anything. `None` if the work is spent before that is known.
    pub(super) fn matches(&self, text: &str, work: &Work) -> Option<bool> {
        self.run(text, work, |_| None)
    }

    /// The same, where `place` tells for each byte offset how the pattern may match the character there.
    pub(super) fn matches_within(&self, text: &str, work: &Work, place: impl Fn(usize) -> Place) -> Option<bool> {
        self.run(text, work, |at| Some(place(at)))
    }

    /// Simulates all states of the pattern at once.
    fn run(&self, text: &str, work: &Work, place: impl Fn(usize) -> Option<Place>) -> Option<bool> {
        work.spend(self.items.len() + 1)?;
        let mut now = States::new(self.items.len());
        let mut next = States::new(self.items.len());
        self.enter(&mut now, 0);
        for (at, c) in text.char_indices() {
            work.spend(now.list.len())?;
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
                return Some(false);
            }
            std::mem::swap(&mut now, &mut next);
        }
        Some(now.list.contains(&self.items.len()))
    }

    /// A `*` may also match nothing.
    fn enter(&self, states: &mut States, state: usize) {
        states.add(state);
        if self.items.get(state) == Some(&Item::Many) {
            states.add(state + 1);
        }
    }
}

/// A set of positions in the pattern.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, text: &str) -> bool {
        CommandGlob::new(pattern).matches(text, &Work::new()).unwrap()
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
    fn a_hostile_pattern_takes_steps_by_its_length_times_that_of_the_text() {
        for (pattern, text) in [("*a".repeat(200), 190), (format!("{}b", "*?".repeat(100)), 500)] {
            let work = Work::new();
            let matched = CommandGlob::new(&pattern).matches(&"a".repeat(text), &work);
            let spent = Work::MAX - work.left.get();
            assert_eq!(matched, Some(false));
            assert!(spent <= ((pattern.len() + 1) * (text + 1)) as u64, "{pattern}: {spent}");
        }
    }

    #[test]
    fn spent_work_is_no_answer_and_stays_spent() {
        let work = Work::new();
        let glob = CommandGlob::new(&format!("{}b", "*a".repeat(500)));
        assert_eq!(glob.matches(&"a".repeat(64_000), &work), None);
        assert_eq!(work.left.get(), 0);
        assert_eq!(CommandGlob::new("a").matches("a", &work), None);
    }

    #[test]
    fn an_operator_is_spelled_by_an_operator_and_by_nothing_else() {
        let operator_at = |at: usize| move |byte: usize| if byte == at { Place::Operator } else { Place::Free };
        let is_match = |pattern: &str, text: &str, at| {
            let glob = CommandGlob::new(pattern);
            glob.matches_within(text, &Work::new(), operator_at(at)).unwrap()
        };
        assert!(is_match("a*;*b", "a ; b", 2));
        for pattern in ["a*b", "a*?*b", "a*';'*b", "a*\";\"*b", "a*\\;*b", "a*\";*b"] {
            assert!(!is_match(pattern, "a ; b", 2), "{pattern}");
        }
        // One in quotes isn't an operator for the text, so a pattern that spells an operator doesn't match it.
        let within = CommandGlob::new("a*;*").matches_within("a ';'", &Work::new(), |_| Place::Free);
        assert_eq!(within, Some(false));
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
