//! The chosen question, the typed line, and the effect of a key. Pure.
//!
//! A typed line belongs, by number, to the question that was selected at its first letter: another question that moves to the
//! same place doesn't receive it.

use std::collections::VecDeque;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use stockade_report::approve::Choice;
pub use stockade_report::approve::grammar::{AnswerChoices, LineMeaning, UNCLEAR};
use stockade_report::approve::socket::WaitingQuestion;

/// The most answers in the history.
const HISTORY: usize = 50;
/// The most characters in a line.
const MAX_LENGTH: usize = 500;

/// The action to take.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    Answer(u32, Choice, Option<String>),
    Quit,
}

/// The state of the screen between two keys.
pub struct State {
    pub selected: Option<u32>,
    /// The typed line, and the question that it is for.
    pub typed: String,
    pub meant_for: Option<u32>,
    /// Whether Enter quits although questions are pending.
    pub is_leaving: bool,
    /// Whether the selected question is shown in full.
    pub has_details: bool,
    pub notice: String,
    pub history: VecDeque<String>,
    /// Lines of the question that are scrolled out above the pane.
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

    /// Adds a line to the history.
    pub fn remember(&mut self, text: &str) {
        self.history.push_front(text.to_string());
        self.history.truncate(HISTORY);
    }

    /// Shows a notice below the list until the next key.
    pub fn notice(&mut self, text: &str) {
        self.notice = text.to_string();
    }

    /// Updates the selection after questions came and went; drops input for a question that is gone. Returns true if another
    /// question now stands where the person may be about to answer the previous one.
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

    /// Discards the typed line.
    fn forget(&mut self) {
        self.typed.clear();
        self.meant_for = None;
        self.is_leaving = false;
    }

    /// Handles keys that arrived together. Several keys are a paste, or were typed ahead of the drawn list: they may be part of
    /// a reason, but don't answer.
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

    /// Handles one key.
    fn key(&mut self, key: KeyEvent, questions: &[&WaitingQuestion]) -> Effect {
        self.notice.clear();
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Effect::Quit,
                _ => Effect::Nothing,
            };
        }
        if key.modifiers.contains(KeyModifiers::ALT) {
            // Esc and a letter in quick succession look like Alt and a letter; Esc was meant to cancel.
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
            KeyCode::Char(letter) if self.typed.chars().count() < MAX_LENGTH => {
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

    /// Moves the selection and discards the line typed for the previous question.
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

/// The order of the list: grouped by run, each run at the position of its first question.
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
