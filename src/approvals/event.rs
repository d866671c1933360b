//! Prints questions and their outcomes: plain lines for people, or lines of JSON for programs.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::Instant;

use serde::Serialize;

use super::ending::Signals;
use super::shown;
use stockade_policy::profile::visible;
use stockade_report::approve::grammar::AnswerChoices;
use stockade_report::approve::socket::WaitingQuestion;
use stockade_report::approve::{Answer, EscalationRequest};
use stockade_sys::terminal;
use stockade_text::visible::{fit, visible_json};

/// One event to print.
pub enum Event<'a> {
    /// A question arrived, or is shown again.
    Asked(&'a WaitingQuestion),
    /// Details of a question were requested.
    Details(&'a WaitingQuestion),
    /// The question was answered here.
    Answered(u32, &'a Answer),
    /// The question is no longer pending.
    Gone(u32),
    /// The watcher ended before the question was answered.
    Refused(u32),
    /// No question is pending.
    Nothing,
    /// How to answer.
    Help(&'a str),
}

/// The output format.
#[derive(Clone, Copy)]
pub struct Form<'a> {
    /// One object a line.
    json: bool,
    /// Signals that end a wait for a reader that takes nothing.
    signals: &'a Signals,
}

/// An event as JSON. Help for people has no JSON form.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Told<'a> {
    Asked {
        number: u32,
        request: &'a EscalationRequest,
        /// The accepted answers.
        answers: Vec<&'a str>,
        /// Milliseconds until the run stops waiting.
        left_ms: u128,
    },
    Answered {
        number: u32,
        #[serde(flatten)]
        answer: &'a Answer,
    },
    Gone {
        number: u32,
    },
    Refused {
        number: u32,
    },
}

impl<'a> Form<'a> {
    /// Selects lines of JSON, or text for people.
    pub fn new(json: bool, signals: &'a Signals) -> Form<'a> {
        Form { json, signals }
    }

    /// Prints an event to standard output and flushes it: a program reads line by line.
    pub fn tell(self, event: &Event<'_>) -> io::Result<()> {
        match self.json {
            true => self.tell_program(event),
            false => self.tell_person(event),
        }
    }

    fn tell_program(self, event: &Event<'_>) -> io::Result<()> {
        let offer;
        let told = match *event {
            Event::Asked(question) | Event::Details(question) => Told::Asked {
                number: question.number,
                request: &question.request,
                answers: {
                    offer = AnswerChoices::of(&question.request);
                    offer.words()
                },
                left_ms: question.deadline.saturating_duration_since(Instant::now()).as_millis(),
            },
            Event::Answered(number, answer) => Told::Answered { number, answer },
            Event::Gone(number) => Told::Gone { number },
            Event::Refused(number) => Told::Refused { number },
            Event::Nothing | Event::Help(_) => return Ok(()),
        };
        self.put(&format!("{}\n", visible_json(&serde_json::to_string(&told)?)))
    }

    fn tell_person(self, event: &Event<'_>) -> io::Result<()> {
        match *event {
            Event::Asked(question) => self.print_question(question),
            Event::Details(question) => {
                self.print_question(question)?;
                let details = shown::details(question);
                details.iter().try_for_each(|line| self.print(&format!("   {line}")))
            }
            Event::Answered(number, answer) => self.print(&format!("{number}: {}", visible(&shown::summary(answer)))),
            Event::Gone(number) => self.print(&format!("{number}: isn't asked any more")),
            Event::Refused(number) => self.print(&format!(
                "{number}: refused, no `stockade approvals` is watching any more"
            )),
            Event::Nothing => self.print("nothing waits"),
            Event::Help(text) => self.print(text),
        }
    }

    fn print_question(self, question: &WaitingQuestion) -> io::Result<()> {
        let request = &question.request;
        self.print(&format!("{}: {}", question.number, shown::wanted(request, shown::LINE)))?;
        self.print(&format!("   {}", shown::run(request)))?;
        for line in shown::question(question) {
            self.print(&format!("   {line}"))?;
        }
        self.print(&format!("   {}", shown::answers(question)))
    }

    /// Prints a line; on a terminal no row begins with text from a run.
    fn print(self, line: &str) -> io::Result<()> {
        match terminal::size(io::stdout().as_fd()) {
            Ok((columns, _)) if columns > 0 => self.put(&format!("{}\n", fit::broken(line, columns.into()))),
            _ => self.put(&format!("{line}\n")),
        }
    }

    /// Writes no more at once than a pipe with room takes without waiting (PIPE_BUF of pipe(7)).
    fn put(self, text: &str) -> io::Result<()> {
        for piece in text.as_bytes().chunks(libc::PIPE_BUF) {
            let mut out = io::stdout().lock();
            self.signals.wait_for_room(out.as_fd())?;
            out.write_all(piece)?;
            out.flush()?;
        }
        Ok(())
    }
}
