//! The line mode: for scripts and programs, and for terminals without a full-screen display.
//!
//! Questions go to standard output. Answers come from standard input, line by line.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::sys::termios::{FlushArg, tcflush};

use super::ending::Signals;
use super::event::{Event, Form};
use super::order::{self, Order};
use super::shown;
use super::typed::{Line, Typed};
use super::{Stay, next_of_run};
use crate::REFUSED;
use crate::message::{Failure, note};
pub use stockade_report::approve::grammar::{AnswerChoices, LineMeaning, UNCLEAR};
use stockade_report::approve::person;
use stockade_report::approve::socket::{WatchEvent, Watcher};
use stockade_report::approve::{Answer, Choice, NO_MORE};

/// How long runs have to find this watcher: they look every 200 ms.
const QUIET: Duration = Duration::from_secs(1);
/// How often the questions' deadlines are checked.
const SLICE: Duration = Duration::from_millis(250);
/// Watches for questions and returns the exit code.
pub fn watch(watcher: Watcher, signals: &Signals, stay: Stay, form: Form<'_>) -> Result<u8, Failure> {
    let input = io::stdin().as_fd().try_clone_to_owned();
    let input = input.map_err(|error| Failure::new(REFUSED, &error))?;
    let mut plain = Plain {
        watcher,
        form,
        by: person::at("approvals"),
        input: File::from(input),
        typed: Typed::default(),
        listens_from: match stay {
            Stay::WhileAsked => Instant::now() + QUIET,
            Stay::Watching => Instant::now(),
        },
        quiet_since: Instant::now(),
        has_asked: false,
        has_ordered: false,
    };
    match plain.watch(signals, stay) {
        Ok(code) => Ok(code),
        // The reader of the questions is gone: there are no answers either.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        // A signal came while the reader took nothing.
        Err(error) => match signals.exit_code() {
            Some(code) => Ok(code),
            None => Err(Failure::new(REFUSED, &error)),
        },
    }
}

struct Plain<'a> {
    watcher: Watcher,
    form: Form<'a>,
    by: String,
    input: File,
    typed: Typed,
    /// When input is first read: a script's early input is meant for the pending questions, which take a moment to arrive.
    listens_from: Instant,
    quiet_since: Instant,
    has_asked: bool,
    /// A line was typed: who ends the input then, ends the watch.
    has_ordered: bool,
}

/// Whether to continue.
#[derive(PartialEq, Eq)]
enum Next {
    GoOn,
    End,
}

impl Plain<'_> {
    fn watch(&mut self, signals: &Signals, stay: Stay) -> io::Result<u8> {
        loop {
            let listens = Instant::now() >= self.listens_from;
            let others = [signals.as_fd(), self.input.as_fd()];
            self.watcher.wait(&others[..1 + usize::from(listens)], SLICE);
            if let Some(code) = signals.exit_code() {
                return Ok(code);
            }
            self.tell()?;
            if listens && self.listen()? == Next::End {
                self.say_end()?;
                return Ok(0);
            }
            if self.watcher.questions().next().is_some() || self.watcher.expects_more() {
                self.quiet_since = Instant::now();
            }
            if stay == Stay::WhileAsked && self.quiet_since.elapsed() >= QUIET {
                if !self.has_asked {
                    self.form.tell(&Event::Nothing)?;
                }
                return Ok(0);
            }
        }
    }

    /// Prints the changes.
    fn tell(&mut self) -> io::Result<()> {
        let mut waits = self.watcher.questions().next().is_some();
        for news in self.watcher.hear() {
            match news {
                WatchEvent::Came(number) => {
                    self.has_asked = true;
                    if !std::mem::replace(&mut waits, true) {
                        self.forget_typed();
                    }
                    if let Some(question) = self.watcher.question(number) {
                        self.form.tell(&Event::Asked(question))?;
                    }
                }
                WatchEvent::Gone(question) => self.form.tell(&Event::Gone(question.number))?,
            }
        }
        Ok(())
    }

    /// At a terminal, discards input that was typed while no question was pending.
    fn forget_typed(&mut self) {
        if self.input.is_terminal() {
            let _ = tcflush(&self.input, FlushArg::TCIFLUSH);
            self.typed.clear();
        }
    }

    /// Reads the input and carries it out.
    fn listen(&mut self) -> io::Result<Next> {
        if !is_readable(&self.input) {
            return Ok(Next::GoOn);
        }
        let mut buffer = [0; 4096];
        let count = match self.input.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(Next::GoOn),
            // The terminal is gone.
            Err(_) | Ok(0) => {
                if self.typed.has_begun() {
                    note("ignoring the last line, which has no line end");
                }
                if !self.has_ordered {
                    self.watcher.leave();
                }
                return Ok(Next::End);
            }
            Ok(count) => count,
        };
        for line in self.typed.add(&buffer[..count]) {
            match line {
                Line::TooLong => note("ignoring a line that is too long"),
                Line::Whole(line) if self.obey(&line)? == Next::End => return Ok(Next::End),
                Line::Whole(_) => {}
            }
        }
        Ok(Next::GoOn)
    }

    fn obey(&mut self, line: &str) -> io::Result<Next> {
        self.has_ordered = true;
        match order::read(line) {
            Err(why) => note(&why),
            Ok(Order::Nothing) => {}
            Ok(Order::Help) => self.form.tell(&Event::Help(order::HELP))?,
            Ok(Order::Quit) => return Ok(Next::End),
            Ok(Order::List) => self.list()?,
            Ok(Order::Answer(number, line)) => self.answer(number, line)?,
            Ok(Order::Refuse(reason)) => {
                let numbers: Vec<u32> = self.watcher.questions().map(|question| question.number).collect();
                for number in numbers {
                    self.send(number, &self.said(Choice::No { all: false }, reason.clone()))?;
                }
            }
        }
        Ok(Next::GoOn)
    }

    fn list(&self) -> io::Result<()> {
        let mut is_empty = true;
        for question in self.watcher.questions() {
            is_empty = false;
            self.form.tell(&Event::Asked(question))?;
        }
        if is_empty {
            self.form.tell(&Event::Nothing)
        } else {
            Ok(())
        }
    }

    /// Handles an answer to one question.
    fn answer(&mut self, number: u32, line: &str) -> io::Result<()> {
        let Some(question) = self.watcher.question(number) else {
            note(&format!("there is no question {number}"));
            return Ok(());
        };
        let offer = AnswerChoices::of(&question.request);
        match offer.meaning(line) {
            LineMeaning::Answer(choice, reason) => self.send(number, &self.said(choice, reason)),
            LineMeaning::Details => self.form.tell(&Event::Details(question)),
            LineMeaning::Unclear => {
                let words = offer.shown().join(", ");
                note(&format!("{number}: {UNCLEAR} {words}"));
                Ok(())
            }
        }
    }

    fn said(&self, choice: Choice, reason: Option<String>) -> Answer {
        Answer {
            choice,
            by: self.by.clone(),
            reason,
        }
    }

    /// Answers one question, and with `no all` the other questions of the same run.
    fn send(&mut self, number: u32, answer: &Answer) -> io::Result<()> {
        let run = self
            .watcher
            .question(number)
            .map(|question| question.request.run.clone());
        match self.watcher.answer(number, answer) {
            Ok(question) => {
                self.form.tell(&Event::Answered(number, answer))?;
                if shown::is_last_there(&question, answer) {
                    note(&format!("{number}: {NO_MORE}"));
                }
            }
            Err(error) => note(&format!("{number}: {error}")),
        }
        let is_to_all = answer.choice == (Choice::No { all: true });
        match run
            .and_then(|run| next_of_run(&self.watcher, &run))
            .filter(|_| is_to_all)
        {
            Some(next) => self.send(next, answer),
            None => Ok(()),
        }
    }

    /// Reports the pending questions, which are refused when the socket closes.
    fn say_end(&self) -> io::Result<()> {
        for question in self.watcher.questions() {
            self.form.tell(&Event::Refused(question.number))?;
        }
        Ok(())
    }
}

fn is_readable(input: &File) -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let mut waiting = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
    poll(&mut waiting, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}
