//! Ordinary programs do the same under `workspace` as bare: what they print, how they end, and the trees they leave,
//! down to modes, links, attributes and the times that they set.
//!
//! A test whose program isn't installed says so and passes, unless `STOCKADE_TEST_ALL=1` is set.
//! `tests/setup-programs.sh` installs what they need.

mod archives;
mod compilers;
mod files;
mod git;
mod heavy;
mod packages;
mod python;
mod scripts;
mod search;
mod terminals;
pub mod twins;
