//! Judging before anything runs: may this agent do that, and may this tool be called so?
//!
//! `shell` reads command lines, `rule` is one line of permission, `rules` decides a tool call, `files` an access to a
//! path or host. Nothing here runs, opens or enforces anything: that is the sandbox's work.

mod answer;
pub mod files;
pub(crate) mod read;
mod request;
mod rule;
pub mod shell;

pub use answer::{Answer, Danger, Decision, Remember};
pub use request::{Act, Action, Call};
pub use rule::{PermissionRule, Permissions};

/// The shell tool: its input is a command line.
pub const SHELL: &str = "bash";

/// The tool that loads a skill by its name.
pub const SKILL_LOAD: &str = "skill_load";
