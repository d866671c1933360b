//! The installations on the caller's search path: a command that starts others by name finds the same ones in the run.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::installation::Installation;
use super::{Access, is_below_base, program};

const REASON: &str = "a directory of `PATH`";

/// By these a directory is told whose other programs look like any.
const TELLING: [&str; 2] = ["rustup", "volta-shim"];

/// Adds what the directories of the search path belong to, but what lies in `written`, which an earlier run may have made.
/// Gives the directories, as they are written, that are open by what was found.
pub(super) fn add(installation: &mut Installation<'_>, written: &[PathBuf]) -> Vec<PathBuf> {
    let outside = program::directories(installation.request.search_path).filter(|directory| !is_below_base(directory));
    let directories: Vec<(&Path, PathBuf)> = outside
        .filter_map(|directory| Some((directory, installation.walker.canonical(directory)?)))
        .collect();
    if !directories.is_empty() {
        installation.written = written
            .iter()
            .filter_map(|path| installation.walker.canonical(path))
            .collect();
    }
    for (_, real) in &directories {
        if !is_below_base(real)
            && !installation.covers(real, Access::Execute)
            && let Some(name) = a_program(real)
        {
            let hop = real.join(name);
            // Links and markers there may be an earlier run's, so nothing is added but where installations are kept.
            installation.distrust();
            // One of such a place needs no layout: what `go install` or `bun add -g` put there.
            installation.add(real, Access::Execute, REASON);
            if let Some(file) = installation.walker.canonical(&hop) {
                installation.add_hop(&hop, &file);
            }
        }
    }
    let open = directories.into_iter();
    let open = open.filter(|(_, real)| is_below_base(real) || installation.covers(real, Access::Execute));
    open.map(|(directory, _)| directory.to_owned()).collect()
}

/// One of a directory's programs: their layout is the same.
fn a_program(directory: &Path) -> Option<OsString> {
    let telling = TELLING.iter().find(|name| directory.join(name).exists());
    telling.map(OsString::from).or_else(|| {
        let entries = fs::read_dir(directory).ok()?.flatten();
        let mut files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
        files.next().map(|entry| entry.file_name())
    })
}
