//! An agent's mode and scope: how changes are decided, and where they may be made.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Access, Capabilities};
use crate::profile::{Glob, HostPattern, Limits, Rule};

/// How changes to files are decided. No mode opens a secret or a guarded file, or widens a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Every change asks, except those allowed by a flag or an earlier answer.
    Manual,
    /// Changes inside the scope are allowed, outside they are refused.
    AcceptEdits,
    /// The scope is ignored. For tests.
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

/// Parses `manual`, `accept-edits`, `bypass`; `acceptEdits` and `bypassPermissions` are aliases.
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

/// The restrictions on a profile, set by an agent's configuration or by a person for one run. A role only narrows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// The capabilities of the run.
    pub capabilities: Capabilities,
    /// How changes are decided.
    pub mode: Mode,
    /// Where changes may be made.
    pub scope: Scope,
    /// The hosts that may be reached, out of those that the profile grants; `None` means all of these.
    pub hosts: Option<Vec<Rule<HostPattern>>>,
    /// Limits; the lower of these and the profile's apply.
    pub limits: Limits,
}

impl Role {
    /// Everything that the profile grants.
    pub const WHOLE: Role = Role {
        capabilities: Capabilities::USUAL,
        mode: Mode::AcceptEdits,
        scope: Scope::WHOLE,
        hosts: None,
        limits: Limits::NONE,
    };

    /// The accesses to a person's grants that the capabilities allow.
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

/// Where changes may be made. Globs are relative to the run's root; one without `/` matches at any depth. `denied`
/// overrides `read_only`, which overrides `allowed`; reads obey `denied` alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Below the root only paths that match a glob of each of these lists may be changed; without a list, everything
    /// that the profile grants. An empty list allows nothing. There are several where several layers narrow: the
    /// intersection of two lists can't be written as a list of globs.
    pub allowed: Vec<Vec<Rule<Glob>>>,
    /// Neither readable nor changeable.
    pub denied: Vec<Rule<Glob>>,
    /// Readable but not changeable.
    pub read_only: Vec<Rule<Glob>>,
}

impl Scope {
    /// A scope without restrictions.
    pub const WHOLE: Scope = Scope {
        allowed: Vec::new(),
        denied: Vec::new(),
        read_only: Vec::new(),
    };
}

/// Parses a scope's glob into the form of a denial: `src/**` is `./src/**`, and `*.pem` is `**/*.pem`.
///
/// # Errors
/// The glob is invalid; the text says why.
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
