//! The words, the question, and both on a real pseudo-terminal.

mod hostile;
mod keys;
mod multiplexer;
mod questions;
mod scene;
mod stage;

use crate::approve::Requested;
use crate::approve::samples::request;

fn grants(flag: &[&str]) -> Requested {
    Requested::Grants(vec![flag.iter().map(ToString::to_string).collect()])
}
