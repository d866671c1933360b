//! How much is recorded.

use std::fmt;

/// What is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nothing.
    Off,
    /// All but allowed accesses and decisions that allow.
    Denials,
    /// These too.
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

/// In the word that it is read from.
impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Off => "off",
            Level::Denials => "denials",
            Level::All => "all",
        })
    }
}
