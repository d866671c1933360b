//! Parses one configuration: TOML text into values, each with its position.
//!
//! Looks at the text alone. A project's file may set less than a user's: see [`Author`].

use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::rule::IsMatch;
use super::{Agent, Configuration, OnViolation, Secrets, Section, Tool, mcp, rules};
use crate::policy::{Capabilities, Mode, PARENTS_OF_HOMES, scope_glob};
use crate::profile::reading::{Complaint, Reader, Value, host, profile_name, read_with};
use crate::profile::{DocumentFault, Glob, Origin, Rule, Source, visible};
use stockade_text::visible::is_invisible;

const FIELDS: [&str; 9] = [
    "version",
    "on_violation",
    "secrets",
    "shell",
    "run",
    "permissions",
    "agents",
    "tools",
    "mcp",
];
const SHELL_FIELDS: [&str; 2] = ["profile", "agent"];
const RUN_FIELDS: [&str; 1] = ["profile"];
const SECRETS_FIELDS: [&str; 2] = ["open", "closed"];
const AGENT_FIELDS: [&str; 7] = ["mode", "profile", "capabilities", "tools", "hosts", "scope", "limits"];
const SCOPE_FIELDS: [&str; 3] = ["allowed", "denied", "read_only"];
const TOOL_FIELDS: [&str; 3] = ["profile", "commands", "capabilities"];

/// More agents or tools than this in one file are a mistake or an attack.
const MAX: usize = 256;

/// The longest name, which has to fit in a line.
const MAX_NAME: usize = 100;

/// The author of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The user, who may set everything.
    User,
    /// The project's author, who may not name a program that runs outside a sandbox, nor switch checks off.
    Project,
}

/// Parses a configuration. On failure returns every fault, in the order of the text.
///
/// # Errors
/// The faults.
pub fn parse(
    text: &str,
    source: &Source,
    author: Author,
    is_match: Option<IsMatch>,
) -> Result<Configuration, Vec<DocumentFault>> {
    read_with(text, source, "configuration", |reader, root| {
        let mut configuration = Configuration::default();
        if !root.contains_key("version") {
            let complaint = Complaint::new("`version` is missing").hint("a configuration begins with `version = 1`");
            reader.fault(0, complaint);
        }
        for (key, value) in root {
            match key.get_ref().as_ref() {
                "version" => {}
                "on_violation" => on_violation(reader, value, author, &mut configuration),
                "secrets" => secrets(reader, value, author, &mut configuration.secrets),
                "shell" => shell(reader, key.span().start, value, author, &mut configuration),
                "run" => run(reader, value, &mut configuration),
                "permissions" => configuration.permissions = rules::permissions(reader, value, is_match),
                "agents" => agents(reader, value, author, &mut configuration),
                "tools" => tools(reader, value, &mut configuration),
                "mcp" => configuration.mcp = mcp::mcp(reader, value, author),
                _ => reader.unknown_field(key, "the configuration", &FIELDS),
            }
        }
        configuration
    })
}

fn on_violation(reader: &mut Reader<'_>, value: &Value<'_>, author: Author, configuration: &mut Configuration) {
    if author == Author::Project {
        let complaint = Complaint::new("a project can't set `on_violation`, which runs outside any sandbox")
            .hint("it belongs into your own configuration, `~/.config/stockade/config.toml`");
        return reader.fault(value.span().start, complaint);
    }
    configuration.on_violation = command(reader, value);
    let place = (Section::OnViolation, String::new(), "on_violation");
    configuration.places.insert(place, reader.origin(value.span().start));
}

fn shell(reader: &mut Reader<'_>, at: usize, value: &Value<'_>, author: Author, configuration: &mut Configuration) {
    if author == Author::Project {
        let complaint = Complaint::new("a project can't set `[shell]`, by which an agent's shell is confined")
            .hint("it belongs into your own configuration, `~/.config/stockade/config.toml`");
        return reader.fault(at, complaint);
    }
    let Some(table) = reader.table(value, "[shell]") else {
        return;
    };
    for (key, value) in table {
        let field = key.get_ref().as_ref();
        match field {
            "profile" => configuration.shell.profile = reader.parsed(value, profile_name),
            "agent" => configuration.shell.agent = reader.parsed(value, name),
            _ => reader.unknown_field(key, "[shell]", &SHELL_FIELDS),
        }
        if let Some(field) = SHELL_FIELDS.into_iter().find(|known| *known == field) {
            let place = (Section::Shell, String::new(), field);
            configuration.places.insert(place, reader.origin(value.span().start));
        }
    }
}

fn run(reader: &mut Reader<'_>, value: &Value<'_>, configuration: &mut Configuration) {
    for (key, value) in reader.table(value, "[run]").into_iter().flatten() {
        if key.get_ref() != "profile" {
            reader.unknown_field(key, "[run]", &RUN_FIELDS);
            continue;
        }
        configuration.run_profile = reader.parsed(value, profile_name);
        let place = (Section::Run, String::new(), "profile");
        configuration.places.insert(place, reader.origin(value.span().start));
    }
}

fn secrets(reader: &mut Reader<'_>, value: &Value<'_>, author: Author, secrets: &mut Secrets) {
    let Some(table) = reader.table(value, "[secrets]") else {
        return;
    };
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "open" if author == Author::Project => {
                let complaint = Complaint::new("a project can't open secrets")
                    .hint("only you can, in your own configuration, `~/.config/stockade/config.toml`");
                reader.fault(key.span().start, complaint);
            }
            // A run without an agent doesn't read the project's file.
            "closed" if author == Author::Project => {
                let complaint = Complaint::new("a project can't add to the secrets")
                    .hint("it closes files to an agent by `[agents.NAME.scope] denied`; you can close them in your own configuration");
                reader.fault(key.span().start, complaint);
            }
            "open" => secrets.open = ruled(reader, value, "open", opened),
            "closed" => secrets.closed = ruled(reader, value, "closed", pattern),
            _ => reader.unknown_field(key, "[secrets]", &SECRETS_FIELDS),
        }
    }
}

/// Parses a pattern as in a profile.
fn pattern(text: &str) -> Result<Glob, Complaint> {
    crate::profile::reading::glob(text)
}

/// Parses one file or directory, below a home or absolute, and never all of either.
fn opened(text: &str) -> Result<PathBuf, Complaint> {
    let rest = text.strip_prefix("~/").or_else(|| text.strip_prefix('/'));
    let is_plain = |rest: &&str| {
        !rest
            .split('/')
            .any(|part| part.is_empty() || part == "." || part == "..")
    };
    let fits =
        |rest: &str| !rest.is_empty() && rest.trim_end_matches('/').len() > 1 && !rest.contains(['*', '?', '\0']);
    // `/home`, `/root` and `/home/ada` hold all secrets of a home.
    let holds_home = |above: &Path| {
        let mut parents = PARENTS_OF_HOMES.iter().map(Path::new);
        above == Path::new("/") || parents.any(|parent| above == parent)
    };
    let rest = rest.filter(|_| !Path::new(text).parent().is_some_and(holds_home));
    match rest
        .filter(|rest| fits(rest))
        .map(|rest| rest.trim_end_matches('/'))
        .filter(is_plain)
    {
        Some(_) => Ok(PathBuf::from(text.trim_end_matches('/'))),
        None => Err(
            Complaint::new(format!("`{}` isn't one path that can be opened", visible(text)))
                .hint("write the path of a file or directory, from `/` or `~/`, without wildcards"),
        ),
    }
}

/// Parses a list of words, or one text for a shell.
fn command(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<OnViolation> {
    let words = match value.get_ref() {
        DeValue::Array(_) => {
            let words = reader.all_parsed(value, word);
            words.into_iter().map(|(word, _)| word).collect()
        }
        _ => vec!["/bin/sh".to_string(), "-c".to_string(), reader.parsed(value, word)?],
    };
    let mut words = words.into_iter();
    let Some(program) = words.next().filter(|program| !program.is_empty()) else {
        let complaint = Complaint::new("`on_violation` names no program")
            .hint("write a list of words, or one text that `/bin/sh` runs");
        reader.fault(value.span().start, complaint);
        return None;
    };
    Some(OnViolation {
        program,
        arguments: words.collect(),
    })
}

fn word(text: &str) -> Result<String, Complaint> {
    if text.contains('\0') {
        return Err(Complaint::new("a word of a command can't hold NUL"));
    }
    Ok(text.to_string())
}

/// The named tables of `[agents]` or `[tools]`.
fn named<'v, 't>(
    reader: &mut Reader<'_>,
    value: &'v Value<'t>,
    kind: &'static str,
    parse: fn(&str) -> Result<String, Complaint>,
) -> Vec<(String, usize, &'v DeTable<'t>)> {
    let Some(table) = reader.table(value, &format!("[{kind}.NAME]")) else {
        return Vec::new();
    };
    if table.len() > MAX {
        let complaint = Complaint::new(format!("there are {} {kind}; at most {MAX} are read", table.len()));
        reader.fault(value.span().start, complaint);
        return Vec::new();
    }
    let mut found = Vec::new();
    for (key, value) in table {
        let at = key.span().start;
        match parse(key.get_ref()) {
            Ok(name) => {
                let header = format!("[{kind}.{name}]");
                found.extend(reader.table(value, &header).map(|table| (name, at, table)));
            }
            Err(complaint) => reader.fault(at, complaint),
        }
    }
    found
}

/// Parses a name that can be shown in a line.
fn name(text: &str) -> Result<String, Complaint> {
    let is_name = !text.trim().is_empty() && text.chars().count() <= MAX_NAME && !text.chars().any(is_invisible);
    if is_name {
        return Ok(text.to_owned());
    }
    let start: String = text.chars().take(MAX_NAME).collect();
    Err(
        Complaint::new(format!("`{}` can't be a name", visible(&start))).hint(format!(
            "a name has 1 to {MAX_NAME} characters, none of them a control or invisible character"
        )),
    )
}

fn agents(reader: &mut Reader<'_>, value: &Value<'_>, author: Author, configuration: &mut Configuration) {
    for (name, at, table) in named(reader, value, "agents", name) {
        let mut agent = Agent::saying_nothing(name, reader.origin(at));
        for (key, value) in table {
            let field = key.get_ref().as_ref();
            match field {
                "mode" => agent.mode = mode(reader, value, author),
                "profile" => agent.profile = reader.parsed(value, profile_name),
                "capabilities" => agent.capabilities = Some(capabilities(reader, value)),
                "tools" => agent.tools = Some(texts(reader, value, "tools", rules::tool_name)),
                "hosts" => agent.hosts = Some(ruled(reader, value, "hosts", host)),
                "scope" => scope(reader, value, &mut agent, configuration),
                "limits" => agent.limits = reader.limits(value),
                _ => reader.unknown_field(key, "an agent", &AGENT_FIELDS),
            }
            let known = AGENT_FIELDS.into_iter().find(|known| *known == field);
            let place = known.map(|field| (Section::Agents, agent.name.clone(), field));
            configuration
                .places
                .extend(place.map(|place| (place, reader.origin(value.span().start))));
        }
        configuration.agents.push(agent);
    }
}

fn tools(reader: &mut Reader<'_>, value: &Value<'_>, configuration: &mut Configuration) {
    for (name, at, table) in named(reader, value, "tools", rules::single_tool) {
        let mut tool = Tool::saying_nothing(name, reader.origin(at));
        for (key, value) in table {
            let field = key.get_ref().as_ref();
            match field {
                "profile" => tool.profile = reader.parsed(value, profile_name),
                "commands" => tool.commands = Some(texts(reader, value, "commands", rules::command)),
                "capabilities" => tool.capabilities = Some(capabilities(reader, value)),
                _ => reader.unknown_field(key, "a tool", &TOOL_FIELDS),
            }
            let known = TOOL_FIELDS.into_iter().find(|known| *known == field);
            let place = known.map(|field| (Section::Tools, tool.name.clone(), field));
            configuration
                .places
                .extend(place.map(|place| (place, reader.origin(value.span().start))));
        }
        configuration.tools.push(tool);
    }
}

fn mode(reader: &mut Reader<'_>, value: &Value<'_>, author: Author) -> Option<Mode> {
    let mode = reader.parsed(value, |text| text.parse::<Mode>().map_err(Complaint::new))?;
    if mode == Mode::Bypass && author == Author::Project {
        let complaint = Complaint::new("a project can't set the mode `bypass`, trusted or not")
            .hint("write `manual` or `accept-edits`; who wants `bypass` says so on the command line or in the user's configuration");
        reader.fault(value.span().start, complaint);
        return None;
    }
    Some(mode)
}

/// Parses a list of capabilities. An empty list is valid, and removes all of them.
fn capabilities(reader: &mut Reader<'_>, value: &Value<'_>) -> Capabilities {
    let each = reader.all_parsed(value, |text| {
        text.parse::<Capabilities>()
            .map_err(|error| Complaint::new(error.to_string()))
    });
    each.into_iter().map(|(capability, _)| capability).collect()
}

fn scope(reader: &mut Reader<'_>, value: &Value<'_>, agent: &mut Agent, configuration: &mut Configuration) {
    let header = format!("[agents.{}.scope]", agent.name);
    let Some(table) = reader.table(value, &header) else {
        return;
    };
    let scope = &mut agent.scope;
    for (key, value) in table {
        let field = match key.get_ref().as_ref() {
            "allowed" => {
                scope.allowed.push(ruled(reader, value, "allowed", glob));
                "scope.allowed"
            }
            "denied" => {
                scope.denied = ruled(reader, value, "denied", glob);
                "scope.denied"
            }
            "read_only" | "readOnly" => {
                scope.read_only.extend(ruled(reader, value, "read_only", glob));
                "scope.read_only"
            }
            _ => {
                reader.unknown_field(key, "`scope`", &SCOPE_FIELDS);
                continue;
            }
        };
        let place = (Section::Agents, agent.name.clone(), field);
        configuration.places.insert(place, reader.origin(value.span().start));
    }
}

fn glob(text: &str) -> Result<Glob, Complaint> {
    scope_glob(text).map_err(Complaint::new)
}

fn texts(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    list: &str,
    parse: fn(&str) -> Result<String, Complaint>,
) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for (text, _) in bounded(reader, value, list, parse) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

fn ruled<T>(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    list: &str,
    parse: fn(&str) -> Result<T, Complaint>,
) -> Vec<Rule<T>> {
    let rules = bounded(reader, value, list, parse).into_iter();
    let rules = rules.map(|(value, origin)| Rule {
        value,
        why: None,
        origin,
    });
    rules.collect()
}

/// Parses the values of a list of texts, each with its position.
fn bounded<T>(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    list: &str,
    parse: fn(&str) -> Result<T, Complaint>,
) -> Vec<(T, Origin)> {
    let DeValue::Array(array) = value.get_ref() else {
        reader.wrong_type(value, "an array of strings", None);
        return Vec::new();
    };
    if reader.is_too_long(value, list, array.len()) {
        return Vec::new();
    }
    let mut values = Vec::with_capacity(array.len());
    for entry in array.iter() {
        let parsed = reader.parsed(entry, parse);
        values.extend(parsed.map(|value| (value, reader.origin(entry.span().start))));
    }
    values
}
