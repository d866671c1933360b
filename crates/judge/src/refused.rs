//! Why a tool call is refused before any rule is looked at.

use stockade::policy::Capabilities;
use stockade::profile::visible;

/// A refusal that no rule and no yes changes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No such tool.
    #[error("ToolNotFound: no tool is called `{}`", visible(tool))]
    ToolNotFound {
        /// The name that was asked for.
        tool: String,
    },
    /// The agent's list of tools doesn't have it.
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
    /// The tool may run certain commands alone, and this is none of them.
    #[error("the tool `{}` may run {} alone, and {what}", visible(tool), listed(commands))]
    NotItsCommand {
        /// The tool.
        tool: String,
        /// The commands that it may run.
        commands: Vec<String>,
        /// What was asked instead, as the end of a sentence.
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
