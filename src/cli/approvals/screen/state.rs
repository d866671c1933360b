//! What is chosen, and what a key means. Pure.
//!
//! A yes takes two keys: one letter, then Enter. A word or a paste that ends in such a letter is none. What a key does
//! belongs to the question that was chosen when the first one was pressed, by its number: another that moves to its
//! place gets nothing.

use std::collections::VecDeque;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::approve::socket::Question;
use crate::approve::{Lifetime, Requested};
use crate::cli::approvals::order::Said;
use crate::cli::approvals::verdict;

/// Answers that are shown.
const HISTORY: usize = 50;
/// Characters of a reason.
const REASON: usize = 500;
/// Said of more letters than one.
const ONE_LETTER: &str = "one letter, then Enter";

/// What the next key belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// The list.
    Choosing,
    /// A yes that Enter sends.
    Confirming(u32, Said),
    /// A yes that needs the profile's name.
    Naming(u32, Lifetime, String),
    /// A no, with a reason that is being typed.
    Refusing(u32, String),
    /// A no to all of a run, which Enter sends.
    RefusingAll(u32),
    /// Whether to leave although something waits.
    Leaving,
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    Answer(u32, Said),
    Quit,
}

/// The screen between two keys.
pub struct State {
    pub selected: Option<u32>,
    pub mode: Mode,
    pub notice: String,
    pub history: VecDeque<String>,
    /// Lines of the details that are above the pane.
    pub scroll: u16,
    /// Letters that were typed since the last Enter, Esc or arrow.
    letters: usize,
}

impl State {
    pub fn new() -> State {
        State {
            selected: None,
            mode: Mode::Choosing,
            notice: String::new(),
            history: VecDeque::new(),
            scroll: 0,
            letters: 0,
        }
    }

    /// One line to the history.
    pub fn remember(&mut self, text: &str) {
        self.history.push_front(text.to_string());
        self.history.truncate(HISTORY);
    }

    /// Says something below the list, until the next key.
    pub fn notice(&mut self, text: &str) {
        self.notice = text.to_string();
    }

    /// After questions came and went: what is chosen still waits, and nothing is begun for one that doesn't. Whether another
    /// question stands where the one was that a person may be about to answer.
    pub fn settle(&mut self, questions: &[&Question]) -> bool {
        let waits = |number: u32| questions.iter().any(|question| question.number == number);
        let begun_for = match self.mode {
            Mode::Confirming(number, _)
            | Mode::Naming(number, ..)
            | Mode::Refusing(number, _)
            | Mode::RefusingAll(number) => Some(number),
            Mode::Choosing | Mode::Leaving => None,
        };
        if let Some(number) = begun_for.filter(|number| !waits(*number)) {
            self.mode = Mode::Choosing;
            self.notice(&format!("{number}: isn't asked any more"));
        }
        let before = self.selected;
        if !before.is_some_and(waits) {
            self.select(order(questions).first().copied());
        }
        before.is_some() && self.selected.is_some() && self.selected != before
    }

    fn select(&mut self, number: Option<u32>) {
        if self.selected != number {
            self.scroll = 0;
        }
        self.selected = number;
    }

    /// What keys do that came together. Several are a paste, or typed ahead of what is drawn: they neither confirm a
    /// yes nor begin one.
    pub fn keys(&mut self, keys: &[KeyEvent], questions: &[&Question]) -> Effect {
        match keys {
            [] => return Effect::Nothing,
            [key] => return self.key(*key, questions),
            _ => {}
        }
        let is_name = matches!(self.mode, Mode::Naming(..));
        for key in keys.iter().filter(|key| key.code != KeyCode::Enter) {
            let effect = self.key(*key, questions);
            if effect != Effect::Nothing {
                return effect;
            }
        }
        match self.mode {
            Mode::Choosing if self.letters == 0 => {}
            Mode::Refusing(..) => {}
            Mode::Naming(..) if is_name => {}
            _ => self.take_back(&format!("several keys at once: {ONE_LETTER}")),
        }
        Effect::Nothing
    }

    /// What was begun is no more, and the next Enter only ends what was typed.
    fn take_back(&mut self, why: &str) {
        self.mode = Mode::Choosing;
        self.letters = self.letters.max(2);
        self.notice(why);
    }

    /// Letters up to this key; one that isn't typed text ends them.
    fn typed(&mut self, code: KeyCode) -> usize {
        match code {
            KeyCode::Char(_) => self.letters += 1,
            KeyCode::Enter | KeyCode::Esc | KeyCode::Up | KeyCode::Down | KeyCode::Left | KeyCode::Right => {
                return std::mem::take(&mut self.letters);
            }
            _ => {}
        }
        self.letters
    }

    /// What a key does.
    fn key(&mut self, key: KeyEvent, questions: &[&Question]) -> Effect {
        self.notice.clear();
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Effect::Quit,
                _ => Effect::Nothing,
            };
        }
        if key.modifiers.contains(KeyModifiers::ALT) {
            // Esc and a letter in quick succession look like this too, and Esc was meant to take something back.
            self.take_back(ONE_LETTER);
            return Effect::Nothing;
        }
        let letters = self.typed(key.code);
        match (std::mem::replace(&mut self.mode, Mode::Choosing), key.code) {
            (Mode::Choosing, KeyCode::Char(_)) if letters > 1 => Effect::Nothing,
            (Mode::Choosing, KeyCode::Enter) => {
                if letters > 0 {
                    self.notice(ONE_LETTER);
                }
                Effect::Nothing
            }
            (Mode::Choosing, code) => self.choose(code, questions),
            (_, KeyCode::Esc) => Effect::Nothing,
            (Mode::Leaving, KeyCode::Enter) => Effect::Quit,
            (Mode::Confirming(number, said), KeyCode::Enter) => Effect::Answer(number, said),
            (Mode::RefusingAll(number), KeyCode::Enter) => Effect::Answer(number, Said::NoAll),
            (Mode::Naming(number, lifetime, name), KeyCode::Enter) => {
                if name == Requested::TYPED {
                    return Effect::Answer(number, Said::Yes(lifetime, Some(name)));
                }
                self.notice("that isn't the profile's name");
                Effect::Nothing
            }
            (Mode::Refusing(number, reason), KeyCode::Enter) => {
                let reason = reason.trim();
                Effect::Answer(number, Said::No((!reason.is_empty()).then(|| reason.to_string())))
            }
            // The wider one may be meant for another time.
            (Mode::Confirming(number, Said::Wider(lifetime)), KeyCode::Tab) => {
                let lifetime = next_lifetime(number, lifetime, questions);
                self.mode = Mode::Confirming(number, Said::Wider(lifetime));
                Effect::Nothing
            }
            (mode, code) => {
                self.mode = type_into(mode, code);
                Effect::Nothing
            }
        }
    }

    fn choose(&mut self, code: KeyCode, questions: &[&Question]) -> Effect {
        match code {
            KeyCode::Char('q') if questions.is_empty() => return Effect::Quit,
            KeyCode::Char('q') => self.mode = Mode::Leaving,
            KeyCode::Down => self.step(questions, 1),
            KeyCode::Up => self.step(questions, -1),
            KeyCode::PageDown => self.scroll = self.scroll.saturating_add(3),
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(3),
            KeyCode::Char(letter) => {
                let chosen = self.selected;
                let question = questions.iter().find(|question| Some(question.number) == chosen);
                if let Some(question) = question {
                    self.begin(letter, question);
                }
            }
            _ => {}
        }
        Effect::Nothing
    }

    /// Begins an answer to the chosen question.
    fn begin(&mut self, letter: char, question: &Question) {
        let number = question.number;
        let request = &question.request;
        let lifetime = match letter {
            'o' => Lifetime::Once,
            's' => Lifetime::Session,
            'a' => Lifetime::Always,
            'w' if request.wider.as_ref().is_some_and(|wider| !wider.must_be_typed()) => {
                self.mode = Mode::Confirming(number, Said::Wider(verdict::usual(request)));
                return;
            }
            'w' => return self.notice("nothing wider is offered"),
            'n' => {
                self.mode = Mode::Refusing(number, String::new());
                return;
            }
            'N' => {
                self.mode = Mode::RefusingAll(number);
                return;
            }
            _ => return,
        };
        if !request.lifetimes.contains(&lifetime) {
            return self.notice(&format!("`{}` isn't offered", lifetime.word()));
        }
        self.mode = if request.requested.must_be_typed() {
            Mode::Naming(number, lifetime, String::new())
        } else {
            Mode::Confirming(number, Said::Yes(lifetime, None))
        };
    }

    fn step(&mut self, questions: &[&Question], by: isize) {
        let order = order(questions);
        let at = order.iter().position(|number| Some(*number) == self.selected);
        let at = at
            .unwrap_or(0)
            .saturating_add_signed(by)
            .min(order.len().saturating_sub(1));
        self.select(order.get(at).copied());
    }
}

/// The questions as the list has them: run by run, each run where its first question came.
pub fn order(questions: &[&Question]) -> Vec<u32> {
    let mut runs: Vec<&str> = Vec::new();
    for question in questions {
        if !runs.contains(&question.request.run.as_str()) {
            runs.push(&question.request.run);
        }
    }
    let of_run = |run| questions.iter().filter(move |question| question.request.run == run);
    runs.into_iter()
        .flat_map(of_run)
        .map(|question| question.number)
        .collect()
}

/// The next of the lifetimes that are offered.
fn next_lifetime(number: u32, lifetime: Option<Lifetime>, questions: &[&Question]) -> Option<Lifetime> {
    let question = questions.iter().find(|question| question.number == number)?;
    let offered = &question.request.lifetimes;
    let at = offered.iter().position(|one| Some(*one) == lifetime)?;
    offered.iter().cycle().nth(at + 1).copied()
}

fn type_into(mode: Mode, code: KeyCode) -> Mode {
    let typed = |mut text: String| {
        match code {
            KeyCode::Char(letter) if text.chars().count() < REASON => text.push(letter),
            KeyCode::Backspace => drop(text.pop()),
            _ => {}
        }
        text
    };
    match mode {
        Mode::Naming(number, lifetime, text) => Mode::Naming(number, lifetime, typed(text)),
        Mode::Refusing(number, text) => Mode::Refusing(number, typed(text)),
        // Any other key is no confirmation.
        Mode::Confirming(..) | Mode::RefusingAll(_) | Mode::Leaving | Mode::Choosing => Mode::Choosing,
    }
}
