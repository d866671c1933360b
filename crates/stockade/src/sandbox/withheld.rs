//! Parts of the caller's environment that a run didn't get: variables, and directories of the search path.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::policy::{Policy, is_unsecure};
use stockade_text::mask::{holds_secret, looks_secret};

/// The withheld parts for one run.
pub struct Withheld {
    /// Names of variables that may be passed; without those whose value looks like a secret and whose name doesn't.
    pub variables: Vec<String>,
    directories: Vec<PathBuf>,
}

impl Withheld {
    /// Compares the caller's environment with the run's.
    pub fn of(environment: &[(OsString, OsString)], policy: &Policy) -> Withheld {
        let is_withheld = |name: &OsStr| !policy.environment.contains_key(name) && !is_unsecure(name);
        // Where the name looks like a secret, no flag to paste comes of it.
        let is_sayable = |name: &OsStr, value: &OsStr| looks_secret(name) || !holds_secret(&value.to_string_lossy());
        let names = environment
            .iter()
            .filter(|(name, value)| is_withheld(name) && is_sayable(name, value));
        let path = |found: Option<&OsString>| -> Vec<PathBuf> {
            found.map_or_else(Vec::new, |path| std::env::split_paths(path).collect())
        };
        let has = path(policy.environment.get(OsStr::new("PATH")));
        let callers = environment.iter().find(|(name, _)| name == "PATH");
        let mut directories = path(callers.map(|(_, path)| path));
        directories.retain(|directory| directory.is_absolute() && !has.contains(directory));
        Withheld {
            variables: names.map(|(name, _)| name.to_string_lossy().into_owned()).collect(),
            directories,
        }
    }

    /// A program in a directory of the caller's search path that the run's lacks.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            let metadata = path.metadata();
            metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
        };
        let mut found = self.directories.iter().map(|directory| directory.join(name));
        found.find(is_program)
    }
}
