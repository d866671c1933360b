//! Bad input: one clear message on standard error, the right exit code, nothing started and nothing left behind.

mod profiles;
mod roots;
mod surroundings;
mod words;

use crate::common::{Ran, Run};

/// Says `ran` where it was started after all.
pub fn refused(begun: Run) -> Run {
    begun.bash("echo ran").status(125)
}

/// The state directory is as empty as before.
pub fn left_nothing(ran: &Ran) {
    assert_eq!(ran.place.leftovers(), Vec::<std::path::PathBuf>::new());
}
