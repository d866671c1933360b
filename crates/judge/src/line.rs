//! Decides on a command line: deny rules on everything that it could start, then allow rules on each of its commands.
//!
//! The worst of its commands decides. A line that isn't plain is never allowed.

use std::path::Path;

use super::allowing::{Examined, Open};
use super::asking::shortened;
use super::directory::Directories;
use super::glob::Work;
use super::rules::{CompiledRule, Rules};
use super::{Decision, denying};
use stockade_shell::{self as shell, Fitness, Line, Part};

/// A command line to judge.
pub(super) struct Question<'q> {
    pub(super) tool: &'q str,
    pub(super) text: &'q str,
    /// The root without links, and the line's starting directory; without them no `cd` is free.
    pub(super) place: Option<(&'q Path, &'q Path)>,
    /// The commands that the tool may run; `None` for the shell.
    pub(super) commands: Option<&'q [String]>,
}

/// The result of judging a line.
pub(super) struct Judged {
    pub(super) decision: Decision,
    pub(super) reason: String,
    pub(super) matched: Option<String>,
    pub(super) line: Line,
    /// One of its commands has options that do more, or is a wrapper.
    pub(super) is_unfit: bool,
    /// A rule for each command would allow it.
    pub(super) is_storable: bool,
}

impl Judged {
    fn new(decision: Decision, reason: String, line: Line) -> Judged {
        Judged {
            decision,
            reason,
            matched: None,
            line,
            is_unfit: false,
            is_storable: false,
        }
    }
}

/// Judges a line.
pub(super) fn judge(rules: &Rules, question: &Question<'_>) -> Judged {
    let line = shell::read(question.text);
    let work = Work::new();
    if let Some(rule) = denying::line(&rules.deny, question.text, &line, &work) {
        return Judged {
            matched: Some(rule.shown.clone()),
            ..Judged::new(Decision::Deny, "a rule denies it".into(), line)
        };
    }
    if let Some(reason) = foreign(question, &line) {
        return Judged::new(Decision::Deny, reason, line);
    }
    match line {
        Line::Plain(plain) => {
            let free = question.place.map_or_else(
                || vec![false; plain.parts.len()],
                |(root, cwd)| Directories::new(root, cwd).free(&plain),
            );
            let examined = Examined::new(question.tool, &plain, free, &work);
            let outcome = plain_line(rules, question, &examined);
            let is_unfit = examined
                .fitness
                .iter()
                .any(|fitness| matches!(fitness, Fitness::Unfit(_)));
            let (decision, reason, matched, is_storable) = outcome;
            Judged {
                matched,
                is_unfit,
                is_storable: is_storable && !is_unfit,
                ..Judged::new(decision, reason, Line::Plain(plain))
            }
        }
        Line::NotPlain(line) => {
            let reason = format!("the command line {}", line.why);
            Judged::new(Decision::Confirm, reason, Line::NotPlain(line))
        }
    }
}

/// The reason why a tool with a list of commands may not run the line.
fn foreign(question: &Question<'_>, line: &Line) -> Option<String> {
    let commands = question.commands?;
    let what = match line {
        Line::NotPlain(line) => format!("this command line {}", line.why),
        Line::Plain(plain) => {
            let is_its = |part: &&Part| commands.iter().any(|command| begins(&part.words, command));
            let foreign = plain.parts.iter().find(|part| !is_its(part))?;
            format!("`{}` isn't one of them", shortened(&foreign.text))
        }
    };
    let refused = super::Refused::NotItsCommand {
        tool: question.tool.to_string(),
        commands: commands.to_vec(),
        what,
    };
    Some(refused.to_string())
}

fn begins(words: &[String], command: &str) -> bool {
    let command: Vec<&str> = command.split_whitespace().collect();
    !command.is_empty()
        && words.len() >= command.len()
        && words.iter().zip(command).all(|(word, wanted)| word == wanted)
}

/// The decision, its reason, the rules, and whether rules for single commands would have allowed the line.
fn plain_line(
    rules: &Rules,
    question: &Question<'_>,
    examined: &Examined<'_>,
) -> (Decision, String, Option<String>, bool) {
    if let Some(rule) = examined.whole(&rules.allow) {
        return (
            Decision::Allow,
            "a rule allows the whole line".into(),
            Some(rule.shown.clone()),
            false,
        );
    }
    let mut matched: Vec<&CompiledRule> = Vec::new();
    let mut reasons = Vec::new();
    let mut is_storable = true;
    for (index, part) in examined.line.parts.iter().enumerate() {
        let mut outcome = examined.part(index, &rules.allow);
        // A rule for the whole tool covers its listed commands, but not with unsafe options.
        if let (Some(_), Fitness::Unfit(why)) = (question.commands, &examined.fitness[index]) {
            outcome = outcome.and_then(|rule| match rule {
                Some(rule) if rule.is_whole() => Err(Open::Unfit(why.clone())),
                rule => Ok(rule),
            });
        }
        match outcome {
            Ok(rule) => matched.extend(rule.filter(|rule| !matched.iter().any(|known| known.shown == rule.shown))),
            Err(open) => {
                is_storable &= open == Open::NoRule;
                reasons.push(sentence(&open, part));
            }
        }
    }
    match reasons.into_iter().next() {
        Some(reason) => (Decision::Confirm, reason, None, is_storable),
        None => {
            let shown: Vec<&str> = matched.iter().map(|rule| rule.shown.as_str()).collect();
            let reason = match (examined.line.parts.len(), shown.is_empty()) {
                (_, true) => "`cd` stays inside the root",
                (1, false) => "a rule allows it",
                (_, false) => "rules allow each of its commands",
            };
            let matched = (!shown.is_empty()).then(|| shown.join("; "));
            (Decision::Allow, reason.into(), matched, false)
        }
    }
}

fn sentence(open: &Open, part: &Part) -> String {
    match open {
        Open::NoRule => format!("no rule allows `{}`", shortened(&part.text)),
        Open::Unfit(why) => shortened(why),
        Open::Redirected(target) => format!(
            "`{}` has a redirection (`{}`) that no rule spells",
            shortened(&part.text),
            shortened(target)
        ),
        Open::Elsewhere => format!("`{}` may lead out of the root", shortened(&part.text)),
    }
}
