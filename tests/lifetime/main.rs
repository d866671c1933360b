//! When a run ends, all of it ends: with the command, on signals, on the time limit, when Stockade is killed.

#[path = "../common/mod.rs"]
mod common;

mod endings;
mod exit_codes;
mod keys;
