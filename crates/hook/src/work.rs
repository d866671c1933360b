//! What a tool call does, in the terms of the judge.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use stockade_judge::{Act, Action, Call, SHELL, SKILL_LOAD};

use super::event::Misread;
use super::paths::{examples, literal_part, spellings};
use super::{patch, web};

/// What kind of tool one of an agent's tools is, and which of its arguments count.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Starts a shell with the line in this argument.
    Shell(&'static str),
    /// Types this argument into a shell that is running.
    Typed(&'static str),
    /// Reads, changes or removes the files that its arguments name; ours is the first.
    Files(&'static str, Action),
    /// Searches below a directory, by default the agent's own; the arguments that hold patterns of paths.
    Search(&'static str, &'static [&'static str]),
    /// Changes the files of a patch in this argument, or in the text that is the input.
    Patch(&'static str),
    /// Fetches the address in this argument.
    Fetch(&'static str),
    /// Fetches every address that stands in this text.
    Addresses(&'static str),
    /// Loads the skill in this argument.
    Skill(&'static str),
    /// One of our names of tools, by the rules alone.
    Tool(&'static str),
    /// Acts within the agent, under one of our names: refused where the judge denies that, otherwise the agent's own flow.
    Within(&'static str),
    /// Acts within the agent: nothing that Stockade judges.
    Own,
}

impl Kind {
    /// Our name of such a tool; `None` if it acts within the agent.
    pub fn ours(self) -> Option<&'static str> {
        match self {
            Kind::Shell(_) | Kind::Typed(_) => Some(SHELL),
            Kind::Files(ours, _) | Kind::Search(ours, _) | Kind::Tool(ours) | Kind::Within(ours) => Some(ours),
            Kind::Patch(_) => Some("edit"),
            Kind::Fetch(_) | Kind::Addresses(_) => Some("web_fetch"),
            Kind::Skill(_) => Some(SKILL_LOAD),
            Kind::Own => None,
        }
    }
}

/// What a call does.
#[derive(Debug, PartialEq, Eq)]
pub enum Work {
    /// A line for a shell, in this argument.
    Line(String, &'static str),
    /// A line that a running shell reads: it can't be confined any more.
    Typed(String),
    /// Accesses to paths or hosts, by a tool of ours.
    Reaches(&'static str, Vec<Act>),
    /// A call that the rules alone decide.
    Named(Call),
    /// A tool that the agent's table doesn't have, whatever its arguments are: only rules of a person's own allow it.
    Unlisted(Call),
    /// A tool of an MCP server, by the agent's name for it: the rules alone decide, and it need not be declared.
    OfServer(Call),
    /// A call within the agent, which the judge may only deny.
    Within(Call),
    /// Nothing that is judged.
    Own,
}

/// The arguments that name files, in all formats.
const FILES: [&str; 18] = [
    "file_path",
    "path",
    "absolute_path",
    "target_file",
    "notebook_path",
    "filePath",
    "file_paths",
    "paths",
    "target_notebook",
    "file",
    "filename",
    "uri",
    "old_path",
    "new_path",
    "source_path",
    "destination_path",
    "relative_path",
    "relative_workspace_path",
];

/// The arguments that name a directory to search.
const DIRECTORIES: [&str; 7] = [
    "path",
    "paths",
    "dir_path",
    "directory",
    "target_directory",
    "target_directories",
    "absolute_path",
];

/// Arguments that choose a shell or its variables.
const OF_SHELLS: [&str; 4] = ["shell", "executable", "env", "environment"];

/// The most files or hosts of one call that are judged.
const MAX: usize = 1000;

/// Reads what a call of `tool` does. `home` is what `~` means.
///
/// # Errors
/// The arguments aren't those of such a tool.
pub fn work(tool: &str, kind: Kind, input: &Value, home: Option<&Path>) -> Result<Work, Misread> {
    let read = || -> Result<Work, String> {
        if let (Kind::Patch(_), Value::String(text)) = (kind, input) {
            return Ok(Work::Reaches("edit", patched(text, home)?));
        }
        let fields = match input {
            Value::Object(fields) => Fields(fields),
            _ if matches!(kind, Kind::Own | Kind::Within(_) | Kind::Tool(_)) => return Ok(of_no_arguments(kind)),
            _ => return Err("it isn't an object".into()),
        };
        Ok(match kind {
            Kind::Shell(field) => {
                fields.choose_no_shell()?;
                Work::Line(line(fields.text(field)?)?, field)
            }
            Kind::Typed(field) => Work::Typed(line(fields.text(field)?)?),
            Kind::Files(ours, action) => Work::Reaches(ours, fields.files(action, home)?),
            Kind::Search(ours, patterns) => Work::Reaches(ours, fields.searched(patterns, home)?),
            Kind::Patch(field) => Work::Reaches("edit", patched(fields.patch(field)?, home)?),
            Kind::Fetch(field) => Work::Reaches("web_fetch", vec![Act::Connect(web::host(fields.text(field)?)?)]),
            Kind::Addresses(field) => fetched(&fields, field)?,
            Kind::Skill(field) => Work::Named(Call {
                skill_name: Some(fields.text(field)?.to_string()),
                ..call(SKILL_LOAD)
            }),
            Kind::Tool(_) | Kind::Within(_) | Kind::Own => of_no_arguments(kind),
        })
    };
    let work = read().map_err(|why| Misread::Input(tool.to_string(), why))?;
    match &work {
        Work::Reaches(_, acts) if acts.len() > MAX => Err(Misread::Input(
            tool.to_string(),
            format!("it names more than {MAX} files or hosts"),
        )),
        _ => Ok(work),
    }
}

/// The accesses of a call of one of our tools by its main input, a file or an address; none if that tells none.
///
/// # Errors
/// The input can't be read so.
pub fn accesses(tool: &str, input: &str, home: Option<&Path>) -> Result<Vec<Act>, String> {
    let action = match tool {
        "read" | "list" => Action::Read,
        "write" | "edit" | "multi_edit" | "mkdir" => Action::Write,
        "remove" | "delete" => Action::Delete,
        "web_fetch" => return Ok(vec![Act::Connect(web::host(input)?)]),
        "glob" | "glob_search" => {
            let pattern = Map::from_iter([("pattern".to_string(), input.into())]);
            return Fields(&pattern).searched(&["pattern"], home);
        }
        _ => return Ok(Vec::new()),
    };
    Ok(spellings(input, home)?
        .into_iter()
        .map(|path| Act::Path(action, path))
        .collect())
}

/// A call of a server's tool, or of one that no table has.
pub fn named(tool: &str) -> Call {
    call(tool)
}

fn call(tool: &str) -> Call {
    Call {
        tool: tool.to_string(),
        command: None,
        skill_name: None,
    }
}

fn of_no_arguments(kind: Kind) -> Work {
    match kind {
        Kind::Tool(ours) => Work::Named(call(ours)),
        Kind::Within(ours) => Work::Within(call(ours)),
        _ => Work::Own,
    }
}

/// A line as a shell can take it.
fn line(text: &str) -> Result<String, String> {
    match text.contains('\0') {
        true => Err("a command line can't hold NUL".into()),
        false => Ok(text.to_string()),
    }
}

fn patched(text: &str, home: Option<&Path>) -> Result<Vec<Act>, String> {
    let mut acts = Vec::new();
    for (action, path) in patch::files(text)? {
        acts.extend(spellings(&path, home)?.into_iter().map(|path| Act::Path(action, path)));
    }
    Ok(acts)
}

fn fetched(fields: &Fields<'_>, field: &'static str) -> Result<Work, String> {
    let mut hosts = web::hosts_in(fields.text(field)?)?;
    if let Some(address) = fields.some_text("url")? {
        hosts.push(web::host(address)?);
    }
    Ok(match hosts.is_empty() {
        true => Work::Named(call("web_fetch")),
        false => Work::Reaches("web_fetch", hosts.into_iter().map(Act::Connect).collect()),
    })
}

/// The arguments of a call.
struct Fields<'v>(&'v Map<String, Value>);

impl Fields<'_> {
    fn text(&self, field: &'static str) -> Result<&str, String> {
        self.some_text(field)?.ok_or_else(|| format!("it has no `{field}`"))
    }

    /// Refuses arguments that would start another program than the agent's own shell, or steer it.
    fn choose_no_shell(&self) -> Result<(), String> {
        let is_set = |field: &&&str| self.0.get(**field).is_some_and(|value| !value.is_null());
        match OF_SHELLS.iter().find(is_set) {
            Some(field) => Err(format!("its `{field}` would choose what runs the command")),
            None => Ok(()),
        }
    }

    /// The text of a patch, under the format's name for it, or under the one that some models use.
    fn patch(&self, field: &'static str) -> Result<&str, String> {
        match self.some_text(field)? {
            Some(text) => Ok(text),
            None => self.text("input"),
        }
    }

    fn some_text(&self, field: &'static str) -> Result<Option<&str>, String> {
        match self.0.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("its `{field}` isn't a text")),
        }
    }

    /// The texts of an argument that is one text or a list of texts.
    fn texts(&self, field: &'static str) -> Result<Vec<&str>, String> {
        match self.0.get(field) {
            Some(Value::Array(entries)) => {
                let wrong = || format!("an entry of its `{field}` isn't a text");
                entries.iter().map(|entry| entry.as_str().ok_or_else(wrong)).collect()
            }
            _ => Ok(self.some_text(field)?.into_iter().collect()),
        }
    }

    /// Every file that any argument names, or a part of one: which of them counts is up to the tool.
    fn files(&self, action: Action, home: Option<&Path>) -> Result<Vec<Act>, String> {
        let mut acts = Vec::new();
        let parts = self.0.values().filter_map(Value::as_array).flatten();
        let parts = parts.filter_map(Value::as_object).map(Fields);
        for fields in parts.chain([Fields(self.0)]) {
            for field in FILES {
                for text in fields.texts(field)? {
                    let paths = spellings(text, home)?;
                    acts.extend(paths.into_iter().map(|path| Act::Path(action, path)));
                }
            }
        }
        match acts.is_empty() {
            true => Err("it names no file".into()),
            false => Ok(acts),
        }
    }

    /// The directories that a search begins in, and what its patterns name.
    fn searched(&self, patterns: &[&'static str], home: Option<&Path>) -> Result<Vec<Act>, String> {
        let mut directories = Vec::new();
        for field in DIRECTORIES {
            for text in self.texts(field)? {
                for directory in spellings(text, home)? {
                    // Some tools take a pattern here too.
                    if literal_part(&directory)? != directory {
                        directories.extend(examples(&directory.to_string_lossy())?);
                    }
                    directories.push(directory);
                }
            }
        }
        if directories.is_empty() {
            directories.push(PathBuf::new());
        }
        let mut named = Vec::new();
        for field in patterns {
            for text in self.texts(field)? {
                for pattern in spellings(text, home)? {
                    named.push(literal_part(&pattern)?);
                    named.extend(examples(&pattern.to_string_lossy())?);
                }
            }
        }
        if directories.len().saturating_mul(named.len() + 1) > MAX {
            return Err(format!("it names more than {MAX} files"));
        }
        let below = named
            .iter()
            .flat_map(|path| directories.iter().map(move |directory| directory.join(path)));
        let all = directories.iter().cloned().chain(below);
        Ok(all.map(|path| Act::Path(Action::Read, path)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(path: &str) -> Act {
        Act::Path(Action::Read, path.into())
    }

    #[test]
    fn every_file_that_is_named_counts() {
        let home = Path::new("/home/ada");
        let files = |input: Value| work("Read", Kind::Files("read", Action::Read), &input, Some(home));
        assert_eq!(
            files(json!({"file_path": "/a", "path": "~/b", "limit": 3})),
            Ok(Work::Reaches("read", vec![read("/a"), read("/home/ada/b")]))
        );
        assert_eq!(
            files(json!({"paths": ["@//etc/x"]})),
            Ok(Work::Reaches(
                "read",
                vec![read("@//etc/x"), read("//etc/x"), read("etc/x")]
            ))
        );
        let parts = json!({"file_path": "/a", "edits": [{"file_path": "/b"}, {"uri": "file:///c"}]});
        let found = files(parts).unwrap();
        let all = [read("/b"), read("file:///c"), read("/c"), read("/a")];
        assert_eq!(found, Work::Reaches("read", all.to_vec()));
        for wrong in [
            json!({}),
            json!({"file_path": 3}),
            json!({"file_path": ""}),
            json!({"file_path": "a\0b"}),
            json!({"path": "~root/x"}),
            json!({"paths": [1]}),
            json!("x"),
            json!(null),
        ] {
            assert!(files(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_search_begins_where_its_pattern_leads() {
        let search = |input: Value| work("Glob", Kind::Search("glob_search", &["pattern"]), &input, None);
        assert_eq!(
            search(json!({"pattern": "/etc/ssl/**/*.pem"})),
            Ok(Work::Reaches(
                "glob_search",
                vec![
                    read(""),
                    read("/etc/ssl"),
                    read("/etc/ssl/.pem"),
                    read("/etc/ssl/x.pem")
                ]
            ))
        );
        assert_eq!(
            search(json!({"pattern": "../x/*", "path": "/r/a"})),
            Ok(Work::Reaches(
                "glob_search",
                vec![read("/r/a"), read("/r/a/../x"), read("/r/a/../x/"), read("/r/a/../x/x")]
            ))
        );
    }

    #[test]
    fn a_call_that_names_too_much_is_refused_at_once() {
        let many = |count: u32| (0..count).map(|at| format!("d{at}")).collect::<Vec<_>>();
        let input = json!({ "paths": many(20_000), "include": many(20_000) });
        let read = work("x", Kind::Search("read", &["include"]), &input, None);
        assert!(read.unwrap_err().to_string().contains("more than 1000"));
    }

    #[test]
    fn a_shell_is_the_agents_own() {
        for (field, value) in [("shell", json!("./bash")), ("env", json!({"BASH_ENV": "./x"}))] {
            let input = json!({ "command": "ls", field: value });
            assert!(work("Bash", Kind::Shell("command"), &input, None).is_err(), "{field}");
            let input = json!({ "command": "ls", field: null });
            assert!(work("Bash", Kind::Shell("command"), &input, None).is_ok(), "{field}");
        }
    }

    #[test]
    fn a_line_holds_no_nul() {
        let shell = |input: Value| work("Bash", Kind::Shell("command"), &input, None);
        assert_eq!(
            shell(json!({"command": "a\nb"})),
            Ok(Work::Line("a\nb".into(), "command"))
        );
        for wrong in [
            json!({"command": "a\0b"}),
            json!({"command": ["ls"]}),
            json!({"cmd": "ls"}),
        ] {
            assert!(shell(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
