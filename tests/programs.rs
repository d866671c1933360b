//! Real programs under the profiles that fit them: what they print and how they end is the same as without Stockade.
//!
//! A test whose program isn't installed says so and passes, unless `STOCKADE_TEST_ALL=1` is set.
//! `tests/setup-programs.sh` installs what they need.

#[path = "programs/caches.rs"]
mod caches;
#[path = "programs/compilers.rs"]
mod compilers;
#[path = "programs/git.rs"]
mod git;
#[path = "programs/java.rs"]
mod java;
#[path = "programs/mcp.rs"]
mod mcp;
#[path = "programs/nested.rs"]
mod nested;
#[path = "programs/node.rs"]
mod node;
#[path = "programs/python.rs"]
mod python;
#[path = "programs/shell.rs"]
mod shell;
#[path = "programs/support.rs"]
pub mod support;
