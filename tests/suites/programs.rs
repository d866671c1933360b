//! Real programs, under profiles that are given, inferred or learned.

#[path = "../common/mod.rs"]
mod common;

#[path = "../daily/mod.rs"]
mod daily;
#[path = "../exec/mod.rs"]
mod exec;
#[path = "../first_denial/mod.rs"]
mod first_denial;
#[path = "../inference/mod.rs"]
mod inference;
#[path = "../learn.rs"]
mod learn;
#[path = "../mcp/mod.rs"]
mod mcp;
#[path = "../programs.rs"]
mod programs;
#[path = "../same_as_bare/mod.rs"]
mod same_as_bare;
#[path = "../serving/mod.rs"]
mod serving;
