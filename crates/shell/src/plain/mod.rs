//! Lines of simple commands and their parsed form.

mod grammar;
mod normalise;
mod read;
mod scan;

pub use normalise::{normalise, outside_quotes};
pub use read::read;

use std::ops::Range;

/// The result of reading a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Simple commands of literal words.
    Plain(Plain),
    /// Anything else: the text alone doesn't determine its effect.
    NotPlain(NotPlain),
}

/// A line of simple commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// The trimmed text, with each run of blanks reduced to one.
    pub normalised: String,
    /// The commands in order; at least one.
    pub parts: Vec<Part>,
    /// The ranges of operators, redirections and newlines in `normalised`, in order.
    pub operators: Vec<Range<usize>>,
}

/// One simple command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The values of its words, unquoted; at least one. The first is as typed: `/bin/ls` isn't `ls`.
    pub words: Vec<String>,
    /// The ranges of its words in the normalised line.
    pub places: Vec<Range<usize>>,
    /// Its text as in the normalised line, without redirections.
    pub text: String,
    /// Its redirections, in order.
    pub redirections: Vec<Redirection>,
    /// The operator before it; `None` for the first.
    pub follows: Option<Operator>,
}

/// The operator between two commands, or after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `|`
    Pipe,
    /// `|&`
    PipeBoth,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;`
    Semicolon,
    /// `&`
    Background,
    /// A newline.
    Newline,
}

/// A redirection of a command's input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The operator as written, with the descriptor number: `>`, `2>>`, `&>`, `2>&`.
    pub operator: String,
    /// The value of the word after it: a file, or a descriptor number after `>&`.
    pub target: String,
    /// The range of that word in the normalised line.
    pub place: Range<usize>,
}

impl Part {
    /// The ranges of its words in its own text.
    pub fn places_in_text(&self) -> impl Iterator<Item = Range<usize>> {
        let mut at = 0;
        self.places.iter().map(move |place| {
            let start = at;
            at += place.len() + 1;
            start..start + place.len()
        })
    }
}

impl Redirection {
    /// Whether it only joins two of the command's outputs, as `2>&1` does, or throws one away, and opens no file.
    #[must_use]
    pub fn opens_nothing(&self) -> bool {
        match self.operator.ends_with(">&") {
            true => matches!(self.target.as_str(), "1" | "2"),
            false => self.target == "/dev/null",
        }
    }
}

/// A line that isn't plain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotPlain {
    /// The reason for a person: the end of a sentence that begins with "it". Never contains text of the line.
    pub why: &'static str,
    /// The trimmed text, with runs of blanks reduced to one as far as quotes can be parsed. Not escaped, not bounded.
    pub normalised: String,
}
