//! Questions to a person, and what the answers open.

#[path = "../common/mod.rs"]
mod common;

#[path = "../approvals/main.rs"]
mod approvals;
#[path = "../escalation/main.rs"]
mod escalation;
