//! `stockade mcp install`, `stockade hook install` and their opposites: shows the change of another program's settings, asks,
//! and writes it.

mod already;
mod args;
mod flags;
mod hook;
mod mcp;
mod own;
mod place;
mod plan;
mod steering;
mod write;

pub use args::{HookInstall, HookUninstall, McpInstall, McpStatus, McpUninstall};
pub use hook::{hook_install, hook_uninstall, installs};
pub use mcp::{mcp_install, mcp_status, mcp_uninstall};
