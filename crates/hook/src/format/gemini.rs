//! Gemini CLI: `decision` and `reason`, `hookSpecificOutput.tool_input`; the published contract has no `ask`. JSON on
//! either stream counts more than the exit code. <https://geminicli.com/docs/hooks/reference>

use serde_json::{Value, json};
use stockade_judge::Action;

use super::super::event::{Event, Fields, Misread, Stage};
use super::super::reply::Reply;
use super::super::verdict::{Decided, Verdict};
use super::super::work::Kind;
use super::{Entry, claude};

/// The built-in tools, with the names of earlier versions.
pub const TOOLS: &[Entry] = &[
    ("run_shell_command", Kind::Shell("command")),
    ("read_file", Kind::Files("read", Action::Read)),
    ("read_many_files", Kind::Search("read", &["include"])),
    ("write_file", Kind::Files("write", Action::Write)),
    ("replace", Kind::Files("edit", Action::Write)),
    ("edit", Kind::Files("edit", Action::Write)),
    ("list_directory", Kind::Search("list", &[])),
    ("glob", Kind::Search("glob_search", &["pattern"])),
    ("grep_search", Kind::Search("grep", &["include", "include_pattern"])),
    (
        "search_file_content",
        Kind::Search("grep", &["include", "include_pattern"]),
    ),
    ("web_fetch", Kind::Addresses("prompt")),
    ("google_web_search", Kind::Tool("web_search")),
    ("activate_skill", Kind::Skill("name")),
    ("write_todos", Kind::Within("todo_write")),
    ("tracker_create_task", Kind::Within("todo_write")),
    ("tracker_update_task", Kind::Within("todo_write")),
    ("tracker_add_dependency", Kind::Within("todo_write")),
    ("tracker_get_task", Kind::Within("todo_read")),
    ("tracker_list_tasks", Kind::Within("todo_read")),
    ("tracker_visualize", Kind::Within("todo_read")),
    ("codebase_investigator", Kind::Within("task")),
    ("cli_help", Kind::Within("task")),
    ("ask_user", Kind::Own),
    ("enter_plan_mode", Kind::Own),
    ("exit_plan_mode", Kind::Own),
    ("get_internal_docs", Kind::Own),
    ("update_topic", Kind::Own),
    ("complete_task", Kind::Own),
];

/// Reads an event.
pub fn event(fields: &Fields) -> Result<Event, Misread> {
    let name = fields.text("hook_event_name")?;
    let stage = match name {
        "BeforeTool" => Stage::Before {
            asks: false,
            rewrites: true,
        },
        "AfterTool" => Stage::After { failed: false },
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
    match decided {
        Decided::Call(verdict, input) => before(event, verdict, input.as_ref()),
        Decided::Told(text) => claude::after(event, text.as_deref()),
    }
}

fn before(event: &Event, verdict: &Verdict, input: Option<&Value>) -> Reply {
    match verdict {
        Verdict::Allow(reason) => {
            let mut value = json!({ "decision": "allow", "reason": reason });
            if let Some(input) = input {
                value["hookSpecificOutput"] = json!({ "hookEventName": event.name, "tool_input": input });
            }
            Reply::json(&value)
        }
        // A hook can't ask, so a question is a denial.
        Verdict::Deny(reason) | Verdict::Ask(reason) => Reply::json(&json!({ "decision": "deny", "reason": reason })),
        Verdict::Pass => Reply::silent(),
    }
}

/// Blocks after a failure of the hook.
pub fn blocked(reason: &str) -> Reply {
    Reply::blocking(&json!({ "decision": "deny", "reason": reason }), reason)
}
