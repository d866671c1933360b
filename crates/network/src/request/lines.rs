//! The lines of a head or a trailer, up to the empty line that ends it.
//!
//! Checks byte by byte, as they arrive, the points on which parsers are lenient, so that the first bad byte is rejected
//! at once: line ends other than CR LF, folded lines, control characters.

use super::RequestRefusal;

/// The longest head or trailer, and more than a chunk-size line may have.
pub const MAX_LENGTH: usize = 64 * 1024;

/// The kind of section that the lines belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderSection {
    /// A request line and fields.
    Request,
    /// A status line and fields.
    Reply,
    /// Fields alone, perhaps 0.
    Trailer,
}

/// The scan position in a section; every byte is scanned once, however slowly they arrive.
#[derive(Debug)]
pub(super) struct Lines {
    section: HeaderSection,
    /// Bytes scanned.
    seen: usize,
    /// The start of the incomplete line.
    line: usize,
}

impl Lines {
    pub(super) fn new(section: HeaderSection) -> Lines {
        Lines {
            section,
            seen: 0,
            line: 0,
        }
    }

    /// The section's length with its empty line, once it is complete. `bytes` begin with the section in every call.
    pub(super) fn end(&mut self, bytes: &[u8]) -> Result<Option<usize>, RequestRefusal> {
        while self.seen < bytes.len().min(MAX_LENGTH) {
            let at = self.seen;
            self.seen += 1;
            let after_return = at > self.line && bytes[at - 1] == b'\r';
            match bytes[at] {
                b'\n' if after_return && at - 1 == self.line => return Ok(Some(self.seen)),
                b'\n' if after_return => {
                    self.check_first(&bytes[self.line..at - 1])?;
                    self.line = self.seen;
                }
                b'\n' => return Err(BAD_LINE_END),
                _ if after_return => return Err(BAD_LINE_END),
                byte if at == self.line => self.check_beginning(byte)?,
                b'\t' | b'\r' | b' '..=b'~' | 0x80.. => {}
                _ => return Err("a head has a control character"),
            }
        }
        if self.seen < MAX_LENGTH {
            Ok(None)
        } else {
            Err("a head is longer than 64 KiB")
        }
    }

    fn check_beginning(&self, byte: u8) -> Result<(), RequestRefusal> {
        match (byte, self.section) {
            (b' ' | b'\t', _) => Err("a line of a head is folded"),
            // Some servers skip empty lines before a request, some don't.
            (b'\r', HeaderSection::Request | HeaderSection::Reply) if self.line == 0 => {
                Err("an empty line stands before a head")
            }
            (b'\r' | b'!'..=b'~', _) => Ok(()),
            (_, HeaderSection::Request | HeaderSection::Reply) if self.line == 0 => Err(OTHER_PROTOCOL),
            _ => Err("a line of a head begins with no name"),
        }
    }

    /// Rejects other protocols early, before their client waits for an answer.
    fn check_first(&self, line: &[u8]) -> Result<(), RequestRefusal> {
        let one = |version: &[u8]| version == b"HTTP/1.1" || version == b"HTTP/1.0";
        let good = match self.section {
            _ if self.line > 0 => true,
            HeaderSection::Request => line
                .last_chunk::<9>()
                .is_some_and(|end| end[0] == b' ' && one(&end[1..])),
            HeaderSection::Reply => line
                .first_chunk::<9>()
                .is_some_and(|begin| begin[8] == b' ' && one(&begin[..8])),
            HeaderSection::Trailer => true,
        };
        match good {
            true => Ok(()),
            false if line.ends_with(b" HTTP/2.0") => Err("it is HTTP/2"),
            false => Err(OTHER_PROTOCOL),
        }
    }
}

const OTHER_PROTOCOL: RequestRefusal = "it isn't HTTP/1";
const BAD_LINE_END: RequestRefusal = "a line of a head doesn't end in CR LF";
