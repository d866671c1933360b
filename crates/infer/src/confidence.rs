//! The confidence of an inference.
//!
//! Three bands are calibrated against the project's corpus (`tests/infer`): of the answers under 0.7 less than 70 % are
//! right, of those up to 0.9 between 70 % and 90 %, of those above more than 90 %.

/// A reason for less confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// Part of a path or URL is unknown, but the place it leads to is known.
    PartlyKnown,
    /// The act is guessed from a name alone.
    Guess,
    /// The script's own code in another file, which isn't read.
    Unfollowed,
    /// A path, host, variable or command is computed.
    Computed,
    /// Code that can't be analysed.
    Opaque,
    /// The text doesn't parse.
    Unparsed,
}

impl Doubt {
    /// The highest confidence of an answer with this doubt.
    fn most(self) -> f64 {
        match self {
            Doubt::PartlyKnown => 0.93,
            Doubt::Guess | Doubt::Unfollowed => 0.8,
            Doubt::Computed => 0.91,
            Doubt::Opaque => 0.5,
            Doubt::Unparsed => 0.1,
        }
    }
}

/// Returns the confidence of an answer with these doubts, from 0 to 1.
pub fn confidence(doubts: impl IntoIterator<Item = Doubt>) -> f64 {
    /// The upper bound for an answer from the text alone.
    const MAX: f64 = 0.95;
    doubts.into_iter().map(Doubt::most).fold(MAX, f64::min)
}
