//! What the run has made and done: plain data behind locks.

pub mod fork_counter;
pub mod git_indexes;
pub mod journal;
pub mod made;
pub mod nested_runs;
pub mod pseudo_terminal;
pub mod replays;
pub mod run_config;
pub mod run_policy;
pub mod script;
pub mod socket_store;
pub mod stderr_log;
pub mod system_v_objects;
