//! rustup's proxies: `cargo`, `rustc` and others, all one program that starts the chosen toolchain's.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::InstallationAccess;
use super::installation::{Installation, prefix_of};

const REASON: &str = "rustup, which starts the command";

/// The parts of cargo's home that cargo reads. Never `credentials.toml`.
const CARGO_PARTS: &[&str] = &["registry", "git", "config.toml", "config", "env"];

/// Adds rustup, its toolchains, and the parts of cargo's home, if this path is a proxy. Programs that `cargo install`
/// put beside the proxies aren't, and need nothing.
pub(super) fn add_proxy(installation: &mut Installation<'_>, hop: &Path, real: &Path) -> bool {
    let Some(prefix) = prefix_of(hop) else {
        return false;
    };
    if !is_proxy(hop, real) {
        return false;
    }
    let is_cargo_home = prefix.file_name().is_some_and(|name| name == ".cargo");
    let cargo_home = home(installation, "CARGO_HOME", ".cargo").or(is_cargo_home.then(|| prefix.to_owned()));
    let beside = prefix.with_file_name(".rustup");
    let rustup_home = home(installation, "RUSTUP_HOME", ".rustup").or(beside.is_dir().then_some(beside));
    installation.add(&prefix.join("bin"), InstallationAccess::Execute, REASON);
    if let Some(rustup_home) = rustup_home.filter(|home| home.join("toolchains").is_dir()) {
        installation.add(&rustup_home, InstallationAccess::Execute, "rustup's toolchains");
        installation.set("RUSTUP_HOME", rustup_home);
    }
    if let Some(cargo_home) = cargo_home {
        for part in CARGO_PARTS {
            installation.add(
                &cargo_home.join(part),
                InstallationAccess::Read,
                "what cargo reads in its home",
            );
        }
        installation.set("CARGO_HOME", cargo_home);
    }
    true
}

/// Distributions install the proxies below `/usr`, but the toolchains are still the user's.
pub(super) fn add_packaged_proxy(installation: &mut Installation<'_>, path: &Path, real: &Path) {
    if real.file_name().is_some_and(|name| name == "rustup") {
        add_proxy(installation, path, real);
    }
}

/// A proxy is a symbolic or a hard link to `rustup`.
fn is_proxy(hop: &Path, real: &Path) -> bool {
    if real.file_name().is_some_and(|name| name == "rustup") {
        return true;
    }
    let identity = |path: &Path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    let rustup = identity(&hop.with_file_name("rustup"));
    rustup.is_some() && rustup == identity(hop)
}

fn home(installation: &Installation<'_>, variable: &str, below_home: &str) -> Option<PathBuf> {
    let usual = installation.request.home.map(|home| home.join(below_home));
    installation
        .path_variable(variable)
        .or(usual)
        .filter(|path| path.is_dir())
}
