//! Stored grants as values.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde_json::{Value, json};

/// What a stored grant is for: it counts in runs that agree in all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The run's root, its links resolved.
    pub project: PathBuf,
    /// The profile's name; its file's absolute path where it comes from a file.
    pub profile: OsString,
    /// The agent that the run acts for.
    pub agent: Option<String>,
    /// The hash of the script's content and directory, where one is run as such.
    pub script: Option<String>,
}

/// What is granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// The words of one flag of `stockade run`: `--read`, `/etc/hosts`. Paths needn't be UTF-8.
    Flag(Vec<OsString>),
    /// All that a profile grants, by its name.
    Profile(String),
}

/// A grant to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// What is granted.
    pub given: Given,
    /// By whom: `ada at the terminal`.
    pub by: String,
    /// What was said with it.
    pub reason: Option<String>,
    /// The id of the request that it answers.
    pub request: Option<String>,
}

/// A grant as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrant {
    /// What it is called: six letters and digits.
    pub id: String,
    /// What it is for.
    pub key: Key,
    /// What it grants.
    pub grant: NewGrant,
    /// When it was stored: milliseconds since 1970.
    pub created_ms: u64,
    /// When it was revoked, and so counts no more.
    pub revoked_ms: Option<u64>,
}

impl Given {
    /// The kind of it, as it is stored.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Given::Flag(_) => "flag",
            Given::Profile(_) => "profile",
        }
    }

    /// The words, each with a NUL behind it, which no word of a command line holds.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let words: Vec<&OsStr> = match self {
            Given::Flag(words) => words.iter().map(OsString::as_os_str).collect(),
            Given::Profile(name) => vec![name.as_ref()],
        };
        words
            .iter()
            .flat_map(|word| [word.as_bytes(), b"\0"].concat())
            .collect()
    }

    /// From what is stored.
    pub(super) fn parse(kind: &str, bytes: &[u8]) -> Option<Given> {
        let words = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0);
        let words: Vec<OsString> = words.map(|word| OsString::from_vec(word.to_vec())).collect();
        match (kind, words.as_slice()) {
            ("flag", _) => Some(Given::Flag(words)),
            ("profile", [name]) => Some(Given::Profile(name.to_str()?.to_string())),
            _ => None,
        }
    }

    /// The words of the flag.
    pub fn words(&self) -> Vec<OsString> {
        match self {
            Given::Flag(words) => words.clone(),
            Given::Profile(name) => vec!["--profile".into(), name.into()],
        }
    }
}

impl StoredGrant {
    /// A check over everything that it says: a grant that a disk or a hand changed isn't used.
    pub(super) fn check(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: Option<&[u8]>| {
            hasher.update(&bytes.map_or(u64::MAX, |bytes| bytes.len() as u64).to_le_bytes());
            hasher.update(bytes.unwrap_or_default());
        };
        part(Some(self.id.as_bytes()));
        part(Some(self.key.project.as_os_str().as_bytes()));
        part(Some(self.key.profile.as_bytes()));
        part(self.key.agent.as_deref().map(str::as_bytes));
        part(self.key.script.as_deref().map(str::as_bytes));
        part(Some(self.grant.given.kind().as_bytes()));
        part(Some(&self.grant.given.bytes()));
        part(Some(self.grant.by.as_bytes()));
        part(self.grant.reason.as_deref().map(str::as_bytes));
        part(self.grant.request.as_deref().map(str::as_bytes));
        part(Some(&self.created_ms.to_le_bytes()));
        part(self.revoked_ms.map(u64::to_le_bytes).as_ref().map(|ms| &ms[..]));
        *hasher.finalize().as_bytes()
    }

    /// As `stockade grant export` writes it.
    pub fn json(&self) -> Value {
        let words: Vec<Value> = self.grant.given.words().iter().map(|word| exact(word)).collect();
        json!({
            "id": self.id,
            "project": exact(self.key.project.as_os_str()),
            "profile": exact(&self.key.profile),
            "agent": self.key.agent,
            "script": self.key.script,
            "grant": words,
            "created_ms": self.created_ms,
            "by": self.grant.by,
            "reason": self.grant.reason,
            "request": self.grant.request,
            "revoked_ms": self.revoked_ms,
        })
    }
}

/// A word as text, or as the numbers of its bytes where it isn't any.
fn exact(word: &OsStr) -> Value {
    word.to_str().map_or_else(|| json!(word.as_bytes()), Value::from)
}
