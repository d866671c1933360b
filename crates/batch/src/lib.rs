//! Runs many jobs, each in a sandbox of its own: one line of JSON in for each, one line of JSON out, in the same order.
//!
//! `job` reads a line, `lines` the input, `work` carries one job out, `pool` shares the jobs among threads, `order` puts
//! the results in the input's order, `output` appends them to a file and finds where a killed batch left off. What a job may
//! do comes from a [`Sandboxes`] of the caller: a job only ever narrows it. Nothing here prints or reads arguments.

mod batch;
mod capture;
mod error;
mod feed;
mod job;
mod lines;
mod order;
mod orphans;
mod output;
mod pool;
mod row;
mod stop;
mod work;

pub use batch::{Batch, JobSandbox, Sandboxes, Tally};
pub use error::BatchError;
pub use job::{Job, JobError};
pub use lines::{Line, Lines, MAX_LINE};
pub use output::{Output, Resumed};
pub use pool::run;
pub use stop::{Stop, Stoppable};
