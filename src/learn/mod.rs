//! Learning: the least profile of a run that was observed.
//!
//! `observation` takes note of what a run does inside its ceiling, each use once. `used` tells what of it needs a grant,
//! `folding` takes a directory for its files where most of them were used, `least` names the lowest shipped profile, and
//! `profile` writes the document. `compare` puts what was read from a script beside it.
//!
//! Uses are what a program did once, with the input that it had: a profile that is learnt is as narrow as that. Secrets
//! are closed in every ceiling, so none can be learnt. Reads of directories happen here, at the end of the run, to see
//! what was there; nothing else is opened.

pub(crate) mod command;
mod compare;
mod folding;
mod free;
mod least;
mod lesson;
mod observation;
mod profile;
mod promises;
mod used;

pub use compare::{Asked, Comparison, compare};
pub(crate) use lesson::lesson;
pub use lesson::{Lesson, Refused, Withheld};
pub use observation::{Observation, Use};
pub(crate) use used::{RunContext, used};
