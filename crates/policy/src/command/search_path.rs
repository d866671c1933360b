//! The installations on the caller's search path: a command that starts others by name finds the same ones in the run.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::installation::{HOMES_BINS, Installation};
use super::program::Head;
use super::{InstallationAccess, is_below_base, link, program};

const REASON: &str = "a directory of `PATH`";

/// The most programs of such a directory to examine.
const MAX_PROGRAMS: usize = 256;

/// Programs that identify a directory whose other programs look generic.
const TELLING: [&str; 2] = ["rustup", "volta-shim"];

/// Adds the installations of the search path's directories, except those in `written`, which an earlier run may have
/// made. Returns the directories, as written, that are open as a result.
pub(super) fn add(installation: &mut Installation<'_>, written: &[PathBuf]) -> Vec<PathBuf> {
    let outside = program::directories(installation.request.search_path).filter(|directory| !is_below_base(directory));
    let directories: Vec<(&Path, PathBuf)> = outside
        .filter_map(|directory| Some((directory, installation.resolved(directory)?)))
        .collect();
    if !directories.is_empty() {
        installation.written = written
            .iter()
            .filter_map(|path| installation.walker.canonical(path))
            .collect();
    }
    let home = installation.request.home;
    let is_mixed = |real: &Path| home.is_some_and(|home| HOMES_BINS.iter().any(|below| real == home.join(below)));
    let mut in_part = Vec::new();
    for (_, real) in &directories {
        if is_below_base(real) || installation.covers(real, InstallationAccess::Execute) {
            continue;
        }
        if is_mixed(real) {
            if add_each(installation, real) {
                in_part.push(real.clone());
            }
        } else if let Some(name) = a_program(real) {
            let hop = real.join(name);
            // An earlier run may have made the links and markers there, so only directories for installations are added.
            installation.distrust();
            // A directory among those needs no layout: programs that `go install` or `bun add -g` put there.
            installation.add(real, InstallationAccess::Execute, REASON);
            if let Some(file) = installation.walker.canonical(&hop) {
                installation.add_hop(&hop, &file);
            }
        }
    }
    let open = directories.into_iter();
    let open = open.filter(|(_, real)| {
        is_below_base(real) || installation.covers(real, InstallationAccess::Execute) || in_part.contains(real)
    });
    open.map(|(directory, _)| directory.to_owned()).collect()
}

/// Adds those programs of a directory that can be added alone; returns false if there are none.
fn add_each(installation: &mut Installation<'_>, directory: &Path) -> bool {
    installation.distrust();
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut is_any = false;
    for entry in entries.take(MAX_PROGRAMS) {
        is_any |= match entry.file_type() {
            Ok(kind) if kind.is_symlink() => add_behind_link(installation, &entry.path()),
            Ok(kind) if kind.is_file() => add_binary(installation, &entry.path()),
            _ => false,
        };
    }
    is_any
}

/// Adds the installation that a link leads to: programs installed by `pipx` and `uv tool` are started by one.
fn add_behind_link(installation: &mut Installation<'_>, path: &Path) -> bool {
    let Some(file) = installation.walker.canonical(path) else {
        return false;
    };
    let hops = link::hops(path, &mut installation.walker);
    let _explained = hops.iter().skip(1).any(|hop| installation.add_hop(hop, &file));
    installation.covers(&file, InstallationAccess::Execute)
}

/// Adds a binary program as a file. A script may hold its user's secrets, and its dependencies are unknown.
fn add_binary(installation: &mut Installation<'_>, path: &Path) -> bool {
    let is_binary = program::inspect(path).is_ok_and(|found| found.real == path && matches!(found.head, Head::Binary));
    is_binary && installation.add_file(path, REASON)
}

/// Any program of a directory: all have the same layout.
fn a_program(directory: &Path) -> Option<OsString> {
    let telling = TELLING.iter().find(|name| directory.join(name).exists());
    telling.map(OsString::from).or_else(|| {
        let entries = fs::read_dir(directory).ok()?.flatten();
        let mut files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
        files.next().map(|entry| entry.file_name())
    })
}
