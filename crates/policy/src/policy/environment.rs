//! The variables that a run gets.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::resolve::{Circumstances, models};
use super::{Access, Grant};
use crate::profile::{Pass, Profile, is_unsecure_variable};
use stockade_text::mask::{holds_secret, looks_secret};

/// Variables that every run gets if the caller has them: language, time zone, terminal.
const ALWAYS: &[&str] = &["LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR"];

/// The locale's categories (locale(7)).
const LOCALE: &[&str] = &[
    "LC_ADDRESS",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
];

/// The variables that `limited` adds.
const LIMITED: &[&str] = &[
    "HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "EDITOR", "PAGER", "TMPDIR",
];

/// Whether every run gets this variable if the caller has it.
pub fn is_usual(name: &str) -> bool {
    ALWAYS.contains(&name) || LOCALE.contains(&name)
}

/// Whether `limited` passes this variable.
pub fn is_limited(name: &str) -> bool {
    LIMITED.contains(&name)
}

/// The search path if no entry of the caller's is open.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables that make the dynamic loader or libc load or read files of the caller's choosing: never passed, not even
/// by name. `TMPDIR` is on libc's list too, but only names a directory.
pub fn is_unsecure(name: &OsStr) -> bool {
    name != "TMPDIR" && is_unsecure_variable(&name.to_string_lossy())
}

/// The environment of a run except `HOME` and `TMPDIR` where the run has its own: those directories are created at
/// launch.
pub fn build(profile: &Profile, circumstances: &Circumstances<'_>, grants: &[Grant]) -> BTreeMap<OsString, OsString> {
    let mut variables: BTreeMap<OsString, OsString> = circumstances
        .environment
        .iter()
        .filter(|(name, value)| passes(profile, name) && !is_kept_back(profile, name, value))
        .cloned()
        .collect();
    let path = variables
        .remove(OsStr::new("PATH"))
        .or_else(|| circumstances.variable("PATH"));
    let found = &circumstances.command.search_path;
    variables.insert("PATH".into(), open_search_path(path.as_deref(), grants, found));
    variables.extend(circumstances.command.variables.iter().cloned());
    let keys = models(profile, circumstances).iter().flat_map(|model| &model.keys);
    variables.extend(keys.filter_map(|key| Some((key.value.clone().into(), circumstances.variable(&key.value)?))));
    for (name, value) in &circumstances.additions.variables {
        match value.clone().or_else(|| circumstances.variable(name)) {
            Some(value) => variables.insert(name.clone(), value),
            None => variables.remove(name),
        };
    }
    variables.retain(|name, _| !is_unsecure(name));
    variables
}

/// Variables that stop package managers from retrying for a minute without a network: npm's config(7) and pnpm, pip's
/// configuration, uv's environment variables, Cargo's configuration.
const NO_RETRIES: [&str; 4] = [
    "npm_config_fetch_retries",
    "PIP_RETRIES",
    "UV_HTTP_RETRIES",
    "CARGO_NET_RETRY",
];

/// Adds the variables that make programs fail at once without a network.
pub(super) fn fail_at_once(variables: &mut BTreeMap<OsString, OsString>) {
    for name in NO_RETRIES {
        variables.entry(name.into()).or_insert_with(|| "0".into());
    }
}

/// Whether a variable of the caller is passed.
pub(super) fn passes(profile: &Profile, name: &OsStr) -> bool {
    let named = profile.environment.names.iter().any(|rule| name == rule.value.as_str());
    let always = ALWAYS.iter().any(|one| name == *one) || LOCALE.iter().any(|one| name == *one);
    named
        || always
        || match profile.environment.pass {
            Pass::None => false,
            Pass::Limited => LIMITED.iter().any(|one| name == *one),
            Pass::All => !looks_secret(name),
        }
}

/// Whether the value looks like a secret under a harmless name. Variables that the profile or a person names are passed.
fn is_kept_back(profile: &Profile, name: &OsStr, value: &OsStr) -> bool {
    let is_named = || profile.environment.names.iter().any(|rule| name == rule.value.as_str());
    // `LS_COLORS` has `*.key=01;31`.
    let is_colours = name.as_bytes().ends_with(b"COLORS");
    !is_colours && holds_secret(&value.to_string_lossy()) && !is_named()
}

/// The entries of the caller's search path that the run may execute programs from, in order.
///
/// The others would only cost failed lookups, and would reveal the caller's directory names.
fn open_search_path(path: Option<&OsStr>, grants: &[Grant], found: &[PathBuf]) -> OsString {
    let startable = |directory: &Path| {
        found.iter().any(|found| found == directory)
            || grants
                .iter()
                .any(|grant| grant.access.contains(Access::EXECUTE) && grant.covers(directory))
    };
    let mut entries: Vec<_> = path
        .map(|path| std::env::split_paths(path).collect())
        .unwrap_or_default();
    entries.retain(|entry: &std::path::PathBuf| entry.is_absolute() && startable(entry));
    std::env::join_paths(entries)
        .ok()
        .filter(|joined| !joined.is_empty())
        .unwrap_or_else(|| DEFAULT_PATH.into())
}
