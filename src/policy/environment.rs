//! Which variables a run gets.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::resolve::{Circumstances, models};
use super::{Access, Grant};
use crate::profile::{Pass, Profile, is_unsecure_variable};

/// What every run gets where the caller has it: language, time zone, terminal.
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

/// What "limited" adds.
const LIMITED: &[&str] = &[
    "HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "EDITOR", "PAGER", "TMPDIR",
];

/// Whether every run gets this variable where the caller has it.
pub fn is_usual(name: &str) -> bool {
    ALWAYS.contains(&name) || LOCALE.contains(&name)
}

/// Whether `limited` passes this variable.
pub fn is_limited(name: &str) -> bool {
    LIMITED.contains(&name)
}

/// Where programs are looked for when nothing of the caller's search path is open.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables that make the dynamic loader or libc load or read files of the caller's choosing: never passed,
/// not even by name. `TMPDIR` is on libc's list too, but is only a place.
pub fn is_unsecure(name: &OsStr) -> bool {
    name != "TMPDIR" && is_unsecure_variable(&name.to_string_lossy())
}

/// Whether a variable's name says that it holds a secret.
pub fn looks_secret(name: &OsStr) -> bool {
    const SECRET_WORDS: &[&str] = &[
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
        "KEY",
        "APIKEY",
        "AUTH",
        "COOKIE",
        "SESSION",
        "PRIVATE",
        "PAT",
        "DSN",
        "PASS",
        "PWDS",
        "JWT",
        "WEBHOOK",
        "CONNECTION",
        "KEYS",
        "AUTHKEY",
        "PW",
        "CRED",
        "CREDS",
        "COOKIES",
        "PASSCODE",
        "PASSPHRASES",
        "PSK",
        "AUTHORIZATION",
        "BEARER",
        "OTP",
        "TOTP",
        "MNEMONIC",
        "HMAC",
        "CONNSTR",
        "SAS",
    ];
    const SECRET_PARTS: &[&str] = &[
        "PASSWORD",
        "SECRET",
        "TOKEN",
        "APIKEY",
        "ACCESSKEY",
        "ACCOUNTKEY",
        "CREDENTIAL",
    ];
    // Sockets that act for the user; reaching them is a grant of its own.
    const SOCKETS: &[&str] = &[
        "SSH_AUTH_SOCK",
        "SSH_AGENT_PID",
        "GPG_AGENT_INFO",
        "DBUS_SESSION_BUS_ADDRESS",
        "DOCKER_HOST",
        "XAUTHORITY",
        "DATABASE_URL",
        "REDIS_URL",
        "MONGODB_URI",
        "MYSQL_PWD",
        "SSHPASS",
        "POSTGRES_URL",
    ];
    let name = name.to_string_lossy().to_ascii_uppercase();
    SOCKETS.contains(&name.as_str())
        || name.split('_').any(|word| SECRET_WORDS.contains(&word))
        || SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// The environment of a run but for `HOME` and `TMPDIR`, where those are its own: they name directories that
/// are made at launch.
pub fn build(profile: &Profile, circumstances: &Circumstances<'_>, grants: &[Grant]) -> BTreeMap<OsString, OsString> {
    let mut variables: BTreeMap<OsString, OsString> = circumstances
        .environment
        .iter()
        .filter(|(name, _)| passes(profile, name))
        .cloned()
        .collect();
    let path = variables
        .remove(OsStr::new("PATH"))
        .or_else(|| circumstances.variable("PATH"));
    variables.insert("PATH".into(), open_search_path(path.as_deref(), grants));
    variables.extend(circumstances.command.variables.iter().cloned());
    if grants
        .iter()
        .any(|grant| grant.access.contains(Access::WRITE) && circumstances.root.starts_with(&grant.path))
    {
        variables.extend(circumstances.git_identity.iter().cloned());
    }
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

/// Whether one of the caller's variables comes along.
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

/// The entries of the caller's search path that the run may start programs from, in their order.
///
/// The others would only cost failing attempts, and their names are the caller's business.
fn open_search_path(path: Option<&OsStr>, grants: &[Grant]) -> OsString {
    let startable = |directory: &Path| {
        grants
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
