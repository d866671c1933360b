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
//! `launch` (carrying it out) → `report`. `docs/ARCHITECTURE.md` has the map.

mod blobs;
mod growth;
pub mod launch;
#[doc(hidden)]
pub mod processes;
mod ruleset;
mod sandbox;
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "calls that only x86-64 has")
)]
mod supervise;
#[doc(hidden)]
pub mod surroundings;
#[doc(hidden)]
pub mod warden;

use stockade_network as network;
pub use stockade_plan::{kernel, plan};
pub use stockade_policy::{command, config, policy, profile};
use stockade_policy::{custody, user_database};
#[doc(hidden)]
pub use stockade_policy::{mutex, real_path, unconfined};
#[doc(hidden)]
pub use stockade_report::fault;
pub use stockade_report::{approve, audit, report};

pub use launch::Event;
pub use plan::{Shortfall, Trace};
pub use policy::NetworkChoice;
pub use report::{Ending, Status};
pub use sandbox::{Child, Command, Error, LeftBehind, Outcome, Output, Ready, Sandbox, WrittenTrees};
pub use supervise::ServedTo;
