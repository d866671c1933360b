//! Judges actions before anything runs: whether an agent may do something, and whether a tool may be called.
//!
//! `layers` joins what users and projects configure, `judging` decides a tool call, `files`
//! an access to a path or host. Nothing here runs, opens or enforces anything: that is the sandbox's work.

mod allowing;
mod answer;
mod asking;
#[cfg(test)]
mod corpora_tests;
mod denying;
mod directory;
mod examples;
mod file;
pub mod files;
mod glob;
mod harm;
mod json;
mod judging;
mod known;
mod layers;
mod line;
mod refused;
mod request;
mod rules;
mod storing;
#[cfg(test)]
mod tests;

pub use stockade_policy::config::{Decision, PermissionRule, Permissions, SHELL, SKILL_LOAD};
pub use stockade_policy::policy::listed_names;

pub use answer::{Answer, Danger, Remember, ToolError};
pub use directory::lexical;
pub use examples::matches as is_match;
pub use file::permissions_of;
pub use judging::Judge;
pub use layers::{
    Layers, Line, Missing, Pinned, Project, Trust, TrustError, Widening, Written, remember, remove_rules, revoke,
    trust, trusted,
};
pub use refused::Refused;
pub use request::{Act, Action, Call};
pub use storing::storable;
