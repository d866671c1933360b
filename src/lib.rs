//! Stockade runs an untrusted program inside a named permission profile that the Linux
//! kernel enforces: Landlock and seccomp, without root, containers or a daemon.
//!
//! ```no_run
//! use stockade::Sandbox;
//!
//! let outcome = Sandbox::profile("readonly")?.command("python3").arg("analyse.py").run()?;
//! println!("{:?}, exit code {}", outcome.status(), outcome.exit_code());
//! for denial in outcome.denials() {
//!     println!("{} {:?}", denial.target, denial.grant);
//! }
//! # Ok::<(), stockade::Error>(())
//! ```
//!
//! Folders are stages: `profile` (TOML to values) → `policy` (what is allowed) → `plan` (how it is enforced) →
//! `launch` (carrying it out) → `report`. `ARCHITECTURE.md` has the map.

pub mod approve;
pub mod audit;
#[cfg(feature = "cli")]
pub mod cli;
pub mod command;
pub mod config;
mod custody;
mod fault;
#[cfg(feature = "infer")]
pub mod infer;
pub mod judge;
pub mod kernel;
pub mod launch;
#[cfg(feature = "cli")]
pub mod learn;
mod mask;
mod mutex;
mod network;
pub mod plan;
pub mod policy;
pub mod profile;
mod quote;
mod real_path;
pub mod report;
mod sandbox;
#[cfg(feature = "store")]
pub mod store;
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "calls that only x86-64 has")
)]
mod supervise;
mod surroundings;
mod sys;
mod unconfined;
mod visible;

pub use launch::{Ending, Event};
pub use plan::{Shortfall, Trace};
pub use policy::NetworkChoice;
pub use report::Status;
pub use sandbox::{Child, Command, Error, Outcome, Output, Ready, Sandbox};
pub use supervise::ServedTo;
