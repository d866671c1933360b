//! Merges the declarations of one agent or tool from several layers: one overrides another, or narrows it.
//!
//! `over` is for a layer that the user trusts: its fields replace those of the layer below. `narrowed` is for one that
//! the user doesn't trust: whatever it says, the result stays within the layer below.

use super::{Agent, Tool, known};
use crate::policy::{Capabilities, Mode, Scope};
use crate::profile::{HostPattern, Limits, Origin, Rule};

/// The profile of agents that declare none.
pub const PROFILE: &str = "workspace";

/// The agents that exist without any configuration.
pub fn built_in() -> [Agent; 5] {
    const AGENTS: [(&str, Mode); 5] = [
        ("worker", Mode::AcceptEdits),
        ("judge", Mode::Manual),
        ("planner", Mode::Manual),
        ("leader", Mode::Manual),
        // Whom the runs of `stockade mcp serve` act for.
        ("mcp", Mode::AcceptEdits),
    ];
    AGENTS.map(|(name, mode)| Agent {
        mode: Some(mode),
        profile: Some(PROFILE.to_owned()),
        ..Agent::saying_nothing(name.to_owned(), Origin::BuiltIn)
    })
}

impl Agent {
    /// This layer's fields override those of the layer below. Denials of both apply.
    #[must_use]
    pub fn over(self, below: Agent) -> Agent {
        Agent {
            name: self.name,
            mode: self.mode.or(below.mode),
            profile: self.profile.or(below.profile),
            capabilities: self.capabilities.or(below.capabilities),
            tools: self.tools.or(below.tools),
            scope: Scope {
                allowed: match self.scope.allowed.is_empty() {
                    true => below.scope.allowed,
                    false => self.scope.allowed,
                },
                denied: joined(below.scope.denied, self.scope.denied),
                read_only: joined(below.scope.read_only, self.scope.read_only),
            },
            hosts: self.hosts.or(below.hosts),
            limits: self.limits.or(below.limits),
            origin: self.origin,
        }
    }

    /// This agent after another layer narrowed it. Another profile would have to be compared by its meaning, so it is
    /// ignored.
    #[must_use]
    pub fn narrowed(self, by: &Agent) -> Agent {
        Agent {
            mode: meet(self.mode, by.mode, Mode::min),
            capabilities: meet(self.capabilities, by.capabilities, Capabilities::intersection),
            tools: meet(self.tools, by.tools.clone(), |ours, theirs| {
                meet_each(&ours, &theirs, known::declares)
            }),
            scope: Scope {
                allowed: joined(self.scope.allowed, by.scope.allowed.clone()),
                denied: joined(self.scope.denied, by.scope.denied.clone()),
                read_only: joined(self.scope.read_only, by.scope.read_only.clone()),
            },
            hosts: meet(self.hosts, by.hosts.clone(), |ours, theirs| meet_hosts(&ours, &theirs)),
            limits: Limits::meet(self.limits, by.limits),
            ..self
        }
    }
}

impl Tool {
    /// This layer's fields override those of the layer below.
    #[must_use]
    pub fn over(self, below: Tool) -> Tool {
        Tool {
            name: self.name,
            profile: self.profile.or(below.profile),
            commands: self.commands.or(below.commands),
            capabilities: self.capabilities.or(below.capabilities),
            origin: self.origin,
        }
    }

    /// This tool after another layer narrowed it: fewer commands, and more required capabilities.
    #[must_use]
    pub fn narrowed(self, by: &Tool) -> Tool {
        Tool {
            commands: meet(self.commands, by.commands.clone(), |ours, theirs| {
                meet_each(&ours, &theirs, covers)
            }),
            capabilities: meet(self.capabilities, by.capabilities, Capabilities::union),
            ..self
        }
    }
}

/// The intersection of both; an unset side restricts nothing.
fn meet<T>(ours: Option<T>, theirs: Option<T>, both: impl FnOnce(T, T) -> T) -> Option<T> {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => Some(both(ours, theirs)),
        (one, other) => one.or(other),
    }
}

fn joined<T>(mut first: Vec<T>, then: Vec<T>) -> Vec<T> {
    first.extend(then);
    first
}

fn meet_hosts(ours: &[Rule<HostPattern>], theirs: &[Rule<HostPattern>]) -> Vec<Rule<HostPattern>> {
    let mut hosts: Vec<Rule<HostPattern>> = Vec::new();
    for our in ours {
        for their in theirs {
            let Some(value) = our.value.meet(&their.value) else {
                continue;
            };
            if hosts.iter().all(|host| host.value != value) {
                hosts.push(Rule { value, ..our.clone() });
            }
        }
    }
    hosts
}

/// The intersection of two lists whose entries may cover several things: a group of tools, or all commands that start
/// with a word. Of two entries one contains the other, or they are disjoint.
fn meet_each(ours: &[String], theirs: &[String], holds: fn(&str, &str) -> bool) -> Vec<String> {
    let mut both: Vec<String> = Vec::new();
    for (our, their) in ours.iter().flat_map(|our| theirs.iter().map(move |their| (our, their))) {
        let inner = match (holds(our, their), holds(their, our)) {
            (true, _) => their,
            (_, true) => our,
            (false, false) => continue,
        };
        if !both.contains(inner) {
            both.push(inner.clone());
        }
    }
    both
}

/// Whether a command of one or two words covers everything that another does.
pub fn covers(outer: &str, inner: &str) -> bool {
    let rest = inner.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
