//! `stockade rules`: lists the rules for tool calls, and stores new ones.

use std::io::Write;
use std::path::Path;

use super::args::Rules;
use super::check::line_of;
use super::layers::{Detail, Here, print, unprinted};
use super::message::{Failure, note};
use stockade::profile::visible;
use stockade_judge::{Call, Decision, Judge, Remember, remember};

/// Exit code: nothing was stored.
const NOTHING: u8 = 1;

/// Carries out `stockade rules …`.
pub fn rules(task: &Rules, out: &mut dyn Write) -> Result<u8, Failure> {
    match task {
        Rules::List { root, json } => {
            let here = Here::load(root.as_deref())?;
            let detail = if *json { Detail::Json } else { Detail::Origin };
            print(&here.layers.rule_lines(), detail, out)?;
            let missing = here.layers.missing_lines().into_iter();
            let of_rules: Vec<_> = missing.filter(|line| line.text.starts_with("permissions.")).collect();
            print(&of_rules, detail, out).map(|()| 0)
        }
        Rules::Remember {
            tool,
            skill,
            root,
            command,
        } => {
            let here = Here::load(root.as_deref())?;
            let call = Call {
                tool: tool.clone(),
                command: line_of(command)?,
                skill_name: skill.clone(),
            };
            let rules = storable(&here, &call)?;
            written(&here, &rules, out)
        }
    }
}

fn written(here: &Here, rules: &[Remember], out: &mut dyn Write) -> Result<u8, Failure> {
    if rules.is_empty() {
        return Ok(0);
    }
    let written = remember(&here.root, here.surroundings.state.as_deref(), rules)?;
    for rule in &written.added {
        print_rule(rule, &written.path, out)?;
    }
    if written.added.is_empty() {
        note("already remembered");
    }
    Ok(0)
}

fn print_rule(rule: &Remember, path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let detail = rule.command.as_ref().or(rule.skill_name.as_ref());
    let detail = detail.map_or(String::new(), |detail| format!(" `{detail}`"));
    let text = format!("{}{detail} is allowed from now on, by {}", rule.tool, path.display());
    writeln!(out, "{}", visible(&text)).map_err(unprinted)
}

/// The rules that a yes to this call stores: none if it needs none, or if no stored rule could allow it.
fn storable(here: &Here, call: &Call) -> Result<Vec<Remember>, Failure> {
    let judge = Judge::new(here.layers.permissions(), here.layers.tools(), &here.root);
    let answer = judge.tool(None, call, &here.root);
    match answer.decision {
        Decision::Confirm if !answer.remember.is_empty() => Ok(answer.remember),
        Decision::Deny => Err(Failure::text(NOTHING, format!("this is denied: {}", answer.reason))),
        Decision::Confirm => {
            let failure = Failure::text(NOTHING, format!("this is asked each time: {}", answer.reason));
            Err(match call.command {
                None => failure.hint("name the command line: `stockade rules remember --tool bash -- COMMAND`"),
                Some(_) => failure,
            })
        }
        Decision::Allow => {
            note(&format!("this is allowed already: {}", answer.reason));
            Ok(Vec::new())
        }
    }
}
