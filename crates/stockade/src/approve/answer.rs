//! The answer.

use serde::{Deserialize, Serialize};

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Yes or no.
    #[serde(flatten)]
    pub choice: Choice,
    /// Who answered: `ada at the terminal`.
    pub by: String,
    /// What was said with it; passed on with a no.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Yes or no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Choice {
    /// It is granted.
    Yes {
        /// For how long.
        lifetime: Lifetime,
        /// How much of it.
        #[serde(default)]
        extent: Extent,
    },
    /// It isn't.
    No {
        /// Whether nothing more is to be asked in this run.
        #[serde(default)]
        all: bool,
    },
    /// No answer came: a no.
    Silence,
}

/// How long a grant lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// For the very access that was asked for.
    Once,
    /// Until the run ends.
    Session,
    /// For later runs too, of the same project, profile, agent and script, until it is revoked.
    Always,
}

/// How much is granted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// What was requested.
    #[default]
    Requested,
    /// The request's `wider`.
    Wider,
    /// All that this profile grants, its name typed by the person. The only way to `trusted`.
    Profile(String),
}

impl Lifetime {
    /// Its name, as it is typed and in the JSON form.
    pub fn word(self) -> &'static str {
        match self {
            Lifetime::Once => "once",
            Lifetime::Session => "session",
            Lifetime::Always => "always",
        }
    }
}

impl Answer {
    /// A yes to what was requested.
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

    /// The same with what was said.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Answer {
        Answer {
            reason: Some(reason.into()),
            ..self
        }
    }
}
