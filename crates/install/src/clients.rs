//! Which MCP client keeps its servers in which file, and where in the file.

use std::path::{Path, PathBuf};

use crate::document::Format;

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Anthropic's coding agent.
    ClaudeCode,
    /// Anthropic's desktop program.
    ClaudeDesktop,
    /// OpenAI's coding agent.
    Codex,
    /// GitHub's agent for the command line.
    Copilot,
    /// The editor Cursor.
    Cursor,
    /// Google's coding agent.
    Gemini,
    /// Visual Studio Code, its Insiders build, and VSCodium.
    Vscode,
    /// The editor Zed.
    Zed,
}

/// Whose settings are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user's own, for all projects.
    User,
    /// The project's, which its repository may hold.
    Project,
}

/// The directories that settings lie in.
#[derive(Debug, Clone)]
pub struct Places {
    /// The user's home.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME`.
    pub config: PathBuf,
    /// `$CLAUDE_CONFIG_DIR`, if it is set.
    pub claude: Option<PathBuf>,
    /// `$CODEX_HOME`, if it is set.
    pub codex: Option<PathBuf>,
    /// `$COPILOT_HOME`, if it is set.
    pub copilot: Option<PathBuf>,
    /// The project's root.
    pub root: PathBuf,
}

impl Places {
    pub(crate) fn codex(&self) -> PathBuf {
        self.codex.clone().unwrap_or_else(|| self.home.join(".codex"))
    }

    pub(crate) fn copilot(&self) -> PathBuf {
        self.copilot.clone().unwrap_or_else(|| self.home.join(".copilot"))
    }
}

/// A file that may hold servers, and the keys that lead to their tables; `*` is any key.
#[derive(Debug, Clone)]
pub struct ServerFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it is written in.
    pub format: Format,
    /// Each table of servers.
    pub tables: &'static [&'static [&'static str]],
}

/// The key of most clients.
const USUAL: &[&[&str]] = &[&["mcpServers"]];

/// Before VS Code 1.102 the servers were in the settings.
const IN_SETTINGS: &[&[&str]] = &[&["mcp", "servers"]];

impl Client {
    /// All of them.
    pub const ALL: [Client; 8] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Codex,
        Client::Copilot,
        Client::Cursor,
        Client::Gemini,
        Client::Vscode,
        Client::Zed,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Codex => "codex",
            Client::Copilot => "copilot",
            Client::Cursor => "cursor",
            Client::Gemini => "gemini",
            Client::Vscode => "vscode",
            Client::Zed => "zed",
        }
    }

    /// The files that may hold its servers. Not all of them need to exist.
    pub fn files(self, scope: Scope, places: &Places) -> Vec<ServerFile> {
        match scope {
            Scope::User => self.user_files(places),
            Scope::Project => self.project_files(&places.root),
        }
    }

    fn user_files(self, places: &Places) -> Vec<ServerFile> {
        const CLAUDE: &[&[&str]] = &[&["mcpServers"], &["projects", "*", "mcpServers"]];
        match self {
            Client::ClaudeCode => match &places.claude {
                Some(directory) => vec![json(directory.join(".claude.json"), CLAUDE)],
                None => vec![
                    json(places.home.join(".claude.json"), CLAUDE),
                    json(places.home.join(".claude/.claude.json"), CLAUDE),
                ],
            },
            Client::ClaudeDesktop => vec![json(places.config.join("Claude/claude_desktop_config.json"), USUAL)],
            Client::Codex => vec![codex(places.codex().join("config.toml"))],
            Client::Copilot => vec![json(places.copilot().join("mcp-config.json"), USUAL)],
            Client::Cursor => vec![json(places.home.join(".cursor/mcp.json"), USUAL)],
            Client::Gemini => vec![json(places.home.join(".gemini/settings.json"), USUAL)],
            Client::Vscode => {
                let builds =
                    ["Code", "Code - Insiders", "VSCodium"].map(|build| places.config.join(build).join("User"));
                let remote = places.home.join(".vscode-server/data/User");
                builds
                    .into_iter()
                    .chain([remote])
                    .flat_map(|user| vscode(&user))
                    .collect()
            }
            Client::Zed => vec![zed(places.config.join("zed/settings.json"))],
        }
    }

    fn project_files(self, root: &Path) -> Vec<ServerFile> {
        match self {
            Client::ClaudeCode | Client::Copilot => vec![json(root.join(".mcp.json"), USUAL)],
            Client::ClaudeDesktop => Vec::new(),
            Client::Codex => vec![codex(root.join(".codex/config.toml"))],
            Client::Cursor => vec![json(root.join(".cursor/mcp.json"), USUAL)],
            Client::Gemini => vec![json(root.join(".gemini/settings.json"), USUAL)],
            Client::Vscode => vscode(&root.join(".vscode")).into(),
            Client::Zed => vec![zed(root.join(".zed/settings.json"))],
        }
    }
}

fn json(path: PathBuf, tables: &'static [&'static [&'static str]]) -> ServerFile {
    ServerFile {
        path,
        format: Format::Json,
        tables,
    }
}

fn codex(path: PathBuf) -> ServerFile {
    ServerFile {
        path,
        format: Format::Toml,
        tables: &[&["mcp_servers"]],
    }
}

fn vscode(directory: &Path) -> [ServerFile; 2] {
    [
        json(directory.join("mcp.json"), &[&["servers"]]),
        json(directory.join("settings.json"), IN_SETTINGS),
    ]
}

fn zed(path: PathBuf) -> ServerFile {
    json(path, &[&["context_servers"]])
}
