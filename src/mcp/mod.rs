//! `stockade mcp`: the Model Context Protocol.

pub mod serve;

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
    /// Serve an MCP client on standard input and output: tools that run commands and scripts inside profiles
    Serve(serve::Serve),
}

/// Carries out `stockade mcp …`.
pub fn mcp(task: &McpTask) -> Result<u8, Failure> {
    match task {
        McpTask::Install(task) => install::mcp_install(task),
        McpTask::Uninstall(task) => install::mcp_uninstall(task),
        McpTask::Serve(task) => serve::serve(task),
    }
}
