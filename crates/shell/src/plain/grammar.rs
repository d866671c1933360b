//! The second parser: brush's grammar of bash. It must agree with the first one, or the line isn't plain.
//!
//! It gets only text that the first parser accepted: no nesting (it recurses), few tokens, small numbers before redirections
//! (it unwraps them), few quotes (it caches its results for the last 64 quoted words).

use std::ops::Range;

use brush_parser::ast::{AndOr, Command, CommandPrefixOrSuffixItem as Item, IoRedirect};
use brush_parser::ast::{IoFileRedirectKind as Kind, IoFileRedirectTarget as Target};
use brush_parser::ast::{Program, SeparatorOperator, SimpleCommand};
use brush_parser::word::{WordPiece, WordPieceWithSource};
use brush_parser::{ParserOptions, TokenizerOptions, parse_tokens, uncached_tokenize_str};

use super::read::Parts;
use super::scan::Why;
use super::{Operator, Part};

const DISAGREE: Why = "isn't read alike by two readers";

/// Parses `text` again and compares the results.
pub(super) fn check(text: &str, ours: &Parts, normalised: &str) -> Result<(), Why> {
    const MAX_ESCAPES: usize = 512;
    if text.bytes().filter(|byte| b"\\'\"".contains(byte)).count() > MAX_ESCAPES {
        return Err("has too many quotes");
    }
    // Trailing blanks would only make it look for more.
    let tokens = uncached_tokenize_str(text.trim_matches(['\n', ' ', '\t']), &TokenizerOptions::default());
    let tokens = tokens.or(Err(DISAGREE))?;
    let program = parse_tokens(&tokens, &ParserOptions::default()).or(Err(DISAGREE))?;
    let agrees = Reading::of(&program).is_some_and(|theirs| theirs.agrees(ours, normalised));
    if agrees { Ok(()) } else { Err(DISAGREE) }
}

/// The result of brush's parser.
#[derive(Default)]
struct Reading<'p> {
    commands: Vec<(Joint, Simple<'p>)>,
    ends_in_background: bool,
}

/// The operator that joins a command to the previous one.
#[derive(Clone, Copy, PartialEq)]
enum Joint {
    /// Brush doesn't distinguish `;` from a newline; their effect is the same.
    Sequence,
    Background,
    And,
    Or,
    Pipe,
    PipeBoth,
}

/// One simple command.
#[derive(Default)]
struct Simple<'p> {
    words: Vec<&'p str>,
    redirections: Vec<(String, &'p str)>,
    /// `|&` follows it.
    pipes_both: bool,
}

impl<'p> Reading<'p> {
    fn of(program: &'p Program) -> Option<Self> {
        let mut reading = Self::default();
        for item in program.complete_commands.iter().flat_map(|list| &list.0) {
            let joint = match reading.ends_in_background {
                true => Joint::Background,
                false => Joint::Sequence,
            };
            let list = &item.0;
            reading.pipeline(joint, &list.first)?;
            for further in &list.additional {
                match further {
                    AndOr::And(pipeline) => reading.pipeline(Joint::And, pipeline)?,
                    AndOr::Or(pipeline) => reading.pipeline(Joint::Or, pipeline)?,
                }
            }
            reading.ends_in_background = matches!(item.1, SeparatorOperator::Async);
        }
        Some(reading)
    }

    fn pipeline(&mut self, joint: Joint, pipeline: &'p brush_parser::ast::Pipeline) -> Option<()> {
        if pipeline.timed.is_some() || pipeline.bang {
            return None;
        }
        let mut joint = joint;
        for command in &pipeline.seq {
            let Command::Simple(command) = command else {
                return None;
            };
            let simple = Simple::of(command)?;
            let next = match simple.pipes_both {
                true => Joint::PipeBoth,
                false => Joint::Pipe,
            };
            self.commands.push((joint, simple));
            joint = next;
        }
        Some(())
    }

    fn agrees(&self, ours: &Parts, normalised: &str) -> bool {
        let mut pairs = self.commands.iter().zip(&ours.parts).enumerate();
        self.commands.len() == ours.parts.len()
            && self.ends_in_background == ours.ends_in_background
            && pairs.all(|(at, ((joint, simple), part))| {
                (at == 0 || part.follows.is_some_and(|operator| joint_of(operator) == *joint))
                    && simple.agrees(part, normalised)
            })
    }
}

fn joint_of(operator: Operator) -> Joint {
    match operator {
        Operator::Pipe => Joint::Pipe,
        Operator::PipeBoth => Joint::PipeBoth,
        Operator::And => Joint::And,
        Operator::Or => Joint::Or,
        Operator::Semicolon | Operator::Newline => Joint::Sequence,
        Operator::Background => Joint::Background,
    }
}

impl<'p> Simple<'p> {
    fn of(command: &'p SimpleCommand) -> Option<Self> {
        let mut simple = Self::default();
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                Item::IoRedirect(redirect) => simple.redirect(redirect)?,
                _ => return None,
            }
        }
        simple.words.push(&command.word_or_name.as_ref()?.value);
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                Item::IoRedirect(redirect) => simple.redirect(redirect)?,
                Item::Word(word) | Item::AssignmentWord(_, word) => simple.words.push(&word.value),
                Item::ProcessSubstitution(..) => return None,
            }
        }
        Some(simple)
    }

    fn redirect(&mut self, redirect: &'p IoRedirect) -> Option<()> {
        let (operator, target) = match redirect {
            // Added by brush for `|&`, always after everything else.
            IoRedirect::File(Some(2), Kind::DuplicateOutput, Target::Fd(1)) if !self.pipes_both => {
                self.pipes_both = true;
                return Some(());
            }
            IoRedirect::File(number, kind, Target::Filename(word) | Target::Duplicate(word)) => {
                let number = number.map(|number| number.to_string()).unwrap_or_default();
                (format!("{number}{kind}"), word)
            }
            IoRedirect::OutputAndError(word, true) => ("&>>".to_string(), word),
            IoRedirect::OutputAndError(word, false) => ("&>".to_string(), word),
            _ => return None,
        };
        self.redirections.push((operator, &target.value));
        Some(())
    }

    fn agrees(&self, part: &Part, normalised: &str) -> bool {
        let is_same = |raw: &str, value: &String, place: &Range<usize>| {
            let is_bare = !raw.contains(['\'', '"', '\\']);
            raw == &normalised[place.clone()] && (is_bare && raw == value || unquoted(raw).as_ref() == Some(value))
        };
        let mut words = self.words.iter().zip(part.words.iter().zip(&part.places));
        let mut redirections = self.redirections.iter().zip(&part.redirections);
        self.words.len() == part.words.len()
            && self.redirections.len() == part.redirections.len()
            && words.all(|(raw, (value, place))| is_same(raw, value, place))
            && redirections
                .all(|((operator, raw), ours)| *operator == ours.operator && is_same(raw, &ours.target, &ours.place))
    }
}

/// A word's value as brush parses its quotes; `None` if it finds anything but literal text.
fn unquoted(raw: &str) -> Option<String> {
    let pieces = brush_parser::word::parse(raw, &ParserOptions::default()).ok()?;
    let mut value = String::with_capacity(raw.len());
    push_pieces(&pieces, &mut value, 2)?;
    Some(value)
}

/// Quotes hold no quotes: `depth` says how deep pieces may still lie in one another.
fn push_pieces(pieces: &[WordPieceWithSource], value: &mut String, depth: usize) -> Option<()> {
    for piece in pieces {
        match &piece.piece {
            WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => value.push_str(text),
            WordPiece::EscapeSequence(escape) => value.push_str(escape.strip_prefix('\\')?),
            WordPiece::DoubleQuotedSequence(inner) => push_pieces(inner, value, depth.checked_sub(1)?)?,
            _ => return None,
        }
    }
    Some(())
}
