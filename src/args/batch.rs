//! The arguments of `stockade batch`: those of `run`, with the file of jobs in place of the command.

use std::path::PathBuf;

use clap::{Arg, Args, Command};
use stockade_policy::profile::{parse_count, parse_size};

use super::Run;

/// More jobs at once need more descriptors than a process usually has, and make nothing faster.
const MAX_AT_ONCE: u64 = 256;

#[derive(Debug, Args)]
pub struct Batch {
    /// Number of jobs that run at once [default: number of processors]
    #[arg(short, long, value_name = "N", value_parser = at_once)]
    pub jobs: Option<usize>,
    /// Append the results to this file, and go on behind those that it has [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How much of each job's output, and of its error output, a result holds
    #[arg(long, value_name = "SIZE", value_parser = kept, default_value = "1M")]
    pub keep_output: usize,
    /// Profile that jobs may name, beside those within `--profile`
    #[arg(long, value_name = "NAME|FILE")]
    pub allow_profile: Vec<String>,
    #[command(flatten)]
    pub run: Run,
}

/// The file of jobs stands in the place of the command, no person watches each job, and a result has what a report would have.
pub fn batch(command: Command) -> Command {
    let jobs = |arg: Arg| arg.value_name("JOBS.jsonl").num_args(1).trailing_var_arg(false);
    let help = "The jobs, one JSON object a line; `-` is standard input";
    Batch::augment_args(command)
        .mut_arg("command", |arg| jobs(arg).help(help))
        .mut_arg("ask", |arg| arg.default_value("never").hide_short_help(true))
        .mut_arg("report", |arg| arg.hide(true))
}

fn at_once(text: &str) -> Result<usize, String> {
    match parse_count(text) {
        Ok(count @ 1..=MAX_AT_ONCE) => Ok(count as usize),
        Ok(_) => Err(format!("it is 1 to {MAX_AT_ONCE}")),
        Err(error) => Err(error.to_string()),
    }
}

fn kept(text: &str) -> Result<usize, String> {
    const MAX: u64 = 16 << 20;
    match parse_size(text) {
        Ok(size @ 0..=MAX) => Ok(size as usize),
        Ok(_) => Err("it is at most 16M: larger outputs belong into files".into()),
        Err(error) => Err(error.to_string()),
    }
}
