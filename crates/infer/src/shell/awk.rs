//! awk(1): its program may read and write files and start commands.

use std::collections::HashMap;

use super::program::arguments;
use crate::finding::{Act, Opaque};
use crate::text::{PART, Text};

/// Returns the acts of awk with these words.
pub(super) fn acts(words: &[Text]) -> Vec<Act> {
    let arguments = arguments("awk", words);
    let files: Vec<Text> = arguments.values(&["-f", "--file", "-E", "--exec"]).cloned().collect();
    let included = arguments.values(&["-i", "--include", "-l", "--load"]);
    let (in_place, included): (Vec<&Text>, Vec<&Text>) = included.partition(|name| name.exact() == Some("inplace"));
    let others = files.iter().chain(included);
    let mut acts: Vec<Act> = others
        .map(|file| Act::Opaque(Opaque::OtherFile(file.shown())))
        .collect();
    let mut programs: Vec<&Text> = arguments.values(&["-e", "--source"]).collect();
    let mut operands = &arguments.operands[..];
    if files.is_empty()
        && programs.is_empty()
        && let Some((first, rest)) = operands.split_first()
    {
        programs.push(first);
        operands = rest;
    }
    acts.extend(files.into_iter().map(Act::Read));
    for program in programs {
        match program.is_unknown() {
            true => acts.push(Act::Opaque(Opaque::BuiltCode)),
            false => Program::of(program, arguments.values(&["-v", "--assign"])).read(&mut acts),
        }
    }
    // `name=value` sets a variable of the awk program.
    let is_path = |word: &&Text| match word.prefix().split_once('=') {
        Some((name, _)) => name.contains('/'),
        None => true,
    };
    for path in operands.iter().filter(is_path) {
        acts.push(Act::Read(path.clone()));
        if !in_place.is_empty() {
            acts.push(Act::Write(path.clone()));
        }
    }
    acts
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Text(Text),
    Regex,
    Number,
    /// An unknown part, outside of strings.
    Part,
    Sign(&'static str),
}

/// Operators and punctuation, longer ones first.
const SIGNS: &[&str] = &[
    "|&", "||", "&&", ">>", ">=", "<=", "==", "!=", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "|", ">",
    "<", "=", "(", ")", "[", "]", "{", "}", ";", "\n", ",", "+", "-", "*", "/", "%", "^", "!", "~", "?", ":", "$", "@",
];

/// An awk program as tokens, and the known values of its variables.
struct Program {
    tokens: Vec<Token>,
    variables: HashMap<String, Text>,
}

impl Program {
    /// Maximum number of tokens that are examined; people write about a hundred.
    const MAX: usize = 4096;

    fn of<'t>(text: &Text, assigned: impl Iterator<Item = &'t Text>) -> Program {
        let tokens = tokens(&text.marked());
        let mut variables = HashMap::new();
        for word in assigned {
            if let Some((name, _)) = word.prefix().split_once('=') {
                variables.insert(name.to_string(), word.without_prefix(name.len() + 1));
            }
        }
        let mut program = Program { tokens, variables };
        program.assignments();
        program
    }

    /// Records the values of variables that are assigned once.
    fn assignments(&mut self) {
        let mut given: HashMap<String, Option<Text>> = HashMap::new();
        for at in 1..self.tokens.len() {
            let (Token::Name(name), Token::Sign("=")) = (&self.tokens[at - 1], &self.tokens[at]) else {
                continue;
            };
            let value = self.text(&self.tokens[at + 1..self.end(at + 1)]);
            given
                .entry(name.clone())
                .and_modify(|before| *before = None)
                .or_insert(Some(value));
        }
        for (name, value) in given {
            let value = match self.variables.contains_key(&name) {
                true => None,
                false => value,
            };
            self.variables.insert(name, value.unwrap_or_else(Text::unknown));
        }
    }

    fn sign(&self, at: usize) -> &'static str {
        match self.tokens.get(at) {
            Some(Token::Sign(sign)) => sign,
            _ => "",
        }
    }

    /// The end of the expression that begins at `from`.
    fn end(&self, from: usize) -> usize {
        let mut depth = 0usize;
        for at in from..self.tokens.len() {
            match self.sign(at) {
                "(" | "[" => depth += 1,
                ")" | "]" if depth > 0 => depth -= 1,
                ")" | "]" | "}" | ";" | "\n" | "," | "|" | "|&" if depth == 0 => return at,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// Concatenates strings and variables; the result of any other computation is unknown.
    fn text(&self, tokens: &[Token]) -> Text {
        let mut whole = Text::from("");
        for (at, token) in tokens.iter().enumerate() {
            let is_index = matches!(tokens.get(at + 1), Some(Token::Sign("[" | "(")));
            let part = match token {
                Token::Text(text) => text.clone(),
                Token::Name(name) if !is_index => self.variables.get(name).cloned().unwrap_or_else(Text::unknown),
                Token::Name(_) | Token::Regex | Token::Number | Token::Part => Text::unknown(),
                Token::Sign("(" | ")" | "$") => continue,
                Token::Sign(_) => return Text::unknown(),
            };
            whole = whole.then(&part);
        }
        whole
    }

    fn read(&self, acts: &mut Vec<Act>) {
        if self.tokens.len() >= Program::MAX {
            return acts.push(Act::Opaque(Opaque::TooMuch("a long program for awk")));
        }
        let mut depth = 0usize;
        // Within a `print`: its nesting depth.
        let mut printing: Option<usize> = None;
        for (at, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Name(name) => match name.as_str() {
                    "print" | "printf" => printing = Some(depth),
                    "system" if self.sign(at + 1) == "(" => acts.push(started(self.argument(at + 2))),
                    "getline" => acts.extend(self.got(at)),
                    "ENVIRON" => acts.push(Act::Variable(self.index(at + 1))),
                    _ => {}
                },
                Token::Sign("@") => acts.push(Act::Opaque(Opaque::OtherFile("@include".into()))),
                Token::Sign("(" | "[") => depth += 1,
                Token::Sign(")" | "]") => depth = depth.saturating_sub(1),
                Token::Sign(";" | "\n" | "{" | "}") => printing = None,
                Token::Sign(sign @ (">" | ">>" | "|" | "|&")) if printing == Some(depth) => {
                    let target = self.argument(at + 1);
                    acts.push(match *sign {
                        ">" | ">>" => Act::Write(target),
                        _ => started(target),
                    });
                    printing = None;
                }
                Token::Part => acts.push(Act::Opaque(Opaque::BuiltCode)),
                _ => {}
            }
        }
    }

    fn argument(&self, from: usize) -> Text {
        self.text(&self.tokens[from.min(self.tokens.len())..self.end(from)])
    }

    /// The index in `["NAME"]`.
    fn index(&self, at: usize) -> Text {
        match self.sign(at) {
            "[" => self.argument(at + 1),
            _ => Text::unknown(),
        }
    }

    /// `getline < file`, `command | getline`; a plain `getline` reads awk's regular input.
    fn got(&self, at: usize) -> Option<Act> {
        if at > 0 && matches!(self.sign(at - 1), "|" | "|&") {
            let ends = |token: &Token| !matches!(token, Token::Text(_) | Token::Name(_) | Token::Number);
            let from = self.tokens[..at - 1]
                .iter()
                .rposition(ends)
                .map_or(0, |before| before + 1);
            let words = &self.tokens[from..at - 1];
            return Some(started(match words {
                [] => Text::unknown(),
                words => self.text(words),
            }));
        }
        let mut next = at + 1;
        while matches!(self.tokens.get(next), Some(Token::Name(_) | Token::Number)) || self.sign(next) == "$" {
            next += 1;
        }
        if self.sign(next) == "[" {
            next = self.end(next + 1) + 1;
        }
        if self.sign(next) != "<" {
            return None;
        }
        let file = match self.sign(next + 1) {
            "(" => self.argument(next + 2),
            _ => self.text(self.tokens.get(next + 1..next + 2).unwrap_or_default()),
        };
        Some(Act::Read(file))
    }
}

/// A command line that awk passes to a shell.
fn started(line: Text) -> Act {
    match line.is_unknown() {
        true => Act::Opaque(Opaque::BuiltCode),
        false => Act::Shell(line),
    }
}

fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(letter) = rest.chars().next().filter(|_| tokens.len() < Program::MAX) {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = match letter {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '\\' if rest.starts_with("\\\n") => 2,
            '"' => {
                let (text, length) = quoted(rest);
                tokens.push(Token::Text(text));
                length
            }
            '/' if begins_regex(tokens.last()) => {
                tokens.push(Token::Regex);
                regex(rest)
            }
            PART => {
                tokens.push(Token::Part);
                1
            }
            letter if is_name(letter) => {
                let length = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
                tokens.push(match letter.is_ascii_digit() {
                    true => Token::Number,
                    false => Token::Name(rest[..length].to_string()),
                });
                length
            }
            letter => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => {
                    tokens.push(Token::Sign(sign));
                    sign.len()
                }
                None => letter.len_utf8(),
            },
        };
        rest = &rest[length..];
    }
    tokens
}

/// A quoted string, and its length with the quotes.
fn quoted(source: &str) -> (Text, usize) {
    let (mut whole, mut known, mut is_escaped) = (Text::from(""), String::new(), false);
    for (at, letter) in source.char_indices().skip(1) {
        match (letter, is_escaped) {
            ('"', false) => return (whole.then(&known.into()), at + 1),
            ('\\', false) => is_escaped = true,
            (PART, _) => {
                whole = whole.then(&std::mem::take(&mut known).into()).then(&Text::unknown());
            }
            (letter, escaped) => {
                known.push(match (letter, escaped) {
                    ('n', true) => '\n',
                    ('t', true) => '\t',
                    (letter, _) => letter,
                });
                is_escaped = false;
            }
        }
    }
    (Text::unknown(), source.len())
}

/// Whether a `/` begins a regular expression: after a value it is a division.
fn begins_regex(before: Option<&Token>) -> bool {
    !matches!(
        before,
        Some(Token::Name(_) | Token::Text(_) | Token::Number | Token::Part | Token::Sign(")" | "]"))
    )
}

/// The length of a regular expression.
fn regex(source: &str) -> usize {
    let (mut is_escaped, mut is_class) = (false, false);
    for (at, letter) in source.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_class = true,
            ']' => is_class = false,
            '/' if !is_class => return at + 1,
            '\n' => return at,
            _ => {}
        }
    }
    source.len()
}
