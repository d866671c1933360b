//! The words of `stockade hook`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ask::Ask;
use super::hook_grants::HookGrants;
use super::install::{HookInstall, HookUninstall};
use super::values::{parse_agent, parse_network};
use stockade::NetworkChoice;
use stockade_hook::Confined;
use stockade_store::Level;

/// The tasks of `stockade hook`: a hook for each agent's format, and their registration.
#[derive(Debug, Subcommand)]
#[command(
    defer = true,
    disable_help_subcommand = true,
    subcommand_value_name = "TASK",
    after_help = "Pages: `stockade help agents`, `stockade help install-in-clients`"
)]
pub enum HookTask {
    /// Answer a hook of Claude Code
    ClaudeCode(HookFlags),
    /// Answer a hook of Codex
    Codex(HookFlags),
    /// Answer a hook of Gemini CLI
    Gemini(HookFlags),
    /// Answer a hook of Cursor
    Cursor(HookFlags),
    /// Answer a hook of GitHub Copilot
    Copilot(HookFlags),
    /// Register Stockade's hooks in the settings of a coding agent
    Install(HookInstall),
    /// Take Stockade's hooks out of the settings of a coding agent
    Uninstall(HookUninstall),
}

// The flags of all hooks: what confined commands may do, and by what files and hosts are judged. Documentation would become
// the description of each hook.
#[derive(Debug, Args)]
pub struct HookFlags {
    /// Profile of the agent's commands, and that its files and hosts are judged by [default: the role's, else workspace]
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// Role of the agent: worker, judge, planner, leader, or one of `config.toml`
    #[arg(long, value_name = "ROLE", value_parser = parse_agent)]
    pub agent: Option<String>,
    /// The project [default: as the agent tells, else the current directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    #[command(flatten)]
    pub grants: HookGrants,
    /// Override the profile's network: `none` or `all`
    #[arg(long, value_name = "none|all", value_parser = parse_network)]
    pub net: Option<NetworkChoice>,
    /// Allow connecting to language models, and pass the variables that hold their keys
    #[arg(long)]
    pub llm: bool,
    /// Where confined commands ask for refused access: auto, socket, never, command=TEXT
    #[arg(long, value_name = "WHERE", value_parser = parse_ask, default_value = "auto")]
    pub ask: String,
    /// What becomes of a command that needs a confirmation, once it is confined: ask a person, or allow it
    #[arg(long, value_name = "ask|allow", value_parser = parse_confined, default_value = "ask")]
    pub confined: Confined,
    /// What the audit trail records of the hook's decisions
    #[arg(long, value_name = "off|denials|all", default_value = "all")]
    pub audit: Level,
}

fn parse_confined(text: &str) -> Result<Confined, String> {
    match text {
        "ask" => Ok(Confined::Ask),
        "allow" => Ok(Confined::Allow),
        _ => Err("it is `ask` or `allow`".into()),
    }
}

/// A value of `run --ask`; a descriptor wouldn't reach the run.
fn parse_ask(text: &str) -> Result<String, String> {
    let _: Ask = text.parse()?;
    match text.starts_with("fd:") {
        true => Err("it is `auto`, `terminal`, `socket`, `command=TEXT` or `never`".into()),
        false => Ok(text.to_string()),
    }
}
