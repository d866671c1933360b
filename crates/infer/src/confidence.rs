//! How sure an answer is.
//!
//! Three bands have a meaning, kept by the calibration of the project's corpus (`tests/infer`): of the answers under 0.7
//! less than 70 % are right, of those up to 0.9 between 70 % and 90 %, of those above more than 90 %.

/// Why an answer is less sure than it could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// Part of a path or URL isn't known, and where it leads is.
    PartlyKnown,
    /// It is likely an act, by its name alone.
    Guess,
    /// Code of the script's own in another file, which isn't read.
    Unfollowed,
    /// A path, host, variable or command that is computed.
    Computed,
    /// Code that can't be seen through.
    Opaque,
    /// It doesn't parse.
    Unparsed,
}

impl Doubt {
    /// The most that an answer with this doubt is sure of.
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

/// How sure an answer with these doubts is: from 0 to 1.
pub fn confidence(doubts: impl IntoIterator<Item = Doubt>) -> f64 {
    /// Nothing that was read from a text alone is surer.
    const MOST: f64 = 0.95;
    doubts.into_iter().map(Doubt::most).fold(MOST, f64::min)
}
