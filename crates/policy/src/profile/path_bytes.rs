//! Serializes paths in JSON: each byte becomes the character of that number, since a path needn't be UTF-8.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

/// `PATH_MAX`.
const MAX_LENGTH: usize = 4096;
/// Structures compiled from a path are walked recursively.
const MAX_DEPTH: usize = 256;

/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(
        &path
            .as_os_str()
            .as_bytes()
            .iter()
            .map(|byte| char::from(*byte))
            .collect::<String>(),
    )
}

/// # Errors
/// The value isn't a string.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
    let bytes = bytes.map_err(|_| serde::de::Error::custom("a path has a character that is no byte"))?;
    let depth = bytes.iter().filter(|byte| **byte == b'/').count();
    if bytes.contains(&0) || bytes.len() > MAX_LENGTH || depth > MAX_DEPTH {
        return Err(serde::de::Error::custom("no path that a run could mean"));
    }
    Ok(PathBuf::from(OsString::from_vec(bytes)))
}
