//! An approver's answer to a request.

use serde::{Deserialize, Serialize};

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Yes or no.
    #[serde(flatten)]
    pub choice: Choice,
    /// The answerer: `ada at the terminal`.
    pub by: String,
    /// The reason given with the answer; passed on with a no.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Yes or no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Choice {
    /// The request is granted.
    Yes {
        /// The lifetime of the grant.
        lifetime: Lifetime,
        /// The extent of the grant.
        #[serde(default)]
        extent: Extent,
    },
    /// The request is refused.
    No {
        /// Whether to ask nothing more in this run.
        #[serde(default)]
        all: bool,
    },
    /// No answer came, which counts as a no.
    Silence,
}

/// The lifetime of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// This one access.
    Once,
    /// Until the run ends.
    Session,
    /// For later runs too, of the same project, profile, agent and script, until it is revoked.
    Always,
}

/// The extent of a grant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// The requested grant.
    #[default]
    Requested,
    /// The request's `wider`.
    Wider,
    /// Everything that this profile grants; the person types its name. The only way to `trusted`.
    Profile(String),
}

impl Lifetime {
    /// The name, as typed and in the JSON form.
    pub fn word(self) -> &'static str {
        match self {
            Lifetime::Once => "once",
            Lifetime::Session => "session",
            Lifetime::Always => "always",
        }
    }
}

impl Answer {
    /// A yes to the requested grant.
    pub fn yes(lifetime: Lifetime, by: impl Into<String>) -> Answer {
        Answer {
            choice: Choice::Yes {
                lifetime,
                extent: Extent::Requested,
            },
            by: by.into(),
            reason: None,
        }
    }

    /// A no.
    pub fn no(by: impl Into<String>) -> Answer {
        Answer {
            choice: Choice::No { all: false },
            by: by.into(),
            reason: None,
        }
    }

    /// No answer came, for this reason: `no answer within 60 s`.
    pub fn silence(reason: impl Into<String>) -> Answer {
        Answer {
            choice: Choice::Silence,
            by: "no answer".to_string(),
            reason: Some(reason.into()),
        }
    }

    /// The same answer with a reason.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Answer {
        Answer {
            reason: Some(reason.into()),
            ..self
        }
    }
}
