//! Prints questions and what becomes of them: plain lines for people, or lines of JSON for programs.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::Instant;

use serde::Serialize;

use super::shown;
use crate::approve::grammar::Offer;
use crate::approve::socket::Question;
use crate::approve::{Answer, EscalationRequest};
use crate::profile::visible;
use crate::sys::terminal;
use crate::visible::fit;

/// One thing that is told.
pub enum Event<'a> {
    /// A question came, or is shown once more.
    Asked(&'a Question),
    /// Somebody wants to know more about it.
    Details(&'a Question),
    /// It was answered here.
    Answered(u32, &'a Answer),
    /// It isn't asked any more.
    Gone(u32),
    /// The watcher ended before it was answered.
    Refused(u32),
    /// Nothing waits.
    Nothing,
    /// How to answer.
    Help(&'a str),
}

/// How it is told.
#[derive(Clone, Copy)]
pub struct Form {
    /// One object a line.
    pub json: bool,
}

/// An event as JSON. What only helps a reader isn't one.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Told<'a> {
    Asked {
        number: u32,
        request: &'a EscalationRequest,
        /// The words that answer it.
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

impl Form {
    /// Tells it on standard output at once: a program reads line by line.
    pub fn tell(self, event: &Event<'_>) -> io::Result<()> {
        match self.json {
            true => tell_program(event),
            false => tell_person(event),
        }
    }
}

fn tell_program(event: &Event<'_>) -> io::Result<()> {
    let offer;
    let told = match *event {
        Event::Asked(question) | Event::Details(question) => Told::Asked {
            number: question.number,
            request: &question.request,
            answers: {
                offer = Offer::of(&question.request);
                offer.words()
            },
            left_ms: question.deadline.saturating_duration_since(Instant::now()).as_millis(),
        },
        Event::Answered(number, answer) => Told::Answered { number, answer },
        Event::Gone(number) => Told::Gone { number },
        Event::Refused(number) => Told::Refused { number },
        Event::Nothing | Event::Help(_) => return Ok(()),
    };
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, &told)?;
    writeln!(out)?;
    out.flush()
}

fn tell_person(event: &Event<'_>) -> io::Result<()> {
    match *event {
        Event::Asked(question) => print_question(question),
        Event::Details(question) => {
            print_question(question)?;
            let details = shown::details(question);
            details.iter().try_for_each(|line| print(&format!("   {line}")))
        }
        Event::Answered(number, answer) => print(&format!("{number}: {}", visible(&shown::summary(answer)))),
        Event::Gone(number) => print(&format!("{number}: isn't asked any more")),
        Event::Refused(number) => print(&format!(
            "{number}: refused, no `stockade approvals` is watching any more"
        )),
        Event::Nothing => print("nothing waits"),
        Event::Help(text) => print(text),
    }
}

fn print_question(question: &Question) -> io::Result<()> {
    let request = &question.request;
    print(&format!("{}: {}", question.number, shown::wanted(request, shown::LINE)))?;
    print(&format!("   {}", shown::run(request)))?;
    for line in shown::question(question) {
        print(&format!("   {line}"))?;
    }
    print(&format!("   {}", shown::answers(question)))
}

/// On a terminal no row begins with a text from a run.
fn print(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match terminal::size(out.as_fd()) {
        Ok((columns, _)) if columns > 0 => writeln!(out, "{}", fit::broken(line, columns.into()))?,
        _ => writeln!(out, "{line}")?,
    }
    out.flush()
}
