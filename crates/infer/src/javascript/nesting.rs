//! Refuses source nested so deep that parsing it could overflow the stack: oxc's parser and visitors recurse.
//!
//! Cheap and rough: it counts brackets, and between two ends of statements the operators and words that chain. It is
//! never far below the depth of the tree. What looks like a text or comment is counted as well, only that its closing
//! brackets close none from outside of it: a text that misleads this reader about its strings gains nothing.

/// Maximum depth that is parsed; an open bracket counts as [`BRACKET`].
const MAX: usize = 6000;
const BRACKET: usize = 3;

/// Words behind which an expression or statement nests.
const CHAINING: [&str; 18] = [
    "await",
    "typeof",
    "void",
    "delete",
    "new",
    "yield",
    "else",
    "if",
    "for",
    "while",
    "do",
    "in",
    "of",
    "instanceof",
    "keyof",
    "readonly",
    "async",
    "extends",
];

/// Words that begin a statement, where the line before it has no `;`.
const BEGINNING: [&str; 6] = ["const", "let", "var", "return", "throw", "export"];

/// Whether the tree could be too deep.
pub fn is_too_deep(source: &str) -> bool {
    let mut depth = Depth {
        levels: vec![0],
        total: 0,
        most: 0,
    };
    let bytes = source.as_bytes();
    let mut at = 0;
    let mut operand_before = false;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        let end = match byte {
            b'"' | b'\'' => Some(quoted(bytes, at)),
            b'/' if next == Some(b'/') => Some(line(bytes, at)),
            b'/' if next == Some(b'*') => Some(comment(bytes, at)),
            b'/' if !operand_before => Some(regex(bytes, at)),
            _ => None,
        };
        if let Some(end) = end {
            depth.text(&bytes[at..end]);
            operand_before |= byte != b'/' || !matches!(next, Some(b'/' | b'*'));
            at = end.max(at + 1);
            continue;
        }
        if is_word(byte) {
            let end = bytes[at..].iter().position(|byte| !is_word(*byte));
            let end = end.map_or(bytes.len(), |length| at + length);
            let word = source.get(at..end).unwrap_or_default();
            operand_before = !depth.word(word) && word != "return" && word != "case";
            at = end;
            continue;
        }
        depth.mark(byte, next_word(source, at + 1));
        if !byte.is_ascii_whitespace() {
            operand_before = matches!(byte, b')' | b']' | b'}' | b'`');
        }
        if depth.most > MAX {
            return true;
        }
        at += 1;
    }
    depth.most > MAX
}

struct Depth {
    /// What chains at each level of open brackets.
    levels: Vec<usize>,
    total: usize,
    most: usize,
}

impl Depth {
    fn add(&mut self, count: usize) {
        self.total += count;
        if let Some(level) = self.levels.last_mut() {
            *level += count;
        }
        self.most = self.most.max(self.total);
    }

    fn open(&mut self) {
        self.levels.push(0);
        self.add(BRACKET);
    }

    fn close(&mut self) {
        if self.levels.len() > 1
            && let Some(count) = self.levels.pop()
        {
            self.total -= count;
        }
    }

    /// A statement or an element ends.
    fn end(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            let kept = if *level >= BRACKET { BRACKET } else { 0 };
            let kept = if self.levels.len() > 1 { kept } else { 0 };
            if let Some(level) = self.levels.last_mut() {
                self.total -= *level - kept;
                *level = kept;
            }
        }
    }

    fn word(&mut self, word: &str) -> bool {
        if BEGINNING.contains(&word) {
            self.end();
        }
        let chains = CHAINING.contains(&word);
        if chains {
            self.add(2);
        }
        chains
    }

    fn mark(&mut self, byte: u8, next: &str) {
        match byte {
            b'(' | b'[' | b'{' => self.open(),
            b')' | b']' => {
                self.close();
                self.add(1);
            }
            b'}' => {
                self.close();
                if next != "else" && next != "while" {
                    self.end();
                }
            }
            b';' if next != "else" && next != "while" => self.end(),
            b',' => self.end(),
            _ if byte.is_ascii_punctuation() => self.add(1),
            _ => {}
        }
    }

    /// A text's own brackets: balanced within it, or counted.
    fn text(&mut self, bytes: &[u8]) {
        let before = self.levels.len();
        for byte in bytes {
            match byte {
                b'(' | b'[' | b'{' => self.open(),
                b')' | b']' | b'}' if self.levels.len() > before => self.close(),
                _ => {}
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The word that comes next, behind white space.
fn next_word(source: &str, at: usize) -> &str {
    let rest = source.get(at..(at + 64).min(source.len())).unwrap_or_default();
    let rest = rest.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_alphabetic());
    &rest[..end.unwrap_or(rest.len())]
}

fn line(bytes: &[u8], at: usize) -> usize {
    let end = bytes[at..].iter().position(|byte| *byte == b'\n');
    end.map_or(bytes.len(), |length| at + length)
}

fn comment(bytes: &[u8], at: usize) -> usize {
    let inside = bytes.get(at + 2..).unwrap_or_default();
    let end = inside.windows(2).position(|pair| pair == b"*/");
    end.map_or(bytes.len(), |length| at + 2 + length + 2)
}

fn quoted(bytes: &[u8], at: usize) -> usize {
    ended(bytes, at, bytes[at])
}

fn regex(bytes: &[u8], at: usize) -> usize {
    ended(bytes, at, b'/')
}

/// Behind the closing mark, or the end of the line.
fn ended(bytes: &[u8], at: usize, mark: u8) -> usize {
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 1,
            b'\n' => return end,
            _ if byte == mark => return end + 1,
            _ => {}
        }
        end += 1;
    }
    bytes.len()
}
