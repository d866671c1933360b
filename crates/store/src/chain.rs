//! Rows of the audit trail and their hash chain.

use std::fmt;

use serde_json::{Value, json};

/// The hash of a row, over the hash of the row before it and all of its fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash(pub(super) [u8; 32]);

impl Hash {
    /// The hash that the first row follows.
    pub(super) const FIRST: Hash = Hash([0; 32]);

    /// Parses its hexadecimal form.
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
    /// Its position in the chain, from 1 on, without gaps.
    pub seq: u64,
    /// The time of the event: milliseconds since 1970.
    pub time_ms: u64,
    /// The run's id; empty if the record belongs to none.
    pub run: String,
    /// The kind of record.
    pub kind: String,
    /// The record as JSON.
    pub body: String,
    /// The row's hash.
    pub hash: Hash,
}

impl Row {
    /// The hash that the row must have after a row with hash `previous`.
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
            // Each part's length first, so that no two rows concatenate to the same bytes.
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

/// The same for a record that couldn't be written and so has no position in the chain.
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
