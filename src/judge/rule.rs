//! One line of permission for tool calls, and lists of them.

use crate::profile::Origin;

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
