//! Judging before anything runs: may this agent do that, and may this tool be called so?
//!
//! `shell` reads command lines, `rule` is one line of permission, `judging` decides a tool call, `files` an access to a
//! path or host. Nothing here runs, opens or enforces anything: that is the sandbox's work.

#[cfg(feature = "judge")]
mod allowing;
mod answer;
#[cfg(feature = "judge")]
mod asking;
#[cfg(feature = "judge")]
mod denying;
#[cfg(feature = "judge")]
mod directory;
#[cfg(feature = "judge")]
mod examples;
mod file;
pub mod files;
#[cfg(feature = "judge")]
mod glob;
#[cfg(feature = "judge")]
mod harm;
mod json;
#[cfg(feature = "judge")]
mod judging;
#[cfg(feature = "judge")]
pub(crate) mod known;
#[cfg(feature = "judge")]
mod layout;
#[cfg(feature = "judge")]
mod line;
pub(crate) mod read;
mod refused;
mod request;
mod rule;
#[cfg(feature = "judge")]
mod rules;
#[cfg(feature = "judge")]
pub mod shell;
#[cfg(feature = "judge")]
mod storing;
#[cfg(all(test, feature = "judge"))]
mod tests;

pub use answer::{Answer, Danger, Decision, Remember, ToolError};
#[cfg(feature = "cli")]
pub(crate) use directory::lexical;
pub use file::permissions_of;
#[cfg(feature = "judge")]
pub use judging::Judge;
pub use refused::Refused;
pub use request::{Act, Action, Call};
pub use rule::{PermissionRule, Permissions};
#[cfg(feature = "judge")]
pub use storing::storable;

/// The shell tool: its input is a command line.
pub const SHELL: &str = "bash";

/// The tool that loads a skill by its name.
pub const SKILL_LOAD: &str = "skill_load";
