//! `stockade hook install` and `stockade hook uninstall`.

use std::path::Path;

use super::args::{HookInstall, HookUninstall, Where};
use super::flags::{self, Registered, Trial};
use super::own::Own;
use super::place;
use super::write::{Change, carry_out};
use crate::confirm;
use crate::message::{Failure, hint, note};
use crate::{REFUSED, to_output};
use stockade_install::{Agent, HookError, Places, SettingsFile, register, switched_off, unregister};
use stockade_policy::profile::visible;
use stockade_text::quote::{command_line, quoted};

/// Carries out `stockade hook install`; `tried` prepares a command as the hooks would.
pub fn hook_install(task: &HookInstall, tried: Trial) -> Result<u8, Failure> {
    let agent = task.agent_program;
    let places = place::places(&task.place)?;
    let file = read(agent, &task.place, &places)?;
    let failed = |error| unfit(&file, &error);
    // Hooks that are there already are replaced, so that other flags take effect.
    let bare = file.text().map(unregister).transpose().map_err(failed)?.flatten();
    let has_ours = bare.is_some();
    let old = bare.as_ref().map(|bare| Registered::read(&bare.commands, agent));
    let mut old = old.unwrap_or_default();
    let asked = flags::asked(task, confined(task, &old, has_ours)?, &places)?;
    let unusable = old.drop_unusable(&asked, &places.root, tried);
    let (flags, kept) = old.with(asked);
    flags::refuse_unusable(&flags, &places.root, tried)?;
    let line = line(agent, &flags.concat(), &places)?;
    let bare = bare.map(|bare| bare.text).or(file.text().map(String::from));
    let bare = bare.filter(|_| !has_ours || !is_left_empty(&file));
    let new = register(bare.as_deref(), agent, &line).map_err(failed)?;
    let switches = switched_off(file.text().unwrap_or_default(), agent).map_err(failed)?;
    let switches = switches.iter().map(|setting| off(&file, setting));
    let lost = old
        .lost
        .iter()
        .map(|flag| format!("dropped what the hooks had: `{flag}`"));
    let authors = kept.iter().filter(|_| task.place.project);
    let authors = authors.map(|flags| format!("the project's file had `{flags}`, and keeps it"));
    let warnings: Vec<String> = switches.chain(lost).chain(unusable).chain(authors).collect();
    let keeps_copy = !has_ours;
    let changes = changes(file, Some(new), keeps_copy);
    let is_change = !changes.is_empty();
    let code = to_output(|out| carry_out(&changes, &warnings, task.place.yes, out))?;
    if let Some(flags) = kept.filter(|_| is_change && code == 0 && !task.place.project) {
        note(&format!("kept `{flags}`; `hook uninstall` takes all out"));
    }
    if let Some(remark) = agent.remark().filter(|_| is_change && code == 0) {
        hint(remark);
    }
    Ok(code)
}

/// Carries out `stockade hook uninstall`.
pub fn hook_uninstall(task: &HookUninstall) -> Result<u8, Failure> {
    let file = read(task.agent_program, &task.place, &place::places(&task.place)?)?;
    let bare = file
        .text()
        .map(unregister)
        .transpose()
        .map_err(|error| unfit(&file, &error))?;
    let Some(bare) = bare.flatten() else {
        note(&format!("`{}` has no hook of Stockade's", file.path().display()));
        return Ok(0);
    };
    let text = match bare.is_empty {
        // Before, it wasn't there, or had nothing in it.
        true => file
            .copy_text()
            .map(|copy| if copy.trim().is_empty() { copy } else { bare.text }),
        false => Some(bare.text),
    };
    let changes = changes(file, text, false);
    to_output(|out| carry_out(&changes, &[], task.place.yes, out))
}

/// Whether the file would be empty without Stockade's hooks: it was made for them.
fn is_left_empty(file: &SettingsFile) -> bool {
    let bare = file.text().and_then(|text| unregister(text).ok().flatten());
    bare.is_some_and(|bare| bare.is_empty) && file.copy_text().is_none()
}

fn read(agent: Agent, place: &Where, places: &Places) -> Result<SettingsFile, Failure> {
    let within = place.project.then_some(places.root.as_path());
    let path = agent.file(place::scope(place), places);
    Ok(SettingsFile::read(&path, within)?)
}

/// The change, if it is one.
fn changes(file: SettingsFile, text: Option<String>, keeps_copy: bool) -> Vec<Change> {
    match file.text() == text.as_deref() {
        true => Vec::new(),
        false => vec![Change { file, text, keeps_copy }],
    }
}

/// The command lines that add flags to an agent's hooks where these are registered: the user's, the project's, or both.
pub fn installs(agent: &str, root: &Path) -> Vec<String> {
    let Some(agent) = Agent::ALL.into_iter().find(|known| known.name() == agent) else {
        return Vec::new();
    };
    let line = |project: bool| -> Option<String> {
        let place = Where {
            project,
            root: Some(root.to_path_buf()),
            yes: false,
        };
        let file = read(agent, &place, &place::places(&place).ok()?).ok()?;
        unregister(file.text()?).ok()??;
        let name = agent.name();
        Some(match project {
            true => format!(
                "stockade hook install --for {name} --project --root {}",
                quoted(root.as_os_str())
            ),
            false => format!("stockade hook install --for {name}"),
        })
    };
    [false, true].into_iter().filter_map(line).collect()
}

/// What becomes of commands that no rule allows: as the flag says or the hooks did, else as the person at the terminal does. Where
/// flags are added to hooks, what holds there stays.
fn confined<'t>(task: &'t HookInstall, old: &Registered, has_ours: bool) -> Result<Option<&'t str>, Failure> {
    let is_addition = task.profile.is_some() || task.agent.is_some() || !task.grants.is_empty();
    let is_known = old.flags.iter().any(|flag| flag[0] == "--confined") || has_ours && is_addition;
    if task.confined.is_some() || is_known || task.place.yes || !confirm::can_ask() {
        return Ok(task.confined.as_deref());
    }
    let details = || {
        note("a command without a rule, `npm test` for one, runs inside a profile");
        note("yes: it starts without a question");
        note("no: the agent asks you first, or refuses it if its hooks can't ask");
    };
    let is_free = confirm::agreed("Let confined commands run without a question?", &details)?;
    let taken = if is_free { "allow" } else { "ask" };
    note(&format!("confined commands: `--confined {taken}`"));
    Ok(Some(taken))
}

/// The line that an agent's shell runs.
fn line(agent: Agent, flags: &[String], places: &Places) -> Result<String, Failure> {
    let own = Own::here(places)?;
    let words = [own.path(), "hook", agent.name()].into_iter();
    let line = command_line(&words.chain(flags.iter().map(String::as_str)).collect::<Vec<_>>());
    // That form isn't every shell's.
    match line.contains("$'") {
        true => Err(Failure::text(
            REFUSED,
            "a flag's value holds characters that can't be shown",
        )),
        false => Ok(line),
    }
}

/// What a setting means that switches hooks off.
fn off(file: &SettingsFile, setting: &str) -> String {
    format!(
        "`{}` has `{setting}`, which switches hooks off: tool calls aren't judged while it is there",
        visible(&file.path().to_string_lossy())
    )
}

fn unfit(file: &SettingsFile, error: &HookError) -> Failure {
    let path = file.path().display();
    match error {
        HookError::Fault(fault) => Failure::text(REFUSED, format!("`{path}`: {fault}")),
        HookError::Defect(why) => {
            Failure::text(REFUSED, format!("`{path}` can't be changed: {why}")).hint("nothing was written")
        }
    }
}
