//! The first parser: splits the plain subset into words and operators, and rejects everything else.
//!
//! Accepts only text that POSIX shells, bash and zsh parse alike. The error tells a person the reason, without any text of
//! the line.

use std::ops::Range;

use super::Operator;

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    Operator(Operator),
    /// With its descriptor number.
    Redirection,
}

/// A literal word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The value without quotes.
    pub value: String,
    /// It has no quotes and no backslashes.
    pub is_bare: bool,
    /// It has an unquoted `*`, `?` or `[`.
    pub is_glob: bool,
}

/// The reason why a text isn't plain.
pub(super) type Why = &'static str;

/// A line of more tokens isn't parsed: later steps take time and memory for each.
const MAX_TOKENS: usize = 2048;

/// The tokens of a normalised text with their ranges.
pub(super) fn scan(text: &str) -> Result<Vec<(Token, Range<usize>)>, Why> {
    let mut scanner = Scanner { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        scanner.skip_blanks();
        let start = scanner.at;
        let Some(c) = scanner.peek() else {
            return Ok(tokens);
        };
        let token = match c {
            '\n' | ';' | '&' | '|' | '<' | '>' => scanner.operator()?,
            _ => scanner.word_or_descriptor()?,
        };
        tokens.push((token, start..scanner.at));
        if tokens.len() > MAX_TOKENS {
            return Err("has too many words");
        }
    }
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().bytes().take_while(|byte| b" \t".contains(byte)).count();
    }

    /// The longest operator at this position.
    fn operator(&mut self) -> Result<Token, Why> {
        // Longer operators come before their prefixes.
        const OPERATORS: &[(&str, Result<Token, Why>)] = &[
            ("&&", Ok(Token::Operator(Operator::And))),
            ("&>>", Ok(Token::Redirection)),
            ("&>", Ok(Token::Redirection)),
            ("&", Ok(Token::Operator(Operator::Background))),
            ("||", Ok(Token::Operator(Operator::Or))),
            ("|&", Ok(Token::Operator(Operator::PipeBoth))),
            ("|", Ok(Token::Operator(Operator::Pipe))),
            (";;", Err("has an operator of `case`")),
            (";&", Err("has an operator of `case`")),
            (";", Ok(Token::Operator(Operator::Semicolon))),
            ("<<", Err("has a here-document")),
            ("<&", Err("copies a descriptor for reading")),
            ("<>", Err("opens a file for reading and writing")),
            ("<(", Err("has a process substitution")),
            ("<", Ok(Token::Redirection)),
            (">>", Ok(Token::Redirection)),
            (">&", Ok(Token::Redirection)),
            (">|", Err("overwrites a file against `noclobber`")),
            (">(", Err("has a process substitution")),
            (">", Ok(Token::Redirection)),
        ];
        if self.rest().starts_with('\n') {
            // Blanks and further newlines after a newline change nothing.
            let run = self.rest().bytes().take_while(u8::is_ascii_whitespace).count();
            self.at += self.rest()[..run].trim_end_matches(' ').len();
            return Ok(Token::Operator(Operator::Newline));
        }
        let found = OPERATORS.iter().find(|(text, _)| self.rest().starts_with(text));
        let (text, token) = found.ok_or("has an unknown operator")?;
        self.at += text.len();
        token.clone()
    }

    /// A word; or a redirection with its descriptor number, if a number stands directly before one.
    fn word_or_descriptor(&mut self) -> Result<Token, Why> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = &self.rest()[..digits];
        let behind = self.rest()[digits..].chars().next();
        if digits > 0 && matches!(behind, Some('<' | '>')) {
            let is_usual = matches!((number, behind), ("1" | "2", Some('>')) | ("0", Some('<')));
            if !is_usual {
                return Err("redirects an unusual descriptor");
            }
            self.at += digits;
            return self.operator();
        }
        self.word().map(Token::Word)
    }

    fn word(&mut self) -> Result<Word, Why> {
        let start = self.at;
        let mut word = Word {
            value: String::new(),
            is_bare: true,
            is_glob: false,
        };
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' => break,
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => self.escaped(&mut word)?,
                '{' => self.braced(&mut word)?,
                _ => {
                    self.check_bare(c, start)?;
                    word.is_glob |= matches!(c, '*' | '?' | '[');
                    word.value.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        Ok(word)
    }

    /// Rejects characters that a shell expands or interprets.
    fn check_bare(&self, c: char, start: usize) -> Result<(), Why> {
        let before = self.text[start..self.at].chars().next_back();
        let after = self.rest()[c.len_utf8()..].chars().next();
        match c {
            '$' | '`' => Err("expands something"),
            '(' | ')' => Err("has parentheses"),
            '}' => Err("has braces"),
            '#' if before.is_none() => Err("has a comment"),
            '~' if matches!(before, None | Some('=' | ':')) => Err("names a home directory by `~`"),
            // zsh replaces `=ls` by the program's path, and `^` begins a correction of the last line.
            '=' | '^' if before.is_none() => Err("has a word that some shells expand"),
            '!' if !matches!(after, None | Some(' ' | '=' | '\n')) => Err("may name an earlier line by `!`"),
            _ => Ok(()),
        }
    }

    fn single_quoted(&mut self, word: &mut Word) -> Result<(), Why> {
        let inner = &self.rest()[1..];
        let end = inner.find('\'').ok_or("has a quote without end")?;
        word.value.push_str(&inner[..end]);
        word.is_bare = false;
        self.at += end + 2;
        Ok(())
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), Why> {
        word.is_bare = false;
        self.at += 1;
        loop {
            let mut chars = self.rest().chars();
            let c = chars.next().ok_or("has a quote without end")?;
            let after = chars.next();
            self.at += c.len_utf8();
            match (c, after) {
                ('"', _) => return Ok(()),
                ('\\', None | Some('\n')) => return Err("goes on behind a backslash"),
                // Only these lose their backslash; before others it is text.
                ('\\', Some(escaped @ ('$' | '`' | '"' | '\\'))) => {
                    word.value.push(escaped);
                    self.at += 1;
                }
                ('\\', Some(other)) => {
                    word.value.extend(['\\', other]);
                    self.at += other.len_utf8();
                }
                // The end of a regular expression.
                ('$', Some('"' | ' ' | '|')) => word.value.push('$'),
                ('$' | '`', _) => return Err("expands something"),
                ('!', after) if !matches!(after, Some(' ' | '=' | '"')) => {
                    return Err("may name an earlier line by `!`");
                }
                (c, _) => word.value.push(c),
            }
        }
    }

    fn escaped(&mut self, word: &mut Word) -> Result<(), Why> {
        let c = self.rest()[1..].chars().next().filter(|&c| c != '\n');
        let c = c.ok_or("goes on behind a backslash")?;
        word.value.push(c);
        word.is_bare = false;
        self.at += 1 + c.len_utf8();
        Ok(())
    }

    /// `@{1}` and `@{upstream}` of git; any other brace may be expanded.
    fn braced(&mut self, word: &mut Word) -> Result<(), Why> {
        let inner = self.rest()[1..].bytes();
        let length = inner.take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let is_reference = word.value.ends_with('@') && length > 0 && self.rest()[length + 1..].starts_with('}');
        if !is_reference || self.text[..self.at].ends_with(['\'', '"']) {
            return Err("has braces");
        }
        word.value.push_str(&self.text[self.at..self.at + length + 2]);
        self.at += length + 2;
        Ok(())
    }
}
