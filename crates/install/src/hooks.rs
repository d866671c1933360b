//! Puts hooks into an agent's file, and takes out those that are Stockade's.

use std::path::Path;

use crate::agents::Agent;
use crate::document::{Fault, Format, Member, Node, parse, twice};
use crate::edit::{self, appended, applied, is_made, removed};
use crate::piece::{Layout, Piece, member};

/// The table of an agent's hooks.
const TABLE: &str = "hooks";

/// The most hooks of ours that are taken out of one file.
const MAX: usize = 100;

/// Why hooks can't be put into a file.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// It has a fault.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The result wouldn't be what was meant.
    #[error("{0}")]
    Defect(&'static str),
}

/// The text of the file with the agent's hooks; `None` as the text is a file that isn't there.
///
/// # Errors
/// The file isn't what the agent reads, or the result couldn't be taken back.
pub fn register(text: Option<&str>, agent: Agent, line: &str) -> Result<String, HookError> {
    let registrations = agent.registrations(line);
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        let events = registrations
            .into_iter()
            .map(|hook| (hook.event, Piece::List(vec![hook.entry])));
        let version = agent.has_version().then_some(("version", Piece::Number(1)));
        let members = version.into_iter().chain([(TABLE, Piece::Table(events.collect()))]);
        return Ok(Piece::Table(members.collect()).written(&Layout::new(), "") + "\n");
    };
    let root = parse(text, Format::Json)?;
    if agent.has_version() && root.member("version", text)?.is_none() {
        return Err(Fault::at(text, root.span.start, "there is no `version`: write `\"version\": 1`").into());
    }
    let mut new = text.to_string();
    for hook in registrations {
        new = with(&new, hook.event, &hook.entry)?;
    }
    match unregister(&new)? {
        Some(Unregistered { text: back, .. }) if back == text => Ok(new),
        _ => Err(HookError::Defect("the change couldn't be taken back")),
    }
}

fn with(text: &str, event: &'static str, entry: &Piece) -> Result<String, Fault> {
    let root = parse(text, Format::Json)?;
    let layout = Layout::of(text, &root);
    table(&root, text)?;
    let list = Piece::List(vec![entry.clone()]);
    let edits = match root.member(TABLE, text)? {
        None => {
            let hooks = Piece::Table(vec![(event, list)]);
            appended(text, &root, |indent| member(TABLE, &hooks, &layout, indent))
        }
        Some(hooks) => match table(&hooks.value, text)?.member(event, text)? {
            None => appended(text, &hooks.value, |indent| member(event, &list, &layout, indent)),
            Some(Member { value, .. }) if value.elements().is_some() => {
                appended(text, value, |indent| entry.written(&layout, indent))
            }
            Some(Member { value, .. }) => return Err(Fault::at(text, value.span.start, "this isn't a list of hooks")),
        },
    };
    Ok(applied(text, edits))
}

fn table<'n>(node: &'n Node, text: &str) -> Result<&'n Node, Fault> {
    match node.members() {
        Some(_) => Ok(node),
        None => Err(Fault::at(text, node.span.start, "this isn't a table")),
    }
}

/// A file without hooks of Stockade's.
#[derive(Debug, PartialEq, Eq)]
pub struct Unregistered {
    /// The text.
    pub text: String,
    /// Whether nothing but a version is left in it.
    pub is_empty: bool,
    /// The commands of the hooks that were taken out, the last one first.
    pub commands: Vec<String>,
}

/// The text without Stockade's hooks; `None` if there is none.
///
/// # Errors
/// The file has a fault, or too many hooks.
pub fn unregister(text: &str) -> Result<Option<Unregistered>, HookError> {
    // No agent minds a file without anything in it, and `register` takes it too.
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut new = text.to_string();
    let mut commands = Vec::new();
    for count in 0..=MAX {
        let root = parse(&new, Format::Json)?;
        let Some((path, command)) = last_of_ours(&root, &new)? else {
            let members = root.members().unwrap_or_default();
            let is_empty = members.iter().all(|member| member.key == "version");
            return Ok((count > 0).then_some(Unregistered {
                text: new,
                is_empty,
                commands,
            }));
        };
        commands.push(command);
        new = applied(&new, without(&new, &root, &path));
    }
    Err(HookError::Defect(
        "it has more hooks of Stockade's than it could have got",
    ))
}

/// The places of children from the root to the last hook of ours, or to its group if that has no other; and its command. The
/// last one first, since whether a table was made for our hooks shows in its first child.
fn last_of_ours(root: &Node, text: &str) -> Result<Option<(Vec<usize>, String)>, Fault> {
    let members = root.members().unwrap_or_default();
    let Some(hooks_at) = members.iter().position(|member| member.key == TABLE) else {
        return Ok(None);
    };
    let events = members[hooks_at].value.members().unwrap_or_default();
    if let Some(again) = members[hooks_at + 1..].iter().find(|member| member.key == TABLE) {
        return Err(twice(again, text));
    }
    for (event_at, event) in events.iter().enumerate().rev() {
        for (entry_at, entry) in event.value.elements().unwrap_or_default().iter().enumerate().rev() {
            let path = vec![hooks_at, event_at, entry_at];
            if let Some(command) = own_command(entry, text)? {
                return Ok(Some((path, command)));
            }
            let Some(group_at) = entry
                .members()
                .and_then(|members| members.iter().position(|member| member.key == TABLE))
            else {
                continue;
            };
            let handlers = entry.members().unwrap_or_default()[group_at].value.elements();
            let handlers = handlers.unwrap_or_default();
            for (at, handler) in handlers.iter().enumerate().rev() {
                if let Some(command) = own_command(handler, text)? {
                    let within = if handlers.len() == 1 {
                        vec![]
                    } else {
                        vec![group_at, at]
                    };
                    return Ok(Some(([path, within].concat(), command)));
                }
            }
        }
    }
    Ok(None)
}

/// What in the agent's file switches hooks off, as `key: value`.
///
/// # Errors
/// The file has a fault.
pub fn switched_off(text: &str, agent: Agent) -> Result<Vec<String>, HookError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let root = parse(text, Format::Json)?;
    let mut found = Vec::new();
    for (path, off) in agent.switches() {
        let mut node = Some(&root);
        for key in *path {
            node = match node {
                Some(node) => node.member(key, text)?.map(|member| &member.value),
                None => None,
            };
        }
        let is_off = node.is_some_and(|node| match node.elements() {
            Some(elements) => !elements.is_empty(),
            // Some programs take a text for the value that it names.
            None => node.text().unwrap_or(&text[node.span.clone()]) == *off,
        });
        found.extend(is_off.then(|| format!("{}: {off}", path.join("."))));
    }
    Ok(found)
}

/// The command of a hook that starts Stockade's.
fn own_command(hook: &Node, text: &str) -> Result<Option<String>, Fault> {
    for key in ["command", "bash"] {
        let command = hook.member(key, text)?.and_then(|member| member.value.text());
        if let Some(command) = command.filter(|command| starts_hook(command)) {
            return Ok(Some(command.to_string()));
        }
    }
    Ok(None)
}

/// Whether a shell's line starts with a program called `stockade` and the task `hook`.
fn starts_hook(line: &str) -> bool {
    let line = line.trim_start();
    let (program, rest) = match line.strip_prefix('\'') {
        Some(quoted) => quoted.split_once('\'').unwrap_or((quoted, "")),
        None => line.split_once(' ').unwrap_or((line, "")),
    };
    let is_stockade = Path::new(program).file_name().is_some_and(|name| name == "stockade");
    is_stockade && rest.split_whitespace().next() == Some("hook")
}

/// Takes the child at a path out, and along with it the tables and lists that were made for it.
fn without(text: &str, root: &Node, path: &[usize]) -> Vec<edit::Edit> {
    let mut above = vec![root];
    for at in &path[..path.len() - 1] {
        let Some(child) = above.last().and_then(|node| child(node, *at)) else {
            return Vec::new();
        };
        above.push(child);
    }
    let mut depth = path.len() - 1;
    while depth > 0 && edit::children(above[depth]).len() == 1 && is_made(above[depth]) {
        depth -= 1;
    }
    removed(text, above[depth], path[depth])
}

fn child(node: &Node, at: usize) -> Option<&Node> {
    match node.elements() {
        Some(elements) => elements.get(at),
        None => node.members()?.get(at).map(|member| &member.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "/usr/bin/stockade hook claude-code";

    #[test]
    fn hooks_come_and_go_and_leave_the_file_as_it_was() {
        for text in [
            "{}",
            "{ }\n",
            "{\"a\": 1}",
            "{\n  \"a\": 1\n}\n",
            "{\n    \"a\": 1, // c\n}\n",
            "{\"hooks\": {}}",
            "{\"hooks\": {\"PreToolUse\": []}, \"b\": [1]}",
            "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\"hooks\": [{\"command\": \"x\"}]} // mine\n\t\t]\n\t},\n\t\"z\": 1\n}\n",
            "{\r\n  \"hooks\": {\r\n    \"Stop\": [ ]\r\n  }\r\n}\r\n",
        ] {
            // `register` itself takes it back and compares.
            let new = register(Some(text), Agent::ClaudeCode, LINE).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(unregister(&new).unwrap().unwrap().text, text, "{new}");
            assert_eq!(unregister(text).unwrap(), None);
        }
    }

    #[test]
    fn a_new_file_holds_nothing_else() {
        for agent in Agent::ALL {
            let line = format!("'/opt/my programs/stockade' hook {}", agent.name());
            let new = register(None, agent, &line).unwrap();
            assert!(unregister(&new).unwrap().unwrap().is_empty, "{new}");
        }
        insta::assert_snapshot!(register(None, Agent::Cursor, "/usr/bin/stockade hook cursor").unwrap(), @r#"
        {
          "version": 1,
          "hooks": {
            "preToolUse": [
              {
                "command": "/usr/bin/stockade hook cursor --confined allow || { echo 'stockade hook failed: the call is blocked' >&2; exit 2; }",
                "failClosed": true,
                "timeout": 60
              }
            ],
            "beforeShellExecution": [
              {
                "command": "/usr/bin/stockade hook cursor || { echo 'stockade hook failed: the call is blocked' >&2; exit 2; }",
                "failClosed": true,
                "timeout": 60
              }
            ],
            "beforeMCPExecution": [
              {
                "command": "/usr/bin/stockade hook cursor || { echo 'stockade hook failed: the call is blocked' >&2; exit 2; }",
                "failClosed": true,
                "timeout": 60
              }
            ],
            "beforeReadFile": [
              {
                "command": "/usr/bin/stockade hook cursor || { echo 'stockade hook failed: the call is blocked' >&2; exit 2; }",
                "failClosed": true,
                "timeout": 60
              }
            ],
            "postToolUse": [
              {
                "command": "/usr/bin/stockade hook cursor",
                "matcher": "Shell",
                "timeout": 60
              }
            ]
          }
        }
        "#);
    }

    #[test]
    fn a_file_with_nothing_in_it_has_no_hooks_and_gets_them() {
        for text in ["", "\n", " \r\n\t"] {
            assert_eq!(unregister(text).unwrap(), None, "{text:?}");
            let new = register(Some(text), Agent::ClaudeCode, LINE).unwrap();
            assert!(unregister(&new).unwrap().unwrap().is_empty, "{new}");
        }
    }

    #[test]
    fn what_switches_hooks_off_is_seen() {
        let off = |agent, text| switched_off(text, agent).unwrap().join(" ");
        assert_eq!(
            off(Agent::ClaudeCode, r#"{"disableAllHooks": true}"#),
            "disableAllHooks: true"
        );
        assert_eq!(
            off(
                Agent::Gemini,
                r#"{"tools": {"enableHooks": false}, "hooksConfig": {"enabled": false, "disabled": ["stockade"]}}"#
            ),
            "hooksConfig.enabled: false hooksConfig.disabled: […] tools.enableHooks: false"
        );
        for text in [
            "",
            "{}",
            r#"{"disableAllHooks": false, "x": {"disableAllHooks": true}}"#,
            r#"{"hooks": {"disabled": []}, "tools": 1}"#,
        ] {
            for agent in Agent::ALL {
                assert_eq!(off(agent, text), "", "{agent:?} {text}");
            }
        }
    }

    #[test]
    fn hooks_of_others_stay() {
        let text = "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"command\": \"x\"}, {\"command\": \"stockade hook claude-code\"}]}]}}";
        let back = unregister(text).unwrap().unwrap();
        assert_eq!(
            back.text,
            "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"command\": \"x\"}]}]}}"
        );
        assert!(!back.is_empty);
        for other in [
            "stockade run x",
            "echo stockade hook",
            "/bin/not-stockade hook x",
            "'stockade hook x'",
        ] {
            assert!(!starts_hook(other), "{other}");
        }
    }

    #[test]
    fn every_hook_that_decides_blocks_where_stockade_is_missing() {
        for agent in Agent::ALL {
            let line = format!("/no/such/stockade hook {}", agent.name());
            for hook in agent
                .registrations(&line)
                .iter()
                .filter(|hook| hook.command.contains("||"))
            {
                let ran = std::process::Command::new("sh")
                    .args(["-c", &hook.command])
                    .output()
                    .unwrap();
                assert_eq!(ran.status.code(), Some(2), "{agent:?} {}", hook.event);
                assert!(!ran.stderr.is_empty());
            }
        }
    }

    #[test]
    fn a_file_that_isnt_the_agents_is_refused() {
        for (text, agent) in [
            ("[]", Agent::ClaudeCode),
            ("{\"hooks\": []}", Agent::ClaudeCode),
            ("{\"hooks\": {\"PreToolUse\": {}}}", Agent::ClaudeCode),
            ("{\"hooks\": {}, \"hooks\": {}}", Agent::ClaudeCode),
            ("{\"hooks\": {}}", Agent::Cursor),
        ] {
            assert!(register(Some(text), agent, LINE).is_err(), "{text}");
        }
    }
}
