//! The differences between two policies: the accesses that one allows and the other doesn't.
//!
//! A grant that a wider one of the other side covers is no difference, and neither is one that opens nothing more: each
//! line about files has a *witness*, a path that one side opens and the other doesn't.

mod files;
mod network;
mod sample;

use std::fmt;

use super::{Policy, environment};
use crate::profile::{Limits, Origin, Pass, Profile, duration_text, size_text};

/// A profile with its policy for one run. Two that are compared belong to the same root, home and command.
#[derive(Debug, Clone, Copy)]
pub struct Meaning<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The policy it resolves to.
    pub policy: &'a Policy,
}

/// The differences between two profiles, in both directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differences {
    /// The powers that only the second has.
    pub widens: Vec<Power>,
    /// The powers that only the first has.
    pub narrows: Vec<Power>,
}

impl Differences {
    /// Whether both profiles allow the same.
    pub fn are_none(&self) -> bool {
        self.widens.is_empty() && self.narrows.is_empty()
    }
}

/// A power that one side has and the other lacks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Power {
    /// The kind of power.
    pub kind: PowerKind,
    /// The target, as text.
    pub target: String,
    /// The line that grants it; for [`PowerKind::Undenied`] the other side's line that denies it.
    pub origin: Option<Origin>,
}

/// The kinds of powers, in listing order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PowerKind {
    /// Reading a tree or file.
    Read,
    /// Changing a tree or file.
    Write,
    /// Executing its programs.
    Exec,
    /// Access to paths that a denial of the other side closes.
    Undenied,
    /// Every host, or sockets at all.
    Network,
    /// A host.
    Host,
    /// Language models, with their keys.
    Llm,
    /// Listening on a port.
    Listen,
    /// A unix socket.
    Socket,
    /// A group of the caller's variables.
    Environment,
    /// One of the caller's variables.
    Variable,
    /// A scratch directory.
    Scratch,
    /// A higher limit, or none.
    Limit,
    /// A system call.
    SystemCall,
}

impl fmt::Display for PowerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PowerKind::Read => "read",
            PowerKind::Write => "write",
            PowerKind::Exec => "exec",
            PowerKind::Undenied => "undenied",
            PowerKind::Network => "network",
            PowerKind::Host => "host",
            PowerKind::Llm => "llm",
            PowerKind::Listen => "listen",
            PowerKind::Socket => "socket",
            PowerKind::Environment => "environment",
            PowerKind::Variable => "variable",
            PowerKind::Scratch => "scratch",
            PowerKind::Limit => "limit",
            PowerKind::SystemCall => "system-call",
        })
    }
}

/// Compares `b` to `a`.
pub fn differences(a: Meaning<'_>, b: Meaning<'_>) -> Differences {
    Differences {
        widens: beyond(a, b),
        narrows: beyond(b, a),
    }
}

/// The powers that `wide` has and `narrow` lacks.
fn beyond(narrow: Meaning<'_>, wide: Meaning<'_>) -> Vec<Power> {
    let mut powers = Vec::new();
    files::compare(narrow.policy, wide.policy, &mut powers);
    network::compare(narrow, wide, &mut powers);
    variables(narrow.profile, wide.profile, &mut powers);
    if wide.policy.scratch && !narrow.policy.scratch {
        powers.push(power(PowerKind::Scratch, "HOME and TMPDIR of its own", None));
    }
    limits(&narrow.policy.limits, &wide.policy.limits, &mut powers);
    for call in &wide.profile.system_calls {
        if !narrow.policy.system_calls.contains(&call.value) {
            powers.push(power(PowerKind::SystemCall, &call.value, Some(&call.origin)));
        }
    }
    powers.sort();
    powers.dedup();
    powers
}

fn power(kind: PowerKind, target: impl Into<String>, origin: Option<&Origin>) -> Power {
    Power {
        kind,
        target: target.into(),
        origin: origin.cloned(),
    }
}

fn variables(narrow: &Profile, wide: &Profile, powers: &mut Vec<Power>) {
    let (few, many) = (narrow.environment.pass, wide.environment.pass);
    if many > few {
        let target = match many {
            Pass::None | Pass::Limited => "a short list of the caller's",
            Pass::All => "the caller's, but what looks like a secret",
        };
        powers.push(power(PowerKind::Environment, target, None));
    }
    for rule in &wide.environment.names {
        if !environment::passes(narrow, rule.value.as_ref()) {
            powers.push(power(PowerKind::Variable, &rule.value, Some(&rule.origin)));
        }
    }
}

fn limits(narrow: &Limits, wide: &Limits, powers: &mut Vec<Power>) {
    let duration = |one: Option<std::time::Duration>| one.map(|time| (time.as_nanos(), duration_text(time)));
    let size = |one: Option<u64>| one.map(|bytes| (u128::from(bytes), size_text(bytes)));
    let count = |one: Option<u64>| one.map(|count| (u128::from(count), count.to_string()));
    for (name, few, many) in [
        ("time", duration(narrow.time), duration(wide.time)),
        ("cpu", duration(narrow.cpu), duration(wide.cpu)),
        ("memory", size(narrow.memory), size(wide.memory)),
        ("processes", count(narrow.processes), count(wide.processes)),
        ("open-files", count(narrow.open_files), count(wide.open_files)),
        ("file-size", size(narrow.file_size), size(wide.file_size)),
        ("disk", size(narrow.disk), size(wide.disk)),
        ("output", size(narrow.output), size(wide.output)),
    ] {
        let (Some((few, limit)), many) = (few, many) else {
            continue;
        };
        let target = match many {
            None => format!("no {name} limit in place of {limit}"),
            Some((many, more)) if many > few => format!("{name} {more} in place of {limit}"),
            Some(_) => continue,
        };
        powers.push(power(PowerKind::Limit, target, None));
    }
}
