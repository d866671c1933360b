//! Lines of simple commands: what they are taken apart into.

mod grammar;
mod normalise;
mod read;
mod scan;

pub use normalise::{normalise, outside_quotes};
pub use read::read;

use std::ops::Range;

/// What a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Simple commands of literal words.
    Plain(Plain),
    /// Anything else: the text alone doesn't say what it will do.
    NotPlain(NotPlain),
}

/// A line of simple commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// The text, trimmed, its runs of blanks made one.
    pub normalised: String,
    /// The commands in their order; at least one.
    pub parts: Vec<Part>,
    /// Where operators, redirections and newlines stand in `normalised`, in their order.
    pub operators: Vec<Range<usize>>,
}

/// One simple command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The values of its words, without quotes; at least one. The first is as it was typed: `/bin/ls` isn't `ls`.
    pub words: Vec<String>,
    /// Where its words stand in the normalised line.
    pub places: Vec<Range<usize>>,
    /// Its text as in the normalised line, without redirections.
    pub text: String,
    /// Where its input and output go, in their order.
    pub redirections: Vec<Redirection>,
    /// The operator before it; `None` for the first.
    pub follows: Option<Operator>,
}

/// What stands between two commands, or behind the last.
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
    /// A new line.
    Newline,
}

/// Where a command's input or output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// As it stands there, with the descriptor's number: `>`, `2>>`, `&>`, `2>&`.
    pub operator: String,
    /// The value of the word behind it: a file, or the number of a descriptor behind `>&`.
    pub target: String,
    /// Where that word stands in the normalised line.
    pub place: Range<usize>,
}

impl Part {
    /// Where its words stand in its own text.
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
    /// Whether it only joins two of the command's own outputs, as `2>&1` does, and opens nothing.
    #[must_use]
    pub fn opens_nothing(&self) -> bool {
        self.operator.ends_with(">&") && matches!(self.target.as_str(), "1" | "2")
    }
}

/// A line that isn't plain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotPlain {
    /// Why, for a person: the end of a sentence that begins with "it". Never holds text of the line.
    pub why: &'static str,
    /// The text, trimmed, its runs of blanks made one as far as quotes can be told. Not escaped, not bounded.
    pub normalised: String,
}
