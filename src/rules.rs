//! `stockade rules`: lists the rules for tool calls, stores new ones, and removes them.

use std::io::Write;
use std::path::Path;

use super::args::{RuleOf, Rules};
use super::check::line_of;
use super::layers::{Detail, Here, print, unprinted};
use super::message::{Failure, note};
use stockade_judge::{Call, Decision, Judge, Remember, remember, remove_rules};
use stockade_policy::config::known;
use stockade_policy::profile::visible;

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
        Rules::Remember(rule) => {
            let here = Here::load(rule.root.as_deref())?;
            let rules = storable(&here, &call(rule)?)?;
            written(&here, &rules, out)
        }
        Rules::Remove(rule) => {
            let here = Here::load(rule.root.as_deref())?;
            removed(&here, &stockade_judge::storable(&call(rule)?), out)
        }
    }
}

fn call(rule: &RuleOf) -> Result<Call, Failure> {
    Ok(Call {
        tool: known::recased(&rule.tool).to_string(),
        command: line_of(&rule.command)?,
        skill_name: rule.skill.clone(),
    })
}

fn removed(here: &Here, rules: &[Remember], out: &mut dyn Write) -> Result<u8, Failure> {
    let written = remove_rules(&here.root, here.surroundings.state.as_deref(), rules)?;
    let path = written.path.display();
    for rule in &written.changed {
        let text = format!("{} isn't allowed by {path} any more", name_of(rule));
        writeln!(out, "{}", visible(&text)).map_err(unprinted)?;
    }
    match written.changed.is_empty() {
        true => Err(Failure::text(NOTHING, format!("`{path}` has no such rule")).hint(
            "`stockade rules list` shows all rules with their files; others than of this file are changed there",
        )),
        false => Ok(0),
    }
}

fn name_of(rule: &Remember) -> String {
    match rule.command.as_ref().or(rule.skill_name.as_ref()) {
        Some(detail) => format!("{} `{detail}`", rule.tool),
        None => rule.tool.clone(),
    }
}

fn written(here: &Here, rules: &[Remember], out: &mut dyn Write) -> Result<u8, Failure> {
    if rules.is_empty() {
        return Ok(0);
    }
    let written = remember(&here.root, here.surroundings.state.as_deref(), rules)?;
    for rule in &written.changed {
        print_rule(rule, &written.path, out)?;
    }
    if written.changed.is_empty() {
        note("already remembered");
    }
    Ok(0)
}

fn print_rule(rule: &Remember, path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let wider = if rule.command.is_some() {
        ", with other arguments too"
    } else {
        ""
    };
    let text = format!("{} is allowed from now on{wider}, by {}", name_of(rule), path.display());
    writeln!(out, "{}", visible(&text)).map_err(unprinted)
}

/// The rules that a yes to this call stores: none if it needs none, or if no stored rule could allow it.
fn storable(here: &Here, call: &Call) -> Result<Vec<Remember>, Failure> {
    let judge = Judge::new(here.layers.permissions(), here.layers.tools(), &here.root);
    let of_unknown = stockade_judge::storable(call);
    if !judge.has(&call.tool) && known::meant(&call.tool).is_none() && !of_unknown.is_empty() {
        return Ok(of_unknown);
    }
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
