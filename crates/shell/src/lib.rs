//! Analyses shell text: what a line does, as far as that can be determined without running anything.
//!
//! `read` decides whether a line is **plain** (simple commands of literal words, joined by operators), and parses it.
//! Two parsers must agree on it; a line on which they differ isn't plain. `seen` is the opposite, for deny rules: every
//! command that a line could start, however well hidden. `fitness` says whether the options of a command are among those
//! that do no more than the command's name promises. Nothing here runs a command or opens a file.

mod fitness;
mod names;
mod pattern;
mod plain;
pub mod sed;
mod seen;

pub use fitness::{Fitness, fitness, subject};
pub use names::without_version;
pub use pattern::matches;
pub use plain::{Line, NotPlain, Operator, Part, Plain, Redirection, normalise, outside_quotes, read};
pub use seen::{ANYTHING, ansi_c, could_name, seen};
