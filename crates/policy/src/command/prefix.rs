//! Installations recognised by the contents of the directory above their `bin`.

use std::fs;
use std::path::Path;

use super::InstallationAccess;
use super::installation::{Installation, prefix_of};

/// All of the markers must exist.
struct Layout {
    markers: &'static [&'static str],
    reason: &'static str,
}

const LAYOUTS: &[Layout] = &[
    Layout {
        markers: &["conda-meta"],
        reason: "the command's conda environment",
    },
    // Includes the versions that nvm, fnm, n and Volta unpack.
    Layout {
        markers: &["bin/node", "lib/node_modules"],
        reason: "the command's Node installation",
    },
    Layout {
        markers: &["bin/node", "include/node"],
        reason: "the command's Node installation",
    },
    Layout {
        markers: &["pkg/tool", "src/runtime"],
        reason: "the command's Go installation",
    },
    Layout {
        markers: &["release", "lib/modules"],
        reason: "the command's Java installation",
    },
    Layout {
        markers: &["jre/lib/rt.jar"],
        reason: "the command's Java installation",
    },
    Layout {
        markers: &["lib/rt.jar"],
        reason: "the command's Java installation",
    },
    Layout {
        markers: &["bin/ruby", "lib/ruby"],
        reason: "the command's Ruby installation",
    },
    Layout {
        markers: &["bin/perl", "bin/perlbug"],
        reason: "the command's Perl installation",
    },
    Layout {
        markers: &["bin/php", "lib/php"],
        reason: "the command's PHP installation",
    },
    Layout {
        markers: &["bin/php", "include/php"],
        reason: "the command's PHP installation",
    },
    Layout {
        markers: &["bin/rustc", "lib/rustlib"],
        reason: "the command's Rust toolchain",
    },
];

/// Adds the installation whose `bin` contains this path.
pub(super) fn add(installation: &mut Installation<'_>, hop: &Path) -> bool {
    let Some(prefix) = prefix_of(hop) else {
        return false;
    };
    let layout = LAYOUTS
        .iter()
        .find(|layout| layout.markers.iter().all(|marker| prefix.join(marker).exists()));
    match layout {
        Some(layout) => installation.add(prefix, InstallationAccess::Execute, layout.reason),
        None => add_python(installation, prefix),
    }
}

/// Adds a Python installation, including those that uv unpacks: its library has `os.py`, which a directory with only
/// `site-packages` lacks.
pub(super) fn add_python(installation: &mut Installation<'_>, prefix: &Path) -> bool {
    let is_python = ["lib", "lib64", "lib-python"]
        .iter()
        .any(|library| holds_python_library(&prefix.join(library)));
    is_python && installation.add(prefix, InstallationAccess::Execute, "the command's Python installation")
}

fn holds_python_library(library: &Path) -> bool {
    let Ok(entries) = fs::read_dir(library) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_version = name.first().is_some_and(u8::is_ascii_digit);
        (name.starts_with(b"python") || name.starts_with(b"pypy") || is_version) && entry.path().join("os.py").exists()
    })
}
