//! What a program printed, as far as it is kept.

/// The beginning of a stream.
#[derive(Debug)]
pub struct Capture {
    bytes: Vec<u8>,
    most: usize,
    is_cut: bool,
}

/// A stream as text.
#[derive(Debug, PartialEq, Eq)]
pub struct Text {
    /// The text; bytes that aren't UTF-8 are replaced.
    pub text: String,
    /// Whether more was printed than is kept.
    pub is_cut: bool,
    /// Whether bytes were replaced.
    pub is_lossy: bool,
}

impl Capture {
    /// Keeps so many bytes.
    pub fn of(most: usize) -> Capture {
        Capture {
            bytes: Vec::new(),
            most,
            is_cut: false,
        }
    }

    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        let room = self.most - self.bytes.len();
        self.is_cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The text. A character that the cut went through is left out.
    pub fn text(mut self) -> Text {
        if self.is_cut
            && let Err(error) = std::str::from_utf8(&self.bytes)
            && error.error_len().is_none()
        {
            self.bytes.truncate(error.valid_up_to());
        }
        let (text, is_lossy) = match String::from_utf8(self.bytes) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        };
        Text {
            text,
            is_cut: self.is_cut,
            is_lossy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(most: usize, pieces: &[&[u8]]) -> (String, bool, bool) {
        let mut capture = Capture::of(most);
        pieces.iter().for_each(|piece| capture.add(piece));
        let Text { text, is_cut, is_lossy } = capture.text();
        (text, is_cut, is_lossy)
    }

    #[test]
    fn a_cut_stream_ends_with_a_whole_character() {
        assert_eq!(text(4, &["ä".as_bytes(), "ä".as_bytes()]), ("ää".into(), false, false));
        assert_eq!(text(3, &["ää".as_bytes()]), ("ä".into(), true, false));
        assert_eq!(text(3, &[b"ab", b"c", b"d"]), ("abc".into(), true, false));
        assert_eq!(text(0, &[b"ab"]), (String::new(), true, false));
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_said() {
        assert_eq!(text(9, &[b"a\xffb"]), ("a\u{fffd}b".into(), false, true));
        assert_eq!(text(9, &[b"a\xc3"]), ("a\u{fffd}".into(), false, true));
    }
}
