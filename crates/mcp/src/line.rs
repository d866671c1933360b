//! Lines of a stream: each with its end, as it came. A message is one line.

use std::io::{self, BufRead, BufReader, Read};

/// The longest line: more than any client or server takes, and memory has an end.
pub const MAX_LENGTH: usize = 256 << 20;

/// Memory that a buffer keeps between two lines.
const KEPT: usize = 1 << 20;

/// Reads lines.
pub struct Lines<R> {
    stream: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
}

impl<R: Read> Lines<R> {
    /// Of a stream.
    pub fn of(stream: R) -> Lines<R> {
        Lines::up_to(stream, MAX_LENGTH)
    }

    /// Of a stream, none longer than this.
    pub fn up_to(stream: R, longest: usize) -> Lines<R> {
        Lines {
            stream: BufReader::with_capacity(64 * 1024, stream),
            line: Vec::new(),
            longest,
        }
    }

    /// The next line with its line end, which the last one may lack; `None` at the end of the stream.
    ///
    /// # Errors
    /// The stream can't be read, or a line is too long.
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        self.line.shrink_to(KEPT);
        loop {
            let got = match self.stream.fill_buf() {
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if got.is_empty() {
                return Ok((!self.line.is_empty()).then_some(&self.line[..]));
            }
            let end = memchr::memchr(b'\n', got).map(|at| at + 1);
            let taken = end.unwrap_or(got.len());
            if self.line.len() + taken > self.longest {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long"));
            }
            self.line.extend_from_slice(&got[..taken]);
            self.stream.consume(taken);
            if end.is_some() {
                return Ok(Some(&self.line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8], longest: usize) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::up_to(text, longest);
        let mut all = Vec::new();
        loop {
            match lines.next() {
                Ok(Some(line)) => all.push(Some(line.to_vec())),
                Ok(None) => return all,
                Err(_) => {
                    all.push(None);
                    return all;
                }
            }
        }
    }

    #[test]
    fn lines_come_with_their_ends_and_the_last_one_without() {
        let got = all(b"a\r\n\n \nlast", 100);
        let expected: Vec<Option<Vec<u8>>> = [&b"a\r\n"[..], b"\n", b" \n", b"last"]
            .iter()
            .map(|line| Some(line.to_vec()))
            .collect();
        assert_eq!(got, expected);
        assert_eq!(all(b"", 100), []);
    }

    #[test]
    fn a_line_that_never_ends_is_an_error() {
        assert_eq!(all(&[b'x'; 4096], 100), [None]);
    }
}
