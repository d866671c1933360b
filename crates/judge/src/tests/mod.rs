//! Tests the page of rules, sentence by sentence, and the safety added to it.

mod agents;
mod bypasses;
mod directories;
mod laws;
mod sentences;
mod storing;

use std::path::Path;

use super::*;
use stockade_policy::profile::Origin;

/// A judge with the rules of a TOML text, in short: `+bash:git push` allows, `-bash` denies, `+bash~rg*` is a glob,
/// `+skill_load:x` a skill.
fn judge(rules: &[&str]) -> Judge {
    Judge::new(permissions(rules), Vec::new(), Path::new("/"))
}

fn permissions(rules: &[&str]) -> Permissions {
    let mut permissions = Permissions::default();
    for text in rules {
        match text.split_at(1) {
            ("+", text) => permissions.allow.push(rule(text)),
            ("-", text) => permissions.deny.push(rule(text)),
            _ => panic!("{text}"),
        }
    }
    permissions
}

fn rule(text: &str) -> PermissionRule {
    let (text, glob) = text
        .split_once('~')
        .map_or((text, None), |(text, glob)| (text, Some(glob)));
    let (tool, name) = text
        .split_once(':')
        .map_or((text, None), |(tool, name)| (tool, Some(name)));
    let is_skill = tool == SKILL_LOAD;
    PermissionRule {
        tool: tool.into(),
        command: name.filter(|_| !is_skill).map(str::to_string),
        command_glob: glob.map(str::to_string),
        skill_name: name.filter(|_| is_skill).map(str::to_string),
        matches: Vec::new(),
        not_matches: Vec::new(),
        origin: Origin::Flag("--rules".into()),
    }
}

fn call(tool: &str) -> Call {
    Call {
        tool: tool.into(),
        command: None,
        skill_name: None,
    }
}

fn line(text: &str) -> Call {
    Call {
        command: Some(text.into()),
        ..call(SHELL)
    }
}

fn skill(name: &str) -> Call {
    Call {
        skill_name: Some(name.into()),
        ..call(SKILL_LOAD)
    }
}

fn answer(judge: &Judge, call: &Call) -> Answer {
    judge.tool(None, call, Path::new("/"))
}

/// The decisions on lines.
#[track_caller]
fn decides(rules: &[&str], lines: &[(&str, Decision)]) {
    let judge = judge(rules);
    for (text, decision) in lines {
        let answer = answer(&judge, &line(text));
        assert_eq!(answer.decision, *decision, "{rules:?} {text:?}: {answer:?}");
    }
}
