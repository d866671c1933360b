//! Parses a report. Fields unknown to this release are ignored; a newer version is rejected.

use serde::Deserialize;

use super::{Report, VERSION};

/// The reason why a text isn't a report.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// It isn't JSON, or JSON of something else.
    #[error("this isn't a report")]
    Format(#[from] serde_json::Error),
    /// A newer Stockade wrote it.
    #[error("this report has version {0}, and this Stockade reads version {VERSION}")]
    Newer(u64),
    /// No release wrote this version.
    #[error("no report has version {0}")]
    Unknown(u64),
}

#[derive(Deserialize)]
struct VersionOnly {
    version: u64,
}

impl Report {
    /// Parses a document.
    ///
    /// # Errors
    /// It isn't a report of a version that this release knows.
    pub fn parse(document: &[u8]) -> Result<Report, ParseError> {
        let head: VersionOnly = serde_json::from_slice(document)?;
        match head.version {
            version if version > u64::from(VERSION) => Err(ParseError::Newer(version)),
            version if version < u64::from(VERSION) => Err(ParseError::Unknown(version)),
            _ => Ok(serde_json::from_slice(document)?),
        }
    }
}
