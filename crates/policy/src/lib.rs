//! What a run may do: profiles, the policy, configuration, the command's own files.

pub mod command;
pub mod config;
#[doc(hidden)]
pub mod custody;
#[doc(hidden)]
pub mod mutex;
pub mod policy;
pub mod profile;
#[doc(hidden)]
pub mod real_path;
#[doc(hidden)]
pub mod unconfined;
#[doc(hidden)]
pub mod user_database;
