//! What runs can rely on: the supervisor's promises, runs inside runs, limits, and how a run ends.

#[path = "../common/mod.rs"]
mod common;

#[path = "../lifetime/mod.rs"]
mod lifetime;
#[path = "../limits.rs"]
mod limits;
#[path = "../nesting/mod.rs"]
mod nesting;
#[path = "../supervision/mod.rs"]
mod supervision;
