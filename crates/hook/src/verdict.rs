//! What was decided about an event, in no agent's words.

use serde_json::Value;

/// A decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The call may be made without a question.
    Allow(String),
    /// A person has to confirm the call.
    Ask(String),
    /// The call is refused.
    Deny(String),
    /// The agent's own flow decides.
    Pass,
}

/// The decision about an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Decided {
    /// About a call that hasn't been made, with the input to use in place of the tool's.
    Call(Verdict, Option<Value>),
    /// What the agent is told after a call.
    Told(Option<String>),
}
