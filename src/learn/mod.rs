//! Learning: the least profile of a run that was observed.
//!
//! `observation` records the run's uses inside its ceiling, each once. `used` selects those that need a grant, `folding`
//! replaces files by their directory where most of them were used, `least` names the lowest shipped profile, and
//! `profile` writes the document. `compare` compares them with the effects inferred from a script.
//!
//! Uses come from one execution with one input: a learnt profile is as narrow as that. Secrets
//! are closed in every ceiling, so none can be learnt. Directories are listed here, at the end of the run, to see their
//! entries; nothing else is opened.

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
