//! Tokenizes any text as a shell might, and never rejects one.

use super::expand::{ansi_c, braces, closing};
use super::{MAX_BRACES, Seer};

/// The lexer of one text.
struct Lexer<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    words: Vec<String>,
    /// The word being read; `None` between words.
    word: Option<String>,
    /// Whether the word began with a quote or backslash: then it can't be a reserved word.
    is_quoted: bool,
    /// Whether it has a quote or backslash anywhere: then it can't be a descriptor number.
    holds_quotes: bool,
    /// Whether the word has braces that a shell would expand.
    has_braces: bool,
    /// The next word is a redirection's target; `true` for the delimiter of a here-document.
    target: Option<bool>,
    /// Delimiters of here-documents whose bodies begin on the next line.
    documents: Vec<String>,
}

impl Seer {
    /// Tokenizes a text and stores every command in it.
    pub(super) fn script(&mut self, text: &str, depth: usize) {
        if !self.has_room(text.len(), depth) {
            return;
        }
        let mut lexer = Lexer {
            text,
            at: 0,
            depth,
            words: Vec::new(),
            word: None,
            is_quoted: false,
            holds_quotes: false,
            has_braces: false,
            target: None,
            documents: Vec::new(),
        };
        while lexer.step(self) {}
        lexer.end_command(self);
    }
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Reads one token; returns false at the end.
    fn step(&mut self, seer: &mut Seer) -> bool {
        let Some(c) = self.rest().chars().next() else {
            return false;
        };
        let after = &self.rest()[c.len_utf8()..];
        self.at += c.len_utf8();
        match c {
            '\n' => {
                self.end_command(seer);
                self.bodies(seer);
            }
            ' ' | '\t' | '\r' | '\x0b' | '\x0c' => self.end_word(seer),
            ';' | '&' | '|' | '(' | ')' => self.operator(c, after, seer),
            '<' | '>' => self.redirection(c, seer),
            '#' if self.word.is_none() => self.at += after.find('\n').unwrap_or(after.len()),
            '\\' => {
                let next = after.chars().next();
                self.at += next.map_or(0, char::len_utf8);
                self.is_quoted |= self.word.is_none();
                self.holds_quotes = true;
                self.push(
                    next.filter(|&c| c != '\n')
                        .map(String::from)
                        .as_deref()
                        .unwrap_or_default(),
                );
            }
            '\'' => {
                let end = after.find('\'').unwrap_or(after.len());
                self.quoted(&after[..end]);
                self.at += (end + 1).min(after.len());
            }
            '"' => {
                let length = closing(after, '"', '\0');
                self.at += (length + 1).min(after.len());
                let value = seer.expanded(&after[..length], self.depth);
                self.quoted(&value);
            }
            '$' | '`' => self.expansion(seer),
            '{' | '}' if self.word.is_none() && after.starts_with(|c: char| c.is_whitespace()) => {
                self.end_command(seer)
            }
            _ => {
                self.has_braces |= c == '{';
                self.push(c.encode_utf8(&mut [0; 4]));
            }
        }
        true
    }

    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn quoted(&mut self, text: &str) {
        self.is_quoted |= self.word.is_none();
        self.holds_quotes = true;
        self.push(text);
    }

    fn operator(&mut self, c: char, after: &str, seer: &mut Seer) {
        // `&>x` redirects output and ends no command.
        if c == '&' && after.starts_with('>') {
            return self.end_word(seer);
        }
        self.end_command(seer);
    }

    fn redirection(&mut self, c: char, seer: &mut Seer) {
        let is_number = self
            .word
            .as_ref()
            .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()) || names_descriptor(word));
        match is_number && !std::mem::take(&mut self.holds_quotes) {
            true => (self.word, self.has_braces) = (None, false),
            false => self.end_word(seer),
        }
        let rest = self.rest();
        if let Some(inner) = rest.strip_prefix('(') {
            let length = closing(inner, ')', '(');
            self.at += (length + 2).min(rest.len());
            seer.script(&inner[..length], self.depth + 1);
            return self.push("");
        }
        let operators: &[(&str, Option<bool>)] = match c {
            // The word after `<<<` is text that the command reads, and stays among its words.
            '<' => &[
                ("<<", None),
                ("<-", Some(true)),
                ("<", Some(true)),
                ("&", Some(false)),
                (">", Some(false)),
                ("", Some(false)),
            ],
            _ => &[
                (">", Some(false)),
                ("&", Some(false)),
                ("|", Some(false)),
                ("", Some(false)),
            ],
        };
        if let Some((text, target)) = operators.iter().find(|(text, _)| rest.starts_with(text)) {
            self.at += text.len();
            self.target = *target;
        }
    }

    /// `$…` and backticks outside quotes: their values are split into words.
    fn expansion(&mut self, seer: &mut Seer) {
        let rest = &self.text[self.at - 1..];
        let after = &rest[1..];
        if rest.starts_with("$'") {
            let length = closing(&after[1..], '\'', '\0');
            self.at += (length + 2).min(after.len());
            return self.quoted(&ansi_c(&after[1..1 + length]));
        }
        if rest.starts_with("$\"") {
            return;
        }
        let (value, length) = seer.value(rest, self.depth);
        self.at += length - 1;
        for (index, piece) in value.split([' ', '\t', '\n']).enumerate() {
            if index > 0 {
                self.end_word(seer);
            }
            if !piece.is_empty() {
                self.push(piece);
            }
        }
    }

    fn end_word(&mut self, seer: &mut Seer) {
        let Some(word) = self.word.take() else {
            return;
        };
        let is_quoted = std::mem::take(&mut self.is_quoted);
        self.holds_quotes = false;
        let has_braces = std::mem::take(&mut self.has_braces);
        match self.target.take() {
            Some(true) => return self.documents.push(word),
            Some(false) => return,
            None => {}
        }
        if self.words.is_empty() && !is_quoted {
            const BEFORE_COMMANDS: &[&str] = &[
                "!", "{", "}", "do", "done", "elif", "else", "esac", "fi", "function", "if", "in", "then", "time",
                "until", "while",
            ];
            if BEFORE_COMMANDS.contains(&word.as_str()) {
                return;
            }
            if let Some((name, value)) = assigned(&word) {
                seer.set(name, value);
                // Many variables name a program: PAGER, GIT_SSH_COMMAND, PROMPT_COMMAND, BASH_ENV.
                return seer.script(value, self.depth + 1);
            }
        }
        let most = MAX_BRACES.saturating_sub(seer.braced).min(64);
        let is_much = word.len() > 1024 || most == 0;
        seer.is_exhausted |= has_braces && is_much;
        if !has_braces || is_much {
            return self.words.push(word);
        }
        let before = self.words.len();
        braces(&word, &mut self.words, most);
        seer.braced += self.words.len() - before;
    }

    fn end_command(&mut self, seer: &mut Seer) {
        self.end_word(seer);
        self.target = None;
        let words = std::mem::take(&mut self.words);
        if let ["for" | "select", name, values @ ..] = words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            for value in values {
                seer.script(value, self.depth + 1);
                seer.set(name, value);
            }
        }
        seer.command(&words, self.depth);
    }

    /// Reads the here-documents that begin on this line.
    fn bodies(&mut self, seer: &mut Seer) {
        for mark in std::mem::take(&mut self.documents) {
            let rest = self.rest();
            let mut length = 0;
            for line in rest.split_inclusive('\n') {
                length += line.len();
                if line.trim_end_matches('\n').trim_start_matches('\t') == mark {
                    break;
                }
            }
            let body = &rest[..length];
            // Substitutions in it run, however it is read. The delimiter's quotes are gone, so it counts as unquoted.
            seer.expanded(body, self.depth);
            seer.fodder.push(body.to_string());
            self.at += length;
        }
    }
}

/// `{fd}` before a redirection: a variable that gets the descriptor's number.
fn names_descriptor(word: &str) -> bool {
    let name = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
    name.is_some_and(|name| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_[]".contains(&byte))
    })
}

/// `NAME=value` and `NAME+=value`.
fn assigned(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next()?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value))
}
