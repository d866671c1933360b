//! `stockade mcp`: the Model Context Protocol.

mod serve;
mod tools;
mod words;
mod wrap;

use super::args::McpTask;
use super::install;
use super::message::Failure;
use super::to_output;

/// Carries out `stockade mcp …`.
pub fn mcp(task: &McpTask) -> Result<u8, Failure> {
    match task {
        McpTask::Wrap(wrap) => wrap::wrap(wrap),
        McpTask::List { json } => to_output(|out| tools::list(*json, out)),
        McpTask::Status(task) => to_output(|out| install::mcp_status(task, out)),
        McpTask::Tools(task) => to_output(|out| tools::tools(task, out)),
        McpTask::Install(task) => install::mcp_install(task),
        McpTask::Uninstall(task) => install::mcp_uninstall(task),
        McpTask::Serve(task) => serve::serve(task),
    }
}
