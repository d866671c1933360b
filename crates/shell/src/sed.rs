//! sed(1): the effects of its programs. Some commands of its small language open files and start programs.
//!
//! One parser for two questions: what a program does, as GNU sed would parse it, and whether it is so plain that every sed
//! parses it alike and it only changes text.

/// Stands for an unknown part of a program; no real program contains it.
pub const PART: char = '\u{1}';

/// A parsed program.
#[derive(Debug)]
pub struct Sed {
    /// All effects besides changing text, in order.
    pub effects: Vec<Effect>,
    /// It has addresses and the commands `p d q Q n N D P h H g G x l = s y` alone, joined by `;` and newlines: nothing of it
    /// starts a program, and nothing reads or writes a further file.
    pub is_plain: bool,
}

/// An effect of a command.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// It writes this file.
    Writes(String),
    /// It reads this file.
    Reads(String),
    /// It runs this line.
    Runs(String),
    /// It runs the text that it edits, or an unknown line.
    RunsText,
}

/// Parses a program.
#[must_use]
pub fn sed(program: &str) -> Sed {
    let mut reader = Reader {
        letters: program.chars().collect(),
        at: 0,
        open: 0,
        has_classes: true,
        found: Sed {
            effects: Vec::new(),
            is_plain: true,
        },
    };
    reader.commands();
    reader.found
}

/// The parser's state: a program and the position in it.
struct Reader {
    letters: Vec<char>,
    at: usize,
    /// Number of open braces.
    open: usize,
    /// A class may still be closed further on.
    has_classes: bool,
    found: Sed,
}

impl Reader {
    fn commands(&mut self) {
        loop {
            self.skip(|letter| matches!(letter, ' ' | '\t' | '\n' | ';'));
            if self.peek().is_some_and(char::is_whitespace) {
                self.strange();
                self.at += 1;
                continue;
            }
            let from = self.at;
            self.addresses();
            let Some(command) = self.take() else {
                // An unknown part may hold a whole command.
                if self.letters[from..].contains(&PART) {
                    self.found.effects.push(Effect::RunsText);
                }
                self.found.is_plain &= from == self.at && self.open == 0;
                return;
            };
            self.command(command);
        }
    }

    fn command(&mut self, command: char) {
        match command {
            '{' => self.open += 1,
            '}' => {
                self.found.is_plain &= self.open > 0;
                self.open = self.open.saturating_sub(1);
                self.end();
            }
            'p' | 'd' | 'n' | 'N' | 'D' | 'P' | 'h' | 'H' | 'g' | 'G' | 'x' | '=' => self.end(),
            'q' | 'Q' | 'l' => {
                self.skip(|letter| letter.is_ascii_digit());
                self.end();
            }
            's' | 'y' => self.substitution(command == 's'),
            'w' | 'W' => self.opens(Effect::Writes),
            'r' | 'R' => self.opens(Effect::Reads),
            'e' => self.opens(|line| match line.is_empty() {
                true => Effect::RunsText,
                false => Effect::Runs(line),
            }),
            'a' | 'i' | 'c' | '#' => {
                self.strange();
                self.lines();
            }
            'b' | 't' | 'T' | ':' => {
                self.strange();
                self.skip(|letter| !matches!(letter, ';' | '\n' | '}'));
            }
            _ => self.strange(),
        }
    }

    /// Marks the program as not plain.
    fn strange(&mut self) {
        self.found.is_plain = false;
    }

    /// Only a few characters may follow a plain command.
    fn end(&mut self) {
        self.skip(|letter| letter == ' ');
        self.found.is_plain &= matches!(self.peek(), None | Some(';' | '\n' | '}'));
    }

    /// A command whose operand extends to the end of the line.
    fn opens(&mut self, effect: impl Fn(String) -> Effect) {
        self.strange();
        self.skip(|letter| matches!(letter, ' ' | '\t'));
        let from = self.at;
        self.skip(|letter| letter != '\n');
        let operand = self.letters[from..self.at].iter().collect();
        self.found.effects.push(effect(operand));
    }

    /// `3`, `$`, `/re/I`, `first~step`, `1,+3`, `1,/re/!`; and `\,re,` and unknown addresses, which aren't plain.
    fn addresses(&mut self) {
        self.address();
        if self.peek() == Some(',') {
            self.at += 1;
            self.skip(|letter| matches!(letter, ' ' | '+' | '~'));
            self.address();
        }
        self.skip(|letter| matches!(letter, ' ' | '!'));
        while let Some(letter) = self.peek() {
            match letter {
                '/' => self.address(),
                '\\' => {
                    self.at += 1;
                    if let Some(end) = self.take() {
                        self.until(end, true);
                    }
                }
                '0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ' | '\t' | 'I' | 'M' | PART => self.at += 1,
                _ => return,
            }
            self.strange();
        }
    }

    fn address(&mut self) {
        if self.peek() == Some('/') {
            self.at += 1;
            self.until('/', true);
            self.skip(|letter| matches!(letter, 'I' | 'M'));
        } else {
            self.skip(|letter| letter.is_ascii_digit() || matches!(letter, '$' | '~'));
        }
    }

    /// `s/re/with/flags`, `y/from/to/`.
    fn substitution(&mut self, has_pattern: bool) {
        let Some(end) = self.take() else {
            return self.strange();
        };
        // Letters, and characters with a meaning inside brackets, are no plain delimiters.
        self.found.is_plain &= end.is_ascii_punctuation() && !matches!(end, '\\' | '[' | ']' | ';' | '{' | '}');
        self.until(end, has_pattern);
        self.until(end, false);
        while let Some(flag) = self.peek().filter(|_| has_pattern) {
            match flag {
                'w' => {
                    self.at += 1;
                    return self.opens(Effect::Writes);
                }
                'e' => {
                    self.at += 1;
                    self.strange();
                    self.found.effects.push(Effect::RunsText);
                }
                PART => {
                    self.at += 1;
                    self.strange();
                }
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => self.at += 1,
                _ => break,
            }
        }
        self.end();
    }

    /// Skips past the next delimiter that isn't escaped and, in a pattern, isn't in a class: `s/[/]/x/`.
    fn until(&mut self, end: char, is_pattern: bool) {
        let from = self.at;
        while let Some(letter) = self.take() {
            match letter {
                '\\' => drop(self.take()),
                '[' if is_pattern && end != '[' => self.class(),
                letter if letter == end => break,
                _ => {}
            }
        }
        self.found.is_plain &= ends_alike(&self.letters[from..self.at], end);
    }

    /// A bracketed class; a `]` that comes first is a member of it.
    fn class(&mut self) {
        let rest = self
            .letters
            .get(self.at..)
            .filter(|_| self.has_classes)
            .unwrap_or_default();
        let first = usize::from(rest.first() == Some(&'^'));
        let mut behind = rest.iter().skip(first + 1);
        match behind.position(|letter| matches!(letter, ']' | '\n')) {
            Some(close) => self.at += first + 1 + close + 1,
            // No later class has an end either, so the search isn't repeated.
            None => self.has_classes = false,
        }
    }

    /// A text up to the end of the line, with continuation lines if the newline is escaped.
    fn lines(&mut self) {
        while let Some(letter) = self.take() {
            match letter {
                '\\' => drop(self.take()),
                '\n' => return,
                _ => {}
            }
        }
    }

    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&is_skipped) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn take(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }
}

/// Whether a sed without classes would end the text at the same delimiter too, with no class open there.
fn ends_alike(read: &[char], end: char) -> bool {
    let mut in_brackets = false;
    let mut letters = read.iter().enumerate();
    while let Some((at, letter)) = letters.next() {
        match *letter {
            '\\' => drop(letters.next()),
            letter if letter == end => return !in_brackets && at + 1 == read.len(),
            '\n' => return false,
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
#[path = "sed_tests.rs"]
mod tests;
