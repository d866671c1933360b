//! Refusals of a tool call before any rule is consulted.

use stockade_policy::policy::Capabilities;
use stockade_policy::profile::visible;

/// A refusal that neither a rule nor a yes can change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No such tool.
    #[error("Stockade doesn't know the tool `{}`; a rule can allow it", visible(tool))]
    ToolNotFound {
        /// The requested name.
        tool: String,
    },
    /// The tool isn't in the agent's list.
    #[error(
        "CapabilityDenied: the agent `{}` doesn't declare the tool `{}`",
        visible(agent),
        visible(tool)
    )]
    CapabilityDenied {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// The agent lacks a capability that the tool needs.
    #[error("permission denied: {0} capability required")]
    Lacks(Capabilities),
    /// The tool may run only certain commands, and this is none of them.
    #[error("the tool `{}` may run {} alone, and {what}", visible(tool), listed(commands))]
    NotItsCommand {
        /// The tool.
        tool: String,
        /// The commands that it may run.
        commands: Vec<String>,
        /// The request instead, as the end of a sentence.
        what: String,
    },
}

fn listed(commands: &[String]) -> String {
    let quoted: Vec<String> = commands
        .iter()
        .map(|command| format!("`{}`", visible(command)))
        .collect();
    match quoted.as_slice() {
        [] => "no command".to_string(),
        _ => quoted.join(", "),
    }
}
