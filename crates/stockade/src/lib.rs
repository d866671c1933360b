//! Stockade runs an untrusted program inside a named permission profile that the Linux kernel enforces: Landlock, seccomp
//! and a supervisor of system calls, without root, containers or a daemon. It reports what was refused, and the smallest
//! grant that would allow it.
//!
//! # A run
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
//! [`Sandbox`] says what is allowed: a profile by its name or file, and what is granted or denied beside it. It is a value: clone
//! it, and start as many runs from it as you like. [`Sandbox::command`] gives a [`Command`] like `std::process::Command`:
//! [`run`](Command::run) waits, [`output`](Command::output) collects what the program prints, [`spawn`](Command::spawn) gives a
//! [`Child`]. [`Outcome::report`] is the whole [report](report::Report), which `schemas/report.schema.json` describes.
//!
//! # What a program is refused
//!
//! A refused call fails in the program, with `EACCES` mostly, and the program goes on. [`Outcome::denials`] lists what was refused.
//! [`Outcome::status`] tells a program that failed for that reason from one that failed by itself.
//!
//! With an [approver](approve::Approver) a person or a program is asked while the call waits:
//!
//! ```no_run
//! use stockade::Sandbox;
//! use stockade::approve::{Answer, Approver, Deadline, EscalationRequest};
//!
//! struct Nothing;
//! impl Approver for Nothing {
//!     fn ask(&self, request: &EscalationRequest, _: &Deadline) -> Answer {
//!         eprintln!("{}", request.reason);
//!         Answer::silence("not today")
//!     }
//! }
//! let run = Sandbox::profile("workspace")?.approver(Nothing).command("make").run()?;
//! # let _ = run;
//! # Ok::<(), stockade::Error>(())
//! ```
//!
//! # When it doesn't start
//!
//! Where the kernel can't enforce what a profile promises, nothing is started, and [`Error`] names the [`Shortfall`].
//! [`Sandbox::accept_shortfall`] accepts one by its name. An [`Error`] has a [`hint`](Error::hint) that a person can act on.
//!
//! # Threads, signals, processes
//!
//! Each run has threads of its own in this process: the supervisor's workers, and a relay where hosts are named. They have no Linux
//! capabilities, a Landlock domain each, and descriptors, directory and umask of their own. A run is forked from such a
//! thread, so any thread may start one, also many at once. No signal handler is installed, and no child but the run's is
//! waited for. When the command ends, so does every process that it left; a [`Child`] that is dropped ends its run.
//!
//! # Limits
//!
//! The library reads no store, writes no trail and asks nobody unless told to: an [observer](observe::Observer) is told what
//! happens, and `stockade-store` keeps it. Profiles of the user and the project are found as the program `stockade` finds them.
//! What is and isn't promised is in SECURITY.md and docs/promises.md.
//!
//! # Testing
//!
//! A run inside a run works, so tests of a program that uses this library may themselves run confined. Where
//! Landlock is missing (an old kernel, some containers), [`Error`] says so: skip, and say that aloud.

mod blobs;
mod growth;
mod launch;
mod processes;
mod ruleset;
mod sandbox;
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "calls that only x86-64 has")
)]
mod supervise;
mod surroundings;
mod warden;

use stockade_network as network;
use stockade_plan::{kernel, plan};
use stockade_policy::{command, config, custody, mutex, policy, profile, real_path, user_database};
use stockade_report::{audit, fault};

pub use stockade_report::{approve, report};

/// What an observer of runs is told.
pub mod observe {
    pub use stockade_report::audit::*;
}

/// What Stockade's own programs need beside the face. It changes without notice.
pub mod internal {
    pub use crate::launch::{
        CallersSignals, StoredCache, cache_variables, find_control_group, remove_cache, stored_caches,
    };
    pub use crate::processes::{StatFields, status_field};
    pub use crate::sandbox::WrittenTrees;
    pub use crate::surroundings::Surroundings;
    pub use crate::warden::Pause;
}

pub use launch::Event;
pub use plan::{Shortfall, Trace};
pub use policy::{Capabilities, Mode, NetworkChoice, Role};
pub use profile::Limits;
pub use report::{Ending, Status};
pub use sandbox::{Child, Command, Error, LeftBehind, Outcome, Output, Ready, Sandbox};
pub use supervise::ServedTo;
