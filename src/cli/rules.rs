//! `stockade rules`: lists the rules for tool calls, and writes down what is to be allowed from now on.

use std::io::Write;
use std::path::Path;

use super::args::Rules;
use super::layers::{Detail, Here, print, unprinted};
use super::message::{Failure, note};
use crate::config::remember;
use crate::judge::{Call, Remember, storable};
use crate::profile::visible;
use crate::quote::command_line;

/// Exit code: nothing was remembered.
const NOTHING: u8 = 1;

/// Carries out `stockade rules …`.
pub fn rules(task: &Rules, out: &mut dyn Write) -> Result<u8, Failure> {
    match task {
        Rules::List { root } => {
            let here = Here::load(root.as_deref())?;
            print(&here.layers.rule_lines(), Detail::Origin, out)?;
            let missing = here.layers.missing_lines().into_iter();
            let of_rules: Vec<_> = missing.filter(|line| line.text.starts_with("permissions.")).collect();
            print(&of_rules, Detail::Origin, out).map(|()| 0)
        }
        Rules::Remember {
            tool,
            skill,
            root,
            command,
        } => {
            let here = Here::load(root.as_deref())?;
            let rules = stored(tool, skill.as_deref(), command);
            written(&here, &rules, out)
        }
    }
}

fn written(here: &Here, rules: &[Remember], out: &mut dyn Write) -> Result<u8, Failure> {
    if rules.is_empty() {
        note("there is nothing to remember of this call");
        return Ok(NOTHING);
    }
    let written = remember(&here.root, here.surroundings.state.as_deref(), rules)?;
    for rule in &written.added {
        print_rule(rule, &written.path, out)?;
    }
    if written.added.is_empty() {
        note("it is remembered already");
    }
    Ok(0)
}

fn print_rule(rule: &Remember, path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let detail = rule.command.as_ref().or(rule.skill_name.as_ref());
    let detail = detail.map_or(String::new(), |detail| format!(" `{detail}`"));
    let text = format!("{}{detail} is allowed from now on, by {}", rule.tool, path.display());
    writeln!(out, "{}", visible(&text)).map_err(unprinted)
}

/// What a yes to this call stores. One word of a command is a line as a shell gets it.
fn stored(tool: &str, skill: Option<&str>, command: &[String]) -> Vec<Remember> {
    storable(&Call {
        tool: tool.to_owned(),
        command: match command {
            [] => None,
            [line] => Some(line.clone()),
            words => Some(command_line(words)),
        },
        skill_name: skill.map(str::to_owned),
    })
}
