//! Hooks of coding agents: reads what an agent asks before and after a tool call, and answers in that agent's format.
//!
//! `format` has one module for each agent's published format, with a table of its tools. `work` tells what a call does,
//! in the terms of the judge; `decide` asks the judge and folds its answers; `confine` rewrites a shell's line so that it
//! runs inside `stockade run`. Nothing here judges, opens or starts anything. What isn't understood is refused.

mod after;
mod confine;
mod decide;
mod event;
mod format;
mod patch;
mod paths;
mod reply;
#[cfg(test)]
mod tests;
mod verdict;
mod web;
mod wildcards;
mod work;

pub use after::{Refusals, bounded, told};
pub use confine::Confinement;
pub use decide::{Confined, ToolJudge, answer};
pub use event::{Call, Event, Misread, Stage};
pub use format::{Agent, is_named, is_of_server, judged_as, meant};
pub use reply::{Reply, unknown_agent};
pub use work::{accesses, named};
