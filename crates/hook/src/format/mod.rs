//! The agents' published formats: what each tells its hooks, its tools, and what it reads of an answer.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod gemini;

use std::path::Path;

use serde_json::Value;
use stockade_policy::config::known;
use stockade_policy::profile::nearest;

use super::event::{Call, Event, Fields, Misread, Stage};
use super::reply::Reply;
use super::verdict::{Decided, Verdict};
use super::work::{self, Kind, Work};

/// A coding agent with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// GitHub Copilot: its command line, its cloud agent, and VS Code's names of the same events.
    Copilot,
}

/// One of an agent's tools.
type Entry = (&'static str, Kind);

impl Agent {
    /// All agents.
    pub const ALL: [Agent; 5] = [
        Agent::ClaudeCode,
        Agent::Codex,
        Agent::Gemini,
        Agent::Cursor,
        Agent::Copilot,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::Cursor => "cursor",
            Agent::Copilot => "copilot",
        }
    }

    /// The name in a sentence.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "Claude Code",
            Agent::Codex => "Codex",
            Agent::Gemini => "Gemini CLI",
            Agent::Cursor => "Cursor",
            Agent::Copilot => "Copilot",
        }
    }

    /// The agent of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Agent> {
        Agent::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// Blocks what the agent is about to do, after a failure of the hook: in the agent's format, and by the exit code.
    #[must_use]
    pub fn blocked(self, reason: &str) -> Reply {
        match self {
            Agent::ClaudeCode | Agent::Codex => claude::blocked(reason),
            Agent::Gemini => gemini::blocked(reason),
            Agent::Cursor => cursor::blocked(reason),
            Agent::Copilot => copilot::blocked(reason),
        }
    }

    /// The same for an event that was read.
    #[must_use]
    pub fn blocked_event(self, event: &Event, reason: &str) -> Reply {
        let denied = Decided::Call(Verdict::Deny(reason.to_string()), None);
        let blocked = self.blocked(reason);
        match event.stage {
            Stage::After { .. } => blocked,
            // Its answer in JSON is the one that the event reads.
            _ => Reply {
                stdout: self.reply(event, &denied).stdout,
                ..blocked
            },
        }
    }

    /// Reads the agent's event.
    ///
    /// # Errors
    /// It isn't one that this agent is known to send.
    pub fn read(self, input: &[u8]) -> Result<Event, Misread> {
        let fields = &Fields::read(input)?;
        match self {
            Agent::ClaudeCode => claude::event(fields),
            Agent::Codex => codex::event(fields),
            Agent::Gemini => gemini::event(fields),
            Agent::Cursor => cursor::event(fields),
            Agent::Copilot => copilot::event(fields),
        }
    }

    pub(super) fn reply(self, event: &Event, decided: &Decided) -> Reply {
        match self {
            Agent::ClaudeCode => claude::reply(event, decided),
            Agent::Codex => codex::reply(event, decided),
            Agent::Gemini => gemini::reply(event, decided),
            Agent::Cursor => cursor::reply(event, decided),
            Agent::Copilot => copilot::reply(event, decided),
        }
    }

    /// Whether the call's directory is where the agent's shell will start the line.
    pub(super) fn tells_directory(self, call: &Call) -> bool {
        const OWN: [&str; 4] = ["dir_path", "directory", "working_directory", "workdir"];
        let has_own = OWN
            .iter()
            .any(|field| call.input.get(field).is_some_and(|value| !value.is_null()));
        self != Agent::Codex && !has_own
    }

    /// What a call does, by the agent's table.
    pub(super) fn work(self, tool: &str, input: &Value, home: Option<&Path>) -> Result<Work, Misread> {
        match self.kind(tool) {
            Some(kind) => work::work(tool, kind, input, home),
            None if is_of_server(tool) => Ok(Work::OfServer(work::named(tool))),
            // Its name may be that of a tool of ours; what it does isn't known by that.
            None => Ok(Work::Unlisted(work::named(tool))),
        }
    }

    fn kind(self, tool: &str) -> Option<Kind> {
        let mut table = self.tools().iter();
        table.find(|(name, _)| *name == tool).map(|(_, kind)| *kind)
    }

    fn tools(self) -> &'static [Entry] {
        match self {
            Agent::ClaudeCode => claude::TOOLS,
            Agent::Codex => codex::TOOLS,
            Agent::Gemini => gemini::TOOLS,
            Agent::Cursor => cursor::TOOLS,
            Agent::Copilot => copilot::TOOLS,
        }
    }
}

/// The name that a tool of one of the agents is judged by: that of a tool of ours, or its own if it acts within the agent.
/// `None` if no agent's table has it.
#[must_use]
pub fn judged_as(tool: &str) -> Option<&str> {
    let kind = Agent::ALL.into_iter().find_map(|agent| agent.kind(tool))?;
    Some(kind.ours().unwrap_or(tool))
}

/// Whether a rule for the tool `rule` is one for a call of `tool`: by that name, or by one of ours that it is judged by.
#[must_use]
pub fn is_named(rule: &str, tool: &str) -> bool {
    // Names that stand for the same.
    const ALSO: [(&str, &str); 6] = [
        ("glob_search", "glob"),
        ("glob", "glob_search"),
        ("task", "agent"),
        ("multi_edit", "edit"),
        ("delete", "remove"),
        ("remove", "delete"),
    ];
    let of_agents = Agent::ALL.into_iter().filter_map(|agent| agent.kind(tool)?.ours());
    let names: Vec<&str> = of_agents.chain([tool]).collect();
    let also = ALSO.iter().filter(|(name, _)| names.contains(name));
    let names: Vec<&str> = also.map(|(_, also)| *also).chain(names.iter().copied()).collect();
    names.contains(&rule) || known::spelt(rule).is_some_and(|rule| names.contains(&rule))
}

/// The known name that a rule's tool seems to mean, if it is none: neither ours, an agent's, a server's, nor one of `declared`.
#[must_use]
pub fn meant<'n>(tool: &str, declared: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let of_agents = Agent::ALL.into_iter().flat_map(Agent::tools);
    let usual = known::names().chain(of_agents.map(|(name, _)| *name));
    let all: Vec<&'n str> = usual.map(|name| -> &'n str { name }).chain(declared).collect();
    let is_one = all.contains(&tool) || known::spelt(tool).is_some() || is_of_server(tool);
    nearest(tool, all).filter(|_| !is_one)
}

/// Whether a name begins as those of MCP servers' tools do.
#[must_use]
pub fn is_of_server(tool: &str) -> bool {
    ["mcp__", "mcp_", "MCP:", "ReadMcpResource"]
        .iter()
        .any(|start| tool.starts_with(start))
}
