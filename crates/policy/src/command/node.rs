//! Packages of Node.

use std::path::{Component, Path, PathBuf};

use super::InstallationAccess;
use super::installation::Installation;

/// Adds the outermost `node_modules` that contains this path: packages load each other from there.
pub(super) fn add_packages(installation: &mut Installation<'_>, path: &Path) -> bool {
    let mut tree = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            return false;
        }
        tree.push(part);
        if part.as_os_str() == "node_modules" {
            return installation.add(
                &tree,
                InstallationAccess::Execute,
                "the packages that the command is one of",
            );
        }
    }
    false
}
