//! A permission rule for tool calls, and lists of rules.

use serde::{Deserialize, Serialize};

use crate::profile::Origin;

/// The decision of a rule before anybody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The call is allowed.
    Allow,
    /// A person has to approve first; if no question can be asked, it is denied.
    Confirm,
    /// The call is denied.
    Deny,
}

/// A rule for tool calls. All fields present must match; a rule with only a tool matches the whole tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionRule {
    /// The tool's name.
    pub tool: String,
    /// Shell tool only: one or two words, compared with the first words of a command.
    pub command: Option<String>,
    /// Shell tool only: a glob (`*`, `?`) over the normalised text.
    pub command_glob: Option<String>,
    /// Tool `skill_load` only: the skill's name.
    pub skill_name: Option<String>,
    /// Examples that the rule must match, checked when the file is loaded.
    pub matches: Vec<String>,
    /// Examples that it must not match.
    pub not_matches: Vec<String>,
    /// The rule's position.
    pub origin: Origin,
}

/// The lists of one layer, or of several layers merged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Calls allowed without a question.
    pub allow: Vec<PermissionRule>,
    /// Calls denied.
    pub deny: Vec<PermissionRule>,
}

/// The list that a rule belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Allowed without a question.
    Allow,
    /// Denied.
    Deny,
}

/// Whether a rule alone decides a text. Implemented by the parser of command lines, outside of this crate.
pub type IsMatch = fn(&PermissionRule, List, &str) -> bool;

impl Decision {
    /// The name of the decision.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Confirm => "confirm",
            Decision::Deny => "deny",
        }
    }
}

impl List {
    /// The name in TOML.
    pub(super) fn name(self) -> &'static str {
        match self {
            List::Allow => "permissions.allow",
            List::Deny => "permissions.deny",
        }
    }
}
