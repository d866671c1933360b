//! Requests: the actions to judge.

use std::path::PathBuf;

/// One action to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// An access to a path: absolute, or relative to the caller's directory.
    Path(Action, PathBuf),
    /// Connecting to `host:port`; the port defaults to 443.
    Connect(String),
    /// Calling a tool.
    Tool(Call),
}

/// An action on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Reading, listing, searching.
    Read,
    /// Creating and changing.
    Write,
    /// Removing, moving away.
    Delete,
    /// Starting as a program.
    Execute,
}

impl Act {
    /// The action's name; `tool` for a call.
    #[must_use]
    pub fn action(&self) -> &'static str {
        match self {
            Act::Path(action, _) => action.name(),
            Act::Connect(_) => "connect",
            Act::Tool(_) => "tool",
        }
    }

    /// The object of the action: the path, the host, or the tool with its main input.
    #[must_use]
    pub fn target(&self) -> String {
        match self {
            Act::Path(_, path) => path.to_string_lossy().into_owned(),
            Act::Connect(host) => host.clone(),
            Act::Tool(call) => match call.command.as_ref().or(call.skill_name.as_ref()) {
                Some(input) => format!("{}: {input}", call.tool),
                None => call.tool.clone(),
            },
        }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// For the shell: the command line.
    pub command: Option<String>,
    /// For `skill_load`: the skill.
    pub skill_name: Option<String>,
}
