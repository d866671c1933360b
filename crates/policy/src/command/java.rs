//! The configuration of a system's JDK, which Debian and Fedora keep in `/etc`.

use std::path::Path;

use super::InstallationAccess;
use super::installation::Installation;

/// The directory where distributions install JDKs.
const SYSTEM_JDKS: &str = "/usr/lib/jvm";

const REASON: &str = "the configuration of the command's Java";

/// Adds the configuration of the JDK that contains this file.
pub(super) fn add_configuration(installation: &mut Installation<'_>, real: &Path) {
    let Ok(below) = real.strip_prefix(SYSTEM_JDKS) else {
        return;
    };
    let Some(name) = below.iter().next().and_then(|name| name.to_str()) else {
        return;
    };
    // Debian: `java-17-openjdk-amd64` has `/etc/java-17-openjdk`. Fedora: `/etc/java/java-17-openjdk/…`.
    let without_architecture = name.rsplit_once('-').map_or(name, |(stem, _)| stem);
    for candidate in [name, without_architecture] {
        if candidate.starts_with("java-") {
            installation.add(&Path::new("/etc").join(candidate), InstallationAccess::Read, REASON);
            installation.add(
                &Path::new("/etc/java").join(candidate),
                InstallationAccess::Read,
                REASON,
            );
        }
    }
}
