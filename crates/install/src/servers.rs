//! The servers of a client's file: what each one starts, and where that stands in the text.

use std::path::Path;

use crate::document::{Fault, Kind, Member, Node, twice};

/// A server as the file has it.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// The project that it is for, where one file has the servers of several.
    pub project: Option<String>,
    /// What it is.
    pub start: Start,
}

/// How a client gets at a server.
#[derive(Debug, Clone)]
pub enum Start {
    /// It starts a program.
    Program(Box<Program>),
    /// It connects to a URL.
    Url,
    /// It can't be told from the entry, for this reason.
    Unknown(String),
}

/// The program that a client starts, with its place in the text.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program's name or path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The variables that the entry sets or passes.
    pub variables: Vec<Variable>,
    /// Whether the entry reads variables from a file, whose names aren't known here.
    pub has_variable_file: bool,
    /// The table that has the command.
    pub table: Node,
    /// The member of the table that is the command.
    pub command_at: usize,
    /// The member of the table that are the arguments.
    pub args_at: Option<usize>,
}

/// A variable of a server's entry.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value, if the entry has it.
    pub value: Option<String>,
}

impl Program {
    /// The member that is the command.
    pub fn command_member(&self) -> &Member {
        &self.members()[self.command_at]
    }

    /// The member that are the arguments.
    pub fn args_member(&self) -> Option<&Member> {
        self.args_at.map(|at| &self.members()[at])
    }

    fn members(&self) -> &[Member] {
        self.table.members().unwrap_or_default()
    }

    /// The command and its arguments.
    pub fn words(&self) -> Vec<&str> {
        std::iter::once(&self.command)
            .chain(&self.args)
            .map(String::as_str)
            .collect()
    }

    /// The file name of the command.
    pub fn file_name(&self) -> &str {
        let name = Path::new(&self.command).file_name();
        name.and_then(|name| name.to_str()).unwrap_or(&self.command)
    }

    /// The value of a variable of the entry.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().find(|variable| variable.name == name);
        found.and_then(|variable| variable.value.as_deref())
    }
}

/// Keys of a server that a client connects to.
const URLS: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// The program that makes the headers for a URL. Source: code.claude.com/docs/en/mcp
const HELPER: &str = "headersHelper";

/// Keys that a command has within it where it is a table.
const BESIDE: [&str; 3] = ["args", "env", "envFile"];

/// All servers in these tables of a file.
///
/// # Errors
/// A key is there twice.
pub fn servers(root: &Node, tables: &[&[&str]], text: &str) -> Result<Vec<Server>, Fault> {
    let mut found = Vec::new();
    for path in tables {
        collect(root, path, None, text, &mut found)?;
    }
    Ok(found)
}

fn collect(
    node: &Node,
    path: &[&str],
    project: Option<&str>,
    text: &str,
    found: &mut Vec<Server>,
) -> Result<(), Fault> {
    match path {
        ["*", rest @ ..] => {
            for member in unique(node, text)? {
                collect(&member.value, rest, Some(&member.key), text, found)?;
            }
        }
        [key, rest @ ..] => {
            if let Some(member) = node.member(key, text)? {
                collect(&member.value, rest, project, text, found)?;
            }
        }
        [] => {
            for member in unique(node, text)? {
                found.push(Server {
                    name: member.key.clone(),
                    project: project.map(str::to_string),
                    start: start(&member.value, text)?,
                });
            }
        }
    }
    Ok(())
}

/// The members of a table, none of them twice.
fn unique<'n>(node: &'n Node, text: &str) -> Result<&'n [Member], Fault> {
    let members = node.members().unwrap_or_default();
    let mut seen = std::collections::HashSet::new();
    match members.iter().find(|member| !seen.insert(member.key.as_str())) {
        Some(again) => Err(twice(again, text)),
        None => Ok(members),
    }
}

fn start(entry: &Node, text: &str) -> Result<Start, Fault> {
    let unknown = |why: String| Ok(Start::Unknown(why));
    let Some(members) = entry.members() else {
        return unknown("its entry isn't a table".into());
    };
    unique(entry, text)?;
    let value = |key: &str| {
        members
            .iter()
            .find(|member| member.key == key)
            .map(|member| &member.value)
    };
    // A `null` starts nothing, whichever key counts.
    let command = value("command").filter(|command| &text[command.span.clone()] != "null");
    let url = URLS.iter().find(|key| value(key).is_some());
    match (command, url) {
        (Some(_), Some(url)) => unknown(format!(
            "it has both `command` and `{url}`, and clients differ on which of them counts"
        )),
        (None, Some(_)) if value(HELPER).is_some() => unknown(format!(
            "it is reached by a URL, and its `{HELPER}` starts a program all the same"
        )),
        (None, Some(_)) => Ok(Start::Url),
        (None, None) => unknown("its entry names no command".into()),
        // Zed before 0.198: the command is a table of its own.
        (Some(command), None) if command.members().is_some() => {
            unique(command, text)?;
            match BESIDE.iter().find(|key| value(key).is_some()) {
                Some(key) => unknown(format!("its `command` is a table, and its `{key}` stands beside it")),
                None => program(command, "path", text),
            }
        }
        (Some(_), None) => program(entry, "command", text),
    }
}

fn program(table: &Node, key: &str, text: &str) -> Result<Start, Fault> {
    let unknown = |why: &str| Ok(Start::Unknown(why.to_string()));
    let members = table.members().unwrap_or_default();
    let at = |key: &str| members.iter().position(|member| member.key == key);
    let Some((command_at, command)) = at(key).and_then(|at| Some((at, members[at].value.text()?))) else {
        return unknown("its command isn't a text");
    };
    let args_at = at("args");
    let args = match args_at.map(|at| &members[at].value) {
        None => Vec::new(),
        Some(args) => match texts(args) {
            Some(args) => args,
            None => return unknown("its `args` aren't a list of texts"),
        },
    };
    if args.is_empty() && command.contains(char::is_whitespace) && !Path::new(command).exists() {
        return unknown(
            "its command is a whole line: put the program into `command`, and each word after it into `args`",
        );
    }
    let Some(variables) = variables(table, text)? else {
        return unknown("its `env` isn't a table");
    };
    Ok(Start::Program(Box::new(Program {
        command: command.to_string(),
        args,
        variables,
        has_variable_file: at("envFile").is_some(),
        table: table.clone(),
        command_at,
        args_at,
    })))
}

fn texts(node: &Node) -> Option<Vec<String>> {
    let texts = node
        .elements()?
        .iter()
        .map(|element| element.text().map(str::to_string));
    texts.collect()
}

/// Those that the entry sets (`env`), and those of the client that it passes (`env_vars` of Codex).
fn variables(table: &Node, text: &str) -> Result<Option<Vec<Variable>>, Fault> {
    let mut variables = Vec::new();
    match table.member("env", text)?.map(|member| &member.value.kind) {
        None | Some(Kind::Other) => {}
        Some(Kind::Table(members)) => variables.extend(members.iter().map(|member| Variable {
            name: member.key.clone(),
            value: member.value.text().map(str::to_string),
        })),
        Some(_) => return Ok(None),
    }
    let passed = table
        .member("env_vars", text)?
        .and_then(|member| member.value.elements());
    for element in passed.unwrap_or_default() {
        let name = match element.members() {
            Some(_) => element.member("name", text)?.and_then(|member| member.value.text()),
            None => element.text(),
        };
        variables.extend(name.map(|name| Variable {
            name: name.to_string(),
            value: None,
        }));
    }
    Ok(Some(variables))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, parse};

    fn start_of(entry: &str) -> Start {
        let text = format!("{{\"s\": {{\"x\": {entry}}}}}");
        let root = parse(&text, Format::Json).unwrap();
        servers(&root, &[&["s"]], &text).unwrap().remove(0).start
    }

    #[test]
    fn an_entry_that_clients_read_differently_isnt_understood() {
        for entry in [
            r#"{"command": "./x", "url": "http://127.0.0.1/"}"#,
            r#"{"type": "http", "httpUrl": "http://127.0.0.1/", "command": "./x", "args": []}"#,
            r#"{"serverUrl": null, "command": "./x"}"#,
            r#"{"url": "http://127.0.0.1/", "command": {"path": "./x", "args": []}}"#,
            r#"{"url": "http://127.0.0.1/", "headersHelper": "./x"}"#,
            r#"{"command": {"path": "./x", "args": []}, "env": {"PATH": "/p"}}"#,
            r#"{"command": null}"#,
        ] {
            assert!(matches!(start_of(entry), Start::Unknown(_)), "{entry}");
        }
        for entry in [
            r#"{"url": "http://127.0.0.1/"}"#,
            r#"{"command": null, "url": "http://127.0.0.1/"}"#,
        ] {
            assert!(matches!(start_of(entry), Start::Url), "{entry}");
        }
        assert!(matches!(start_of(r#"{"command": "x"}"#), Start::Program(_)));
    }
}
