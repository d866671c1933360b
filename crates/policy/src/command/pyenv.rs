//! pyenv's shims: bash scripts that ask pyenv for the version and execute that.

use std::fs;
use std::path::{Path, PathBuf};

use super::installation::Installation;
use super::{InstallationAccess, link, marker, program, python};

const REASON: &str = "pyenv, which starts the command";

/// Adds the files that a shim needs: pyenv itself and the versions that it may choose.
pub(super) fn add_shim(installation: &mut Installation<'_>, hop: &Path) -> bool {
    let Some(root) = root_of(hop) else {
        return false;
    };
    for part in ["shims", "libexec", "bin", "plugins", "pyenv.d"] {
        installation.add(&root.join(part), InstallationAccess::Execute, REASON);
    }
    installation.set("PYENV_ROOT", &root);
    match chosen(installation, &root) {
        Some(versions) => add_chosen(installation, hop, &root, &versions),
        None => {
            installation.add(&root.join("version"), InstallationAccess::Read, REASON);
            installation.add(
                &root.join("versions"),
                InstallationAccess::Execute,
                "one of pyenv's versions",
            );
        }
    }
    true
}

fn root_of(hop: &Path) -> Option<PathBuf> {
    let shims = hop.parent()?;
    let root = shims.parent()?;
    let is_shim =
        shims.file_name()? == "shims" && root.join("libexec/pyenv").exists() && root.join("versions").is_dir();
    is_shim.then(|| root.to_owned())
}

/// The versions that pyenv would choose, so that it needn't search (`pyenv-version-name`, `pyenv-version-file`). `None`
/// if they can't be determined.
fn chosen(installation: &Installation<'_>, root: &Path) -> Option<Vec<String>> {
    let text = (installation.request.variable)("PYENV_VERSION").filter(|version| !version.is_empty());
    let names = match text {
        Some(text) => text.to_str()?.replace(':', "\n"),
        None => {
            let above = installation.request.root.ancestors();
            let local = above.map(|directory| directory.join(".python-version"));
            let text = local
                .chain([root.join("version")])
                .find_map(|file| marker::read(&file))?;
            String::from_utf8(text).ok()?
        }
    };
    let names = names
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default())
        .flat_map(str::split_whitespace);
    let versions: Option<Vec<String>> = names.map(|name| installed(root, name)).collect();
    versions.filter(|versions| !versions.is_empty())
}

/// The installed version for a name: the same one, or the newest that it is a prefix of.
fn installed(root: &Path, name: &str) -> Option<String> {
    // The name may come from a file of the project: it must not lead elsewhere.
    if name.contains('/') || name.starts_with('.') {
        return None;
    }
    if name == "system" || root.join("versions").join(name).is_dir() {
        return Some(name.to_owned());
    }
    let name = name.strip_prefix("python-").unwrap_or(name);
    let prefix = format!("{name}.");
    let entries = fs::read_dir(root.join("versions")).ok()?;
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|version| version == name || version.starts_with(&prefix))
        .max_by_key(|version| numbers(version))
}

fn numbers(version: &str) -> Vec<u64> {
    version
        .split(|character: char| !character.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect()
}

fn add_chosen(installation: &mut Installation<'_>, hop: &Path, root: &Path, versions: &[String]) {
    installation.set("PYENV_VERSION", versions.join(":"));
    for version in versions {
        match version.as_str() {
            "system" => add_system(installation, hop),
            version => {
                let path = root.join("versions").join(version);
                // pyenv-virtualenv creates versions that are links to environments.
                for python in link::hops(&path.join("bin/python"), &mut installation.walker) {
                    let _explained =
                        python::add_environment(installation, &python) || installation.add_unpacked(&python);
                }
                installation.add(&path, InstallationAccess::Execute, "the chosen version of pyenv");
            }
        }
    }
}

/// `system` is the next program of that name in `PATH` that isn't the shim. It is checked for markers only: it may be
/// another manager's shim, which leads back here.
fn add_system(installation: &mut Installation<'_>, shim: &Path) {
    let Some(name) = shim.file_name() else { return };
    let paths = program::directories(installation.request.search_path).map(|directory| directory.join(name));
    let found = paths
        .filter_map(|path| program::inspect(&path).ok())
        .find(|found| found.real != shim);
    let Some(found) = found else { return };
    for hop in link::hops(&found.path, &mut installation.walker) {
        installation.add_unpacked(&hop);
    }
    installation.add(
        &found.real,
        InstallationAccess::Execute,
        "the system's program behind pyenv",
    );
}
