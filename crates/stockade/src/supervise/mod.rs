//! The supervisor: it answers the calls that the run's filter hands over (seccomp_unotify(2)).
//!
//! It only narrows what Landlock allows, or acts on behalf of the run for what the policy grants. Its threads
//! ("workers") live in the launcher's process, outside the confinement, without Linux capabilities, each with a umask,
//! a working directory and descriptors of its own. Any error is a refusal.
//!
//! It is built in floors. A file imports from its own floor and from those below it:
//!
//! | floor | holds |
//! |---|---|
//! | [`serve`] | the threads that receive and answer calls |
//! | [`handlers`] | what each call does: read, resolve, judge, do, answer |
//! | [`judge`] | may it? verdicts, and the proofs for `CONTINUE` |
//! | [`run`] | all of one run |
//! | [`approvals`] | a refused call becomes a question |
//! | [`state`] | what the run has made and done |
//! | [`object`] | which object it is |
//! | [`call`] | what the caller says |

mod approvals;
mod call;
mod handlers;
mod judge;
mod object;
mod run;
mod serve;
mod state;
#[cfg(test)]
mod testing;

pub use approvals::{Approvals, Asking, Profiles};
pub use handlers::processes::nest::{Told, request, told};
pub use object::identity::Identity;
pub use run::{Run, RunServices};
pub use serve::first::Supervisor;
pub use state::journal::RunObserver;
pub use state::run_config::RunConfig;
pub use state::script::{Script, ServedTo};
