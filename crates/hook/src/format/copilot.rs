//! GitHub Copilot: events named in camelCase, told apart by their fields, and in PascalCase, with Claude's names of tools;
//! VS Code has the latter and reads `hookSpecificOutput`. <https://docs.github.com/en/copilot/reference/hooks-reference>

use serde_json::{Value, json};
use stockade_judge::Action;
use stockade_text::json as strict;

use super::super::event::{Call, Event, Fields, Misread, Stage};
use super::super::reply::Reply;
use super::super::verdict::{Decided, Verdict};
use super::super::work::Kind;
use super::{Entry, claude};

const EDIT: Kind = Kind::Files("edit", Action::Write);

/// The tools by both names.
pub const TOOLS: &[Entry] = &[
    ("bash", Kind::Shell("command")),
    ("Bash", Kind::Shell("command")),
    ("write_bash", Kind::Typed("input")),
    ("read_bash", Kind::Own),
    ("stop_bash", Kind::Own),
    ("list_bash", Kind::Own),
    ("view", Kind::Files("read", Action::Read)),
    ("Read", Kind::Files("read", Action::Read)),
    ("create", Kind::Files("write", Action::Write)),
    ("Write", Kind::Files("write", Action::Write)),
    ("edit", EDIT),
    ("str_replace_editor", EDIT),
    ("Edit", EDIT),
    ("apply_patch", Kind::Patch("patch")),
    ("glob", Kind::Search("glob_search", &["pattern"])),
    ("Glob", Kind::Search("glob_search", &["pattern"])),
    ("grep", Kind::Search("grep", &["glob"])),
    ("rg", Kind::Search("grep", &["glob"])),
    ("Grep", Kind::Search("grep", &["glob"])),
    ("web_fetch", Kind::Fetch("url")),
    ("WebFetch", Kind::Fetch("url")),
    ("web_search", Kind::Tool("web_search")),
    ("WebSearch", Kind::Tool("web_search")),
    ("skill", Kind::Skill("skill")),
    ("task", Kind::Within("task")),
    ("Task", Kind::Within("task")),
    ("Agent", Kind::Within("task")),
    ("read_agent", Kind::Own),
    ("list_agents", Kind::Own),
    ("update_todo", Kind::Within("todo_write")),
    ("TodoWrite", Kind::Within("todo_write")),
    ("ask_user", Kind::Own),
    ("AskUserQuestion", Kind::Own),
    ("report_intent", Kind::Own),
];

/// The stage before a call.
const BEFORE: Stage = Stage::Before {
    asks: true,
    rewrites: true,
};

/// Reads an event.
pub fn event(fields: &Fields) -> Result<Event, Misread> {
    match fields.some_text("hook_event_name")? {
        Some(name) => named(name, fields),
        None => unnamed(fields),
    }
}

/// An event in PascalCase.
fn named(name: &str, fields: &Fields) -> Result<Event, Misread> {
    let stage = match name {
        "PreToolUse" => BEFORE,
        "PostToolUse" => Stage::After { failed: false },
        "PostToolUseFailure" => Stage::After { failed: true },
        _ => return Err(Misread::UnknownEvent(name.to_string())),
    };
    let mut call = claude::call(fields)?;
    call.input = arguments(&call.tool, call.input)?;
    // Patches have Claude's name for edits too.
    if call.tool == "Edit" && (call.input.is_string() || is_patch(&call.input)) {
        call.tool = "apply_patch".into();
    }
    Ok(Event {
        name: name.to_string(),
        stage,
        call,
    })
}

/// An event in camelCase, which doesn't tell its name.
fn unnamed(fields: &Fields) -> Result<Event, Misread> {
    let tool = fields.text("toolName")?.to_string();
    let input = arguments(&tool, fields.value("toolArgs")?.clone())?;
    let (name, stage) = match (fields.has("toolResult"), fields.has("error")) {
        (false, false) => ("preToolUse", BEFORE),
        (true, false) => ("postToolUse", Stage::After { failed: false }),
        (false, true) => ("postToolUseFailure", Stage::After { failed: true }),
        (true, true) => return Err(Misread::UnknownEvent("with a result and an error".into())),
    };
    Ok(Event {
        name: name.into(),
        stage,
        call: Call {
            tool,
            input,
            id: fields.some_text("toolCallId")?.map(String::from),
            session: fields.some_text("sessionId")?.unwrap_or_default().to_string(),
            cwd: fields.directory("cwd")?,
            roots: Vec::new(),
        },
    })
}

/// Earlier versions send the arguments as a text of JSON. A patch may be a text itself.
fn arguments(tool: &str, value: Value) -> Result<Value, Misread> {
    let Value::String(text) = &value else { return Ok(value) };
    match strict::from_slice(text.as_bytes()) {
        Ok(parsed @ Value::Object(_)) => Ok(parsed),
        _ if matches!(tool, "apply_patch" | "Edit") => Ok(value),
        _ => Err(Misread::Input(
            tool.to_string(),
            "its arguments aren't an object".into(),
        )),
    }
}

fn is_patch(input: &Value) -> bool {
    ["patch", "input"]
        .iter()
        .any(|field| input.get(field).is_some_and(Value::is_string))
}

/// Answers an event.
pub fn reply(event: &Event, decided: &Decided) -> Reply {
    match decided {
        Decided::Call(verdict, input) => before(event, verdict, input.as_ref()),
        Decided::Told(text) => after(event, text.as_deref()),
    }
}

fn before(event: &Event, verdict: &Verdict, input: Option<&Value>) -> Reply {
    let (decision, reason) = match verdict {
        Verdict::Allow(reason) => ("allow", reason),
        Verdict::Ask(reason) => ("ask", reason),
        Verdict::Deny(reason) => ("deny", reason),
        Verdict::Pass => return Reply::silent(),
    };
    let mut value = json!({ "permissionDecision": decision, "permissionDecisionReason": reason });
    if let Some(input) = input {
        value["modifiedArgs"] = input.clone();
    }
    if event.name == "PreToolUse" {
        let mut output = json!({
            "hookEventName": event.name,
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        });
        if let Some(input) = input {
            output["updatedInput"] = input.clone();
        }
        value["hookSpecificOutput"] = output;
    }
    Reply::json(&value)
}

fn after(event: &Event, text: Option<&str>) -> Reply {
    /// After a failed call this exit code adds what is printed to what the model sees.
    const ADDS: u8 = 2;
    let Some(text) = text else { return Reply::silent() };
    if event.stage == (Stage::After { failed: true }) {
        return Reply {
            stdout: text.to_string(),
            stderr: String::new(),
            exit_code: ADDS,
        };
    }
    let mut value = json!({ "additionalContext": text });
    if event.name == "PostToolUse" {
        value["hookSpecificOutput"] = json!({ "hookEventName": event.name, "additionalContext": text });
    }
    Reply::json(&value)
}

/// Blocks after a failure of the hook; any exit code but 0 denies here.
pub fn blocked(reason: &str) -> Reply {
    let value = json!({
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
    });
    Reply::blocking(&value, reason)
}
