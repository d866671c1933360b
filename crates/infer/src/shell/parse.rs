//! Parses text into brush's syntax tree, within bounds.
//!
//! Brush's tokenizer recurses at `$(`, `${` and backticks, its grammar at every compound command; it parses the last item
//! of a `case` twice, each time with everything in it, and unwraps numbers before redirections. So excessive depth, nested
//! `case`s and overlong numbers are refused before brush sees them. `expand` parses words: brush parses a substitution in
//! quotes twice at every depth.

use brush_parser::ast::Program;
use brush_parser::{ParseError, ParserOptions, Token, TokenizerOptions, parse_tokens, uncached_tokenize_str};

use crate::finding::Opaque;

/// A syntax tree, and the byte offsets of its characters.
pub(super) struct Parsed {
    pub program: Program,
    pub offsets: Offsets,
}

/// Parses a text.
pub(super) fn parse(text: &str) -> Result<Parsed, Opaque> {
    check_nesting(text)?;
    let mut tokens = uncached_tokenize_str(text, &TokenizerOptions::default())
        .map_err(|error| Opaque::Unparsed(placed(&error.to_string(), None, text)))?;
    check_tokens(&tokens)?;
    select_as_for(&mut tokens);
    let program = parse_tokens(&tokens, &ParserOptions::default()).map_err(|error| {
        let place = match &error {
            ParseError::ParsingNear(place) => Some((place.line, place.column)),
            _ => None,
        };
        Opaque::Unparsed(placed("syntax error", place, text))
    })?;
    Ok(Parsed {
        program,
        offsets: Offsets::of(text),
    })
}

fn placed(message: &str, place: Option<(usize, usize)>, text: &str) -> String {
    let (line, column) = place.unwrap_or_else(|| (text.lines().count().max(1), 1));
    format!("{line}:{column} {message}")
}

/// Rewrites `select`, which brush doesn't support, as `for`.
fn select_as_for(tokens: &mut [Token]) {
    for at in 0..tokens.len() {
        if tokens[at].to_str() == "select"
            && begins_command(tokens, at)
            && let Token::Word(word, _) = &mut tokens[at]
        {
            *word = "for".into();
        }
    }
}

/// Bounds the nesting of brackets, regardless of quotes, and the count of openings, in case quotes hide their ends.
fn check_nesting(text: &str) -> Result<(), Opaque> {
    const MAX_DEPTH: usize = 64;
    const MAX: usize = 2000;
    let (mut depth, mut openings, mut before) = (0usize, 0usize, b' ');
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' | b'[' => {
                depth += 1;
                openings += usize::from(matches!(before, b'$' | b'<' | b'>' | b'('));
            }
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            b'`' => openings += 1,
            _ => {}
        }
        if depth > MAX_DEPTH || openings > MAX {
            return Err(Opaque::TooMuch("brackets too deep in one another"));
        }
        before = byte;
    }
    Ok(())
}

/// Bounds the nesting of compound commands; a word that only looks like a keyword counts too.
fn check_tokens(tokens: &[Token]) -> Result<(), Opaque> {
    const MAX_DEPTH: usize = 40;
    const MAX_CASES: usize = 8;
    const MAX_NUMBER: usize = 9;
    let mut open: Vec<&str> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let text = token.to_str();
        let is_word = matches!(token, Token::Word(..));
        if is_word && text.len() > MAX_NUMBER && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let is_redirection =
                matches!(tokens.get(at + 1), Some(Token::Operator(next, _)) if next.starts_with(['<', '>']));
            if is_redirection {
                return Err(Opaque::TooMuch("a number before a redirection that is too long"));
            }
        }
        let end = match text {
            "(" if !is_word => ")",
            "{" if is_word => "}",
            "if" if begins_command(tokens, at) => "fi",
            "case" if begins_command(tokens, at) => "esac",
            "for" | "while" | "until" | "select" if begins_command(tokens, at) => "done",
            _ => {
                if open.last() == Some(&text) {
                    open.pop();
                }
                continue;
            }
        };
        open.push(end);
        let cases = open.iter().filter(|end| **end == "esac").count();
        if open.len() > MAX_DEPTH || cases > MAX_CASES {
            return Err(Opaque::TooMuch("commands too deep in one another"));
        }
    }
    Ok(())
}

fn begins_command(tokens: &[Token], at: usize) -> bool {
    const BEFORE: &[&str] = &[
        "!", "{", "do", "elif", "else", "if", "then", "until", "while", "time", "-p", "coproc", "in",
    ];
    let is_before = |back: usize, words: &[&str]| match at.checked_sub(back).and_then(|at| tokens.get(at)) {
        None => back == 1,
        Some(Token::Operator(..)) => back == 1,
        Some(Token::Word(word, _)) => words.contains(&word.as_str()),
    };
    is_before(1, BEFORE) || is_before(2, &["coproc", "function"])
}

/// Byte offsets of characters.
pub(super) struct Offsets(Option<Vec<usize>>);

impl Offsets {
    fn of(text: &str) -> Offsets {
        Offsets((!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).collect()))
    }

    /// The byte offset of a character.
    pub fn byte(&self, character: usize) -> usize {
        match &self.0 {
            Some(offsets) => offsets.get(character).or(offsets.last()).copied().unwrap_or(0),
            None => character,
        }
    }
}
