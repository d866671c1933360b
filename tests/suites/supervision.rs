//! What runs can rely on: the supervisor's promises, runs inside runs, limits, and how a run ends.

#[path = "../common/mod.rs"]
mod common;

#[path = "../lifetime/main.rs"]
mod lifetime;
#[path = "../limits.rs"]
mod limits;
#[path = "../nesting/main.rs"]
mod nesting;
#[path = "../supervision/main.rs"]
mod supervision;
