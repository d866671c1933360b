//! The chosen question, the typed line, and the effect of a key. Pure.
//!
//! A line belongs to the question that was chosen when its first letter was typed, by its number: another that moves to its
//! place gets nothing.

use std::collections::VecDeque;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use stockade::approve::Choice;
pub use stockade::approve::grammar::{AnswerChoices, LineMeaning, UNCLEAR};
use stockade::approve::socket::WaitingQuestion;

/// Answers that are shown.
const HISTORY: usize = 50;
/// Characters of a line.
const LONGEST: usize = 500;

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    Answer(u32, Choice, Option<String>),
    Quit,
}

/// The screen between two keys.
pub struct State {
    pub selected: Option<u32>,
    /// The typed line, and the question that it is for.
    pub typed: String,
    pub meant_for: Option<u32>,
    /// Whether Enter leaves although something waits.
    pub is_leaving: bool,
    /// Whether all of the chosen question is shown.
    pub has_details: bool,
    pub notice: String,
    pub history: VecDeque<String>,
    /// Lines of the question that are above the pane.
    pub scroll: u16,
}

impl State {
    pub fn new() -> State {
        State {
            selected: None,
            typed: String::new(),
            meant_for: None,
            is_leaving: false,
            has_details: false,
            notice: String::new(),
            history: VecDeque::new(),
            scroll: 0,
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

    /// After questions came and went: what is chosen still waits, and nothing is typed for one that doesn't. Whether another
    /// question stands where the one was that a person may be about to answer.
    pub fn settle(&mut self, questions: &[&WaitingQuestion]) -> bool {
        let waits = |number: u32| questions.iter().any(|question| question.number == number);
        if let Some(number) = self.meant_for.filter(|number| !waits(*number)) {
            self.forget();
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
            self.has_details = false;
        }
        self.selected = number;
    }

    /// Nothing is typed any more.
    fn forget(&mut self) {
        self.typed.clear();
        self.meant_for = None;
        self.is_leaving = false;
    }

    /// Takes keys that came together. Several are a paste, or typed ahead of the drawn list: they may be part of a reason, and
    /// are no answer.
    pub fn keys(&mut self, keys: &[KeyEvent], questions: &[&WaitingQuestion]) -> Effect {
        match keys {
            [] => return Effect::Nothing,
            [key] => return self.key(*key, questions),
            _ => {}
        }
        let is_reason = self.typed.contains(' ');
        for key in keys.iter().filter(|key| key.code != KeyCode::Enter) {
            if self.key(*key, questions) == Effect::Quit {
                return Effect::Quit;
            }
        }
        if !is_reason && !self.typed.is_empty() {
            self.forget();
            self.notice("several keys at once; type a letter or word, and Enter");
        }
        Effect::Nothing
    }

    /// What a key does.
    fn key(&mut self, key: KeyEvent, questions: &[&WaitingQuestion]) -> Effect {
        self.notice.clear();
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Effect::Quit,
                _ => Effect::Nothing,
            };
        }
        if key.modifiers.contains(KeyModifiers::ALT) {
            // Esc and a letter in quick succession look like this too, and Esc was meant to take something back.
            self.forget();
            return Effect::Nothing;
        }
        match key.code {
            KeyCode::Enter => return self.enter(questions),
            KeyCode::Esc => self.forget(),
            KeyCode::Backspace => drop(self.typed.pop()),
            KeyCode::Down => self.step(questions, 1),
            KeyCode::Up => self.step(questions, -1),
            KeyCode::PageDown => self.scroll = self.scroll.saturating_add(3),
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(3),
            KeyCode::Char(letter) if self.typed.chars().count() < LONGEST => {
                self.is_leaving = false;
                if self.typed.is_empty() {
                    self.meant_for = self.selected;
                }
                self.typed.push(letter);
            }
            _ => {}
        }
        Effect::Nothing
    }

    fn enter(&mut self, questions: &[&WaitingQuestion]) -> Effect {
        let (typed, number, is_leaving) = (self.typed.trim().to_string(), self.meant_for, self.is_leaving);
        self.forget();
        if typed.eq_ignore_ascii_case("q") || typed.eq_ignore_ascii_case("quit") {
            self.is_leaving = !questions.is_empty();
            return if self.is_leaving { Effect::Nothing } else { Effect::Quit };
        }
        if typed.is_empty() && is_leaving {
            return Effect::Quit;
        }
        let question = questions.iter().find(|question| Some(question.number) == number);
        match question.map(|question| (question.number, AnswerChoices::of(&question.request).meaning(&typed))) {
            Some((number, LineMeaning::Answer(choice, reason))) => return Effect::Answer(number, choice, reason),
            Some((_, LineMeaning::Details)) => self.has_details = !self.has_details,
            Some((_, LineMeaning::Unclear)) | None => self.notice(UNCLEAR),
        }
        Effect::Nothing
    }

    /// What was typed was for the question that was chosen.
    fn step(&mut self, questions: &[&WaitingQuestion], by: isize) {
        self.forget();
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
pub fn order(questions: &[&WaitingQuestion]) -> Vec<u32> {
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
