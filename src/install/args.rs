//! The words of `install` and `uninstall`.

use std::path::PathBuf;

use clap::Args;

use crate::hook_grants::HookGrants;
use crate::values::parse_agent;
use stockade_install::{Agent, Client};

// Where the settings are, and whether to ask. Documentation would become the description of each task.
#[derive(Debug, Args)]
pub struct Where {
    /// Change the project's settings in place of yours
    #[arg(long)]
    pub project: bool,
    /// Root of the project [default: current directory]
    #[arg(long, value_name = "DIR", requires = "project")]
    pub root: Option<PathBuf>,
    /// Write without a question
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct McpInstall {
    /// Client: claude-code, claude-desktop, codex, copilot, cursor, gemini, vscode, zed
    #[arg(long = "for", value_name = "CLIENT", value_parser = parse_client)]
    pub client: Client,
    #[command(flatten)]
    pub place: Where,
    /// Only this server; may be repeated [default: all that start a program]
    #[arg(long, value_name = "NAME")]
    pub server: Vec<String>,
    /// Profile for all of them, by name or file [default: by server]
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
}

#[derive(Debug, Args)]
pub struct McpStatus {
    /// Look at the project's settings alone [default: yours and the project's]
    #[arg(long)]
    pub project: bool,
    /// Root of the project [default: current directory]
    #[arg(long, value_name = "DIR", requires = "project")]
    pub root: Option<PathBuf>,
    /// Print JSON, one object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct McpUninstall {
    /// Client: claude-code, claude-desktop, codex, copilot, cursor, gemini, vscode, zed
    #[arg(long = "for", value_name = "CLIENT", value_parser = parse_client)]
    pub client: Client,
    #[command(flatten)]
    pub place: Where,
    /// Only this server; may be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    pub server: Vec<String>,
}

#[derive(Debug, Args)]
pub struct HookInstall {
    /// Agent: claude-code, codex, copilot, cursor, gemini
    #[arg(long = "for", value_name = "AGENT", value_parser = parse_agent_program)]
    pub agent_program: Agent,
    #[command(flatten)]
    pub place: Where,
    /// Profile that commands run under, by name or file [default: the hook's own]
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// Role that tool calls are judged by: worker, judge, planner, leader, or one of `config.toml`
    #[arg(long, value_name = "NAME", value_parser = parse_agent)]
    pub agent: Option<String>,
    /// Whether commands that no rule allows are asked about, or run confined without a question: ask, allow
    #[arg(long, value_name = "ask|allow", value_parser = ["ask", "allow"])]
    pub confined: Option<String>,
    #[command(flatten)]
    pub grants: HookGrants,
}

#[derive(Debug, Args)]
pub struct HookUninstall {
    /// Agent: claude-code, codex, copilot, cursor, gemini
    #[arg(long = "for", value_name = "AGENT", value_parser = parse_agent_program)]
    pub agent_program: Agent,
    #[command(flatten)]
    pub place: Where,
}

fn parse_client(text: &str) -> Result<Client, String> {
    let names = Client::ALL.map(|client| client.name());
    let found = Client::ALL.into_iter().find(|client| client.name() == text);
    found.ok_or_else(|| format!("the clients are {}", names.join(", ")))
}

fn parse_agent_program(text: &str) -> Result<Agent, String> {
    let names = Agent::ALL.map(|agent| agent.name());
    let found = Agent::ALL.into_iter().find(|agent| agent.name() == text);
    found.ok_or_else(|| format!("the agents are {}", names.join(", ")))
}
