//! The bounds of arguments: how long they may be, and what a call can't name.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::settings::{Profile, Settings};
use stockade_policy::policy::is_unsecure;
use stockade_policy::profile::{Effect, effect_of, loads_code};
use stockade_text::visible::visible;

/// The most bytes of a command line, with its variables. The kernel takes 2 MiB.
pub const MAX_COMMAND: usize = 128 << 10;

/// The most bytes of a script, and of an input.
pub const MAX_TEXT: usize = 1 << 20;

/// The most variables, and the most grants of one kind.
pub const MAX: usize = 64;

/// Why arguments can't be used: one sentence for the client.
#[derive(Debug, PartialEq, Eq)]
pub struct Unusable(pub String);

/// A result of reading arguments.
pub type Usable<T> = Result<T, Unusable>;

/// An error for the client.
///
/// # Errors
/// Always.
pub fn unusable<T>(why: impl Into<String>) -> Usable<T> {
    Err(Unusable(why.into()))
}

/// The profile of this name, if a call may name it.
///
/// # Errors
/// It may not.
pub fn offered(name: &str, settings: &Settings) -> Usable<Profile> {
    settings.profiles.named(name).cloned().ok_or_else(|| {
        let names: Vec<String> = settings
            .profiles
            .offered()
            .iter()
            .map(|profile| format!("`{}`", visible(&profile.name)))
            .collect();
        Unusable(format!(
            "the profile `{}` isn't offered here: there are {}. Only the user can allow a wider one, by `--ceiling`",
            visible(name),
            names.join(", ")
        ))
    })
}

/// Command lines that start nothing of a caller's.
const HARMLESS: [&str; 4] = ["", "cat", "true", ":"];

/// Variables as words of `--env`. Those that decide what a program loads are the user's alone.
///
/// # Errors
/// One of these is among them, or there are too many.
pub fn variables(env: BTreeMap<String, String>) -> Usable<Vec<String>> {
    let length: usize = env.iter().map(|(name, value)| name.len() + value.len()).sum();
    if env.len() > MAX || length > MAX_COMMAND {
        return unusable(format!("`env` takes at most {MAX} variables and {MAX_COMMAND} bytes"));
    }
    without_nul(env.values())?;
    let word = |(name, value): (String, String)| {
        let is_name = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return unusable(format!("`{}` in `env` is no name of a variable", visible(&name)));
        }
        // Agents set a pager or editor to one of these, so that nothing waits for a person.
        let is_harmless = HARMLESS.contains(&&*value) && effect_of(&name) == Some(Effect::Line);
        if name == "PATH" || is_unsecure(name.as_ref()) || loads_code(&name) && !is_harmless {
            return unusable(format!("`{name}` decides what programs load, so a call can't set it"));
        }
        Ok(format!("{name}={value}"))
    };
    env.into_iter().map(word).collect()
}

/// Checks that no field is left over.
///
/// # Errors
/// One is.
pub fn known(unknown: &BTreeMap<String, Value>) -> Usable<()> {
    match unknown.keys().next() {
        Some(name) => unusable(format!("there is no argument `{}`", visible(name))),
        None => Ok(()),
    }
}

/// Checks that a text isn't too long.
///
/// # Errors
/// It is.
pub fn bounded(what: &str, text: &str) -> Usable<()> {
    match text.len() > MAX_TEXT {
        true => unusable(format!("{what} is longer than {MAX_TEXT} bytes")),
        false => Ok(()),
    }
}

/// Checks words of a command line.
///
/// # Errors
/// One holds a NUL.
pub fn without_nul<'t>(mut words: impl Iterator<Item = &'t String>) -> Usable<()> {
    match words.any(|word| word.contains('\0')) {
        true => unusable("a word holds a NUL character"),
        false => Ok(()),
    }
}

/// Refuses a path from the home, which only a shell expands: it would be a directory called `~`.
pub fn without_home(path: &str) -> Usable<()> {
    match path == "~" || path.starts_with("~/") {
        true => unusable(format!("`{}` isn't expanded here: give the whole path", visible(path))),
        false => Ok(()),
    }
}
