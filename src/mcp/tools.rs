//! `stockade mcp list` and `mcp tools`: servers and their tools as they were accepted, and what has changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde_json::json;
use stockade_mcp::known::{self, Content};
use stockade_mcp::{Accepted, shown};

use crate::REFUSED;
use crate::args::McpTools;
use crate::audit::state;
use crate::layers::unprinted;
use crate::message::{Failure, note_empty};

/// Lists or accepts; exit code 1 where something isn't accepted.
pub fn tools(task: &McpTools, out: &mut dyn Write) -> Result<u8, Failure> {
    let files = known::of_name(&state()?, &task.name);
    if files.is_empty() {
        return Err(unknown(&task.name)?);
    }
    if task.accept {
        return accept(files, out);
    }
    let mut is_all_accepted = true;
    for (_, content) in files {
        for (name, standing) in standings(&content) {
            is_all_accepted &= standing == "accepted";
            let line = match task.json {
                true => {
                    json!({ "server": content.name, "command": content.command, "tool": name, "standing": standing })
                        .to_string()
                }
                false => format!("{standing:9} {}  ({})", shown(&name), shown(&content.command.join(" "))),
            };
            writeln!(out, "{line}").map_err(unprinted)?;
        }
    }
    Ok(u8::from(!is_all_accepted))
}

/// Lists the servers that ran under `mcp wrap`.
pub fn list(is_json: bool, out: &mut dyn Write) -> Result<u8, Failure> {
    let servers = known::of_state(&state()?);
    note_empty("server that has listed its tools", servers.is_empty(), is_json);
    for (_, content) in servers {
        let standings = standings(&content);
        let open = standings.values().filter(|standing| **standing != "accepted").count();
        let line = match is_json {
            true => {
                json!({ "server": content.name, "command": content.command, "tools": standings.len(), "unaccepted": open })
                    .to_string()
            }
            false => {
                let tools = if standings.len() == 1 { "tool" } else { "tools" };
                let open = match open {
                    0 => String::new(),
                    open => format!(", {open} new or changed"),
                };
                let (name, command) = (shown(&content.name), shown(&content.command.join(" ")));
                format!("{name}  {} {tools}{open}  ({command})", standings.len())
            }
        };
        writeln!(out, "{line}").map_err(unprinted)?;
    }
    Ok(0)
}

/// The failure for a server of which no tools are known.
fn unknown(name: &str) -> Result<Failure, Failure> {
    let servers = known::of_state(&state()?);
    let names: BTreeSet<String> = servers
        .iter()
        .map(|(_, content)| format!("`{}`", shown(&content.name)))
        .collect();
    let hint = match names.is_empty() {
        true => "no server has yet; its name is that of `stockade mcp wrap --name`".to_string(),
        false => format!("those that have: {}", Vec::from_iter(names).join(", ")),
    };
    let text = format!("no server `{}` has listed its tools", shown(name));
    Ok(Failure::text(REFUSED, text).hint(hint))
}

fn accept(files: Vec<(std::path::PathBuf, Content)>, out: &mut dyn Write) -> Result<u8, Failure> {
    for (path, content) in files {
        for name in known::accept(&path, content).map_err(|error| Failure::new(REFUSED, &error))? {
            writeln!(out, "accepted {}", shown(&name)).map_err(unprinted)?;
        }
    }
    Ok(0)
}

/// Each tool, and whether it is accepted as it was listed last.
fn standings(content: &Content) -> BTreeMap<String, &'static str> {
    let names = |accepted: &Option<Accepted>| accepted.clone().unwrap_or_default().0;
    let accepted = names(&content.accepted);
    let mut standings: BTreeMap<String, &'static str> =
        accepted.keys().map(|name| (name.clone(), "accepted")).collect();
    for (name, hash) in names(&content.listed) {
        let standing = match accepted.get(&name) {
            Some(known) if *known == hash => "accepted",
            Some(_) => "changed",
            None => "new",
        };
        standings.insert(name, standing);
    }
    standings
}
