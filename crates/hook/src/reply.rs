//! The reply of a hook: what is printed, and the exit code.

use serde_json::{Value, json};

/// The exit code that blocks, in every agent's format.
const BLOCKS: u8 = 2;

/// What the hook prints, and its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Standard output: one JSON object, or nothing.
    pub stdout: String,
    /// Standard error: the reason of a block, or nothing.
    pub stderr: String,
    /// The exit code.
    pub exit_code: u8,
}

impl Reply {
    /// A decision in JSON.
    pub fn json(value: &Value) -> Reply {
        Reply {
            stdout: value.to_string(),
            stderr: String::new(),
            exit_code: 0,
        }
    }

    /// No decision.
    pub fn silent() -> Reply {
        Reply::json(&json!({}))
    }

    /// Blocks whatever the agent is about to do: by the exit code, by a reason on standard error, and in JSON.
    pub fn blocking(value: &Value, reason: &str) -> Reply {
        Reply {
            stderr: format!("{reason}\n"),
            exit_code: BLOCKS,
            ..Reply::json(value)
        }
    }
}

/// Blocks in all formats at once, for an agent that isn't known.
pub fn unknown_agent(reason: &str) -> Reply {
    let value = json!({
        "continue": false,
        "decision": "block",
        "reason": reason,
        "stopReason": reason,
        "permission": "deny",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
        "user_message": reason,
        "agent_message": reason,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
    });
    Reply::blocking(&value, reason)
}
