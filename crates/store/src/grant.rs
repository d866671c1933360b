//! Stored grants as values.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde_json::{Value, json};

/// The key of a stored grant: it counts in runs that match all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The run's root, its symbolic links resolved.
    pub project: PathBuf,
    /// The profile's name, or its file's absolute path if it comes from a file.
    pub profile: OsString,
    /// The agent that the run acts for.
    pub agent: Option<String>,
    /// The hash of the script's content and directory, if the run is one of a script.
    pub script: Option<String>,
}

/// The content of a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// The words of one flag of `stockade run`: `--read`, `/etc/hosts`. Paths needn't be UTF-8.
    Flag(Vec<OsString>),
    /// Everything that a profile grants, by its name.
    Profile(String),
}

/// A grant to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// The grant.
    pub given: Given,
    /// The person or program that granted it: `ada at the terminal`.
    pub by: String,
    /// The reason given with the answer.
    pub reason: Option<String>,
    /// The id of the answered request.
    pub request: Option<String>,
}

/// A stored grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrant {
    /// Its id: six letters and digits.
    pub id: String,
    /// The runs that it applies to.
    pub key: Key,
    /// The grant.
    pub grant: NewGrant,
    /// The time of storing: milliseconds since 1970.
    pub created_ms: u64,
    /// The time of its revocation, from which on it doesn't count.
    pub revoked_ms: Option<u64>,
}

impl Given {
    /// The kind, as stored.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Given::Flag(_) => "flag",
            Given::Profile(_) => "profile",
        }
    }

    /// The words, each followed by a NUL, which no word of a command line contains.
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

    /// Parses the stored form.
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
    /// A checksum over all fields: a grant changed by a disk error or by hand isn't used.
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

    /// The JSON that `stockade grant export` writes.
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

/// A word as text, or as an array of its bytes if it isn't UTF-8.
fn exact(word: &OsStr) -> Value {
    word.to_str().map_or_else(|| json!(word.as_bytes()), Value::from)
}
