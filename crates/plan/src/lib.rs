//! How a policy is enforced on a machine: Landlock's rules and the seccomp filter.

#[expect(clippy::disallowed_methods, reason = "it asks the kernel what it can")]
pub mod kernel;
pub mod plan;

use stockade_policy::{command, policy, profile};
