//! What happened in a run: the report, the audit trail's records, questions and answers.

pub mod approve;
pub mod audit;
#[doc(hidden)]
pub mod fault;
pub mod report;

use stockade_plan::plan;
use stockade_policy::{command, config, mutex, policy, profile, unconfined, user_database};
