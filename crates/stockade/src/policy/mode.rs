//! How changes are taken, and where they may be made: an agent's mode and scope.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Access, Capabilities};
use crate::profile::{Glob, HostPattern, Limits, Rule};

/// How changes to files are taken. No mode opens a secret or a guarded file, or widens a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Every change asks, but for what a flag or an earlier answer said yes to.
    Manual,
    /// Changes inside the scope are free, outside they are refused.
    AcceptEdits,
    /// The scope doesn't count. For tests.
    Bypass,
}

impl Mode {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Manual => "manual",
            Mode::AcceptEdits => "accept-edits",
            Mode::Bypass => "bypass",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `manual`, `accept-edits`, `bypass`; `acceptEdits` and `bypassPermissions` are other spellings.
impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "manual" => Ok(Mode::Manual),
            "accept-edits" | "acceptEdits" => Ok(Mode::AcceptEdits),
            "bypass" | "bypassPermissions" => Ok(Mode::Bypass),
            _ => Err("a mode is `manual`, `accept-edits` or `bypass`".into()),
        }
    }
}

/// What somebody may do within a profile: an agent, or who says so for one run. It only narrows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// What may be done at all.
    pub capabilities: Capabilities,
    /// How changes are taken.
    pub mode: Mode,
    /// Where they may be made.
    pub scope: Scope,
    /// The hosts that may be reached, of those that the profile reaches; `None` is all of these.
    pub hosts: Option<Vec<Rule<HostPattern>>>,
    /// The lower of these limits and the profile's count.
    pub limits: Limits,
}

impl Role {
    /// All that the profile gives.
    pub const WHOLE: Role = Role {
        capabilities: Capabilities::USUAL,
        mode: Mode::AcceptEdits,
        scope: Scope::WHOLE,
        hosts: None,
        limits: Limits::NONE,
    };

    /// What may be done with files that a person granted, by the capabilities.
    pub(super) fn access(&self) -> Access {
        let bits = [
            (Capabilities::READ, Access::READ),
            (Capabilities::WRITE, Access::WRITE),
            (Capabilities::DELETE, Access::DELETE),
            (Capabilities::EXECUTE, Access::EXECUTE),
        ];
        let held = bits
            .into_iter()
            .filter(|(capability, _)| self.capabilities.contains(*capability));
        held.fold(Access::empty(), |access, (_, bit)| access | bit)
    }
}

/// Where changes may be made. Globs are relative to the run's root; one without `/` is meant at any depth. `denied` is
/// over `read_only` over `allowed`, and reads obey `denied` alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Below the root only what matches a glob of each of these lists may be changed; without a list, all that the
    /// profile grants. An empty list is nothing. There are several where several layers narrow: what two lists have in
    /// common is no list of globs.
    pub allowed: Vec<Vec<Rule<Glob>>>,
    /// Neither read nor changed.
    pub denied: Vec<Rule<Glob>>,
    /// Read and not changed.
    pub read_only: Vec<Rule<Glob>>,
}

impl Scope {
    /// A scope that says nothing.
    pub const WHOLE: Scope = Scope {
        allowed: Vec::new(),
        denied: Vec::new(),
        read_only: Vec::new(),
    };
}

/// A glob of a scope, in the form that a denial has: `src/**` is `./src/**`, and `*.pem` is `**/*.pem`.
///
/// # Errors
/// What is wrong with it.
pub fn scope_glob(text: &str) -> Result<Glob, String> {
    let text = text.trim_end_matches('/');
    let is_anchored = ["/", "./", "~/", "**/"].iter().any(|anchor| text.starts_with(anchor));
    match text {
        "**" | "." | "*" => Glob::parse("./**"),
        _ if is_anchored => Glob::parse(text),
        _ if text.contains('/') => Glob::parse(&format!("./{text}")),
        _ => Glob::parse(&format!("**/{text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_original_spellings_of_modes_are_taken_too() {
        for (text, mode) in [
            ("manual", Mode::Manual),
            ("accept-edits", Mode::AcceptEdits),
            ("acceptEdits", Mode::AcceptEdits),
            ("bypass", Mode::Bypass),
            ("bypassPermissions", Mode::Bypass),
        ] {
            assert_eq!(text.parse(), Ok(mode));
        }
        assert!("Manual".parse::<Mode>().is_err());
    }

    #[test]
    fn a_glob_without_a_slash_is_meant_at_any_depth_and_one_with_it_below_the_root() {
        for (text, meant) in [
            ("src/**", "./src/**"),
            ("./src", "./src"),
            ("*.pem", "**/*.pem"),
            (".git/**", "./.git/**"),
            ("dist/", "**/dist"),
            ("dist//", "**/dist"),
            ("**", "./**"),
            ("/srv/x", "/srv/x"),
        ] {
            assert_eq!(scope_glob(text).unwrap().0, meant, "{text}");
        }
        for text in ["", "../x", "a/../b", "["] {
            assert!(scope_glob(text).is_err(), "{text}");
        }
    }
}
