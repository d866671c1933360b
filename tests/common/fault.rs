//! Deliberate panics in the program under test.

use super::{Place, STOCKADE, finish, skipped};

/// Names the point where the program panics and, after a colon, a part of the text that identifies the case.
pub const PANIC: &str = "STOCKADE_TEST_PANIC";

/// Whether the program under test was built with debug assertions, so that it panics on request; prints a note
/// if not.
pub fn injects_panics() -> bool {
    let place = Place::new();
    let mut command = place.command(STOCKADE);
    command.arg("--version").env(PANIC, "main:start");
    let injects = finish(&mut command, b"").status.code() == Some(125);
    if !injects {
        skipped("a build without debug assertions panics nowhere on purpose");
    }
    injects
}
