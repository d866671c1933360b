//! Real programs, under profiles that are given, inferred or learned.

#[path = "../common/mod.rs"]
mod common;

#[path = "../exec/main.rs"]
mod exec;
#[path = "../first_denial/main.rs"]
mod first_denial;
#[path = "../inference/main.rs"]
mod inference;
#[path = "../learn.rs"]
mod learn;
#[path = "../programs.rs"]
mod programs;
#[path = "../same_as_bare/main.rs"]
mod same_as_bare;
