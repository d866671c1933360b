//! sed(1): what its programs do. They have a small language, some of whose commands open files and start programs.

use super::PART;
use super::program::arguments;
use crate::finding::{Act, Opaque};
use crate::text::Text;

/// What sed's own programs do; files that are edited stand in its row.
pub(super) fn acts(words: &[Text]) -> Vec<Act> {
    let arguments = arguments("sed", words);
    // It refuses these commands itself then.
    if arguments.has(&["--sandbox"]) {
        return Vec::new();
    }
    let files = arguments.values(&["-f", "--file"]);
    let mut acts: Vec<Act> = files.map(|file| Act::Opaque(Opaque::OtherFile(file.shown()))).collect();
    let expressions: Vec<&Text> = arguments.values(&["-e", "--expression"]).collect();
    let programs = match (&expressions[..], acts.is_empty()) {
        ([], true) => arguments.operands.first().into_iter().collect(),
        _ => expressions,
    };
    for program in programs {
        match program.is_unknown() {
            true => acts.push(Act::Opaque(Opaque::BuiltCode)),
            false => Program::of(program).commands(&mut acts),
        }
    }
    acts
}

/// A program, and how far it was read.
struct Program {
    letters: Vec<char>,
    at: usize,
}

impl Program {
    fn of(text: &Text) -> Program {
        Program {
            letters: text.with_unknown_as(&PART.to_string()).chars().collect(),
            at: 0,
        }
    }

    fn commands(&mut self, acts: &mut Vec<Act>) {
        loop {
            self.skip(|letter| letter.is_whitespace() || matches!(letter, ';' | '}' | '{'));
            let from = self.at;
            self.addresses();
            let Some(command) = self.take() else {
                // A whole command may stand where nothing is known.
                if self.letters[from..].contains(&PART) {
                    acts.push(Act::Opaque(Opaque::BuiltCode));
                }
                return;
            };
            self.command(command, acts);
        }
    }

    fn command(&mut self, command: char, acts: &mut Vec<Act>) {
        match command {
            'w' | 'W' => acts.push(Act::Write(self.operand())),
            'r' | 'R' => acts.push(Act::Read(self.operand())),
            'e' => acts.push(started(self.operand())),
            's' => self.substitution(acts),
            'y' => {
                if let Some(end) = self.take() {
                    self.text(end);
                    self.text(end);
                }
            }
            'a' | 'i' | 'c' | '#' => self.lines(),
            'b' | 't' | 'T' | ':' => self.skip(|letter| !matches!(letter, ';' | '\n' | '}')),
            _ => {}
        }
    }

    /// `3`, `$`, `/re/I`, `\,re,`, `first~step`, `1,+3`, `1,/re/!`; what isn't known among it.
    fn addresses(&mut self) {
        while let Some(letter) = self.peek() {
            match letter {
                '/' => drop(self.pattern()),
                '\\' => {
                    self.at += 1;
                    self.pattern();
                }
                '0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ' | '\t' | 'I' | 'M' | PART => self.at += 1,
                _ => return,
            }
        }
    }

    /// `s/re/with/flags`.
    fn substitution(&mut self, acts: &mut Vec<Act>) {
        if let Some(end) = self.pattern() {
            self.text(end);
        }
        while let Some(flag) = self.peek() {
            match flag {
                'w' => {
                    self.at += 1;
                    return acts.push(Act::Write(self.operand()));
                }
                'e' => {
                    self.at += 1;
                    acts.push(Act::Opaque(Opaque::BuiltCode));
                }
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' | PART => self.at += 1,
                _ => return,
            }
        }
    }

    /// A pattern, up to the letter that stands before it; not to one in a class: `s/[/]/x/`.
    fn pattern(&mut self) -> Option<char> {
        let end = self.take()?;
        while let Some(letter) = self.take() {
            match letter {
                '\\' => drop(self.take()),
                '[' if end != '[' => self.class(),
                letter if letter == end => break,
                _ => {}
            }
        }
        Some(end)
    }

    /// What stands in brackets; a `]` that comes first is one of its letters.
    fn class(&mut self) {
        let rest = self.letters.get(self.at..).unwrap_or_default();
        let first = usize::from(rest.first() == Some(&'^'));
        let close = rest
            .iter()
            .skip(first + 1)
            .position(|letter| matches!(letter, ']' | '\n'));
        if let Some(close) = close {
            self.at += first + 1 + close + 1;
        }
    }

    fn text(&mut self, end: char) {
        while let Some(letter) = self.take() {
            match letter {
                '\\' => drop(self.take()),
                letter if letter == end => break,
                _ => {}
            }
        }
    }

    /// A text up to the line's end, and further lines where that is escaped.
    fn lines(&mut self) {
        while let Some(letter) = self.take() {
            match letter {
                '\\' => drop(self.take()),
                '\n' => return,
                _ => {}
            }
        }
    }

    /// What stands up to the line's end.
    fn operand(&mut self) -> Text {
        self.skip(|letter| matches!(letter, ' ' | '\t'));
        let from = self.at;
        self.skip(|letter| letter != '\n');
        let text: String = self.letters[from..self.at].iter().collect();
        known(&text)
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

/// `e` alone runs the line that was read.
fn started(line: Text) -> Act {
    match line.exact() {
        Some("") => Act::Opaque(Opaque::BuiltCode),
        _ => Act::Shell(line),
    }
}

/// A text with what isn't known in it.
fn known(text: &str) -> Text {
    let mut parts = text.split(PART).map(Text::from);
    let first = parts.next().unwrap_or_else(Text::unknown);
    parts.fold(first, |text, part| text.then(&Text::unknown()).then(&part))
}
