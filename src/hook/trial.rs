//! Tries the flags of hooks before they are registered: as the hook reads them, and as its commands would start with them.

use std::path::Path;

use clap::{Args, Command};

use super::super::acting::Acting;
use super::super::args::Run;
use super::super::ask::Ask;
use super::super::hook_flags::HookFlags;
use super::super::ledger::Ledger;
use super::super::message::Failure;
use super::super::{REFUSED, run};
use super::run_flags;
use stockade_store::Level;

/// Prepares a command in this project, by the flags of a hook. Nothing is started or kept.
///
/// # Errors
/// The hook, or each of its commands, would be refused.
pub fn tried(flags: &[String], root: &Path) -> Result<(), Failure> {
    let here = std::env::current_dir().map_err(|error| Failure::new(REFUSED, &error))?;
    let flags: HookFlags = read(flags)?;
    let mut words = run_flags(&flags, &here)?;
    words.extend(["--dry-run", "--", "true"].map(String::from));
    let run = Run {
        root: flags.root.or_else(|| Some(root.to_path_buf())),
        ask: Ask::Never,
        audit: Some(Level::Off),
        ..read(&words)?
    };
    let ledger = Ledger::open(&run)?;
    let sandbox = run::sandbox(&run, &Acting::of_run(&run)?, (None, &ledger), (&[], None))?;
    sandbox.command("true").prepare()?;
    Ok(())
}

fn read<T: Args>(words: &[String]) -> Result<T, Failure> {
    let command = T::augment_args(Command::new("stockade").no_binary_name(true));
    let matches = command.try_get_matches_from(words);
    let read = matches.and_then(|matches| T::from_arg_matches(&matches));
    read.map_err(|error| {
        let text = error.to_string();
        Failure::text(
            REFUSED,
            text.lines().next().unwrap_or_default().trim_start_matches("error: "),
        )
    })
}
