//! Runs a program under `readonly` and tells how it went.
//!
//!     cargo run --example run_script -- python3 analyse.py
//!
//! The root is `examples/first-run`, so `./data` there is all of the user's that the program may read.

use std::env;
use std::process::ExitCode;

use stockade::{Error, Sandbox};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/first-run");

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("{error}");
            error.hint().inspect(|hint| eprintln!("hint: {hint}"));
            ExitCode::from(error.exit_code())
        }
    }
}

fn run() -> Result<u8, Error> {
    let mut words = env::args().skip(1);
    let program = words.next().unwrap_or_else(|| "true".into());
    let outcome = Sandbox::profile("readonly")?
        .root(ROOT)
        .command(program)
        .args(words)
        .run()?;
    let report = outcome.report();
    eprintln!(
        "{:?} after {} ms, exit code {}, {} denials reported",
        outcome.status(),
        report.duration_ms,
        outcome.exit_code(),
        outcome.denials().len(),
    );
    Ok(outcome.exit_code())
}
