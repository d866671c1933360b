//! Puts Stockade into the settings of other programs, and takes it out again: `stockade mcp wrap` before the servers of MCP
//! clients, and `stockade hook` into the hooks of coding agents.
//!
//! Settings are edited as texts at the places that a parser tells, so that comments, order and layout stay. Before a change is
//! offered, taking it back has given the old text byte by byte. This crate reads and writes such files and nothing else; it
//! prints nothing, asks nothing and starts nothing.

mod agents;
mod clients;
mod diff;
mod document;
mod edit;
mod file;
mod hooks;
mod known;
mod piece;
mod servers;
mod wrap;

pub use agents::Agent;
pub use clients::{Client, Places, Scope, ServerFile};
pub use diff::unified;
pub use document::{Fault, Format, parse};
pub use file::{FileError, SettingsFile};
pub use hooks::{HookError, Unregistered, register, switched_off, unregister};
pub use known::{Proposal, propose, starts_elsewhere};
pub use servers::{Program, Server, Start, Variable, servers};
pub use wrap::{Amendment, Wrap, Wrapped, amend, unwrap, wrap, wrap_flags, wrapped};
