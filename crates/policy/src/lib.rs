//! What a run may do: profiles, the policy, configuration, the command's own files.
//!
//! Deciding does no I/O: `clippy.toml` holds it. What reads the machine are five modules, which say so here, and the catalog of
//! profiles, which reads their files.

#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make files"))]

#[expect(clippy::disallowed_methods, reason = "it reads the machine")]
pub mod command;
pub mod config;
#[doc(hidden)]
#[expect(clippy::disallowed_methods, reason = "it reads the machine")]
pub mod custody;
#[doc(hidden)]
pub mod mutex;
pub mod policy;
pub mod profile;
#[doc(hidden)]
#[expect(clippy::disallowed_methods, reason = "it reads the machine")]
pub mod real_path;
#[doc(hidden)]
#[expect(clippy::disallowed_methods, reason = "it reads the machine")]
pub mod unconfined;
#[doc(hidden)]
#[expect(clippy::disallowed_methods, reason = "it reads the machine")]
pub mod user_database;
