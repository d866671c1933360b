//! When a run ends, all of it ends: with the command, on signals, on the time limit, when Stockade is killed.

mod by_name;
mod draining;
mod endings;
mod exit_codes;
mod harnesses;
mod keys;
mod storms;
mod watched;
