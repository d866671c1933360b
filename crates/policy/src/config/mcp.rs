//! Servers of the Model Context Protocol as a configuration declares them: `[mcp]`.
//!
//! A user's file may grant. A project's may only narrow: deny paths and tools, and refuse tools that changed.

use toml::de::{DeTable, DeValue};

use super::read::Author;
use crate::profile::reading::{Complaint, Reader, Value, glob, host, profile_name};
use crate::profile::{HostPattern, Origin, visible};
use stockade_text::visible::is_invisible;

const FIELDS: [&str; 3] = ["servers", "on_changed_tools", "on_shadowed_tools"];
const SERVER_FIELDS: [&str; 16] = [
    "profile",
    "read",
    "write",
    "exec",
    "socket",
    "host",
    "listen",
    "env",
    "deny",
    "llm",
    "roots",
    "allow_tools",
    "deny_tools",
    "on_changed_tools",
    "on_shadowed_tools",
    "tools",
];
const TOOL_FIELDS: [&str; 4] = ["read", "write", "host", "listen"];
/// The fields that a project's file may have: none grants.
const NARROWING: [&str; 5] = [
    "deny",
    "allow_tools",
    "deny_tools",
    "on_changed_tools",
    "on_shadowed_tools",
];

/// More servers or tools than this are a mistake.
const MAX: usize = 256;

/// The longest name of a server or tool.
const MAX_NAME: usize = 128;

/// What happens about a tool whose definition has changed, or that shadows another server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnTools {
    /// It is told on standard error.
    Tell,
    /// The tool is left out, and a call of it is refused.
    Refuse,
}

impl OnTools {
    /// As in TOML.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            OnTools::Tell => "\"tell\"",
            OnTools::Refuse => "\"refuse\"",
        }
    }
}

/// What a client's roots open to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roots {
    /// Nothing.
    Nothing,
    /// Reading.
    Read,
    /// Writing, and with that reading.
    Write,
}

/// All of `[mcp]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mcp {
    /// For every server that says nothing else.
    pub on_changed_tools: Option<OnTools>,
    /// For every server that says nothing else.
    pub on_shadowed_tools: Option<OnTools>,
    /// The declared servers.
    pub servers: Vec<McpServer>,
}

/// A server. What isn't set is as without a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// The name.
    pub name: String,
    /// The profile that it runs with.
    pub profile: Option<String>,
    /// Paths, as written: from `/`, `~/` or `./`.
    pub read: Vec<String>,
    /// The same.
    pub write: Vec<String>,
    /// The same.
    pub exec: Vec<String>,
    /// The same.
    pub socket: Vec<String>,
    /// Hosts.
    pub host: Vec<HostPattern>,
    /// Ports.
    pub listen: Vec<u16>,
    /// Variables, by name or with a value.
    pub env: Vec<String>,
    /// Patterns of paths that are closed.
    pub deny: Vec<String>,
    /// Whether it reaches the language models.
    pub llm: bool,
    /// What the client's roots open to it.
    pub roots: Option<Roots>,
    /// The tools that it has; `None` for all.
    pub allow_tools: Option<Vec<String>>,
    /// Tools that it hasn't.
    pub deny_tools: Vec<String>,
    /// For tools that have changed.
    pub on_changed_tools: Option<OnTools>,
    /// For tools that shadow others.
    pub on_shadowed_tools: Option<OnTools>,
    /// Tools with grants of their own.
    pub tools: Vec<McpTool>,
    /// The position of its declaration.
    pub origin: Origin,
}

/// A tool, and what is granted while only calls of such tools run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpTool {
    /// The name.
    pub name: String,
    /// Paths, as for a server.
    pub read: Vec<String>,
    /// The same.
    pub write: Vec<String>,
    /// Hosts.
    pub host: Vec<HostPattern>,
    /// Ports.
    pub listen: Vec<u16>,
}

impl McpServer {
    /// A server of which nothing is said.
    pub fn saying_nothing(name: String, origin: Origin) -> McpServer {
        McpServer {
            name,
            profile: None,
            read: Vec::new(),
            write: Vec::new(),
            exec: Vec::new(),
            socket: Vec::new(),
            host: Vec::new(),
            listen: Vec::new(),
            env: Vec::new(),
            deny: Vec::new(),
            llm: false,
            roots: None,
            allow_tools: None,
            deny_tools: Vec::new(),
            on_changed_tools: None,
            on_shadowed_tools: None,
            tools: Vec::new(),
            origin,
        }
    }

    /// What is said of it: fields with their values, as in TOML.
    #[must_use]
    pub fn fields(&self) -> Vec<(String, String)> {
        let texts = |values: &[String]| {
            let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            format!("[{}]", values.join(", "))
        };
        let hosts = |hosts: &[HostPattern]| texts(&hosts.iter().map(ToString::to_string).collect::<Vec<_>>());
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, is_said: bool, value: String| {
            if is_said {
                fields.push((name.to_owned(), value));
            }
        };
        add(
            "profile",
            self.profile.is_some(),
            format!("{:?}", self.profile.as_deref().unwrap_or_default()),
        );
        for (name, values) in [
            ("read", &self.read),
            ("write", &self.write),
            ("exec", &self.exec),
            ("socket", &self.socket),
            ("env", &self.env),
            ("deny", &self.deny),
            ("deny_tools", &self.deny_tools),
        ] {
            add(name, !values.is_empty(), texts(values));
        }
        let allowed = self.allow_tools.as_deref();
        add("allow_tools", allowed.is_some(), texts(allowed.unwrap_or_default()));
        add("host", !self.host.is_empty(), hosts(&self.host));
        add("listen", !self.listen.is_empty(), format!("{:?}", self.listen));
        add("llm", self.llm, "true".to_owned());
        let roots = match self.roots {
            Some(Roots::Write) => "\"write\"",
            Some(Roots::Read) => "\"read\"",
            Some(Roots::Nothing) | None => "false",
        };
        add("roots", self.roots.is_some(), roots.to_owned());
        for (name, on) in [
            ("on_changed_tools", self.on_changed_tools),
            ("on_shadowed_tools", self.on_shadowed_tools),
        ] {
            add(name, on.is_some(), on.map_or("", OnTools::text).to_owned());
        }
        for tool in &self.tools {
            for (name, values) in [("read", &tool.read), ("write", &tool.write)] {
                add(
                    &format!("tools.{}.{name}", tool.name),
                    !values.is_empty(),
                    texts(values),
                );
            }
            add(
                &format!("tools.{}.host", tool.name),
                !tool.host.is_empty(),
                hosts(&tool.host),
            );
            add(
                &format!("tools.{}.listen", tool.name),
                !tool.listen.is_empty(),
                format!("{:?}", tool.listen),
            );
        }
        fields
    }

    /// This server after a project's file narrowed it.
    #[must_use]
    pub fn narrowed(mut self, by: &McpServer) -> McpServer {
        self.deny.extend(by.deny.iter().cloned());
        self.deny_tools.extend(by.deny_tools.iter().cloned());
        self.allow_tools = match (self.allow_tools, &by.allow_tools) {
            (Some(ours), Some(theirs)) => Some(ours.into_iter().filter(|tool| theirs.contains(tool)).collect()),
            (ours, theirs) => ours.or_else(|| theirs.clone()),
        };
        self.on_changed_tools = self.on_changed_tools.max(by.on_changed_tools);
        self.on_shadowed_tools = self.on_shadowed_tools.max(by.on_shadowed_tools);
        self
    }
}

impl Mcp {
    /// A declared server.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&McpServer> {
        self.servers.iter().find(|server| server.name == name)
    }
}

/// Parses `[mcp]`.
pub(super) fn mcp(reader: &mut Reader<'_>, value: &Value<'_>, author: Author) -> Mcp {
    let mut mcp = Mcp::default();
    let Some(table) = reader.table(value, "[mcp]") else {
        return mcp;
    };
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "on_changed_tools" => mcp.on_changed_tools = on_tools(reader, value, author),
            "on_shadowed_tools" => mcp.on_shadowed_tools = on_tools(reader, value, author),
            "servers" => mcp.servers = servers(reader, value, author),
            _ => reader.unknown_field(key, "[mcp]", &FIELDS),
        }
    }
    mcp
}

fn servers(reader: &mut Reader<'_>, value: &Value<'_>, author: Author) -> Vec<McpServer> {
    let mut servers = Vec::new();
    for (name, at, table) in tables(reader, value, "[mcp.servers.NAME]") {
        let mut server = McpServer::saying_nothing(name, reader.origin(at));
        for (key, value) in table {
            let field = key.get_ref().as_ref();
            if author == Author::Project && SERVER_FIELDS.contains(&field) && !NARROWING.contains(&field) {
                let complaint = Complaint::new(format!("a project can't set `{field}` of a server, which grants"))
                    .hint("it belongs into your own configuration, `~/.config/stockade/config.toml`");
                reader.fault(key.span().start, complaint);
                continue;
            }
            read_field(reader, field, value, author, &mut server)
                .unwrap_or_else(|| reader.unknown_field(key, "a server", &SERVER_FIELDS));
        }
        servers.push(server);
    }
    servers
}

/// Reads one field; `None` if there is none of that name.
fn read_field(
    reader: &mut Reader<'_>,
    field: &str,
    value: &Value<'_>,
    author: Author,
    server: &mut McpServer,
) -> Option<()> {
    match field {
        "profile" => server.profile = reader.parsed(value, profile_name),
        "read" => server.read = list(reader, value, field, path),
        "write" => server.write = list(reader, value, field, path),
        "exec" => server.exec = list(reader, value, field, path),
        "socket" => server.socket = list(reader, value, field, path),
        "host" => server.host = list(reader, value, field, host),
        "listen" => server.listen = ports(reader, value),
        "env" => server.env = list(reader, value, field, variable),
        "deny" => server.deny = list(reader, value, field, pattern),
        "llm" => server.llm = flag(reader, value),
        "roots" => server.roots = roots(reader, value),
        "allow_tools" => server.allow_tools = Some(list(reader, value, field, name)),
        "deny_tools" => server.deny_tools = list(reader, value, field, name),
        "on_changed_tools" => server.on_changed_tools = on_tools(reader, value, author),
        "on_shadowed_tools" => server.on_shadowed_tools = on_tools(reader, value, author),
        "tools" => server.tools = tools(reader, value),
        _ => return None,
    }
    Some(())
}

fn tools(reader: &mut Reader<'_>, value: &Value<'_>) -> Vec<McpTool> {
    let mut tools = Vec::new();
    for (name, _, table) in tables(reader, value, "[mcp.servers.NAME.tools.TOOL]") {
        let mut tool = McpTool {
            name,
            read: Vec::new(),
            write: Vec::new(),
            host: Vec::new(),
            listen: Vec::new(),
        };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "read" => tool.read = list(reader, value, "read", path),
                "write" => tool.write = list(reader, value, "write", path),
                "host" => tool.host = list(reader, value, "host", host),
                "listen" => tool.listen = ports(reader, value),
                _ => reader.unknown_field(key, "a server's tool", &TOOL_FIELDS),
            }
        }
        tools.push(tool);
    }
    tools
}

/// The named tables in a table.
fn tables<'v, 't>(
    reader: &mut Reader<'_>,
    value: &'v Value<'t>,
    header: &str,
) -> Vec<(String, usize, &'v DeTable<'t>)> {
    let Some(table) = reader.table(value, header) else {
        return Vec::new();
    };
    if table.len() > MAX {
        let complaint = Complaint::new(format!(
            "there are {} of `{header}`; at most {MAX} are read",
            table.len()
        ));
        reader.fault(value.span().start, complaint);
        return Vec::new();
    }
    let mut found = Vec::new();
    for (key, value) in table {
        let at = key.span().start;
        match name(key.get_ref()) {
            Ok(name) => found.extend(reader.table(value, header).map(|table| (name, at, table))),
            Err(complaint) => reader.fault(at, complaint),
        }
    }
    found
}

fn list<T>(reader: &mut Reader<'_>, value: &Value<'_>, name: &str, parse: fn(&str) -> Result<T, Complaint>) -> Vec<T> {
    let DeValue::Array(array) = value.get_ref() else {
        reader.wrong_type(value, "an array of strings", None);
        return Vec::new();
    };
    if reader.is_too_long(value, name, array.len()) {
        return Vec::new();
    }
    array.iter().filter_map(|entry| reader.parsed(entry, parse)).collect()
}

fn name(text: &str) -> Result<String, Complaint> {
    let length = text.chars().count();
    if !text.trim().is_empty() && length <= MAX_NAME && !text.chars().any(is_invisible) {
        return Ok(text.to_owned());
    }
    let start: String = text.chars().take(MAX_NAME).collect();
    Err(Complaint::new(format!("`{}` can't be a name", visible(&start)))
        .hint(format!("a name has 1 to {MAX_NAME} visible characters")))
}

fn path(text: &str) -> Result<String, Complaint> {
    let is_path =
        text.starts_with('/') || text.starts_with("~/") || text.starts_with("./") || text == "." || text == "~";
    if is_path && !text.contains('\0') {
        return Ok(text.to_owned());
    }
    Err(Complaint::new(format!("`{}` isn't a path of a server", visible(text)))
        .hint("write it from `/`, `~/` or `./`, which is the run's root"))
}

fn pattern(text: &str) -> Result<String, Complaint> {
    glob(text).map(|_| text.to_owned())
}

fn variable(text: &str) -> Result<String, Complaint> {
    let name = text.split('=').next().unwrap_or_default();
    match !name.is_empty() && !text.contains('\0') {
        true => Ok(text.to_owned()),
        false => {
            Err(Complaint::new(format!("`{}` names no variable", visible(text))).hint("write `NAME` or `NAME=VALUE`"))
        }
    }
}

fn flag(reader: &mut Reader<'_>, value: &Value<'_>) -> bool {
    match value.get_ref() {
        DeValue::Boolean(is_set) => *is_set,
        _ => {
            reader.wrong_type(value, "true or false", None);
            false
        }
    }
}

fn ports(reader: &mut Reader<'_>, value: &Value<'_>) -> Vec<u16> {
    let DeValue::Array(array) = value.get_ref() else {
        reader.wrong_type(value, "an array of ports", None);
        return Vec::new();
    };
    let mut ports = Vec::new();
    for entry in array.iter() {
        let port = match entry.get_ref() {
            DeValue::Integer(number) => number.as_str().parse().ok(),
            _ => None,
        };
        match port {
            Some(port) => ports.push(port),
            None => reader.wrong_type(entry, "a port, 0 to 65535", None),
        }
    }
    ports
}

fn roots(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Roots> {
    match value.get_ref() {
        DeValue::Boolean(true) => Some(Roots::Read),
        DeValue::Boolean(false) => Some(Roots::Nothing),
        _ => reader.parsed(value, |text| match text {
            "read" => Ok(Roots::Read),
            "write" => Ok(Roots::Write),
            _ => Err(Complaint::new("`roots` is `true`, `false`, \"read\" or \"write\"")),
        }),
    }
}

fn on_tools(reader: &mut Reader<'_>, value: &Value<'_>, author: Author) -> Option<OnTools> {
    let on = reader.parsed(value, |text| match text {
        "tell" => Ok(OnTools::Tell),
        "refuse" => Ok(OnTools::Refuse),
        _ => Err(Complaint::new("it is \"tell\" or \"refuse\"")),
    })?;
    if on == OnTools::Tell && author == Author::Project {
        reader.fault(
            value.span().start,
            Complaint::new("a project can only set \"refuse\" here"),
        );
        return None;
    }
    Some(on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use crate::profile::Source;

    fn read(text: &str, author: Author) -> Result<Mcp, String> {
        let source = Source::File("config.toml".into());
        let parsed = parse(&format!("version = 1\n{text}"), &source, author, None);
        let faults = |faults: Vec<crate::profile::DocumentFault>| faults[0].to_string();
        parsed.map(|configuration| configuration.mcp).map_err(faults)
    }

    #[test]
    fn a_server_has_grants_tools_and_grants_of_tools() {
        let text = r#"
            [mcp]
            on_changed_tools = "refuse"
            [mcp.servers."my files"]
            profile = "readonly"
            read = ["~/x", "/y", "./z"]
            host = ["api.example.com"]
            listen = [0, 8080]
            roots = true
            deny_tools = ["rm"]
            [mcp.servers."my files".tools.write_file]
            write = ["./out"]
        "#;
        let mcp = read(text, Author::User).unwrap();
        assert_eq!(mcp.on_changed_tools, Some(OnTools::Refuse));
        let fields: Vec<String> = mcp.servers[0]
            .fields()
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        assert_eq!(
            fields,
            [
                r#"profile = "readonly""#,
                r#"read = ["~/x", "/y", "./z"]"#,
                r#"deny_tools = ["rm"]"#,
                r#"host = ["api.example.com"]"#,
                "listen = [0, 8080]",
                r#"roots = "read""#,
                r#"tools.write_file.write = ["./out"]"#,
            ]
        );
    }

    #[test]
    fn faults_are_told_and_a_project_only_narrows() {
        for (text, author, fault) in [
            (
                "[mcp.servers.a]\nred = []\n",
                Author::User,
                "a server has no field `red`",
            ),
            (
                "[mcp.servers.a]\nread = [\"x\"]\n",
                Author::User,
                "isn't a path of a server",
            ),
            (
                "[mcp.servers.a]\nlisten = [70000]\n",
                Author::User,
                "a port, 0 to 65535",
            ),
            ("[mcp.servers.a]\nroots = \"all\"\n", Author::User, "`roots` is"),
            (
                "[mcp]\non_changed_tools = \"ask\"\n",
                Author::User,
                "it is \"tell\" or \"refuse\"",
            ),
            (
                "[mcp]\non_changed_tools = \"tell\"\n",
                Author::Project,
                "can only set \"refuse\"",
            ),
            (
                "[mcp.servers.a]\nllm = true\n",
                Author::Project,
                "a project can't set `llm`",
            ),
            (
                "[mcp.servers.a.tools.x]\nread = [\"/\"]\n",
                Author::Project,
                "a project can't set `tools`",
            ),
        ] {
            let told = read(text, author).unwrap_err();
            assert!(told.contains(fault), "{text}: {told}");
        }
        let narrowing = "[mcp.servers.a]\ndeny = [\"**/x\"]\nallow_tools = [\"b\"]\non_changed_tools = \"refuse\"\n";
        let theirs = read(narrowing, Author::Project).unwrap();
        let own = read(
            "[mcp.servers.a]\nread = [\"/y\"]\nallow_tools = [\"a\"]\n",
            Author::User,
        )
        .unwrap();
        let joined = own.servers[0].clone().narrowed(&theirs.servers[0]);
        assert_eq!(joined.allow_tools, Some(Vec::new()));
        assert_eq!(
            (joined.read, joined.deny),
            (vec!["/y".to_owned()], vec!["**/x".to_owned()])
        );
        assert_eq!(joined.on_changed_tools, Some(OnTools::Refuse));
    }
}
