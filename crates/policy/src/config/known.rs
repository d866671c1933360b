//! The tools that every agent framework has, and the capabilities that they require.

use crate::policy::Capabilities;

/// The shell tool: its input is a command line.
pub const SHELL: &str = "bash";

/// The tool that loads a skill by its name.
pub const SKILL_LOAD: &str = "skill_load";

/// The built-in knowledge of a tool.
struct Known {
    name: &'static str,
    needs: Capabilities,
    /// The group name that may replace it in an agent's list.
    group: Option<&'static str>,
}

const FILES: Option<&str> = Some("filesystem");

const KNOWN: &[Known] = &[
    known("read", Capabilities::READ, FILES),
    known("grep", Capabilities::READ, FILES),
    known("glob", Capabilities::READ, FILES),
    known("glob_search", Capabilities::READ, FILES),
    known("list", Capabilities::READ, FILES),
    known("write", Capabilities::WRITE, FILES),
    known("edit", Capabilities::WRITE, FILES),
    known("multi_edit", Capabilities::WRITE, FILES),
    known("mkdir", Capabilities::WRITE, FILES),
    known("remove", Capabilities::DELETE, FILES),
    known("delete", Capabilities::DELETE, FILES),
    known("move", Capabilities::FILE_ALL, FILES),
    known(SHELL, Capabilities::EXECUTE.union(Capabilities::SPAWN), Some("shell")),
    known(SKILL_LOAD, Capabilities::empty(), None),
    known("task", Capabilities::SPAWN, None),
    known("agent", Capabilities::SPAWN, None),
    known("llm", Capabilities::LLM, None),
    known("web_fetch", Capabilities::NET, None),
    known("web_search", Capabilities::NET, None),
    known("todo_read", Capabilities::empty(), None),
    known("todo_write", Capabilities::empty(), None),
    known("tool_output_cache", Capabilities::empty(), None),
    known("tool_output_cache_grep", Capabilities::empty(), None),
    known("done", Capabilities::empty(), None),
];

const fn known(name: &'static str, needs: Capabilities, group: Option<&'static str>) -> Known {
    Known { name, needs, group }
}

fn find(tool: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == tool)
}

/// The capabilities that a tool requires; `None` if it isn't known.
pub fn needs(tool: &str) -> Option<Capabilities> {
    find(tool).map(|known| known.needs)
}

/// The correct names, in words, if a name is a group or a tool's name in another case.
pub fn meant(tool: &str) -> Option<String> {
    let members: Vec<_> = KNOWN.iter().filter(|known| known.group == Some(tool)).collect();
    if !members.is_empty() {
        let names: Vec<String> = members.iter().map(|known| format!("`{}`", known.name)).collect();
        return Some(names.join(", "));
    }
    let like = KNOWN
        .iter()
        .find(|known| known.name != tool && known.name.eq_ignore_ascii_case(tool))?;
    Some(format!("`{}`", like.name))
}

/// The known tool that a name spells, by its letters alone: `Bash`, `WebFetch`, `multi_edit`.
pub fn spelt(name: &str) -> Option<&'static str> {
    let letters = |name: &str| name.replace('_', "").to_ascii_lowercase();
    let wanted = letters(name);
    let found = KNOWN.iter().find(|known| letters(known.name) == wanted);
    found.map(|known| known.name)
}

/// The known tool whose name this is in another case, as an agent's `Bash` is `bash`; else the name itself.
pub fn recased(name: &str) -> &str {
    let known = KNOWN.iter().map(|known| known.name);
    known
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
        .unwrap_or(name)
}

/// The names of all known tools.
pub fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|known| known.name)
}

/// Whether an entry of an agent's list covers this tool: by its name, or by the group that it is in.
pub fn declares(entry: &str, tool: &str) -> bool {
    entry == tool || find(tool).is_some_and(|known| known.group == Some(entry))
}
