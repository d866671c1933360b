//! Assembles lines from bytes that arrive in pieces.

/// The most bytes of a line.
const MAX_LENGTH: usize = 64 * 1024;

/// Input that isn't a complete line yet.
#[derive(Debug, Default)]
pub struct Typed {
    begun: Vec<u8>,
    /// Whether the current line is already too long: all of it is skipped, including its end.
    skips: bool,
}

/// A line that is complete, or too long.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Whole(String),
    TooLong,
}

impl Typed {
    /// Adds bytes and returns the lines that they complete.
    pub fn add(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.skips {
                self.begun.extend_from_slice(piece);
            }
            if self.begun.len() > MAX_LENGTH {
                self.clear();
                self.skips = true;
                lines.push(Line::TooLong);
            }
            if piece.ends_with(b"\n") && !std::mem::take(&mut self.skips) {
                let line = std::mem::take(&mut self.begun);
                lines.push(Line::Whole(String::from_utf8_lossy(&line).into_owned()));
            }
        }
        lines
    }

    /// Whether there is an incomplete line.
    pub fn has_begun(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Discards the incomplete line.
    pub fn clear(&mut self) {
        *self = Typed::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    #[test]
    fn lines_come_in_pieces() {
        let mut typed = Typed::default();
        assert_eq!(typed.add(b"1 "), []);
        assert_eq!(typed.add(b"y\n2 n\n3"), [whole("1 y\n"), whole("2 n\n")]);
        assert!(typed.has_begun());
        assert_eq!(typed.add(b"\n"), [whole("3\n")]);
        assert!(!typed.has_begun());
    }

    #[test]
    fn no_part_of_a_line_that_is_too_long_counts() {
        for size in [1, 4096, 1 << 20] {
            let text = format!("1 no because {}1 y\nlist\n", "A".repeat(2 * MAX_LENGTH));
            let mut typed = Typed::default();
            let lines: Vec<Line> = text
                .as_bytes()
                .chunks(size)
                .flat_map(|piece| typed.add(piece))
                .collect();
            assert_eq!(lines, [Line::TooLong, whole("list\n")], "{size}");
        }
    }
}
