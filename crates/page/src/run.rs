//! One run as a page tells it.

use serde::Serialize;

/// How something is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// It went well, or was allowed.
    Ok,
    /// It failed, or was refused.
    Bad,
    /// It is open.
    Ask,
}

/// A run. Texts are escaped.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    pub id: String,
    /// Milliseconds since the page's start; `None` where that isn't recorded.
    pub start: Option<i64>,
    pub duration: Option<u64>,
    pub command: String,
    pub profile: String,
    /// How it ended.
    pub ended: String,
    pub tone: Tone,
    /// What stands below the ending: label, text.
    pub brief: Vec<(&'static str, String)>,
    /// All that is known of it: label, text.
    pub facts: Vec<(&'static str, String)>,
    /// What would allow what failed.
    pub suggestion: Option<Suggested>,
}

/// The flags, or the profile, that would allow what failed; one of them may be empty.
#[derive(Debug, Clone, Serialize)]
pub struct Suggested {
    pub flags: String,
    pub profile: String,
}

impl Default for Run {
    fn default() -> Run {
        Run {
            id: String::new(),
            start: None,
            duration: None,
            command: String::new(),
            profile: String::new(),
            ended: "no end is recorded: it may still run".to_string(),
            tone: Tone::Ask,
            brief: Vec::new(),
            facts: Vec::new(),
            suggestion: None,
        }
    }
}
