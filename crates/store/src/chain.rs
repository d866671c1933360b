//! Rows of the audit trail and the chain of hashes through them.

use std::fmt;

use serde_json::{Value, json};

/// The hash of a row, over the one before it and everything the row says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash(pub(super) [u8; 32]);

impl Hash {
    /// What the first row follows.
    pub(super) const FIRST: Hash = Hash([0; 32]);

    /// From its text.
    pub(super) fn parse(text: &str) -> Option<Hash> {
        blake3::Hash::from_hex(text).ok().map(|hash| Hash(*hash.as_bytes()))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// One row of the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its place in the chain, from 1 on, without gaps.
    pub seq: u64,
    /// When it was noted: milliseconds since 1970.
    pub time_ms: u64,
    /// The run's id; empty for what concerns none.
    pub run: String,
    /// The kind of record.
    pub kind: String,
    /// The record as JSON.
    pub body: String,
    /// The row's hash.
    pub hash: Hash,
}

impl Row {
    /// The hash that the row must have behind another one.
    pub(super) fn link(&self, previous: Hash) -> Hash {
        let mut hasher = blake3::Hasher::new();
        let (seq, time) = (self.seq.to_le_bytes(), self.time_ms.to_le_bytes());
        let parts: [&[u8]; 6] = [
            &previous.0,
            &seq,
            &time,
            self.run.as_bytes(),
            self.kind.as_bytes(),
            self.body.as_bytes(),
        ];
        for part in parts {
            // Its length first: no two rows are the same bytes in a row.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Hash(*hasher.finalize().as_bytes())
    }

    /// The row as `stockade audit export` writes it (`schemas/audit.schema.json`).
    pub fn json(&self) -> Value {
        let mut row = exported(self.time_ms, &self.run, &self.kind, &self.body);
        row["seq"] = json!(self.seq);
        row["hash"] = json!(self.hash.to_string());
        row
    }
}

/// The same of what couldn't be written, and so has no place in the chain.
pub(super) fn exported(time_ms: u64, run: &str, kind: &str, body: &str) -> Value {
    let record = serde_json::from_str::<Value>(body).ok().filter(Value::is_object);
    json!({
        "seq": null,
        "time_ms": time_ms,
        "run": run,
        "kind": kind,
        "record": record.unwrap_or_else(|| json!({ "kind": "unreadable", "text": body })),
        "hash": null,
    })
}
