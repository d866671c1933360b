//! Panics on purpose in the program under test.

use super::{Place, STOCKADE, finish, skipped};

/// Names the point of the program where it panics, and after a colon a part of what that is about.
pub const PANIC: &str = "STOCKADE_TEST_PANIC";

/// Whether the program under test was built with debug assertions, so that it panics where it is told to; says aloud
/// where not.
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
