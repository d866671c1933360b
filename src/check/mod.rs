//! `stockade check`: decides whether an act is allowed. Nothing is run, opened or asked.

mod batch;
mod checker;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use super::REFUSED;
use super::args::Check;
use super::message::Failure;
pub use checker::{Asked, CallerGrants, Calling, Checker, Wrong};
use stockade_judge::{Act, Action, Answer, Call, Decision, Remember, SKILL_LOAD};
use stockade_policy::profile::visible;
use stockade_text::quote::command_line;

/// Exit code: the act is denied.
const DENIED: u8 = 1;

/// Exit code: the act needs a confirmation.
const UNCONFIRMED: u8 = 3;

/// Carries out `stockade check …`.
pub fn check(check: &Check, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut checker = Checker::open(check.clone(), None)?;
    let outcome = match check.batch {
        true => batch::answer_all(&mut checker, io::stdin().lock(), out),
        false => one(check, &mut checker, out),
    };
    checker.close();
    outcome
}

fn one(check: &Check, checker: &mut Checker, out: &mut dyn Write) -> Result<u8, Failure> {
    let answer = checker.answer(&Asked::about(act(check)?))?;
    let written = match check.json {
        true => writeln!(out, "{}", serde_json::json!(answer)),
        false => out.write_all(shown(&answer).as_bytes()),
    };
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(REFUSED, &error)),
        _ => Ok(match answer.decision {
            Decision::Allow => 0,
            Decision::Deny => DENIED,
            Decision::Confirm => UNCONFIRMED,
        }),
    }
}

/// The act in question, from the flags.
fn act(check: &Check) -> Result<Act, Failure> {
    let wrong = |message: &str, hint: &str| Err(Failure::text(REFUSED, message).hint(hint));
    let command = line_of(&check.command)?;
    let act = asked_act(
        check.tool.as_deref(),
        command,
        check.skill.as_deref(),
        check.action.as_deref(),
        check.path.clone(),
        check.host.as_deref(),
    );
    match act {
        Ok(act) => Ok(act),
        Err(message) => wrong(
            message,
            "`stockade check --tool bash -- 'git status'`, `--skill NAME`, `--action write --path FILE` or \
             `--action connect --host NAME`",
        ),
    }
}

/// The command line after `--`: a single word is a text as a shell gets it.
pub(super) fn line_of(words: &[OsString]) -> Result<Option<String>, Failure> {
    match words {
        [] => Ok(None),
        [line] => match line.to_str() {
            Some(line) => Ok(Some(line.to_string())),
            None => Err(Failure::text(REFUSED, "the command line isn't UTF-8")),
        },
        words => Ok(Some(command_line(words))),
    }
}

/// The act that these fields describe together.
fn asked_act(
    tool: Option<&str>,
    command: Option<String>,
    skill: Option<&str>,
    action: Option<&str>,
    path: Option<PathBuf>,
    host: Option<&str>,
) -> Result<Act, &'static str> {
    let tool = match (tool, skill) {
        (Some(tool), Some(_)) if tool != SKILL_LOAD => return Err("a skill is loaded by the tool `skill_load` alone"),
        (tool, skill) => tool.or(skill.map(|_| SKILL_LOAD)),
    };
    let path_action = match action {
        Some("read") => Some(Action::Read),
        Some("write") => Some(Action::Write),
        Some("delete") => Some(Action::Delete),
        Some("execute") => Some(Action::Execute),
        _ => None,
    };
    match (tool, action, path, host) {
        (Some(tool), None, None, None) => Ok(Act::Tool(Call {
            tool: tool.to_string(),
            command,
            skill_name: skill.map(str::to_string),
        })),
        (Some(_), ..) => Err("a tool is asked about without an action, a path or a host"),
        (None, ..) if command.is_some() => Err("a command line needs the tool that gets it"),
        (None, Some("connect"), None, Some(host)) => Ok(Act::Connect(host.to_string())),
        (None, Some("connect"), ..) => Err("connecting needs a host, and no path"),
        (None, Some(_), Some(path), None) => match path_action {
            Some(action) => Ok(Act::Path(action, path)),
            None => Err("an action is `read`, `write`, `delete`, `execute` or `connect`"),
        },
        (None, Some(_), ..) => Err("this action needs a path, and no host"),
        (None, None, ..) => Err("it isn't said what is to be judged"),
    }
}

/// Text for a person: the decision first. Its content may come from a model.
fn shown(answer: &Answer) -> String {
    let reason = match answer.tool_error() {
        Some(error) => error.content,
        None => answer.reason.clone(),
    };
    let mut lines = vec![format!("{}: {reason}", answer.decision.name())];
    lines.extend(answer.matched.as_ref().map(|matched| format!("rule: {matched}")));
    if let (Some(title), Some(message)) = (&answer.title, &answer.message) {
        lines.push(format!("question: {title} {message}"));
    }
    lines.extend(answer.danger.map(|danger| format!("danger: {}", danger.name())));
    if answer.decision == Decision::Confirm {
        let stored: Vec<String> = answer.remember.iter().map(remember_text).collect();
        let stored = match stored.is_empty() {
            true => "nothing".to_string(),
            false => stored.join(", "),
        };
        lines.push(format!("a yes to remember stores: {stored}"));
    }
    lines.iter().map(|line| visible(line)).collect::<Vec<_>>().join("\n  ") + "\n"
}

fn remember_text(remember: &Remember) -> String {
    match remember.command.as_ref().or(remember.skill_name.as_ref()) {
        Some(name) => format!("{} `{name}`", remember.tool),
        None => remember.tool.clone(),
    }
}

/// An error ends a single check.
impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Failure {
        Failure {
            hint: wrong.hint(),
            ..Failure::new(REFUSED, &wrong)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_one_thing() {
        let asked = |tool, command: Option<&str>, skill, action, path: Option<&str>, host| {
            asked_act(tool, command.map(Into::into), skill, action, path.map(Into::into), host)
        };
        assert!(asked(Some("bash"), Some("ls"), None, None, None, None).is_ok());
        assert!(asked(None, None, Some("x"), None, None, None).is_ok());
        assert!(asked(Some(SKILL_LOAD), None, Some("x"), None, None, None).is_ok());
        assert!(asked(None, None, None, Some("write"), Some("a"), None).is_ok());
        assert!(asked(None, None, None, Some("connect"), None, Some("a")).is_ok());
        for wrong in [
            asked(None, None, None, None, None, None),
            asked(None, Some("ls"), None, None, None, None),
            asked(Some("bash"), None, Some("x"), None, None, None),
            asked(Some("bash"), None, None, Some("read"), Some("a"), None),
            asked(None, None, None, Some("read"), None, None),
            asked(None, None, None, Some("read"), Some("a"), Some("b")),
            asked(None, None, None, Some("connect"), Some("a"), None),
            asked(None, None, None, Some("fly"), Some("a"), None),
        ] {
            assert!(wrong.is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_decision_stands_first_and_nothing_reaches_the_terminal_as_it_is() {
        let answer = Answer {
            decision: Decision::Confirm,
            reason: "no rule allows `a\u{1b}[2J`".into(),
            matched: None,
            remember: vec![Remember {
                tool: "bash".into(),
                command: Some("git push".into()),
                skill_name: None,
            }],
            title: Some("Run command?".into()),
            message: Some("a\nb".into()),
            danger: Some(stockade_judge::Danger::High),
        };
        insta::assert_snapshot!(shown(&answer), @r"
        confirm: no rule allows `a\u{1b}[2J`
          question: Run command? a\nb
          danger: high
          a yes to remember stores: bash `git push`
        ");
        insta::assert_snapshot!(shown(&answer.without_asking()), @r"deny: Permission denied: no rule allows `a\u{1b}[2J`, and no question can be asked");
    }
}
