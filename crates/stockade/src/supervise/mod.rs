//! The supervisor: it answers the calls that the run's filter hands over (seccomp_unotify(2)).
//!
//! It only narrows what Landlock allows, or acts on behalf of the run for what the policy grants. Its threads
//! ("workers") live in the launcher's process, outside the confinement, without Linux capabilities, each with a umask,
//! a working directory and descriptors of its own. Any error is a refusal.
//!
//! The steps of a call: [`caller`] reads the allegation → [`resolve`] pins an object → [`judge`] decides on the
//! kernel's name for it → the call is made on the pinned object (`open`, `dirents`, `metadata`, …) → [`answer`].

mod access;
mod allowing;
mod answer;
mod approvals;
mod attributes;
mod caller;
mod dirents;
mod dispatch;
mod events;
mod execute;
mod fifo;
mod first;
mod git_config;
mod git_renamed;
mod groups;
mod hard_links;
mod internet;
mod judge;
mod limits;
mod memory;
mod metadata;
mod nested;
mod nested_runs;
mod notify_context;
mod open;
mod pinned;
mod policy_stack;
mod process_calls;
mod process_list;
mod processor;
mod procfs;
mod refuse;
mod resolve;
mod run_policy;
mod shared;
mod signals;
mod socket_store;
mod sockets;
mod stand_in;
mod stderr_log;
mod submodules;
mod synthetic_files;
mod system_v;
mod taking_over;
mod terminals;
mod truncate;
mod worker;
mod worker_fds;

pub use approvals::{Approvals, Asking, Profiles};
pub use first::Supervisor;
pub use hard_links::closed_names;
pub use nested::{Told, request, told};
pub use pinned::Identity;
pub use shared::{Aides, RunConfig, Shared, Telling};
pub use synthetic_files::{Script, ServedTo};
