//! Version managers and package managers recognised by the shape of a path: asdf, mise, Volta, rbenv and its relatives,
//! Homebrew, Nix, snaps, `/opt`.

use std::path::{Path, PathBuf};

use super::InstallationAccess;
use super::installation::Installation;

const SHIM: &str = "the version manager that starts the command";

/// Adds a version manager whose shim this path is. Its choice of version isn't known, so all versions are added.
pub(super) fn add_shim(installation: &mut Installation<'_>, hop: &Path, real: &Path) -> bool {
    let Some(directory) = hop.parent() else {
        return false;
    };
    let Some(root) = directory.parent() else {
        return false;
    };
    let directory_is = |name: &str| directory.file_name().is_some_and(|known| known == name);
    let real_is = |name: &str| real.file_name().is_some_and(|known| known == name);
    if directory_is("bin") && real_is("volta-shim") {
        add_parts(installation, root, &["bin", "tools"]);
        installation.set("VOLTA_HOME", root);
        return true;
    }
    if !directory_is("shims") {
        return false;
    }
    if real_is("mise") {
        add_parts(installation, root, &["shims", "installs", "plugins"]);
        installation.set("MISE_DATA_DIR", root);
        return true;
    }
    if root.join("installs").is_dir() {
        add_parts(
            installation,
            root,
            &["shims", "bin", "lib", "libexec", "plugins", "installs"],
        );
        installation.set("ASDF_DIR", root);
        installation.set("ASDF_DATA_DIR", root);
        return true;
    }
    // rbenv, nodenv, goenv, plenv: relatives of pyenv.
    let is_relative = root.join("versions").is_dir();
    if is_relative {
        add_parts(installation, root, &["shims", "bin", "libexec", "plugins", "versions"]);
        installation.add(&root.join("version"), InstallationAccess::Read, SHIM);
    }
    is_relative
}

fn add_parts(installation: &mut Installation<'_>, root: &Path, parts: &[&str]) {
    for part in parts {
        installation.add(&root.join(part), InstallationAccess::Execute, SHIM);
    }
}

/// Adds the version that contains this path: `versions/V` of pyenv and its relatives, `installs/TOOL/V` of asdf and mise.
pub(super) fn add_version(installation: &mut Installation<'_>, hop: &Path) -> bool {
    let version = version_of(hop);
    version.is_some_and(|version| {
        installation.add(
            &version,
            InstallationAccess::Execute,
            "the command's version of its tool",
        )
    })
}

fn version_of(hop: &Path) -> Option<PathBuf> {
    let parts: Vec<&Path> = hop.ancestors().collect();
    parts.windows(4).find_map(|window| {
        let [version, parent, above, root] = window else {
            return None;
        };
        let is = |path: &Path, name: &str| path.file_name().is_some_and(|known| known == name);
        let has = |root: &Path, name: &str| root.join(name).exists();
        let is_file = *version == hop;
        let pyenv = is(parent, "versions") && (has(above, "libexec/pyenv") || has(above, "shims"));
        let asdf = is(above, "installs") && (has(root, "shims") || has(root, "plugins"));
        (!is_file && (pyenv || asdf)).then(|| version.to_path_buf())
    })
}

/// Adds the trees in which every program uses its neighbours, so that a part of them wouldn't suffice.
pub(super) fn add_store(installation: &mut Installation<'_>, hop: &Path) -> bool {
    let brew = installation.request.home.map(|home| home.join(".linuxbrew"));
    let homebrews = [Some(PathBuf::from("/home/linuxbrew/.linuxbrew")), brew];
    if let Some(homebrew) = homebrews
        .into_iter()
        .flatten()
        .find(|homebrew| hop.starts_with(homebrew))
    {
        return installation.add(
            &homebrew,
            InstallationAccess::Execute,
            "the Homebrew that the command belongs to",
        );
    }
    let store = Path::new("/nix/store");
    hop.starts_with(store)
        && installation.add(
            store,
            InstallationAccess::Execute,
            "the Nix store that the command lies in",
        )
}

/// Adds `/opt/NAME` and `/snap/NAME`, recognised by their path alone. The last resort, since they are wide.
pub(super) fn add_package(installation: &mut Installation<'_>, hop: &Path) -> bool {
    let tree = ["/opt", "/snap"].iter().find_map(|directory| {
        let name = hop.strip_prefix(directory).ok()?.parent()?.iter().next()?;
        Some(Path::new(directory).join(name))
    });
    tree.is_some_and(|tree| {
        installation.add(
            &tree,
            InstallationAccess::Execute,
            "the package that the command belongs to",
        )
    })
}
