//! Which variables a client's configuration set for the server.
//!
//! Clients start a server either with a short list of their own variables and those of its configuration (the official
//! libraries do), or with all of theirs and those. So what this process has and its client hasn't, or has with another value,
//! was set for the server; and where the client passed none of its other variables, so was all that isn't on the short list.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;

use stockade::internal::StatFields;
use stockade_policy::policy::is_unsecure;

/// Names and values.
pub type Variables = BTreeMap<OsString, OsString>;

/// The variables that the official libraries pass of a client's own.
const SHORT: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// What shells set and change by themselves.
const OF_SHELLS: [&str; 5] = ["_", "SHLVL", "PWD", "OLDPWD", "COLUMNS"];

/// Shells that a client may start a line with.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "fish", "ksh"];

/// The most shells between a client and this process.
const MAX_SHELLS: usize = 4;

/// The names of the variables of `own` that were set for the server, where the client has these of `clients`.
pub fn set_for_server(own: &Variables, clients: &Variables) -> Vec<OsString> {
    let is_usual = |name: &OsString| SHORT.iter().chain(&OF_SHELLS).any(|known| name == *known);
    let is_short = left_out_all(own, clients.iter().filter(|(name, _)| !is_usual(name)));
    let was_set = |name: &OsString, value: &OsString| match is_short {
        true => {
            !is_usual(name)
                || SHORT.iter().any(|known| name == *known) && clients.get(name).is_some_and(|theirs| theirs != value)
        }
        false => !OF_SHELLS.iter().any(|known| name == *known) && clients.get(name) != Some(value),
    };
    let set = own.iter().filter(|(name, value)| was_set(name, value));
    // What changes how programs are loaded never passes.
    let names = set.map(|(name, _)| name).filter(|name| !is_unsecure(name));
    names.cloned().collect()
}

/// Whether a client started this process with none of these variables of its own. One that only removed some passed the rest on
/// without saying so, its secrets among them.
fn left_out_all<'a>(own: &Variables, clients: impl Iterator<Item = (&'a OsString, &'a OsString)>) -> bool {
    let mut left_out = false;
    for (name, value) in clients {
        match own.get(name) {
            None => left_out = true,
            Some(here) if here == value => return false,
            Some(_) => {}
        }
    }
    left_out
}

/// The variables of the client: of the first process above this one that isn't a shell with the same variables. `None` if they
/// can't be read.
pub fn of_client(own: &Variables) -> Option<Variables> {
    let plain = |variables: &Variables| -> Variables {
        let kept = variables
            .iter()
            .filter(|(name, _)| !OF_SHELLS.iter().any(|known| *name == *known));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let mut process = nix::unistd::getppid().as_raw();
    for _ in 0..MAX_SHELLS {
        let variables = of_process(process)?;
        let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
        let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
        let parent: i32 = StatFields::of(&stat)?.get(4)?;
        if !SHELLS.contains(&name.trim()) || plain(&variables) != plain(own) || parent <= 1 {
            return Some(variables);
        }
        process = parent;
    }
    None
}

/// The variables that a process was started with (proc_pid_environ(5)).
fn of_process(process: i32) -> Option<Variables> {
    let bytes = fs::read(format!("/proc/{process}/environ")).ok()?;
    let entries = bytes.split(|byte| *byte == 0).filter_map(|entry| {
        let at = entry.iter().skip(1).position(|byte| *byte == b'=')? + 1;
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        Some((text(&entry[..at]), text(&entry[at + 1..])))
    });
    Some(entries.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(text: &str) -> Variables {
        let entries = text.split(' ').filter_map(|entry| entry.split_once('='));
        entries.map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn set(own: &str, clients: &str) -> Vec<OsString> {
        set_for_server(&variables(own), &variables(clients))
    }

    #[test]
    fn of_a_short_list_all_others_were_set_for_the_server() {
        let clients = "HOME=/h PATH=/bin USER=ada AWS_SECRET=x EDITOR=vi";
        assert_eq!(set("HOME=/h PATH=/bin USER=ada API_TOKEN=t", clients), ["API_TOKEN"]);
        assert_eq!(set("HOME=/h PATH=/opt/bin EDITOR=ed", clients), ["EDITOR", "PATH"]);
        assert_eq!(set("HOME=/h PATH=/bin", clients), [""; 0]);
    }

    #[test]
    fn of_all_variables_those_that_differ_were_set_for_the_server() {
        let clients = "HOME=/h PATH=/bin AWS_SECRET=x EDITOR=vi";
        let own = "HOME=/h PATH=/bin AWS_SECRET=x EDITOR=vi API_TOKEN=t";
        assert_eq!(set(own, clients), ["API_TOKEN"]);
        assert_eq!(
            set(&own.replace("EDITOR=vi", "EDITOR=ed"), clients),
            ["API_TOKEN", "EDITOR"]
        );
        assert_eq!(set(clients, clients), [""; 0]);
    }

    #[test]
    fn a_client_that_removes_a_few_variables_sets_none_of_the_others_for_the_server() {
        let clients = "HOME=/h AWS_SECRET=x GITHUB_TOKEN=y EDITOR=vi DEBUG=1 TZ=UTC";
        assert_eq!(
            set("HOME=/h AWS_SECRET=x GITHUB_TOKEN=y DEBUG=1 TZ=UTC", clients),
            [""; 0]
        );
        assert_eq!(
            set("HOME=/h AWS_SECRET=x GITHUB_TOKEN=y API_TOKEN=t", clients),
            ["API_TOKEN"]
        );
        let many: String = (0..30).map(|number| format!(" VSCODE_{number}=1")).collect();
        assert_eq!(
            set("HOME=/h AWS_SECRET=x", &format!("HOME=/h AWS_SECRET=x{many}")),
            [""; 0]
        );
    }

    #[test]
    fn what_changes_how_programs_are_loaded_never_passes() {
        assert_eq!(set("HOME=/h LD_PRELOAD=/x A=b", "HOME=/h B=c"), ["A"]);
    }
}
