//! `stockade mcp`: servers of the Model Context Protocol, confined.

use clap::Subcommand;

use super::install;
use super::message::Failure;

/// The tasks of `stockade mcp`.
#[derive(Debug, Subcommand)]
pub enum McpTask {
    /// Put `stockade mcp wrap` before the servers of an MCP client
    Install(install::McpInstall),
    /// Take `stockade mcp wrap` out of the settings of an MCP client
    Uninstall(install::McpUninstall),
}

/// Carries out `stockade mcp …`.
pub fn mcp(task: &McpTask) -> Result<u8, Failure> {
    match task {
        McpTask::Install(task) => install::mcp_install(task),
        McpTask::Uninstall(task) => install::mcp_uninstall(task),
    }
}
