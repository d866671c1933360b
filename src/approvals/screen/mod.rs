//! The full-screen list of `stockade approvals --watch`.
//!
//! `state` interprets keys, `view` draws; both are pure. The event loop is here.

mod state;
mod view;

use std::io;
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};

use super::ending::Signals;
use super::{next_of_run, shown};
use crate::REFUSED;
use crate::message::Failure;
use state::{Effect, State};
use stockade_report::approve::person;
use stockade_report::approve::socket::{WaitingQuestion, WatchEvent, Watcher};
use stockade_report::approve::{Answer, Choice, NO_MORE, PAUSE_AFTER_ONE_GONE};

/// How often sockets, signals and deadlines are polled. A key is handled at once.
const SLICE: Duration = Duration::from_millis(150);

/// The most keys that are read at once.
const KEYS: usize = 1000;

/// Watches and returns the exit code. The terminal is restored afterwards, also after a panic (ratatui sees to that).
pub fn watch(watcher: Watcher, signals: &Signals) -> Result<u8, Failure> {
    let failed = |error: io::Error| Failure::new(REFUSED, &error);
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let mut screen = Screen {
        watcher,
        by: person::at("approvals"),
        state: State::new(),
        has_answered: false,
    };
    let result = screen.watch(&mut terminal, signals);
    let restored = ratatui::try_restore();
    let code = result.map_err(failed)?;
    restored.map_err(failed).map(|()| code)
}

struct Screen {
    watcher: Watcher,
    by: String,
    state: State,
    /// Whether the last question that went was answered here.
    has_answered: bool,
}

impl Screen {
    fn watch(&mut self, terminal: &mut DefaultTerminal, signals: &Signals) -> io::Result<u8> {
        let mut taken_away: Option<Instant> = None;
        loop {
            for news in self.watcher.hear() {
                if let WatchEvent::Gone(question) = news {
                    let text = format!("{}: isn't asked any more", question.number);
                    self.state.remember(&text);
                }
            }
            let questions: Vec<&WaitingQuestion> = self.watcher.questions().collect();
            if self.state.settle(&questions) && !self.has_answered {
                taken_away = Some(Instant::now());
            }
            self.has_answered = false;
            terminal.draw(|frame| view::draw(frame, &self.state, &questions))?;
            if let Some(code) = signals.exit_code() {
                return Ok(code);
            }
            let pressed = pressed()?;
            if taken_away.is_some_and(|then| then.elapsed() < PAUSE_AFTER_ONE_GONE) {
                continue;
            }
            match self.state.keys(&pressed, &questions) {
                Effect::Nothing => {}
                Effect::Quit => return Ok(0),
                Effect::Answer(number, choice, reason) => {
                    let by = self.by.clone();
                    self.answer(number, &Answer { choice, by, reason });
                    forget_typed()?;
                }
            }
        }
    }

    /// Answers one question, and with `no all` the other questions of the same run.
    fn answer(&mut self, number: u32, answer: &Answer) {
        let Some(question) = self.watcher.question(number) else {
            return;
        };
        let run = question.request.run.clone();
        let is_to_all = answer.choice == (Choice::No { all: true });
        match self.watcher.answer(number, answer) {
            Ok(question) => {
                self.has_answered = true;
                self.state.remember(&view::answered(&question, answer));
                if shown::is_last_there(&question, answer) {
                    self.state.remember(&format!("{number}: {NO_MORE}"));
                }
            }
            Err(error) => return self.state.notice(&format!("{number}: {error}")),
        }
        if let Some(next) = next_of_run(&self.watcher, &run).filter(|_| is_to_all) {
            self.answer(next, answer);
        }
    }
}

/// Discards keys typed so far: they don't answer the next question.
fn forget_typed() -> io::Result<()> {
    for _ in 0..KEYS {
        if !event::poll(SLICE)? {
            break;
        }
        event::read()?;
    }
    Ok(())
}

/// The keys that were pressed, after a short wait.
fn pressed() -> io::Result<Vec<KeyEvent>> {
    let mut keys = Vec::new();
    let mut time = SLICE;
    while keys.len() < KEYS && event::poll(time)? {
        time = Duration::ZERO;
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => keys.push(key),
            _ => {}
        }
    }
    Ok(keys)
}
