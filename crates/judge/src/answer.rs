//! The answers of `check`.

use serde::Serialize;
pub use stockade_policy::config::Decision;

/// How much harm a yes could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Danger {
    /// Reads, or changes little.
    Low,
    /// Changes something, or its effect can't be determined.
    Medium,
    /// Deletes, has more power than it seems, or hides its effect.
    High,
}

/// A rule that a yes may store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Remember {
    /// The tool.
    pub tool: String,
    /// For the shell: the first word, or the first two for a command with sub-commands. `None`: the whole tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// For `skill_load`: the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_name: Option<String>,
}

/// The answer to one request. Its texts may come from a model; code that displays them must escape them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The decision.
    pub decision: Decision,
    /// The reason, as the end of `Permission denied: …`; for an allow, the rule that allows it.
    pub reason: String,
    /// The rule that decided, with its origin; `None` if no rule did.
    pub matched: Option<String>,
    /// The rules that a yes may store so that the same request isn't asked again; empty if nothing may be stored.
    pub remember: Vec<Remember>,
    /// For a confirm: the prompt's title, `Run tool?` or `Run command?`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// For a confirm: the tool and its main input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// For a confirm: how much harm a yes could do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub danger: Option<Danger>,
}

/// A refusal as a tool's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolError {
    /// Always true.
    pub is_error: bool,
    /// `Permission denied: <reason>`.
    pub content: String,
}

impl Danger {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Danger::Low => "low",
            Danger::Medium => "medium",
            Danger::High => "high",
        }
    }
}

impl Answer {
    /// An answer without a prompt.
    pub(crate) fn plain(decision: Decision, reason: String, matched: Option<String>) -> Answer {
        Answer {
            decision,
            reason,
            matched,
            remember: Vec::new(),
            title: None,
            message: None,
            danger: None,
        }
    }

    /// The same answer without a prompt available: a confirm becomes a deny.
    #[must_use]
    pub fn without_asking(self) -> Answer {
        match self.decision {
            Decision::Confirm => Answer::plain(
                Decision::Deny,
                format!("{}, and no question can be asked", self.reason),
                self.matched,
            ),
            Decision::Allow | Decision::Deny => self,
        }
    }

    /// The tool result for a refused call; `None` if the call isn't refused.
    #[must_use]
    pub fn tool_error(&self) -> Option<ToolError> {
        let is_denied = self.decision == Decision::Deny;
        // The reason of a missing capability already has this prefix.
        let reason = self.reason.strip_prefix("permission denied: ").unwrap_or(&self.reason);
        is_denied.then(|| ToolError {
            is_error: true,
            content: format!("Permission denied: {reason}"),
        })
    }
}
