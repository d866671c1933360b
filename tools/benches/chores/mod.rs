//! What `supervised` has done bare and confined: small loops of system calls, and real programs over made-up trees.

pub mod company;
pub mod everyday;
pub mod loops;
pub mod measure;
pub mod rows;
pub mod task;
pub mod trees;
