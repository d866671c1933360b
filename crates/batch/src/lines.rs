//! The lines of the input, each with its place and hash. One line is held at a time, and no line beyond a bound.

use std::io::{self, BufRead, BufReader, Read};

/// The most bytes of a line.
pub const MAX_LINE: usize = 8 << 20;

/// Bytes of the hash: jobs of one file are told apart, nothing is proved by it.
const HASH_BYTES: usize = 16;

/// One line that isn't blank.
#[derive(Debug)]
pub struct Line {
    /// Its place among the jobs, from 0.
    pub index: u64,
    /// Its place among the lines, from 1.
    pub number: u64,
    /// The hash of its bytes, without its end.
    pub hash: String,
    /// Its bytes without its end; of a line that is too long the first of them.
    pub text: Vec<u8>,
    /// Whether it is longer than [`MAX_LINE`].
    pub is_too_long: bool,
}

/// Reads lines.
#[derive(Debug)]
pub struct Lines<R> {
    input: BufReader<R>,
    index: u64,
    number: u64,
}

impl<R: Read> Lines<R> {
    /// Of this input.
    pub fn of(input: R) -> Lines<R> {
        Lines {
            input: BufReader::with_capacity(64 << 10, input),
            index: 0,
            number: 0,
        }
    }

    /// The number of jobs that were read.
    pub fn jobs(&self) -> u64 {
        self.index
    }

    /// The next line that isn't blank; `None` at the end.
    ///
    /// # Errors
    /// The input can't be read.
    pub fn read(&mut self) -> io::Result<Option<Line>> {
        loop {
            let Some((text, is_too_long)) = self.beginning()? else {
                return Ok(None);
            };
            self.number += 1;
            if text.trim_ascii().is_empty() && !is_too_long {
                continue;
            }
            let mut hasher = blake3::Hasher::new();
            hasher.update(&text);
            if is_too_long {
                self.skip(|rest| {
                    hasher.update(rest);
                })?;
            }
            self.index += 1;
            return Ok(Some(Line {
                index: self.index - 1,
                number: self.number,
                hash: hasher.finalize().to_hex()[..2 * HASH_BYTES].to_string(),
                text,
                is_too_long,
            }));
        }
    }

    /// The next line without its end, and whether it goes on.
    fn beginning(&mut self) -> io::Result<Option<(Vec<u8>, bool)>> {
        let most = MAX_LINE as u64 + 1;
        let mut text = Vec::new();
        if self.input.by_ref().take(most).read_until(b'\n', &mut text)? == 0 {
            return Ok(None);
        }
        let is_whole = text.pop_if(|last| *last == b'\n').is_some() || text.len() <= MAX_LINE;
        Ok(Some((text, !is_whole)))
    }

    /// Passes the rest of a line to `each`, piece by piece.
    fn skip(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let mut rest = Vec::new();
        loop {
            rest.clear();
            if self.input.by_ref().take(64 << 10).read_until(b'\n', &mut rest)? == 0 {
                return Ok(());
            }
            let is_end = rest.pop_if(|last| *last == b'\n').is_some();
            each(&rest);
            if is_end {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<Line> {
        let mut lines = Lines::of(text);
        std::iter::from_fn(|| lines.read().unwrap()).collect()
    }

    #[test]
    fn blank_lines_are_no_jobs_and_the_last_line_needs_no_end() {
        let found = all(b"a\n\n  \nb\nc");
        let found: Vec<_> = found
            .iter()
            .map(|line| (line.index, line.number, &line.text[..]))
            .collect();
        assert_eq!(found, [(0, 1, &b"a"[..]), (1, 4, b"b"), (2, 5, b"c")]);
    }

    #[test]
    fn equal_lines_have_equal_hashes() {
        let found = all(b"a\nb\na");
        assert_eq!(found[0].hash, found[2].hash);
        assert_ne!(found[0].hash, found[1].hash);
        assert_eq!(found[0].hash.len(), 32);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_whole_and_still_hashed_whole() {
        let long = |last: u8| {
            let mut text = vec![b'x'; MAX_LINE + 10];
            text.extend([last, b'\n', b'y']);
            all(&text)
        };
        let (one, two) = (long(b'1'), long(b'2'));
        assert_eq!((one.len(), one[0].is_too_long, &one[1].text[..]), (2, true, &b"y"[..]));
        assert_ne!(one[0].hash, two[0].hash);
    }
}
