//! May it? Verdicts of one policy, of all policies, and the proofs for `CONTINUE`.

pub mod grant_named;
pub mod may_continue;
pub mod policy;
pub mod stack;
pub mod verdict;
