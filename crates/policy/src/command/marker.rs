//! Reads the small files in which tools record their choices.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Such files have a few lines; more isn't read, since anybody may have written the file.
const MAX_BYTES: u64 = 16 * 1024;

/// The first bytes of a regular file.
pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    // Call stat first, so that a FIFO of that name isn't opened.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    Some(text)
}
