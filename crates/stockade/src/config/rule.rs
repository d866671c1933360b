//! One line of permission for tool calls, and lists of them.

use serde::{Deserialize, Serialize};

use crate::profile::Origin;

/// What a rule says before anybody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may be done.
    Allow,
    /// A person has to say yes first; where no question can be asked it is a no.
    Confirm,
    /// It may not be done.
    Deny,
}

/// A rule for tool calls. All fields that are there must match; a rule with a tool alone matches the whole tool.
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
    /// Texts that the rule must match: it is checked when the file is loaded.
    pub matches: Vec<String>,
    /// Texts that it must not match.
    pub not_matches: Vec<String>,
    /// Where it stands.
    pub origin: Origin,
}

/// The lists of one layer, or of several joined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// What is allowed without a question.
    pub allow: Vec<PermissionRule>,
    /// What is refused.
    pub deny: Vec<PermissionRule>,
}

/// Which list a rule stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Of what is allowed without a question.
    Allow,
    /// Of what is refused.
    Deny,
}

/// Whether a rule alone decides about a text. What reads command lines knows it; it lies beside this library.
pub type IsMatch = fn(&PermissionRule, List, &str) -> bool;

impl Decision {
    /// Its name.
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
    /// As in TOML.
    pub(super) fn name(self) -> &'static str {
        match self {
            List::Allow => "permissions.allow",
            List::Deny => "permissions.deny",
        }
    }
}
