//! What runs are refused: each promise alone, tricks to get round them, and paths at random.

#[path = "../common/mod.rs"]
mod common;

#[path = "../confinement/main.rs"]
mod confinement;
#[path = "../escape/main.rs"]
mod escape;
#[path = "../resolution/main.rs"]
mod resolution;
