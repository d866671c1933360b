//! What runs are refused: each promise alone, tricks to get round them, and paths at random.

#[path = "../common/mod.rs"]
mod common;

#[path = "../confinement/mod.rs"]
mod confinement;
#[path = "../escape/mod.rs"]
mod escape;
#[path = "../resolution/mod.rs"]
mod resolution;
