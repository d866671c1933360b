//! `stockade shell`, and the program by the name `stockade-sh`: a shell all of whose commands run inside one run.
//!
//! It is for agents that can be given nothing but a shell. The profile comes from the user's own configuration alone: not
//! from a project's, and not from a variable.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::REFUSED;
use super::args::{ConfinedShell, Run};
use super::message::Failure;
use super::run;
use stockade::internal::Surroundings;
use stockade_judge::is_match;
use stockade_policy::config::{Configuration, Shell};

/// The program's name as a shell.
const NAME: &[u8] = b"stockade-sh";

/// Start-up files of the machine's, which every shell reads that is a login shell or interactive. The user's own are below the
/// caller's home, which a run doesn't have.
const START_UP: [&str; 6] = [
    "/etc/profile",
    "/etc/profile.d",
    "/etc/bash.bashrc",
    "/etc/bashrc",
    "/etc/bash",
    "/etc/inputrc",
];

/// The profile where nothing names another.
const PROFILE: &str = "workspace";

/// Starts the shell with the arguments of `stockade shell`; returns its exit code.
pub fn shell(task: &ConfinedShell) -> Result<u8, Failure> {
    let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
    let configured = configured(&surroundings)?;
    let is_named = task.profile.is_some() || task.agent.is_some();
    let chosen = Shell {
        profile: task.profile.clone(),
        agent: task.agent.clone(),
    };
    let chosen = if is_named { chosen } else { configured };
    start(&surroundings, &chosen, &task.arguments)
}

/// The arguments of a program that was started by the name `stockade-sh`; `None` by another name.
pub fn by_name(words: &[OsString]) -> Option<Vec<OsString>> {
    let (first, rest) = words.split_first()?;
    // login(1) puts a dash before the name of a login shell.
    let (is_login, path) = match first.as_bytes().strip_prefix(b"-") {
        Some(path) => (true, path),
        None => (false, first.as_bytes()),
    };
    let name = Path::new(OsStr::from_bytes(path)).file_name()?;
    let login = is_login.then(|| OsString::from("-l"));
    (name.as_bytes() == NAME).then(|| login.into_iter().chain(rest.iter().cloned()).collect())
}

/// Starts the shell that was called by its name; returns its exit code.
pub fn named(arguments: Vec<OsString>) -> Result<u8, Failure> {
    let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
    let configured = configured(&surroundings)?;
    start(&surroundings, &configured, &arguments)
}

/// `[shell]` of the user's configuration. Inside a run that file is closed, and the outer run is there.
fn configured(surroundings: &Surroundings) -> Result<Shell, Failure> {
    let loaded = Configuration::load_if_open(surroundings.configuration.as_deref(), Some(is_match));
    let loaded = loaded.map_err(|error| Failure::new(REFUSED, &error))?;
    Ok(loaded.unwrap_or_default().shell)
}

fn start(surroundings: &Surroundings, chosen: &Shell, arguments: &[OsString]) -> Result<u8, Failure> {
    let mut words: Vec<OsString> = vec!["run".into()];
    let profile = match (&chosen.profile, &chosen.agent) {
        (None, None) => Some(PROFILE),
        (profile, _) => profile.as_deref(),
    };
    for (flag, value) in [("--profile", profile), ("--agent", chosen.agent.as_deref())] {
        words.extend(value.into_iter().flat_map(|value| [flag.into(), value.into()]));
    }
    for path in START_UP.into_iter().filter(|path| Path::new(path).exists()) {
        words.extend(["--read".into(), path.into()]);
    }
    words.extend(["--".into(), name(surroundings).into()]);
    words.extend(arguments.iter().cloned());
    match Run::of_right_words(words.into_iter()) {
        Some(run) => run::run(&run),
        None => Err(Failure::text(
            REFUSED,
            "the profile or agent of `[shell]` can't be used",
        )),
    }
}

/// `bash` where there is one, else `sh`.
pub fn name(surroundings: &Surroundings) -> &'static str {
    let search_path = surroundings.variable("PATH").unwrap_or_default();
    let mut directories = std::env::split_paths(&search_path);
    match directories.any(|directory| directory.join("bash").is_file()) {
        true => "bash",
        false => "sh",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(words: &[&str]) -> Option<Vec<String>> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let found = by_name(&words)?.into_iter();
        Some(found.map(|word| word.into_string().unwrap()).collect())
    }

    #[test]
    fn the_name_tells_that_it_is_a_shell() {
        assert_eq!(
            called(&["/usr/bin/stockade-sh", "-c", "id"]),
            Some(vec!["-c".into(), "id".into()])
        );
        assert_eq!(called(&["-stockade-sh"]), Some(vec!["-l".into()]));
        for other in [
            "stockade",
            "/usr/bin/stockade",
            "stockade-shell",
            "x/stockade-sh/y",
            "",
            "-",
        ] {
            assert_eq!(called(&[other, "-c", "id"]), None, "{other}");
        }
    }
}
