//! Parses the words that answer a question, on every channel: a word or its first letter, in any case, and Enter.
//!
//! Anything but an offered answer is rejected and asked for again. Pure.

use super::{Choice, EscalationRequest, Extent, Lifetime, Requested};

/// After this many yeses in one directory, or to one host, `wider` is offered first.
const YESES_BEFORE_WIDER: usize = 3;

/// Shown after an unparsable line, before the answers are listed again.
pub const UNCLEAR: &str = "that is no answer; it is one of these:";

/// The longest reason that is passed on; the rest is cut.
const MAX_REASON: usize = 500;

/// A word of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Grants for this run.
    Yes,
    /// Grants this access alone.
    Once,
    /// Grants for later runs too.
    Always,
    /// Grants the wider request.
    Wider,
    /// Refuses.
    No,
    /// Shows more and asks again.
    Details,
}

impl Word {
    /// The word in full. The first letters differ.
    pub fn text(self) -> &'static str {
        match self {
            Word::Yes => "yes",
            Word::Once => "once",
            Word::Always => "always",
            Word::Wider => "wider",
            Word::No => "no",
            Word::Details => "details",
        }
    }

    /// Whether the text is this word or its letter.
    pub fn is(self, typed: &str) -> bool {
        typed.eq_ignore_ascii_case(self.text()) || typed.eq_ignore_ascii_case(&self.text()[..1])
    }
}

/// The answers that one question accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerChoices {
    /// The words, in display order.
    pub words: Vec<Word>,
    /// The lifetimes that a grant may have.
    lifetimes: Vec<Lifetime>,
    /// The profile that is granted in full when its name is typed.
    pub name: Option<&'static str>,
    /// Whether the run goes on after a grant.
    is_live: bool,
}

/// The meaning of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineMeaning {
    /// An answer, with its reason.
    Answer(Choice, Option<String>),
    /// More is to be shown.
    Details,
    /// Not an answer.
    Unclear,
}

impl AnswerChoices {
    /// The answers to a request.
    pub fn of(request: &EscalationRequest) -> AnswerChoices {
        let lifetimes = request.lifetimes.clone();
        let is_profile = matches!(request.requested, Requested::Profile(_));
        let mut words = Vec::new();
        if !lifetimes.is_empty() && !request.requested.must_be_typed() {
            words.extend(granting_words(request));
        }
        words.extend([Word::No, Word::Details]);
        AnswerChoices {
            words,
            name: (is_profile && !lifetimes.is_empty()).then_some(Requested::TYPED),
            lifetimes,
            is_live: request.live,
        }
    }

    /// The answers to a yes-or-no question.
    pub fn whether() -> AnswerChoices {
        AnswerChoices {
            words: vec![Word::Yes, Word::No, Word::Details],
            lifetimes: vec![Lifetime::Once],
            name: None,
            is_live: false,
        }
    }

    /// The lifetime of a plain yes: until the run ends, if that is offered.
    pub fn usual(&self) -> Option<Lifetime> {
        let session = self.lifetimes.iter().find(|lifetime| **lifetime == Lifetime::Session);
        session.or_else(|| self.lifetimes.iter().min()).copied()
    }

    /// Whether `wider always` is accepted.
    pub fn has_wider_always(&self) -> bool {
        self.words.contains(&Word::Wider) && self.lifetimes.contains(&Lifetime::Always)
    }

    /// The answers as a prompt shows them: `[y]es for this run`, `[n]o`.
    pub fn shown(&self) -> Vec<String> {
        let mut shown: Vec<String> = self.words.iter().map(|word| self.shown_word(*word)).collect();
        if !self.words.contains(&Word::Yes) {
            shown.splice(0..0, self.name.map(str::to_string));
        }
        shown
    }

    /// The accepted words, or the name that has to be typed.
    pub fn words(&self) -> Vec<&str> {
        let name = self.name.filter(|_| !self.words.contains(&Word::Yes));
        name.into_iter()
            .chain(self.words.iter().map(|word| word.text()))
            .collect()
    }

    fn shown_word(&self, word: Word) -> String {
        let (first, rest) = word.text().split_at(1);
        let is_for_run = self.is_live && self.usual() == Some(Lifetime::Session);
        let time = if word == Word::Yes && is_for_run {
            " for this run"
        } else {
            ""
        };
        format!("[{first}]{rest}{time}")
    }

    /// Parses a line.
    pub fn meaning(&self, line: &str) -> LineMeaning {
        let line = line.trim();
        let (first, more) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let more = more.trim_start();
        if self.name == Some(line) {
            return self.yes(self.usual(), Extent::Profile(line.to_string()));
        }
        let word = self.words.iter().find(|word| word.is(first));
        match (word, more) {
            (Some(Word::No), "") => LineMeaning::Answer(Choice::No { all: false }, None),
            (Some(Word::No), "all") => LineMeaning::Answer(Choice::No { all: true }, None),
            (Some(Word::No), reason) => {
                let reason = reason.chars().take(MAX_REASON).collect();
                LineMeaning::Answer(Choice::No { all: false }, Some(reason))
            }
            (Some(Word::Yes), "") => self.yes(self.usual(), Extent::Requested),
            (Some(Word::Once), "") => self.yes(Some(Lifetime::Once), Extent::Requested),
            (Some(Word::Always), "") => self.yes(Some(Lifetime::Always), Extent::Requested),
            (Some(Word::Wider), "") => self.yes(self.usual(), Extent::Wider),
            (Some(Word::Wider), more) if Word::Always.is(more) => self.yes(Some(Lifetime::Always), Extent::Wider),
            (Some(Word::Details), "") => LineMeaning::Details,
            _ => LineMeaning::Unclear,
        }
    }

    /// A lifetime that isn't offered is no answer, whatever the word that named it.
    fn yes(&self, lifetime: Option<Lifetime>, extent: Extent) -> LineMeaning {
        match lifetime.filter(|lifetime| self.lifetimes.contains(lifetime)) {
            Some(lifetime) => LineMeaning::Answer(Choice::Yes { lifetime, extent }, None),
            None => LineMeaning::Unclear,
        }
    }
}

/// If the program has ended, there is nothing to grant once, or wider: a yes starts it again.
fn granting_words(request: &EscalationRequest) -> Vec<Word> {
    if !request.live {
        return vec![Word::Yes];
    }
    let has = |lifetime| request.lifetimes.contains(&lifetime);
    let mut words = vec![Word::Yes];
    words.extend(has(Lifetime::Once).then_some(Word::Once));
    words.extend(has(Lifetime::Always).then_some(Word::Always));
    let is_wider_open = request.wider.as_ref().is_some_and(|wider| !wider.must_be_typed());
    if is_wider_open && has(Lifetime::Session) {
        let is_first = request.granted_beside >= YESES_BEFORE_WIDER;
        words.insert(if is_first { 0 } else { words.len() }, Word::Wider);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approve::samples::request;

    fn meaning(request: &EscalationRequest, line: &str) -> LineMeaning {
        AnswerChoices::of(request).meaning(line)
    }

    fn yes(lifetime: Lifetime, extent: Extent) -> LineMeaning {
        LineMeaning::Answer(Choice::Yes { lifetime, extent }, None)
    }

    fn no(reason: Option<&str>) -> LineMeaning {
        LineMeaning::Answer(Choice::No { all: false }, reason.map(Into::into))
    }

    fn profile(name: &str) -> EscalationRequest {
        EscalationRequest {
            requested: Requested::Profile(name.into()),
            wider: None,
            ..request()
        }
    }

    #[test]
    fn each_word_and_its_first_letter_is_an_answer_in_any_case() {
        let requested = Extent::Requested;
        for (lines, said) in [
            (["y", "Y", "yes", " YES "], yes(Lifetime::Session, requested.clone())),
            (["o", "O", "once", "Once"], yes(Lifetime::Once, requested.clone())),
            (["a", "A", "always", "ALWAYS"], yes(Lifetime::Always, requested)),
            (["w", "W", "wider", "WideR"], yes(Lifetime::Session, Extent::Wider)),
            (
                ["w a", "wider always", "W  ALWAYS", "wider\ta"],
                yes(Lifetime::Always, Extent::Wider),
            ),
            (["n", "N", "no", " NO"], no(None)),
            (["d", "D", "details", "DETAILS"], LineMeaning::Details),
        ] {
            for line in lines {
                assert_eq!(meaning(&request(), line), said, "{line:?}");
            }
        }
    }

    #[test]
    fn a_no_carries_its_reason_and_only_all_ends_the_asking() {
        for line in ["no use ./data instead", "n use ./data instead"] {
            assert_eq!(meaning(&request(), line), no(Some("use ./data instead")));
        }
        let all = LineMeaning::Answer(Choice::No { all: true }, None);
        for line in ["no all", "n  all"] {
            assert_eq!(meaning(&request(), line), all);
        }
        assert_eq!(meaning(&request(), "no all of it"), no(Some("all of it")));
        let LineMeaning::Answer(_, Some(reason)) = meaning(&request(), &format!("no {}", "x".repeat(4000))) else {
            panic!("no reason")
        };
        assert_eq!(reason.len(), MAX_REASON);
    }

    #[test]
    fn nothing_else_is_an_answer() {
        for line in [
            "",
            " ",
            "s",
            "session",
            "1",
            "ye",
            "yess",
            "yes please",
            "y y",
            "on",
            "once more",
            "al",
            "wi",
            "wider once",
            "w y",
            "always yes",
            "nope",
            "not",
            "details please",
            "trusted",
            "ok",
            "j",
            "-",
            "öö",
            "оnce",
            "ｙ",
        ] {
            assert_eq!(meaning(&request(), line), LineMeaning::Unclear, "{line:?}");
        }
    }

    #[test]
    fn what_the_request_does_not_offer_is_no_answer() {
        let once = EscalationRequest {
            lifetimes: vec![Lifetime::Once],
            ..request()
        };
        for line in ["always", "wider", "wider always"] {
            assert_eq!(meaning(&once, line), LineMeaning::Unclear, "{line}");
        }
        assert_eq!(meaning(&once, "y"), yes(Lifetime::Once, Extent::Requested));
        let session = EscalationRequest {
            lifetimes: vec![Lifetime::Session],
            ..request()
        };
        assert_eq!(meaning(&session, "wider always"), LineMeaning::Unclear);
        let narrow = EscalationRequest {
            wider: None,
            ..request()
        };
        assert_eq!(meaning(&narrow, "wider"), LineMeaning::Unclear);
        let nothing = EscalationRequest {
            lifetimes: Vec::new(),
            ..profile("trusted")
        };
        for line in ["once", "yes", "wider", "trusted"] {
            assert_eq!(meaning(&nothing, line), LineMeaning::Unclear, "{line}");
        }
    }

    #[test]
    fn a_program_that_has_ended_is_started_again_on_yes_alone() {
        let ended = EscalationRequest {
            live: false,
            lifetimes: vec![Lifetime::Once],
            ..request()
        };
        for line in ["yes", "y", "YES"] {
            assert_eq!(meaning(&ended, line), yes(Lifetime::Once, Extent::Requested), "{line}");
        }
        for line in ["once", "always", "wider", ""] {
            assert_eq!(meaning(&ended, line), LineMeaning::Unclear, "{line}");
        }
        assert_eq!(meaning(&ended, "n"), no(None));
    }

    #[test]
    fn trusted_is_granted_to_who_types_its_whole_name_only() {
        let trusted = yes(Lifetime::Session, Extent::Profile("trusted".into()));
        for name in ["trusted", "readonly"] {
            assert_eq!(meaning(&profile(name), "trusted"), trusted);
            for line in ["t", "truste", "Trusted", "trusted always"] {
                assert_eq!(meaning(&profile(name), line), LineMeaning::Unclear, "{line}");
            }
        }
        for line in ["yes", "once", "always", "wider"] {
            assert_eq!(meaning(&profile("trusted"), line), LineMeaning::Unclear, "{line}");
        }
        let wider = EscalationRequest {
            wider: Some(Requested::Profile("trusted".into())),
            ..request()
        };
        assert_eq!(meaning(&wider, "wider"), LineMeaning::Unclear);
    }

    #[test]
    fn after_three_yeses_in_one_directory_wider_comes_first() {
        let mut request = request();
        let first = |request: &EscalationRequest| AnswerChoices::of(request).words[0];
        request.granted_beside = 2;
        assert_eq!(first(&request), Word::Yes);
        request.granted_beside = 3;
        assert_eq!(first(&request), Word::Wider);
        request.wider = None;
        assert_eq!(first(&request), Word::Yes);
    }
}
