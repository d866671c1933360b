//! The plain subset.

use super::{Line, NotPlain};

/// Takes a line apart.
#[must_use]
pub fn read(text: &str) -> Line {
    Line::NotPlain(NotPlain {
        why: "isn't read yet",
        normalised: normalise(text),
    })
}

/// Trims, and makes one blank of each run of blanks outside quotes.
#[must_use]
pub fn normalise(text: &str) -> String {
    text.trim().to_string()
}
