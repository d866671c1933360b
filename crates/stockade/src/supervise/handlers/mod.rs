//! What each call does: read, resolve, judge, do, answer.

pub mod answer;
pub mod checks;
pub mod context;
pub mod enforce;
pub mod files;
pub mod git;
pub mod net;
pub mod processes;
pub mod stderr;
pub mod stop;
pub mod table;
