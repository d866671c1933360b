//! `install` and `uninstall`: Stockade in the settings of other programs, and out of them again.

mod hook;
mod hostile;
mod mcp;
mod packaging;
mod published;

use std::path::Path;

use crate::common::{Finished, Place, STOCKADE, finish};

/// A task in a place, with no terminal.
fn stockade(place: &Place, line: &str) -> Finished {
    finish(place.command(STOCKADE).args(line.split(' ')), b"")
}

/// The same with other directories before those of `PATH`.
fn with_path(place: &Place, first: &[&Path], line: &str) -> Finished {
    let usual = ["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new);
    let path = std::env::join_paths(first.iter().chain(&usual)).unwrap();
    finish(place.command(STOCKADE).args(line.split(' ')).env("PATH", path), b"")
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The line works and prints no error.
fn works(place: &Place, line: &str) -> String {
    let done = stockade(place, line);
    assert_eq!(
        done.status.code(),
        Some(0),
        "{line}: {}{}",
        done.stdout(),
        done.stderr()
    );
    done.stdout()
}
