//! `stockade hook`: what coding agents ask before and after a tool call.

use clap::Subcommand;

use super::install;
use super::message::Failure;

/// The tasks of `stockade hook`.
#[derive(Debug, Subcommand)]
pub enum HookTask {
    /// Register Stockade's hooks in the settings of a coding agent
    Install(install::HookInstall),
    /// Take Stockade's hooks out of the settings of a coding agent
    Uninstall(install::HookUninstall),
}

/// Carries out `stockade hook …`.
pub fn hook(task: &HookTask) -> Result<u8, Failure> {
    match task {
        HookTask::Install(task) => install::hook_install(task),
        HookTask::Uninstall(task) => install::hook_uninstall(task),
    }
}
