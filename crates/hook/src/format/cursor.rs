//! Cursor: `permission` with messages for the user and the agent; `updated_input` before a tool, where `ask` isn't
//! enforced. <https://cursor.com/docs/hooks>

use serde_json::{Value, json};
use stockade_judge::Action;

use super::super::event::{Call, Event, Fields, Misread, Stage};
use super::super::reply::Reply;
use super::super::verdict::{Decided, Verdict};
use super::super::work::Kind;
use super::Entry;

/// The tools of the agent.
pub const TOOLS: &[Entry] = &[
    ("Shell", Kind::Shell("command")),
    ("Read", Kind::Files("read", Action::Read)),
    ("TabRead", Kind::Files("read", Action::Read)),
    ("Write", Kind::Files("write", Action::Write)),
    ("TabWrite", Kind::Files("write", Action::Write)),
    ("Edit", Kind::Files("edit", Action::Write)),
    ("StrReplace", Kind::Files("edit", Action::Write)),
    ("MultiEdit", Kind::Files("multi_edit", Action::Write)),
    ("NotebookEdit", Kind::Files("edit", Action::Write)),
    ("EditNotebook", Kind::Files("edit", Action::Write)),
    ("Delete", Kind::Files("delete", Action::Delete)),
    ("Grep", Kind::Search("grep", &["glob", "include_pattern"])),
    ("Glob", Kind::Search("glob_search", &["glob_pattern", "pattern"])),
    ("LS", Kind::Search("list", &[])),
    ("SemanticSearch", Kind::Search("grep", &[])),
    ("WebFetch", Kind::Fetch("url")),
    ("WebSearch", Kind::Tool("web_search")),
    ("Task", Kind::Within("task")),
    ("TodoWrite", Kind::Within("todo_write")),
    ("ReadLints", Kind::Within("todo_read")),
    ("AskQuestion", Kind::Own),
];

/// The events that ask before something happens, each with its tool.
const BEFORE: Stage = Stage::Before {
    asks: true,
    rewrites: false,
};

/// Reads an event.
pub fn event(fields: &Fields) -> Result<Event, Misread> {
    let name = fields.text("hook_event_name")?;
    let no_ask = Stage::Before {
        asks: false,
        rewrites: false,
    };
    let (stage, tool, input) = match name {
        "preToolUse" => (
            Stage::Before {
                asks: false,
                rewrites: true,
            },
            fields.text("tool_name")?,
            fields.value("tool_input")?.clone(),
        ),
        "postToolUse" => (
            Stage::After { failed: false },
            fields.text("tool_name")?,
            fields.value("tool_input")?.clone(),
        ),
        "postToolUseFailure" => (
            Stage::After { failed: true },
            fields.text("tool_name")?,
            fields.value("tool_input")?.clone(),
        ),
        "beforeShellExecution" => (BEFORE, "Shell", json!({ "command": fields.text("command")? })),
        "beforeReadFile" | "beforeTabFileRead" => (no_ask, "Read", with_attachments(fields)?),
        "beforeMCPExecution" => return of_server(name, fields),
        _ => return Err(Misread::UnknownEvent(name.to_string())),
    };
    Ok(Event {
        name: name.to_string(),
        stage,
        call: call(fields, tool.to_string(), input)?,
    })
}

/// The file that is read, and what is sent along with it.
fn with_attachments(fields: &Fields) -> Result<Value, Misread> {
    let attachments = fields.get("attachments").cloned().unwrap_or_else(|| json!([]));
    // Earlier versions spell it otherwise.
    let names_file = |file: &Value| file["file_path"].is_string() || file["filePath"].is_string();
    if !attachments.as_array().is_some_and(|files| files.iter().all(names_file)) {
        return Err(Misread::WrongType("attachments", "a list of files"));
    }
    Ok(json!({ "file_path": fields.text("file_path")?, "attachments": attachments }))
}

/// A server's tool is told by its bare name.
fn of_server(name: &str, fields: &Fields) -> Result<Event, Misread> {
    let tool = fields.text("tool_name")?;
    let tool = match ["MCP:", "mcp__"].iter().any(|start| tool.starts_with(start)) {
        true => tool.to_string(),
        false => format!("MCP:{tool}"),
    };
    Ok(Event {
        name: name.to_string(),
        stage: BEFORE,
        call: call(fields, tool, Value::Null)?,
    })
}

fn call(fields: &Fields, tool: String, input: Value) -> Result<Call, Misread> {
    Ok(Call {
        tool,
        input,
        id: fields.some_text("tool_use_id")?.map(String::from),
        session: fields.some_text("conversation_id")?.unwrap_or_default().to_string(),
        cwd: fields.directory("cwd")?,
        roots: fields.directories("workspace_roots")?,
    })
}

/// Answers an event.
pub fn reply(event: &Event, decided: &Decided) -> Reply {
    match decided {
        Decided::Call(verdict, input) => before(verdict, input.as_ref()),
        Decided::Told(Some(text)) if event.stage == (Stage::After { failed: false }) => {
            Reply::json(&json!({ "additional_context": text }))
        }
        // A failed call has no answer in the format.
        Decided::Told(_) => Reply::silent(),
    }
}

fn before(verdict: &Verdict, input: Option<&Value>) -> Reply {
    let (permission, reason) = match verdict {
        Verdict::Allow(reason) => ("allow", reason),
        Verdict::Ask(reason) => ("ask", reason),
        Verdict::Deny(reason) => ("deny", reason),
        Verdict::Pass => return Reply::silent(),
    };
    let mut value = json!({ "permission": permission });
    if permission != "allow" {
        value["user_message"] = json!(reason);
        value["agent_message"] = json!(reason);
    }
    if let Some(input) = input {
        value["updated_input"] = input.clone();
    }
    Reply::json(&value)
}

/// Blocks after a failure of the hook; `continue` is what an event reads that has no permission.
pub fn blocked(reason: &str) -> Reply {
    let value = json!({
        "continue": false,
        "permission": "deny",
        "user_message": reason,
        "agent_message": reason,
    });
    Reply::blocking(&value, reason)
}
