//! Claude Code: `hookSpecificOutput`, and the older `decision` beside it. <https://code.claude.com/docs/en/hooks>

use serde_json::{Value, json};
use stockade_judge::Action;

use super::super::event::{Call, Event, Fields, Misread, Stage};
use super::super::reply::Reply;
use super::super::verdict::{Decided, Verdict};
use super::super::work::Kind;
use super::Entry;

const READ: Kind = Kind::Files("read", Action::Read);

/// The built-in tools. Those that only act within a session are left to the agent.
pub const TOOLS: &[Entry] = &[
    ("Bash", Kind::Shell("command")),
    ("Monitor", Kind::Shell("command")),
    ("Read", READ),
    ("NotebookRead", READ),
    ("LSP", READ),
    ("Write", Kind::Files("write", Action::Write)),
    ("Edit", Kind::Files("edit", Action::Write)),
    ("MultiEdit", Kind::Files("multi_edit", Action::Write)),
    ("NotebookEdit", Kind::Files("edit", Action::Write)),
    ("Glob", Kind::Search("glob_search", &["pattern"])),
    ("Grep", Kind::Search("grep", &["glob"])),
    ("LS", Kind::Search("list", &[])),
    ("WebFetch", Kind::Fetch("url")),
    ("WebSearch", Kind::Tool("web_search")),
    ("Skill", Kind::Skill("skill")),
    ("Agent", Kind::Within("task")),
    ("Task", Kind::Within("task")),
    ("TodoRead", Kind::Within("todo_read")),
    ("TodoWrite", Kind::Within("todo_write")),
    ("TaskCreate", Kind::Within("todo_write")),
    ("TaskUpdate", Kind::Within("todo_write")),
    ("TaskGet", Kind::Within("todo_read")),
    ("TaskList", Kind::Within("todo_read")),
    ("TaskOutput", Kind::Own),
    ("TaskStop", Kind::Own),
    ("AgentOutputTool", Kind::Own),
    ("BashOutput", Kind::Own),
    ("KillBash", Kind::Own),
    ("KillShell", Kind::Own),
    ("AskUserQuestion", Kind::Own),
    ("EnterPlanMode", Kind::Own),
    ("ExitPlanMode", Kind::Own),
    ("ListMcpResourcesTool", Kind::Own),
    ("SendMessage", Kind::Own),
    ("SubagentHandback", Kind::Own),
    ("ToolSearch", Kind::Own),
    ("StructuredOutput", Kind::Own),
    // What they start later comes to the hook as calls of its own.
    ("CronCreate", Kind::Within("task")),
    ("TeamCreate", Kind::Within("task")),
    ("CronDelete", Kind::Own),
    ("CronList", Kind::Own),
    ("ScheduleWakeup", Kind::Own),
    ("TeamDelete", Kind::Own),
    ("EnterWorktree", Kind::Own),
    ("ExitWorktree", Kind::Own),
    ("WaitForMcpServers", Kind::Own),
];

/// Reads an event.
pub fn event(fields: &Fields) -> Result<Event, Misread> {
    let name = fields.text("hook_event_name")?;
    let stage = match name {
        "PreToolUse" => Stage::Before {
            asks: true,
            rewrites: true,
        },
        "PermissionRequest" => Stage::Permission { rewrites: true },
        "PostToolUse" => Stage::After { failed: false },
        "PostToolUseFailure" => Stage::After { failed: true },
        _ => return Err(Misread::UnknownEvent(name.to_string())),
    };
    Ok(Event {
        name: name.to_string(),
        stage,
        call: call(fields)?,
    })
}

/// The call, as Claude Code and those that took its format tell it.
pub fn call(fields: &Fields) -> Result<Call, Misread> {
    Ok(Call {
        tool: fields.text("tool_name")?.to_string(),
        input: fields.value("tool_input")?.clone(),
        id: fields.some_text("tool_use_id")?.map(String::from),
        session: fields.some_text("session_id")?.unwrap_or_default().to_string(),
        cwd: fields.directory("cwd")?,
        roots: Vec::new(),
    })
}

/// Answers an event.
pub fn reply(event: &Event, decided: &Decided) -> Reply {
    match (event.stage, decided) {
        (Stage::Permission { .. }, Decided::Call(verdict, input)) => permission(event, verdict, input.as_ref()),
        (_, Decided::Call(verdict, input)) => before(event, verdict, input.as_ref()),
        (_, Decided::Told(text)) => after(event, text.as_deref()),
    }
}

fn before(event: &Event, verdict: &Verdict, input: Option<&Value>) -> Reply {
    let (decision, reason) = match verdict {
        Verdict::Allow(reason) => ("allow", reason),
        Verdict::Ask(reason) => ("ask", reason),
        Verdict::Deny(reason) => ("deny", reason),
        Verdict::Pass => return Reply::silent(),
    };
    let mut output = json!({
        "hookEventName": event.name,
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    });
    if let Some(input) = input {
        output["updatedInput"] = input.clone();
    }
    let mut value = json!({ "hookSpecificOutput": output });
    if decision == "deny" {
        // What versions read that don't know the decision above.
        value["decision"] = json!("block");
        value["reason"] = json!(reason);
    }
    Reply::json(&value)
}

fn permission(event: &Event, verdict: &Verdict, input: Option<&Value>) -> Reply {
    let decision = match verdict {
        Verdict::Allow(_) => match input {
            Some(input) => json!({ "behavior": "allow", "updatedInput": input }),
            None => json!({ "behavior": "allow" }),
        },
        Verdict::Deny(reason) => json!({ "behavior": "deny", "message": reason }),
        Verdict::Ask(_) | Verdict::Pass => return Reply::silent(),
    };
    Reply::json(&json!({ "hookSpecificOutput": { "hookEventName": event.name, "decision": decision } }))
}

/// Adds a text to what the model sees of a call.
pub fn after(event: &Event, text: Option<&str>) -> Reply {
    match text {
        Some(text) => {
            let output = json!({ "hookEventName": event.name, "additionalContext": text });
            Reply::json(&json!({ "hookSpecificOutput": output }))
        }
        None => Reply::silent(),
    }
}

/// Blocks after a failure of the hook.
pub fn blocked(reason: &str) -> Reply {
    let value = json!({
        "decision": "block",
        "reason": reason,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
    });
    Reply::blocking(&value, reason)
}
