//! What `check` answers.

use serde::Serialize;
pub use stockade::config::Decision;

/// How much harm a yes could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Danger {
    /// Reads, or changes little.
    Low,
    /// Changes something, or it can't be told.
    Medium,
    /// Deletes, has more power than it seems, or hides what it does.
    High,
}

/// A rule that a yes may store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Remember {
    /// The tool.
    pub tool: String,
    /// For the shell: the first word, or two where the command has sub-commands. `None`: the whole tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// For `skill_load`: the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_name: Option<String>,
}

/// The answer to one question. Texts in it may come from a model: what shows them escapes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// What is said.
    pub decision: Decision,
    /// Why, as the end of `Permission denied: …`; for an allow what allows it.
    pub reason: String,
    /// The rule that decided, with its origin; `None` where none did.
    pub matched: Option<String>,
    /// What a yes may store, so that the same isn't asked again; empty where nothing may be stored.
    pub remember: Vec<Remember>,
    /// For a confirm: the question's title, `Run tool?` or `Run command?`.
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
    /// One that asks nothing.
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

    /// The same where no question can be asked: a confirm is a deny.
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

    /// What a tool answers that was refused; `None` where it wasn't.
    #[must_use]
    pub fn tool_error(&self) -> Option<ToolError> {
        let is_denied = self.decision == Decision::Deny;
        // A missing capability says so itself.
        let reason = self.reason.strip_prefix("permission denied: ").unwrap_or(&self.reason);
        is_denied.then(|| ToolError {
            is_error: true,
            content: format!("Permission denied: {reason}"),
        })
    }
}
