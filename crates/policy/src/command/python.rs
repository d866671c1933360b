//! Python's virtual environments (PEP 405), including those of uv, pipx and virtualenv.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::installation::{Installation, prefix_of};
use super::{InstallationAccess, link, marker};

/// The most environments that may be made from each other in a chain.
const MAX_ENVIRONMENTS: usize = 4;

/// Adds the environment whose `bin` contains this path, and the Python that it was made from.
pub(super) fn add_environment(installation: &mut Installation<'_>, hop: &Path) -> bool {
    let Some(prefix) = prefix_of(hop) else {
        return false;
    };
    let mut next = Some(prefix.to_owned());
    let mut is_environment = false;
    for _ in 0..MAX_ENVIRONMENTS {
        let Some(home) = next.as_deref().and_then(home_of) else {
            break;
        };
        let added = next.as_deref().is_some_and(|prefix| {
            installation.add(prefix, InstallationAccess::Execute, "the command's virtual environment")
        });
        is_environment |= added;
        // Where runs write, one may have written the line as well.
        if let Some(prefix) = next.as_deref()
            && installation.trusts(prefix)
            && !installation.may_be_a_runs(prefix)
        {
            installation.trust_named(&home.join("python3"));
        }
        next = add_base(installation, &home);
    }
    is_environment
}

/// The `home` line of an environment: the directory of the `python` that it was made with.
fn home_of(prefix: &Path) -> Option<PathBuf> {
    let text = marker::read(&prefix.join("pyvenv.cfg"))?;
    let home = text.split(|&byte| byte == b'\n').find_map(|line| {
        let at = line.iter().position(|&byte| byte == b'=')?;
        let is_home = line[..at].trim_ascii().eq_ignore_ascii_case(b"home");
        is_home.then(|| PathBuf::from(OsStr::from_bytes(line[at + 1..].trim_ascii())))
    });
    // Without a `home` it is still an environment, of a Python that is found through its links.
    Some(home.unwrap_or_default())
}

/// Adds the base if its own markers identify it: the file that names it may lie where anybody can write. Returns the
/// prefix to continue with, if the base is an environment too.
fn add_base(installation: &mut Installation<'_>, home: &Path) -> Option<PathBuf> {
    let names = ["python3", "python", "pypy3"];
    let python = names
        .iter()
        .map(|name| home.join(name))
        .find(|python| python.is_absolute() && python.exists())?;
    let hops = link::hops(&python, &mut installation.walker);
    let next = hops.first().and_then(|hop| prefix_of(hop)).map(Path::to_owned)?;
    if next.join("pyvenv.cfg").exists() {
        return Some(next);
    }
    for hop in &hops {
        installation.add_unpacked(hop);
    }
    None
}
