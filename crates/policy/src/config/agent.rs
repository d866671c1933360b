//! Agents and tools as declared in a configuration.

use crate::policy::{Capabilities, Mode, Role, Scope};
use crate::profile::{HostPattern, Limits, Origin, Rule};

/// A named role. `None` for a field that isn't set, which then comes from the layer below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The name.
    pub name: String,
    /// How its changes are decided.
    pub mode: Option<Mode>,
    /// The profile of its runs.
    pub profile: Option<String>,
    /// Its capabilities.
    pub capabilities: Option<Capabilities>,
    /// The tools that it may call; `None` for every known one.
    pub tools: Option<Vec<String>>,
    /// Where it may change files.
    pub scope: Scope,
    /// The hosts that it may reach, out of those that the profile grants; `None` for all of these.
    pub hosts: Option<Vec<Rule<HostPattern>>>,
    /// Limits of its runs; the lower of these and the profile's apply.
    pub limits: Limits,
    /// The position of its declaration.
    pub origin: Origin,
}

impl Agent {
    /// The agent's role within its profile.
    pub fn role(&self) -> Role {
        Role {
            capabilities: self.capabilities.unwrap_or(Capabilities::USUAL),
            mode: self.mode.unwrap_or(Mode::Manual),
            scope: self.scope.clone(),
            hosts: self.hosts.clone(),
            limits: self.limits,
        }
    }

    /// The profile of its runs.
    pub fn profile(&self) -> &str {
        self.profile.as_deref().unwrap_or("workspace")
    }
}

/// A tool that agents may be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The name.
    pub name: String,
    /// The profile that its program runs with.
    pub profile: Option<String>,
    /// The commands that it may run (first one or two words); `None` for any that the rules allow.
    pub commands: Option<Vec<String>>,
    /// The required capabilities: an agent that lacks one of these can't call it.
    pub capabilities: Option<Capabilities>,
    /// The position of its declaration.
    pub origin: Origin,
}

impl Agent {
    /// An agent with nothing but a name.
    pub fn saying_nothing(name: String, origin: Origin) -> Agent {
        Agent {
            name,
            mode: None,
            profile: None,
            capabilities: None,
            tools: None,
            scope: Scope::WHOLE,
            hosts: None,
            limits: Limits::NONE,
            origin,
        }
    }
}

impl Tool {
    pub(super) fn saying_nothing(name: String, origin: Origin) -> Tool {
        Tool {
            name,
            profile: None,
            commands: None,
            capabilities: None,
            origin,
        }
    }
}
