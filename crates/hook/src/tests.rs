//! Nothing is allowed that the judge doesn't allow, whatever an agent sends.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use stockade_judge::{Act, Answer, Call, Decision};

use super::confine::Confinement;
use super::decide::{Confined, ToolJudge, answer};
use super::format::Agent;
use super::{Refusals, Reply};

/// A judge that always says the same.
struct Always(Decision);

impl Always {
    fn answer(&self) -> Answer {
        Answer {
            decision: self.0,
            reason: "so \u{1b}[2J it is".into(),
            matched: None,
            remember: Vec::new(),
            title: None,
            message: None,
            danger: None,
        }
    }
}

impl ToolJudge for Always {
    fn judge(&mut self, _: &Act, _: Option<&Path>) -> Result<Answer, String> {
        Ok(self.answer())
    }

    fn ruled(&mut self, _tool: &str) -> Result<Option<Answer>, String> {
        Ok(None)
    }

    fn judge_of_server(&mut self, _: &Call) -> Result<Answer, String> {
        Ok(self.answer())
    }

    fn judge_unconfined(&mut self, _: &Call, _: Option<&Path>) -> Result<Answer, String> {
        Ok(self.answer())
    }

    fn refusals(&mut self, _: &[String]) -> Option<Refusals> {
        None
    }

    fn home(&self) -> Option<&Path> {
        Some(Path::new("/home/ada"))
    }

    fn real(&self, path: &Path) -> std::path::PathBuf {
        path.to_path_buf()
    }

    fn installs(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A judge whose built-in rules allow everything, and whose own ones nothing.
struct BuiltIn;

impl ToolJudge for BuiltIn {
    fn judge(&mut self, _: &Act, _: Option<&Path>) -> Result<Answer, String> {
        Ok(Always(Decision::Allow).answer())
    }

    fn ruled(&mut self, _tool: &str) -> Result<Option<Answer>, String> {
        Ok(None)
    }

    fn judge_of_server(&mut self, _: &Call) -> Result<Answer, String> {
        Ok(Always(Decision::Confirm).answer())
    }

    fn judge_unconfined(&mut self, _: &Call, _: Option<&Path>) -> Result<Answer, String> {
        Ok(Always(Decision::Confirm).answer())
    }

    fn refusals(&mut self, _: &[String]) -> Option<Refusals> {
        None
    }

    fn home(&self) -> Option<&Path> {
        Some(Path::new("/home/ada"))
    }

    fn real(&self, path: &Path) -> std::path::PathBuf {
        path.to_path_buf()
    }

    fn installs(&self) -> Vec<String> {
        Vec::new()
    }
}

fn replied(agent: Agent, input: &[u8], decision: Decision, confined: Confined) -> Reply {
    judged(agent, input, &mut Always(decision), confined)
}

fn judged(agent: Agent, input: &[u8], rules: &mut dyn ToolJudge, confined: Confined) -> Reply {
    let confinement = Confinement {
        program: "/usr/bin/stockade".into(),
        flags: Vec::new(),
        root: "/p".into(),
        reports: None,
        shell: "bash",
    };
    match agent.read(input) {
        Ok(event) => answer(agent, &event, rules, &confinement, confined),
        Err(misread) => agent.blocked(&super::bounded(&misread.to_string())),
    }
}

/// Whether a reply lets the call be made without a question.
fn allows(reply: &Reply) -> bool {
    let value: Value = serde_json::from_str(&reply.stdout).unwrap_or(Value::Null);
    let specific = &value["hookSpecificOutput"];
    let said = [
        &value["permissionDecision"],
        &value["decision"],
        &value["permission"],
        &specific["permissionDecision"],
        &specific["decision"]["behavior"],
    ];
    reply.exit_code == 0
        && said
            .iter()
            .any(|said| matches!(said.as_str(), Some("allow" | "approve")))
}

/// Names of events and tools, most of them right for some agent.
fn word() -> impl Strategy<Value = String> {
    let known = [
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "BeforeTool",
        "AfterTool",
        "preToolUse",
        "beforeShellExecution",
        "beforeMCPExecution",
        "beforeReadFile",
        "postToolUse",
        "Bash",
        "bash",
        "run_shell_command",
        "Shell",
        "Read",
        "view",
        "Write",
        "Edit",
        "apply_patch",
        "WebFetch",
        "web_fetch",
        "Glob",
        "Skill",
        "Task",
        "TodoWrite",
        "mcp__a__b",
        "MCP:x",
        "write_bash",
        "AskUserQuestion",
    ];
    prop_oneof![8 => prop::sample::select(known.to_vec()).prop_map(String::from), 1 => ".*"]
}

fn argument() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~]{0,30}".prop_map(Value::from),
        Just(json!("*** Begin Patch\n*** Add File: a\n*** End Patch")),
        Just(json!("https://example.com/")),
        Just(json!("a\u{0}b")),
    ];
    prop_oneof![6 => text, 1 => any::<i64>().prop_map(Value::from), 1 => Just(Value::Null), 1 => Just(json!(["a", 1]))]
}

fn input() -> impl Strategy<Value = Value> {
    let names = [
        "command",
        "file_path",
        "path",
        "url",
        "prompt",
        "pattern",
        "skill",
        "input",
        "patch",
    ];
    let arguments = prop::collection::btree_map(prop::sample::select(names.to_vec()), argument(), 0..4);
    prop_oneof![6 => arguments.prop_map(|fields| json!(fields)), 1 => argument()]
}

prop_compose! {
    fn event()(event in word(), tool in word(), input in input(), more in argument(), shape in 0..4) -> Value {
        match shape {
            0 => json!({ "toolName": tool, "toolArgs": input, "cwd": "/p", "sessionId": more }),
            1 => json!({ "toolName": tool, "toolArgs": input.to_string(), "cwd": more }),
            2 => json!({ "hook_event_name": event, "command": more, "file_path": more, "tool_name": tool, "tool_input": input }),
            _ => json!({ "hook_event_name": event, "tool_name": tool, "tool_input": input, "cwd": "/p", "session_id": "s" }),
        }
    }
}

fn agent() -> impl Strategy<Value = Agent> {
    prop::sample::select(Agent::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn nothing_is_allowed_that_the_judge_denies(agent in agent(), event in event(), free: bool) {
        let confined = if free { Confined::Allow } else { Confined::Ask };
        let reply = replied(agent, event.to_string().as_bytes(), Decision::Deny, confined);
        prop_assert!(!allows(&reply), "{reply:?}");
    }

    /// A yes without a question is only for a command that runs confined.
    #[test]
    fn nothing_is_allowed_that_needs_a_confirmation(agent in agent(), event in event(), free: bool) {
        let confined = if free { Confined::Allow } else { Confined::Ask };
        let reply = replied(agent, event.to_string().as_bytes(), Decision::Confirm, confined);
        prop_assert!(!allows(&reply) || (free && reply.stdout.contains("/usr/bin/stockade run ")), "{reply:?}");
    }

    /// A shell's line, or a tool that isn't in the agent's table.
    #[test]
    fn no_built_in_rule_allows_what_is_not_confined(
        agent in agent(), line in "[ -~]{1,30}", tool in prop::sample::select(vec!["Shell", "write_bash", "read", "grep"]), free: bool
    ) {
        let confined = if free { Confined::Allow } else { Confined::Ask };
        let command = json!({ "command": line, "input": line, "path": "/etc/shadow" });
        let events = [
            json!({ "hook_event_name": "beforeShellExecution", "command": line, "cwd": "/p" }),
            json!({ "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": command, "cwd": "/p" }),
            json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": command, "cwd": "/p" }),
            json!({ "hook_event_name": "BeforeTool", "tool_name": tool, "tool_input": command, "cwd": "/p" }),
            json!({ "toolName": tool, "toolArgs": command, "cwd": "/p" }),
        ];
        for event in events {
            let reply = judged(agent, event.to_string().as_bytes(), &mut BuiltIn, confined);
            let is_confined = reply.stdout.contains("/usr/bin/stockade run ");
            // What is in a table is judged by its files.
            let is_listed = agent == Agent::Copilot && tool == "grep";
            prop_assert!(is_confined || is_listed || !allows(&reply), "{event}: {reply:?}");
        }
    }

    /// What an agent may take for its own flow is named in its table: everything else gets a decision.
    #[test]
    fn what_is_denied_is_said(agent in agent(), event in event()) {
        let reply = replied(agent, event.to_string().as_bytes(), Decision::Deny, Confined::Allow);
        // The tables leave these to the agent, and what follows a call has no decision.
        let text = event.to_string();
        let is_left = ["AskUserQuestion", "After", "Post", "post"].iter().any(|word| text.contains(word));
        let is_silent = reply == Reply::silent();
        prop_assert!(!is_silent || is_left, "{reply:?}");
    }

    #[test]
    fn bytes_that_are_no_event_block(agent in agent(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let reply = replied(agent, &bytes, Decision::Allow, Confined::Allow);
        prop_assert_eq!(reply.exit_code, 2);
        let is_shown = !reply.stderr.is_empty() && reply.stderr.trim_end().chars().all(|c| !c.is_control());
        prop_assert!(is_shown, "{reply:?}");
        let _: Value = serde_json::from_str(&reply.stdout).unwrap();
    }

    #[test]
    fn every_text_of_a_reply_is_visible(agent in agent(), event in event()) {
        for decision in [Decision::Allow, Decision::Confirm, Decision::Deny] {
            let reply = replied(agent, event.to_string().as_bytes(), decision, Confined::Ask);
            prop_assert!(!reply.stdout.contains("\\u001b[2J it is"), "{reply:?}");
        }
    }
}
