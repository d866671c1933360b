//! Which answers a request takes, and what a line means as one of them.

use super::line::Line;
use crate::approve::{Choice, EscalationRequest, Extent, Lifetime, Requested};

/// The profile that is never granted but to who types its name.
const TRUSTED: &str = "trusted";

/// More of a reason isn't passed on.
const LONGEST_REASON: usize = 500;

/// A word that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Once,
    Session,
    Always,
    Wider,
    Yes,
    No,
    Details,
}

impl Word {
    /// As it is typed, in full.
    pub fn text(self) -> &'static str {
        match self {
            Word::Once => "once",
            Word::Session => "session",
            Word::Always => "always",
            Word::Wider => "wider",
            Word::Yes => "yes",
            Word::No => "no",
            Word::Details => "details",
        }
    }
}

/// The answers that one request takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The words, in the order in which they're shown.
    pub words: Vec<Word>,
    /// How long a grant may last.
    lifetimes: Vec<Lifetime>,
    /// The profile whose name, typed in full, grants all of it.
    pub name: Option<&'static str>,
    /// What `yes` means.
    yes: Lifetime,
}

/// What a line means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// An answer, with what was said with it.
    Answer(Choice, Option<String>),
    /// More is to be shown.
    Details,
    /// Nothing that can be an answer.
    Unclear,
}

impl Offer {
    /// Of a request.
    pub fn of(request: &EscalationRequest) -> Offer {
        let lifetimes = request.lifetimes.clone();
        let is_profile = matches!(request.requested, Requested::Profile(_));
        let mut words = Vec::new();
        if !lifetimes.is_empty() && !is_trusted(&request.requested) {
            words.extend(granting_words(request, is_profile));
        }
        words.extend([Word::No, Word::Details]);
        // The least that is offered, but for a profile: one access more isn't what anybody asks one for.
        let first = lifetimes.iter().min().copied().unwrap_or(Lifetime::Once);
        let has_session = lifetimes.contains(&Lifetime::Session);
        let yes = if is_profile && has_session {
            Lifetime::Session
        } else {
            first
        };
        Offer {
            words,
            name: (is_profile && !lifetimes.is_empty()).then_some(TRUSTED),
            yes,
            lifetimes,
        }
    }

    /// Whether `wider always` is an answer.
    pub fn has_wider_always(&self) -> bool {
        self.words.contains(&Word::Wider) && self.lifetimes.contains(&Lifetime::Always)
    }

    /// What a line means. A word may be shortened to two letters or more while it stays one word only.
    pub fn meaning(&self, line: &Line) -> Said {
        let no = Said::Answer(Choice::No { all: false }, None);
        let text = match line {
            Line::Broken => return no,
            Line::Unclear => return Said::Unclear,
            Line::Text(text) if text.is_empty() => return no,
            Line::Text(text) => text,
        };
        let (first, more) = text.split_once(' ').unwrap_or((text, ""));
        let more = more.trim_start();
        if more.is_empty() && self.name == Some(first) {
            return self.yes_to(self.yes, Extent::Profile(first.to_string()));
        }
        match (self.word(first), more) {
            (Some(Word::No), "") => no,
            (Some(Word::No), "all") => Said::Answer(Choice::No { all: true }, None),
            (Some(Word::No), reason) => {
                let reason = reason.chars().take(LONGEST_REASON).collect();
                Said::Answer(Choice::No { all: false }, Some(reason))
            }
            (Some(Word::Once), "") => self.yes_to(Lifetime::Once, Extent::Requested),
            (Some(Word::Session), "") => self.yes_to(Lifetime::Session, Extent::Requested),
            (Some(Word::Always), "") => self.yes_to(Lifetime::Always, Extent::Requested),
            (Some(Word::Yes), "") => self.yes_to(self.yes, Extent::Requested),
            (Some(Word::Wider), "") => self.yes_to(Lifetime::Session, Extent::Wider),
            (Some(Word::Wider), more) => match beginning_of(more, &[Word::Session, Word::Always]) {
                Some(Word::Always) => self.yes_to(Lifetime::Always, Extent::Wider),
                Some(_) => self.yes_to(Lifetime::Session, Extent::Wider),
                None => Said::Unclear,
            },
            (Some(Word::Details), "") => Said::Details,
            _ => Said::Unclear,
        }
    }

    fn word(&self, typed: &str) -> Option<Word> {
        beginning_of(typed, &self.words)
    }

    /// Lifetimes that the request doesn't offer are no answer, however the word came in.
    fn yes_to(&self, lifetime: Lifetime, extent: Extent) -> Said {
        if self.lifetimes.contains(&lifetime) {
            Said::Answer(Choice::Yes { lifetime, extent }, None)
        } else {
            Said::Unclear
        }
    }
}

/// Where the program has ended there is nothing to be granted once, or wider: a yes starts it again.
fn granting_words(request: &EscalationRequest, is_profile: bool) -> Vec<Word> {
    let mut words = Vec::new();
    if is_profile || !request.live {
        words.push(Word::Yes);
    }
    if !request.live {
        return words;
    }
    let lifetimes = &request.lifetimes;
    for (lifetime, word) in [
        (Lifetime::Once, Word::Once),
        (Lifetime::Session, Word::Session),
        (Lifetime::Always, Word::Always),
    ] {
        if lifetimes.contains(&lifetime) {
            words.push(word);
        }
    }
    let is_wider_open = request.wider.as_ref().is_some_and(|wider| !is_trusted(wider));
    if is_wider_open && lifetimes.contains(&Lifetime::Session) {
        words.push(Word::Wider);
    }
    words
}

fn is_trusted(requested: &Requested) -> bool {
    matches!(requested, Requested::Profile(name) if name == TRUSTED)
}

/// The one word that begins so. One letter is never enough: a terminal can be made to type it.
fn beginning_of(typed: &str, words: &[Word]) -> Option<Word> {
    let typed = typed.to_ascii_lowercase();
    if typed.len() < 2 {
        return None;
    }
    let mut found = words.iter().filter(|word| word.text().starts_with(&typed));
    match (found.next(), found.next()) {
        (Some(word), None) => Some(*word),
        _ => None,
    }
}
