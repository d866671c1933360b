//! The parts of a policy that this machine, or this release, can't enforce.

use std::fmt;
use std::str::FromStr;

use super::calls::Sockets;
use super::{Ability, LANDLOCK_SCOPE_ABI, SupervisorAbility, files};
use crate::policy::{Access, Capabilities, GrantExtent, NetworkPolicy, Policy};

/// A named gap. A run that has one is refused unless the user accepted it by this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shortfall {
    /// Guarantees that need the supervisor: denied patterns inside granted trees, metadata, unix sockets by path,
    /// processes counted as they are created.
    Supervisor,
    /// Hosts can't be told apart without a supervisor of the run's own; accepted, the run has no network.
    Network,
    /// Signals to the user's other processes (before Landlock ABI 6, without a supervisor).
    Signals,
}

impl Shortfall {
    /// All of them.
    pub const ALL: [Shortfall; 3] = [Shortfall::Supervisor, Shortfall::Network, Shortfall::Signals];

    /// The name that `--accept-shortfall` takes.
    pub fn name(self) -> &'static str {
        match self {
            Shortfall::Supervisor => "supervisor",
            Shortfall::Network => "network",
            Shortfall::Signals => "signals",
        }
    }

    /// The guarantees that a run with this shortfall lacks.
    pub fn consequence(self) -> &'static str {
        match self {
            Shortfall::Supervisor => {
                "inside the granted trees secret patterns, guarded files and `--deny` don't hold, and neither \
                 do limits on metadata, unix sockets and a small number of processes; what `ps` shows of other \
                 processes can be read"
            }
            Shortfall::Network => "the run has no network at all",
            Shortfall::Signals => "the run can send signals to your other processes",
        }
    }

    /// The promises that a run with this shortfall lacks, by their ids in `docs/promises.md`; a part of that page by its
    /// name alone.
    pub fn promises(self) -> &'static [&'static str] {
        match self {
            Shortfall::Supervisor => &[
                "files.5",
                "files.14",
                "secrets",
                "guarded",
                "sockets.1",
                "sockets.3",
                "processes.6",
                "processes.7",
                "limits.2",
            ],
            Shortfall::Network => &[],
            Shortfall::Signals => &["processes.1", "processes.2", "processes.3"],
        }
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Shortfall {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|shortfall| shortfall.name() == name)
            .ok_or_else(|| {
                let known: Vec<_> = Self::ALL.iter().map(|shortfall| shortfall.name()).collect();
                format!("unknown shortfall `{name}`; there are {}", known.join(", "))
            })
    }
}

/// A shortfall and the parts of the policy that need more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub shortfall: Shortfall,
    /// The parts of the policy that need it, one line each.
    pub because: Vec<String>,
}

/// The names, for a message.
pub fn names(missing: &[Missing]) -> String {
    let names: Vec<_> = missing
        .iter()
        .map(|missing| format!("`{}`", missing.shortfall))
        .collect();
    names.join(", ")
}

/// All shortfalls of a policy on a machine.
pub fn find(policy: &Policy, ability: Ability) -> Vec<Missing> {
    let mut found = Vec::new();
    let mut note = |shortfall, because: Vec<String>| {
        if !because.is_empty() {
            found.push(Missing { shortfall, because });
        }
    };
    if ability.supervisor == SupervisorAbility::None {
        note(Shortfall::Supervisor, needs_supervisor(policy, ability));
    }
    if super::sockets(policy) == Sockets::Hosts && ability.supervisor != SupervisorAbility::Own {
        note(Shortfall::Network, needs_network(policy, ability));
    }
    if ability.landlock_abi < LANDLOCK_SCOPE_ABI && ability.supervisor == SupervisorAbility::None {
        note(
            Shortfall::Signals,
            vec![format!(
                "Landlock ABI {} can't scope signals (ABI {LANDLOCK_SCOPE_ABI}, Linux 6.12, can), and without a \
                 supervisor they aren't judged",
                ability.landlock_abi
            )],
        );
    }
    found
}

/// The hosts and ports that a policy names.
fn needs_network(policy: &Policy, ability: Ability) -> Vec<String> {
    let why = match ability.supervisor {
        SupervisorAbility::Outer => "and inside another run they can't be told apart",
        SupervisorAbility::Own | SupervisorAbility::None => "and they can't be told apart here",
    };
    let mut because = Vec::new();
    if let NetworkPolicy::Hosts(hosts) = &policy.reach
        && !hosts.is_empty()
    {
        let names: Vec<_> = hosts.iter().map(|host| host.pattern.to_string()).collect();
        because.push(format!("hosts are named: {}, {why}", names.join(", ")));
    }
    if !policy.listen.is_empty() {
        let ports: Vec<_> = policy.listen.iter().map(|grant| grant.port.to_string()).collect();
        because.push(format!("ports are listened on: {}, {why}", ports.join(", ")));
    }
    because
}

/// The parts of a policy that only the supervisor can enforce. Trees that are only read are granted file by file at
/// launch, so their secrets stay closed without it, unless a tree is too large for that.
fn needs_supervisor(policy: &Policy, ability: Ability) -> Vec<String> {
    let chosen = policy.grants.iter().filter(|grant| grant.is_chosen());
    let mut because: Vec<_> = chosen
        .filter_map(|grant| {
            let path = grant.path.display();
            if grant.access.intersects(Access::CHANGE) {
                Some(format!("`{path}` may be written ({})", grant.origin))
            } else if grant.extent == GrantExtent::Subtree && is_too_large(&grant.path) {
                Some(format!("all of `{path}` may be read ({})", grant.origin))
            } else {
                None
            }
        })
        .collect();
    if policy.reach == NetworkPolicy::Everything {
        because.push("every host may be reached, so unix sockets have to be told apart".into());
    }
    if super::counts_processes(policy, ability) {
        because.push("processes are limited, and no control group is delegated here".into());
    }
    if !policy.capabilities.contains(Capabilities::EXECUTE) {
        because.push("without EXECUTE only a supervisor lets the first program through alone".into());
    }
    because.extend(
        files::globs_into_found_trees(policy)
            .map(|denial| format!("{} closes part of a tree of the runtime base", denial.origin)),
    );
    because.sort();
    because.dedup();
    because
}

/// Whether a tree is too large to be granted file by file.
pub(super) fn is_too_large(path: &std::path::Path) -> bool {
    const WHOLE_SYSTEMS: &[&str] = &["/", "/home", "/var", "/proc", "/sys", "/dev", "/run"];
    WHOLE_SYSTEMS.iter().any(|tree| path == std::path::Path::new(tree))
}
