//! What git obeys: its configuration, `HEAD`, indexes and hooks.

pub mod config;
pub mod renamed;
pub mod submodules;
pub mod taking_over;
