//! The tools as clients see them: names, descriptions, schemas of arguments and results, hints.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::settings::Settings;

/// The names of the tools.
pub const RUN_COMMAND: &str = "run_command";
/// Runs a script.
pub const RUN_SCRIPT: &str = "run_script";
/// Reads a script.
pub const INFER: &str = "infer_permissions";
/// Decides about a call beforehand.
pub const CHECK: &str = "check";
/// Explains a run's refusals.
pub const EXPLAIN: &str = "explain_denial";

/// All tools.
pub fn all(settings: &Settings) -> Vec<Tool> {
    vec![run_command(settings), run_script(settings), infer(), check(), explain()]
}

fn tool(
    name: &'static str,
    title: &str,
    description: String,
    input: Value,
    output: Value,
    hints: ToolAnnotations,
) -> Tool {
    Tool::new(name, description, Arc::new(object(input)))
        .with_title(title)
        .with_raw_output_schema(Arc::new(object(output)))
        .with_annotations(hints.with_titled(title))
}

trait Titled {
    fn with_titled(self, title: &str) -> Self;
}

impl Titled for ToolAnnotations {
    fn with_titled(mut self, title: &str) -> Self {
        self.title = Some(title.to_string());
        self
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn run_command(settings: &Settings) -> Tool {
    let mut properties = object(json!({
        "command": { "type": "string", "description": "A line for `/bin/sh -c`. Either this or `argv`." },
        "argv": {
            "type": "array", "minItems": 1, "items": { "type": "string" },
            "description": "The program and its arguments, without a shell. Either this or `command`."
        },
        "cwd": {
            "type": "string",
            "description": "Directory that the command starts in, within the root and relative to it. Default: the root."
        },
    }));
    properties.extend(common(settings));
    let description = format!(
        "Runs a command inside a permission profile that the Linux kernel enforces, in `{}`. What the profile doesn't grant is \
         refused with an ordinary error inside the program; a run that fails for that reason is an error here that begins with \
         `Permission denied:` and names the least grant.",
        settings.root.display()
    );
    let input = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let hints = ToolAnnotations::new()
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(true);
    tool(RUN_COMMAND, "Run a command", description, input, run_result(), hints)
}

fn run_script(settings: &Settings) -> Tool {
    let mut properties = object(json!({
        "language": language(),
        "code": { "type": "string", "description": "The script's text, at most 1 MiB." },
        "arguments": { "type": "array", "items": { "type": "string" }, "description": "The script's arguments." },
    }));
    properties.extend(common(settings));
    let description = format!(
        "Runs a script inside the least permission profile that its text needs, as far as `{}` includes it, in `{}`. Without \
         `profile` Stockade infers it from the text; where that isn't clear, it has the profile of `run_command`. Refusals are \
         told as by `run_command`.",
        settings.profiles.ceiling(),
        settings.root.display()
    );
    let input = json!({
        "type": "object", "properties": properties, "required": ["language", "code"], "additionalProperties": false
    });
    let hints = ToolAnnotations::new()
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(true);
    tool(RUN_SCRIPT, "Run a script", description, input, run_result(), hints)
}

fn language() -> Value {
    json!({ "type": "string", "enum": ["python", "javascript", "typescript", "shell"], "description": "The script's language." })
}

/// The arguments that all runs have.
fn common(settings: &Settings) -> Map<String, Value> {
    let offered = settings.profiles.offered();
    let names: Vec<&str> = offered.iter().map(|profile| profile.name.as_str()).collect();
    let meanings: Vec<String> = offered
        .iter()
        .map(|profile| format!("`{}`: {}", profile.name, profile.description))
        .collect();
    let paths =
        |what: &str| json!({ "type": "array", "maxItems": 64, "items": { "type": "string" }, "description": what });
    object(json!({
        "stdin": { "type": "string", "description": "Standard input; without it, none." },
        "profile": {
            "type": "string", "enum": names,
            "description": format!(
                "Permission profile; the user set the widest. {}. `run_command` takes `{}` where none is named.",
                meanings.join("; "), settings.profiles.default().name
            )
        },
        "env": {
            "type": "object", "additionalProperties": { "type": "string" },
            "description": "Variables to set. `PATH` and those that decide what programs load can't be set."
        },
        "grants": {
            "type": "object", "additionalProperties": false,
            "description": "What the run will need beyond its profile. It is asked of a person when the run uses it, and never given \
                            without a yes.",
            "properties": {
                "read": paths("Paths to read."),
                "write": paths("Paths to write."),
                "host": paths("Hosts to connect to: `api.example.com`, `api.example.com:8443`.")
            }
        },
        "time_limit_seconds": {
            "type": "integer", "minimum": 1, "maximum": settings.time_limit.as_secs().max(1),
            "description": "Ends the run after this time."
        },
    }))
}

/// A type that may be null: by two schemas, since some clients read no list of types.
fn or_null(kind: &str) -> Value {
    schema_or_null(json!({ "type": kind }))
}

fn schema_or_null(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn run_result() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": [
            "run", "status", "exit_code", "signal", "limit", "profile", "duration_ms", "stdout", "stderr", "stdout_bytes",
            "stderr_bytes", "stdout_left_out", "stderr_left_out", "reason", "denials", "suggestion", "report", "notes"
        ],
        "properties": {
            "run": or_null("string"),
            "status": { "type": "string", "enum": [
                "completed", "permission_denied", "time_limit", "resource_limit", "signalled", "not_started", "refused"
            ] },
            "exit_code": or_null("integer"),
            "signal": or_null("string"),
            "limit": or_null("string"),
            "profile": { "type": "string" },
            "duration_ms": or_null("integer"),
            "stdout": { "type": "string", "description": "Head and tail, with a line in place of what was left out. Characters that show nothing are escaped." },
            "stderr": { "type": "string" },
            "stdout_bytes": { "type": "integer" },
            "stderr_bytes": { "type": "integer" },
            "stdout_left_out": { "type": "integer" },
            "stderr_left_out": { "type": "integer" },
            "reason": or_null("string"),
            "denials": { "type": "array", "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["access", "target", "reason", "explains", "count", "grant", "program"],
                "properties": {
                    "access": { "type": "string" },
                    "target": { "type": "string" },
                    "reason": { "type": "string" },
                    "explains": { "enum": ["yes", "perhaps", "no"], "description": "Whether it explains the failure." },
                    "count": { "type": "integer" },
                    "grant": {
                        "description": "The least flag of `stockade run` that would allow it.",
                        "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "null" }]
                    },
                    "program": { "type": "string" }
                }
            } },
            "suggestion": suggestion(),
            "report": or_null("string"),
            "notes": { "type": "array", "items": { "type": "string" } }
        }
    })
}

fn suggestion() -> Value {
    let flags = json!({ "type": "array", "items": { "type": "string" } });
    let candidate = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["access", "target", "flags", "profile"],
        "properties": {
            "access": { "type": "string" },
            "target": { "type": "string" },
            "flags": flags,
            "profile": or_null("string")
        }
    });
    schema_or_null(json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["flags", "profile", "candidates"],
        "properties": {
            "flags": flags,
            "profile": or_null("string"),
            "candidates": {
                "description": "Where no refusal is certain to be the reason: those that may be, each with its own grant.",
                "type": "array",
                "items": candidate
            }
        }
    }))
}

fn infer() -> Tool {
    let input = json!({
        "type": "object", "additionalProperties": false, "required": ["language", "code"],
        "properties": { "language": language(), "code": { "type": "string", "description": "The script's text, at most 1 MiB." } }
    });
    let output = json!({
        "type": "object",
        "required": ["profile", "confidence"],
        "properties": {
            "profile": { "type": "string", "description": "The lowest shipped profile that includes all that the text seems to do." },
            "confidence": { "type": "number" },
            "least_grants": { "type": "object" },
            "evidence": { "type": "array" }
        }
    });
    let hints = ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    let description =
        "Reads a script, runs nothing, and answers the least permission profile and grants that it needs, with the \
                       places in its text that show it."
            .to_string();
    tool(INFER, "Infer a script's permissions", description, input, output, hints)
}

fn check() -> Tool {
    let input = json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "tool": { "type": "string", "description": "A tool of an agent: `bash`, `read`, `skill_load` …. Default with `command`: `bash`." },
            "command": { "type": "string", "description": "The command line of `bash`." },
            "skill": { "type": "string", "description": "A skill to be loaded." },
            "action": { "type": "string", "enum": ["read", "write", "delete", "execute", "connect"] },
            "path": { "type": "string", "description": "The path of `action`." },
            "host": { "type": "string", "description": "The host of `connect`: `api.example.com:443`." },
            "cwd": { "type": "string", "description": "Directory of the call, within the root." }
        }
    });
    let output = json!({
        "type": "object",
        "required": ["decision", "reason"],
        "properties": {
            "decision": { "type": "string", "enum": ["allow", "deny", "confirm"] },
            "reason": { "type": "string" }
        }
    });
    let hints = ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    let description =
        "Decides by the user's rules about a tool call or an access before it is made, and does nothing: `allow`, \
                       `deny`, or `confirm` where a person has to say yes."
            .to_string();
    tool(CHECK, "Check beforehand", description, input, output, hints)
}

fn explain() -> Tool {
    let input = json!({
        "type": "object", "additionalProperties": false, "required": ["run"],
        "properties": { "run": { "type": "string", "description": "The `run` of a result." } }
    });
    let output = json!({ "type": "object", "required": ["denials"], "properties": { "denials": { "type": "array" } } });
    let hints = ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    let description =
        "Explains how a run of this session ended, what was refused in it, by which rule, and what would allow it."
            .to_string();
    tool(EXPLAIN, "Explain a denial", description, input, output, hints)
}
