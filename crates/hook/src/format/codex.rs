//! Codex: Claude Code's shape, without `ask`, and with `allow` only along with a rewritten input. An answer with anything
//! else is a failed hook, after which Codex calls the tool. <https://learn.chatgpt.com/docs/hooks>

use serde_json::{Value, json};
use stockade_judge::Action;

use super::super::event::{Event, Fields, Misread, Stage};
use super::super::reply::Reply;
use super::super::verdict::{Decided, Verdict};
use super::super::work::Kind;
use super::{Entry, claude};

/// The local tools.
pub const TOOLS: &[Entry] = &[
    ("Bash", Kind::Shell("command")),
    ("apply_patch", Kind::Patch("command")),
    ("view_image", Kind::Files("read", Action::Read)),
    ("read_file", Kind::Files("read", Action::Read)),
    ("list_dir", Kind::Search("list", &[])),
    ("grep_files", Kind::Search("grep", &["include"])),
    ("spawn_agent", Kind::Within("task")),
    ("update_plan", Kind::Within("todo_write")),
    ("send_input", Kind::Own),
    ("wait_agent", Kind::Own),
    ("wait", Kind::Own),
    ("close_agent", Kind::Own),
    ("resume_agent", Kind::Own),
    ("request_user_input", Kind::Own),
    ("list_mcp_resources", Kind::Own),
    ("list_mcp_resource_templates", Kind::Own),
];

/// Reads an event.
pub fn event(fields: &Fields) -> Result<Event, Misread> {
    let name = fields.text("hook_event_name")?;
    let stage = match name {
        "PreToolUse" => Stage::Before {
            asks: false,
            rewrites: true,
        },
        "PermissionRequest" => Stage::Permission { rewrites: false },
        "PostToolUse" => Stage::After { failed: false },
        _ => return Err(Misread::UnknownEvent(name.to_string())),
    };
    Ok(Event {
        name: name.to_string(),
        stage,
        call: claude::call(fields)?,
    })
}

/// Answers an event.
pub fn reply(event: &Event, decided: &Decided) -> Reply {
    match (event.stage, decided) {
        (Stage::Permission { .. }, Decided::Call(verdict, _)) => permission(event, verdict),
        (_, Decided::Call(verdict, input)) => before(event, verdict, input.as_ref()),
        (_, Decided::Told(text)) => claude::after(event, text.as_deref()),
    }
}

fn before(event: &Event, verdict: &Verdict, input: Option<&Value>) -> Reply {
    let output = match (verdict, input) {
        (Verdict::Allow(_), Some(input)) => json!({
            "hookEventName": event.name,
            "permissionDecision": "allow",
            "updatedInput": input,
        }),
        (Verdict::Allow(_) | Verdict::Pass, _) => return Reply::silent(),
        // A hook can't ask, so a question is a denial.
        (Verdict::Deny(reason) | Verdict::Ask(reason), _) => json!({
            "hookEventName": event.name,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }),
    };
    Reply::json(&json!({ "hookSpecificOutput": output }))
}

fn permission(event: &Event, verdict: &Verdict) -> Reply {
    let decision = match verdict {
        Verdict::Allow(_) => json!({ "behavior": "allow" }),
        Verdict::Deny(reason) => json!({ "behavior": "deny", "message": reason }),
        Verdict::Ask(_) | Verdict::Pass => return Reply::silent(),
    };
    Reply::json(&json!({ "hookSpecificOutput": { "hookEventName": event.name, "decision": decision } }))
}
