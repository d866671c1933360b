//! Asks the person at the terminal about something that Stockade is about to write.

use std::io::{self, IsTerminal, Write};

use nix::sys::termios::{FlushArg, tcflush};

use super::REFUSED;
use super::message::{Failure, note};
use stockade_report::approve::Choice;
use stockade_report::approve::grammar::{AnswerChoices, LineMeaning, UNCLEAR};
use stockade_text::visible::style::{Ink, Style};

/// The longest line of a terminal.
const MAX_LINE: usize = 4096;

/// Asks until there is an answer; `details` shows more.
///
/// # Errors
/// Standard input can't be read.
pub fn agreed(question: &str, details: &dyn Fn()) -> Result<bool, Failure> {
    let stdin = io::stdin();
    loop {
        match ask(&stdin, question).map_err(|error| Failure::new(REFUSED, &error))? {
            LineMeaning::Answer(choice, _) => return Ok(matches!(choice, Choice::Yes { .. })),
            LineMeaning::Details => details(),
            LineMeaning::Unclear => note(UNCLEAR),
        }
    }
}

/// Whether a person can be asked.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Reads one line from the person. Input typed before the question doesn't answer it, and end of input is a no.
fn ask(stdin: &io::Stdin, question: &str) -> io::Result<LineMeaning> {
    let _ = tcflush(stdin, FlushArg::TCIFLUSH);
    let offer = AnswerChoices::whether();
    let question = Ink::here().styled(Style::Asked, question);
    let _ = write!(io::stderr().lock(), "{question} {}? ", offer.shown().join(", "));
    // Bypasses the buffer of `Stdin`, which would keep input beyond the answer.
    let mut line = [0; MAX_LINE];
    match nix::unistd::read(stdin, &mut line)? {
        0 => Ok(LineMeaning::Answer(Choice::No { all: false }, None)),
        length => Ok(offer.meaning(&String::from_utf8_lossy(&line[..length]))),
    }
}
