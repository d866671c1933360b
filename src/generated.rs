//! `stockade completions` and `stockade man-pages`: generated from the definitions of the arguments.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap_complete::Shell;

use super::REFUSED;
use super::args::Arguments;
use super::message::Failure;

/// The command's name, whatever the name of the file.
const NAME: &str = "stockade";

/// Prints a script for a shell to source, or to keep where it looks for completions.
pub fn completions(shell: Shell, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::defined(), NAME, &mut script);
    out.write_all(&script).map_err(|error| Failure::new(REFUSED, &error))?;
    Ok(0)
}

/// Writes `stockade.1`, and one for each task, into a directory.
pub fn man_pages(directory: &Path) -> Result<u8, Failure> {
    fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Arguments::defined(), directory))
        .map_err(|error| Failure::text(REFUSED, format!("`{}`: {error}", directory.display())))?;
    Ok(0)
}
