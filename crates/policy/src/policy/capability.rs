//! Capabilities: the powers of a run or an agent, independent of paths. The profile says where they apply.
//!
//! READ and WRITE are held by grants that are gone; DELETE too, and the supervisor refuses what cuts a file. Without
//! EXECUTE the first process may call `execve` as often as the command itself takes, and no other process may. Without
//! SPAWN the filter lets threads alone be made. NET and LLM are hosts and ports that aren't there. What was found
//! around the command isn't narrowed, nor is the scratch directory.

use std::fmt;
use std::str::FromStr;

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

bitflags! {
    /// The logical powers of a run, unrelated to Linux capabilities.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Capabilities: u8 {
        /// Open for reading, list, search.
        const READ = 1;
        /// Create and change.
        const WRITE = 2;
        /// Unlink, rename away, truncate to nothing.
        const DELETE = 4;
        /// Start programs beyond the command itself.
        const EXECUTE = 8;
        /// Make processes, and runs inside the run.
        const SPAWN = 16;
        /// Reach language models, and have the variables with their keys.
        const LLM = 32;
        /// Reach other hosts, and listen.
        const NET = 64;
        /// All file accesses.
        const FILE_ALL = 1 | 2 | 4;
    }
}

impl Capabilities {
    /// Those of a run that names none: everything that its profile grants. `LLM` needs a profile or a flag to name it.
    pub const USUAL: Capabilities = Capabilities::all();

    /// The names of the single capabilities.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES
            .into_iter()
            .filter(move |(_, capability)| self.contains(*capability))
            .map(|(name, _)| name)
    }
}

/// The single capabilities.
const NAMES: [(&str, Capabilities); 7] = [
    ("READ", Capabilities::READ),
    ("WRITE", Capabilities::WRITE),
    ("DELETE", Capabilities::DELETE),
    ("EXECUTE", Capabilities::EXECUTE),
    ("SPAWN", Capabilities::SPAWN),
    ("LLM", Capabilities::LLM),
    ("NET", Capabilities::NET),
];

/// Formats as `READ, WRITE`; `none` if empty.
impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (index, name) in self.names().enumerate() {
            write!(f, "{}{name}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// The text isn't the name of a capability.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` isn't a capability: they are READ, WRITE, DELETE, EXECUTE, SPAWN, LLM and NET", crate::profile::visible(.0))]
pub struct NoCapability(pub String);

/// Parses one name, or `FILE_ALL`, `ALL`, `NONE`, in any case.
impl FromStr for Capabilities {
    type Err = NoCapability;

    fn from_str(text: &str) -> Result<Self, NoCapability> {
        let name = text.trim().to_ascii_uppercase();
        match name.as_str() {
            "ALL" => Ok(Capabilities::all()),
            "FILE_ALL" => Ok(Capabilities::FILE_ALL),
            "NETWORK" => Ok(Capabilities::NET),
            "NONE" => Ok(Capabilities::empty()),
            _ => NAMES
                .into_iter()
                .find(|(known, _)| *known == name)
                .map(|(_, capability)| capability)
                .ok_or_else(|| NoCapability(text.to_string())),
        }
    }
}

impl Serialize for Capabilities {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.bits().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Capabilities {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bits = u8::deserialize(deserializer)?;
        Capabilities::from_bits(bits).ok_or_else(|| serde::de::Error::custom("no such capability"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_a_capability_and_nothing_else_is() {
        for (name, capability) in NAMES {
            assert_eq!(name.parse(), Ok(capability));
            assert_eq!(name.to_lowercase().parse(), Ok(capability));
            assert_eq!(capability.to_string(), name);
        }
        assert_eq!("NETWORK".parse(), Ok(Capabilities::NET));
        assert_eq!("FILE_ALL".parse(), Ok(Capabilities::FILE_ALL));
        assert_eq!("none".parse(), Ok(Capabilities::empty()));
        assert_eq!(Capabilities::FILE_ALL.to_string(), "READ, WRITE, DELETE");
        assert_eq!(Capabilities::empty().to_string(), "none");
        for text in ["", "RED", "READ WRITE", "READ|WRITE"] {
            assert!(text.parse::<Capabilities>().is_err(), "{text}");
        }
    }
}
