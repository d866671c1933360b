//! The flags of an agent's hooks: those that are asked for, and those of the hooks that are there already, which stay.

use std::path::Path;

use super::args::HookInstall;
use super::place;
use crate::REFUSED;
use crate::message::Failure;
use stockade::Sandbox;
use stockade_install::{Agent, Places};
use stockade_text::quote::{command_line, words_of};

/// Flags that stand once, in the order in which they are written.
const SINGLE: [&str; 3] = ["--profile", "--agent", "--confined"];

/// Flags that only add: the hooks may do without one.
const GRANTS: [&str; 7] = ["--read", "--write", "--exec", "--host", "--listen", "--socket", "--env"];

/// Prepares a command by the flags of a hook in a project, and says why it would be refused.
pub type Trial = fn(&[String], &Path) -> Result<(), Failure>;

/// A flag with its value, if it has one.
type Flag = Vec<String>;

/// The flags of hooks that are there already.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Registered {
    /// Those of each hook that decides.
    pub flags: Vec<Flag>,
    /// The flags, or whole commands, that can't be kept.
    pub lost: Vec<String>,
}

impl Registered {
    /// Reads the commands of an agent's hooks.
    pub fn read(commands: &[String], agent: Agent) -> Registered {
        let decides = |command: &&String| command.contains("||");
        let any = commands.iter().any(|command| decides(&command));
        let mut all: Vec<Vec<Flag>> = Vec::new();
        let mut found = Registered::default();
        for command in commands.iter().filter(|command| !any || decides(command)) {
            match flags_of(command) {
                Some(flags) => all.push(flags),
                None => found.lost.push(command.clone()),
            }
        }
        for flag in all.iter().flatten() {
            // One event of Cursor's has it by itself.
            let is_of_event = agent == Agent::Cursor && flag.concat() == "--confinedallow";
            match all.iter().all(|flags| flags.contains(flag)) {
                true if !found.flags.contains(flag) => found.flags.push(flag.clone()),
                false if !is_of_event => found.lost.push(command_line(flag)),
                _ => {}
            }
        }
        found.lost.dedup();
        found
    }

    /// Takes out the grants with which no command starts any more beside what is asked for, and says each with the reason.
    pub fn drop_unusable(&mut self, asked: &[Flag], root: &Path, trial: Trial) -> Vec<String> {
        let old = std::mem::take(&mut self.flags);
        let (grants, rest): (Vec<Flag>, Vec<Flag>) = old
            .iter()
            .cloned()
            .partition(|flag| GRANTS.contains(&flag[0].as_str()) && !asked.contains(flag));
        self.flags = rest;
        let with = |flag: &[Flag]| tried(&self.with([asked, flag].concat()).0, root, trial);
        let mut dropped = Vec::new();
        if with(&[]).is_ok() && with(&grants).is_err() {
            for flag in &grants {
                dropped.extend(
                    with(std::slice::from_ref(flag))
                        .err()
                        .map(|failure| (flag, failure.message)),
                );
            }
        }
        let is_dropped = |flag: &Flag| dropped.iter().any(|(other, _)| *other == flag);
        self.flags = old.iter().filter(|flag| !is_dropped(flag)).cloned().collect();
        let said =
            |(flag, why): &(&Flag, String)| format!("dropped what the hooks had: `{}`: {why}", command_line(flag));
        dropped.iter().map(said).collect()
    }

    /// The flags with those that are asked for now, and what stays of these as a command line has it.
    pub fn with(&self, asked: Vec<Flag>) -> (Vec<Flag>, Option<String>) {
        let place = |flag: &Flag| SINGLE.iter().position(|name| *name == flag[0]);
        let is_replaced = |flag: &Flag| place(flag).is_some() && asked.iter().any(|new| new[0] == flag[0]);
        let stay = self.flags.iter().filter(|flag| !is_replaced(flag)).cloned();
        let mut all: Vec<Flag> = stay.collect();
        let kept: Vec<&String> = all.iter().filter(|flag| !asked.contains(flag)).flatten().collect();
        let kept = (!kept.is_empty()).then(|| command_line(&kept));
        for flag in asked {
            if !all.contains(&flag) {
                all.push(flag);
            }
        }
        all.sort_by_key(|flag| place(flag).unwrap_or(SINGLE.len()));
        (all, kept)
    }
}

/// The flags of a hook's command, as [`command_line`] wrote it; `None` for any other.
fn flags_of(command: &str) -> Option<Vec<Flag>> {
    let line = command.rsplit_once(" || ").map_or(command, |(line, _)| line);
    let mut flags: Vec<Flag> = Vec::new();
    for word in words_of(line.trim())?.get(3..)? {
        match (word.starts_with("--"), flags.last_mut()) {
            (true, _) => flags.push(word.splitn(2, '=').map(String::from).collect()),
            (false, Some(flag)) if flag.len() == 1 => flag.push(word.clone()),
            _ => return None,
        }
    }
    Some(flags)
}

/// Refuses flags with which no command of the hooks would start in this project.
///
/// # Errors
/// Each would be refused; not where one without flags is refused as well.
pub fn refuse_unusable(flags: &[Flag], root: &Path, trial: Trial) -> Result<(), Failure> {
    match tried(flags, root, trial) {
        Err(failure) if trial(&[], root).is_ok() => Err(failure),
        _ => Ok(()),
    }
}

/// Tries flags as the hooks would.
fn tried(flags: &[Flag], root: &Path, trial: Trial) -> Result<(), Failure> {
    // Only hooks have it.
    let of_runs = flags.iter().filter(|flag| flag[0] != "--confined");
    trial(&of_runs.flatten().cloned().collect::<Vec<_>>(), root)
}

/// The flags that a person asks for.
///
/// # Errors
/// The hook couldn't take one of them.
pub fn asked(task: &HookInstall, confined: Option<&str>, places: &Places) -> Result<Vec<Flag>, Failure> {
    let profile = task.profile.as_deref().map(place::profile).transpose()?;
    let agent = task
        .agent
        .as_deref()
        .map(|name| place::role(name, places))
        .transpose()?;
    let single = SINGLE.into_iter().zip([profile, agent, confined.map(String::from)]);
    let single = single.filter_map(|(flag, value)| Some(vec![flag.to_string(), value?]));
    let mut sandbox = Sandbox::profile("workspace")?;
    for host in &task.grants.host {
        sandbox = sandbox.host(host)?;
    }
    for glob in &task.grants.deny {
        sandbox = sandbox.deny(glob)?;
    }
    let here = std::env::current_dir().map_err(|error| Failure::new(REFUSED, &error))?;
    let lists = task.grants.flags(&here)?.into_iter().map(Flag::from);
    Ok(single.chain(lists).collect())
}
