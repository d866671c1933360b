//! Serializes bytes of paths as text: bytes that aren't UTF-8 are replaced.

use std::ffi::OsString;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serializer};

/// A path.
pub fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Words of a command line, or no words where one isn't UTF-8: it would name another file.
pub mod words {
    use super::{Deserialize, Deserializer, OsString, Serializer};

    pub fn serialize<S: Serializer>(words: &[OsString], serializer: S) -> Result<S::Ok, S::Error> {
        let texts: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
        serializer.collect_seq(texts.unwrap_or_default())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<OsString>, D::Error> {
        let words = Vec::<String>::deserialize(deserializer)?;
        Ok(words.into_iter().map(OsString::from).collect())
    }
}

/// Words of a command line, or none.
pub mod words_or_none {
    use super::{Deserialize, Deserializer, OsString, Serializer, words};

    #[expect(clippy::ref_option, reason = "the signature is serde's")]
    pub fn serialize<S: Serializer>(given: &Option<Vec<OsString>>, serializer: S) -> Result<S::Ok, S::Error> {
        match given {
            Some(given) if given.iter().all(|word| word.to_str().is_some()) => words::serialize(given, serializer),
            _ => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<OsString>>, D::Error> {
        let words = Option::<Vec<String>>::deserialize(deserializer)?;
        Ok(words.map(|words| words.into_iter().map(OsString::from).collect()))
    }
}
