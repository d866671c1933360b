//! The output that a call keeps: its head and its tail, and how much was left out between them.

use std::collections::VecDeque;

use stockade_text::visible::is_invisible;

/// A stream's output as far as it is kept.
#[derive(Debug)]
pub struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes of the head, and as many of the tail.
    half: usize,
    count: u64,
}

impl Kept {
    /// Keeps at most so many bytes.
    pub fn new(most: usize) -> Kept {
        Kept {
            head: Vec::new(),
            tail: VecDeque::new(),
            half: most / 2,
            count: 0,
        }
    }

    /// Adds what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.count += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// All bytes that came.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes that came and weren't kept.
    pub fn left_out(&self) -> u64 {
        self.count - (self.head.len() + self.tail.len()) as u64
    }

    /// All bytes, if all were kept.
    pub fn whole(&self) -> Option<Vec<u8>> {
        (self.left_out() == 0).then(|| self.head.iter().chain(&self.tail).copied().collect())
    }

    /// The text, with a line in place of what was left out.
    pub fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        match self.left_out() {
            0 => readable(&[self.head.as_slice(), &tail].concat()),
            bytes => format!(
                "{}\n[… {bytes} bytes left out …]\n{}",
                readable(&self.head),
                readable(&tail)
            ),
        }
    }
}

/// A text of a program for a person or a model: lines, tabs and letters of every script stay. Escapes
/// characters that show nothing, move a terminal or turn the reading direction.
pub fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\r' if rest.peek() == Some(&'\n') => {}
            c if is_invisible(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole() {
        let mut kept = Kept::new(8);
        kept.push(b"abc");
        kept.push(b"defgh");
        assert_eq!((kept.text().as_str(), kept.left_out()), ("abcdefgh", 0));
    }

    #[test]
    fn of_more_the_head_and_the_tail_stay() {
        for size in [1, 3, 100] {
            let mut kept = Kept::new(8);
            let all: Vec<u8> = (b'a'..=b'z').collect();
            all.chunks(size).for_each(|piece| kept.push(piece));
            assert_eq!(kept.text(), "abcd\n[… 18 bytes left out …]\nwxyz");
            assert_eq!((kept.count(), kept.left_out()), (26, 18));
        }
    }

    #[test]
    fn what_moves_a_terminal_or_shows_nothing_is_escaped() {
        assert_eq!(readable(b"a\x1b[2J\r\nb\tc\r"), "a\\u{1b}[2J\nb\tc\\r");
        assert_eq!(
            readable("\u{202e}x\u{e0041} \u{5e9}".as_bytes()),
            "\\u{202e}x\\u{e0041} \u{5e9}"
        );
        assert_eq!(readable(b"\xff"), "\u{fffd}");
    }
}
