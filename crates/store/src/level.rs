//! The level of recording.

use std::fmt;

/// The records that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// None.
    Off,
    /// All except allowed accesses and decisions that allow.
    Denials,
    /// All.
    All,
}

impl std::str::FromStr for Level {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Level, &'static str> {
        match text {
            "off" => Ok(Level::Off),
            "denials" => Ok(Level::Denials),
            "all" => Ok(Level::All),
            _ => Err("it is `off`, `denials` or `all`"),
        }
    }
}

/// The word that it is parsed from.
impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Off => "off",
            Level::Denials => "denials",
            Level::All => "all",
        })
    }
}
