//! The supervisor: it answers the calls that the run's filter hands over (seccomp_unotify(2)).
//!
//! It only narrows inside what Landlock allows, or acts on behalf of the run for what the policy grants. Its threads
//! ("workers") live in the launcher's process, outside the confinement, without Linux capabilities, each with a umask,
//! a directory and descriptors of its own. Any error is a refusal.
//!
//! One call goes: [`caller`] reads what is alleged → [`resolve`] pins an object → [`judge`] decides on the kernel's name
//! for it → the call is done on the pinned object (`open`, `entries`, `metadata`, …) → [`answer`].

mod answer;
mod approvals;
mod asking;
mod attributes;
mod bench;
mod caller;
mod cutting;
mod desk;
mod dispatch;
mod entries;
mod events;
mod execute;
mod fifo;
mod first;
mod git_config;
mod git_renamed;
mod groups;
mod hard_links;
mod hearing;
mod internet;
mod judge;
mod kept;
mod labels;
mod limits;
mod links;
mod memory;
mod metadata;
mod nested;
mod open;
mod others;
mod pinned;
mod process_list;
mod processor;
mod procfs;
mod realm;
mod refuse;
mod resolve;
mod served;
mod shared;
mod signals;
mod sockets;
mod stand_in;
mod station;
mod submodules;
mod system_v;
mod taking_over;
mod terminals;
mod unseen;
mod worker;

pub use approvals::{Approvals, Asking, Profiles};
pub use first::Supervisor;
pub use hard_links::closed_to_reading;
pub use nested::{Told, request, told};
pub use served::{Script, ServedTo};
pub use shared::{Aides, Brief, Shared};
