//! Which hooks each coding agent calls, and what is registered for them where.
//!
//! An agent takes most failures of a hook as "go on". So the command of each hook that decides fails with the code that the
//! agent takes as "block", whatever happens: also where the shell can't start Stockade.

use std::path::PathBuf;

use crate::clients::{Places, Scope};
use crate::piece::Piece;

/// A coding agent with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// GitHub Copilot, the program and the cloud agent.
    Copilot,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
}

/// How an agent's file writes a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// In groups, each with a matcher: Claude Code, Codex, Gemini.
    Grouped {
        /// Units in a second of its time-outs.
        per_second: u64,
        /// Whether a hook has a name.
        has_name: bool,
    },
    /// One by one: Cursor.
    Cursor,
    /// One by one, each with a type: Copilot.
    Copilot,
}

/// How long an agent waits for Stockade, which takes less by itself: an agent goes on when the time is over.
const SECONDS: u64 = 60;

/// An event of an agent.
#[derive(Debug, Clone, Copy)]
struct Event {
    name: &'static str,
    /// The tools, as the agent matches them; `None` leaves the matcher out.
    matcher: Option<&'static str>,
    /// Whether the hook decides about the call, in place of telling about its result.
    decides: bool,
    /// Flags of this event alone.
    flags: &'static str,
}

const fn before(name: &'static str, matcher: Option<&'static str>) -> Event {
    Event {
        name,
        matcher,
        decides: true,
        flags: "",
    }
}

const fn after(name: &'static str, matcher: Option<&'static str>) -> Event {
    Event {
        name,
        matcher,
        decides: false,
        flags: "",
    }
}

/// A failed command is another event than one that succeeded. Source: code.claude.com/docs/en/hooks
const CLAUDE_CODE: &[Event] = &[
    before("PreToolUse", Some("*")),
    after("PostToolUse", Some("Bash")),
    after("PostToolUseFailure", Some("Bash")),
];

/// Source: developers.openai.com/codex/hooks
const CODEX: &[Event] = &[before("PreToolUse", Some("*")), after("PostToolUse", Some("Bash"))];

/// Source: docs.github.com/en/copilot/reference/hooks-reference
const COPILOT: &[Event] = &[
    before("preToolUse", None),
    after("postToolUse", Some("bash")),
    after("postToolUseFailure", None),
];

/// Only `preToolUse` can rewrite a command, and only `beforeShellExecution` can ask a person. Source: cursor.com/docs/hooks
const CURSOR: &[Event] = &[
    Event {
        flags: " --confined allow",
        ..before("preToolUse", None)
    },
    before("beforeShellExecution", None),
    before("beforeMCPExecution", None),
    before("beforeReadFile", None),
    after("postToolUse", Some("Shell")),
];

/// Source: geminicli.com/docs/hooks/reference
const GEMINI: &[Event] = &[
    before("BeforeTool", Some(".*")),
    after("AfterTool", Some("run_shell_command")),
];

/// A hook to register.
#[derive(Debug, Clone)]
pub struct Registration {
    /// The event.
    pub event: &'static str,
    /// The command.
    pub command: String,
    /// The entry in the list of the event.
    pub entry: Piece,
}

impl Agent {
    /// All of them.
    pub const ALL: [Agent; 5] = [
        Agent::ClaudeCode,
        Agent::Codex,
        Agent::Copilot,
        Agent::Cursor,
        Agent::Gemini,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
            Agent::Copilot => "copilot",
            Agent::Cursor => "cursor",
            Agent::Gemini => "gemini",
        }
    }

    /// The file of its hooks. For a project, the one that others of the project don't share, where there is such a file.
    pub fn file(self, scope: Scope, places: &Places) -> PathBuf {
        let root = &places.root;
        match (self, scope) {
            (Agent::ClaudeCode, Scope::User) => {
                let directory = places.claude.clone().unwrap_or_else(|| places.home.join(".claude"));
                directory.join("settings.json")
            }
            (Agent::ClaudeCode, Scope::Project) => root.join(".claude/settings.local.json"),
            (Agent::Codex, Scope::User) => places.codex().join("hooks.json"),
            (Agent::Codex, Scope::Project) => root.join(".codex/hooks.json"),
            (Agent::Copilot, Scope::User) => places.copilot().join("hooks/stockade.json"),
            (Agent::Copilot, Scope::Project) => root.join(".github/hooks/stockade.json"),
            (Agent::Cursor, Scope::User) => places.home.join(".cursor/hooks.json"),
            (Agent::Cursor, Scope::Project) => root.join(".cursor/hooks.json"),
            (Agent::Gemini, Scope::User) => places.home.join(".gemini/settings.json"),
            (Agent::Gemini, Scope::Project) => root.join(".gemini/settings.json"),
        }
    }

    /// Whether its file begins with a version.
    pub fn has_version(self) -> bool {
        matches!(self, Agent::Copilot | Agent::Cursor)
    }

    /// What its user has to know or to do beside.
    pub fn remark(self) -> Option<&'static str> {
        match self {
            Agent::Codex => Some(
                "Codex runs new hooks once you have trusted them: `/hooks` in Codex.\n  \
                 Its hooks can't ask you: what no rule allows is denied,\n  \
                 unless `--confined allow` lets it run confined",
            ),
            Agent::Gemini => Some(
                "hooks of Gemini CLI can't ask you: what no rule allows is denied,\n  \
                 unless `--confined allow` lets it run confined",
            ),
            Agent::Copilot => Some("the cloud agent reads the project's hooks alone, and takes\n  a question as a no"),
            Agent::ClaudeCode | Agent::Cursor => None,
        }
    }

    /// Keys of its settings that switch hooks off, with the value that does; a list does if it isn't empty.
    pub(crate) fn switches(self) -> &'static [(&'static [&'static str], &'static str)] {
        match self {
            Agent::ClaudeCode | Agent::Copilot => &[(&["disableAllHooks"], "true")],
            Agent::Gemini => &[
                (&["hooksConfig", "enabled"], "false"),
                (&["hooksConfig", "disabled"], "[…]"),
                (&["hooks", "enabled"], "false"),
                (&["hooks", "disabled"], "[…]"),
                (&["tools", "enableHooks"], "false"),
            ],
            Agent::Codex => &[(&["features", "hooks"], "false")],
            Agent::Cursor => &[],
        }
    }

    fn events(self) -> &'static [Event] {
        match self {
            Agent::ClaudeCode => CLAUDE_CODE,
            Agent::Codex => CODEX,
            Agent::Copilot => COPILOT,
            Agent::Cursor => CURSOR,
            Agent::Gemini => GEMINI,
        }
    }

    fn shape(self) -> Shape {
        let grouped = |per_second, has_name| Shape::Grouped { per_second, has_name };
        match self {
            Agent::ClaudeCode | Agent::Codex => grouped(1, false),
            Agent::Gemini => grouped(1000, true),
            Agent::Cursor => Shape::Cursor,
            Agent::Copilot => Shape::Copilot,
        }
    }

    /// The hooks to register. `line` starts Stockade's hook, with all flags, as a shell reads it.
    pub fn registrations(self, line: &str) -> Vec<Registration> {
        self.events()
            .iter()
            .map(|event| self.registration(event, line))
            .collect()
    }

    fn registration(self, event: &Event, line: &str) -> Registration {
        // The line's own choice counts more.
        let flags = match line.contains(" --confined ") {
            true => "",
            false => event.flags,
        };
        let line = format!("{line}{flags}");
        let command = match event.decides {
            true => format!("{line} || {{ echo 'stockade hook failed: the call is blocked' >&2; exit 2; }}"),
            false => line,
        };
        Registration {
            event: event.name,
            entry: self.entry(event, &command),
            command,
        }
    }

    fn entry(self, event: &Event, command: &str) -> Piece {
        let text = |text: &str| Piece::Text(text.to_string());
        let matcher = event.matcher.map(|matcher| ("matcher", text(matcher)));
        match self.shape() {
            Shape::Grouped { per_second, has_name } => {
                let mut hook = vec![("type", text("command"))];
                hook.extend(has_name.then(|| ("name", text("stockade"))));
                hook.push(("command", text(command)));
                hook.push(("timeout", Piece::Number(SECONDS * per_second)));
                let hooks = ("hooks", Piece::List(vec![Piece::Table(hook)]));
                Piece::Table(matcher.into_iter().chain([hooks]).collect())
            }
            Shape::Cursor => {
                let mut hook = vec![("command", text(command))];
                hook.extend(matcher);
                hook.extend(event.decides.then_some(("failClosed", Piece::Yes)));
                hook.push(("timeout", Piece::Number(SECONDS)));
                Piece::Table(hook)
            }
            Shape::Copilot => {
                let mut hook = vec![("type", text("command"))];
                hook.extend(matcher);
                hook.push(("bash", text(command)));
                hook.push(("timeoutSec", Piece::Number(SECONDS)));
                Piece::Table(hook)
            }
        }
    }
}
