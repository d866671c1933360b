//! Questions to a person, and what the answers open.

#[path = "../common/mod.rs"]
mod common;

#[path = "../approvals/mod.rs"]
mod approvals;
#[path = "../escalation/mod.rs"]
mod escalation;
