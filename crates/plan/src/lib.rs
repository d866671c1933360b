//! How a policy is enforced on a machine: Landlock's rules and the seccomp filter.

pub mod kernel;
pub mod plan;

use stockade_policy::{command, policy, profile};
