//! How a policy is enforced on this kernel: Landlock rules, the seccomp program, limits. Pure data.
//!
//! `compile` either makes a plan that enforces the whole policy, or names the shortfalls. It opens nothing and queries
//! nothing; `launch` carries a plan out.

pub mod calls;
mod files;
pub mod filter;
mod reads;
mod shortfall;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use calls::Trace;
pub use files::{
    Cover, FileRule, Handled, Links, WorkersRule, is_looked_through, rights_of_own_proc, rights_on_behalf,
    rights_on_entries,
};
pub use reads::{KeptExact, Opening, Part, Reads, is_too_large, kept_exact, must_be_open};
pub use shortfall::{Missing, Shortfall};
pub use stockade_sys::confine::Instruction;

use crate::policy::{Access, Asks, Capabilities, NetworkPolicy, Policy};
use crate::profile::Limits;
use calls::{Allocating, Cutting, Memfds, Signals, Spawning, Truncation, Unjudged};
use files::Rights;
use filter::Architecture;

/// The facts about the machine that the compiler needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ability {
    /// The kernel's Landlock ABI, 0 where there is none.
    pub landlock_abi: i32,
    /// Whether the kernel supports seccomp filters.
    pub seccomp: bool,
    /// The resources that a control group of the run's own can count.
    pub control_group: Grouped,
    /// Who can supervise the run.
    pub supervisor: SupervisorAbility,
    /// Whether a supervisor can take a copy of a process's descriptor (pidfd_getfd(2)).
    pub takes_descriptors: bool,
}

/// The resources that the kernel counts in a control group of the run's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouped {
    /// There is no such group.
    #[default]
    Nothing,
    /// Processes and threads: version 1.
    Processes,
    /// Those and memory: version 2.
    All,
}

impl Grouped {
    /// Whether it counts memory.
    pub fn memory(self) -> bool {
        self == Grouped::All
    }

    /// Whether it counts processes and threads.
    pub fn processes(self) -> bool {
        self != Grouped::Nothing
    }

    /// Whether it counts a resource that is limited.
    pub fn is_useful(self, limits: &Limits) -> bool {
        self.memory() && limits.memory.is_some() || self.processes() && limits.processes.is_some()
    }
}

/// Who judges calls that Landlock and the filter can't.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupervisorAbility {
    /// The run's own: the kernel has user notification.
    Own,
    /// The outer run's, since a tree can have one listener. It is asked to narrow this run.
    Outer,
    /// None.
    None,
}

/// A policy compiled for one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The rights that the Landlock ruleset handles.
    pub handled: Handled,
    /// The rules of that ruleset.
    pub rules: Vec<FileRule>,
    /// Chosen trees that the rules open whole for reading: Landlock alone judges all reads.
    pub native: Vec<PathBuf>,
    /// The workers' additional rules, if there is a supervisor.
    pub workers_rules: Vec<WorkersRule>,
    /// The workers' rights on the scratch directory and the cache.
    pub workers_private: u64,
    /// The target's rights on a cache, if the run may have one: the supervisor does the writing there.
    pub cache: Option<u64>,
    /// Rights on the target's own `/proc` directory.
    pub own_proc_rights: u64,
    /// The seccomp program.
    pub filter: Vec<Instruction>,
    /// The target's environment, without a `HOME` and `TMPDIR` of its own.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether `HOME` and `TMPDIR` are the run's own: a scratch directory, or one that doesn't exist.
    pub home: Home,
    /// Whether programs may be started from the scratch directory, as from `/tmp`, which it replaces.
    pub scratch_executes: bool,
    /// The working directory.
    pub directory: PathBuf,
    /// Limits of the tree.
    pub limits: Limits,
    /// The resources that a control group limits.
    pub control_group: Grouped,
    /// Who supervises.
    pub supervisor: SupervisorAbility,
    /// The supervisor's tasks; `None` without one.
    pub supervision: Option<Supervision>,
    /// Whether hosts are named, so that the run needs a resolver and a relay.
    pub network: bool,
    /// The guarantees that are missing, each accepted by name.
    pub shortfalls: Vec<Missing>,
}

/// The decisions that the supervisor may leave to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supervision {
    /// Who judges reading.
    pub reading: Reading,
    /// Who judges read-only opens.
    pub trace: Trace,
    /// The ruleset's ABI: accesses that Landlock can't judge yet are done on behalf.
    pub landlock_abi: i32,
}

/// Who judges reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Landlock refuses every read that the policy refuses. An open may be continued.
    Landlock,
    /// Landlock grants more than the policy, since executing a file needs the right to read it. No reading open is
    /// continued.
    Supervisor,
}

/// The values of `HOME` and `TMPDIR`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// The caller's, from the environment.
    Callers,
    /// A scratch directory, removed with the run.
    Scratch,
    /// A directory that doesn't exist.
    Nowhere,
}

/// The reason why a policy can't be enforced on this machine.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// No Landlock: nothing can be contained.
    #[error("this kernel enforces no Landlock rules")]
    NoLandlock,
    /// No seccomp filters.
    #[error("this kernel takes no seccomp filters")]
    NoSeccomp,
    /// This machine can't enforce the whole policy, and the gap wasn't accepted.
    #[error("this machine can't enforce all of the profile: {}", shortfall::names(.0))]
    Shortfall(Vec<Missing>),
    /// A profile adds a call that doesn't exist here.
    #[error("this machine has no system call `{0}`")]
    UnknownCall(String),
    /// The filter can't be made: a call that may never be added, or a program that is too long.
    #[error(transparent)]
    Calls(#[from] calls::CallsError),
    /// The program is too long for the kernel.
    #[error(transparent)]
    Filter(#[from] filter::FilterError),
}

/// Compiles a policy. `accepted` are the shortfalls that the user named; `reads` says who judges read-only opens.
///
/// # Errors
/// The policy can't be enforced here and the gap isn't accepted; a call table or filter can't be made.
pub fn compile(policy: &Policy, ability: Ability, accepted: &[Shortfall], reads: Reads<'_>) -> Result<Plan, PlanError> {
    if ability.landlock_abi < 1 {
        return Err(PlanError::NoLandlock);
    }
    if !ability.seccomp {
        return Err(PlanError::NoSeccomp);
    }
    let missing = shortfall::find(policy, ability);
    let refused: Vec<_> = missing
        .iter()
        .filter(|missing| !accepted.contains(&missing.shortfall))
        .cloned()
        .collect();
    if !refused.is_empty() {
        return Err(PlanError::Shortfall(refused));
    }
    let watch = watch(policy, ability, &missing, reads.trace());
    let rights = Rights::new(ability.landlock_abi);
    Ok(Plan {
        handled: Handled::new(ability.landlock_abi, sockets_on(policy, ability)),
        rules: files::rules(policy, &rights, watch, reads),
        native: reads.trees(policy).map(Path::to_path_buf).collect(),
        workers_rules: match watch {
            Watch::Supervised(_) => files::workers_rules(policy, &rights),
            Watch::Alone | Watch::None => Vec::new(),
        },
        workers_private: rights.of_writing_workers(),
        cache: keeps_cache(policy, watch).then(|| rights.of_cache(reads.trace())),
        own_proc_rights: match watch {
            Watch::Supervised(_) => 0,
            Watch::Alone | Watch::None => rights_of_own_proc(),
        },
        filter: program(policy, ability, watch)?,
        environment: environment(policy, reads),
        home: home(policy),
        scratch_executes: executes(policy, "/tmp"),
        directory: policy.root.clone(),
        limits: policy.limits,
        control_group: match ability.control_group {
            group if group.is_useful(&policy.limits) => group,
            _ => Grouped::Nothing,
        },
        supervisor: ability.supervisor,
        supervision: match watch {
            Watch::Supervised(supervision) => Some(supervision),
            Watch::Alone | Watch::None => None,
        },
        network: sockets_on(policy, ability) == calls::Sockets::Hosts,
        shortfalls: missing,
    })
}

/// The target's environment: where Landlock alone judges marked reads, with the object that marks them. No profile and no
/// flag can pass this variable.
fn environment(policy: &Policy, reads: Reads<'_>) -> Vec<(OsString, OsString)> {
    let object = matches!(reads, Reads::Marked(_)).then(|| ("LD_PRELOAD".into(), stockade_preload::PATH.into()));
    policy.environment.clone().into_iter().chain(object).collect()
}

/// Who enforces what Landlock and the filter can't.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// None: nothing of the kind is requested, or it is refused.
    Alone,
    /// None, which was accepted by name.
    None,
    /// The supervisor.
    Supervised(Supervision),
}

fn watch(policy: &Policy, ability: Ability, missing: &[Missing], trace: Trace) -> Watch {
    if ability.supervisor != SupervisorAbility::None {
        Watch::Supervised(Supervision {
            // Marked reads are Landlock's by the same proof.
            reading: match trace {
                Trace::Marked => Reading::Landlock,
                Trace::Exact => files::reading(policy),
            },
            trace,
            landlock_abi: ability.landlock_abi,
        })
    } else if missing.iter().any(|missing| missing.shortfall == Shortfall::Supervisor) {
        Watch::None
    } else {
        Watch::Alone
    }
}

/// The sockets that a policy requests. An empty list of hosts is no network, unless more may be asked for.
fn sockets(policy: &Policy) -> calls::Sockets {
    match &policy.reach {
        NetworkPolicy::Everything => calls::Sockets::All,
        NetworkPolicy::Nothing | NetworkPolicy::Hosts(_) if policy.asks == Asks::All => calls::Sockets::Hosts,
        NetworkPolicy::Hosts(hosts) if !hosts.is_empty() => calls::Sockets::Hosts,
        NetworkPolicy::Nothing | NetworkPolicy::Hosts(_) if policy.listen.is_empty() => calls::Sockets::None,
        NetworkPolicy::Nothing | NetworkPolicy::Hosts(_) => calls::Sockets::Hosts,
    }
}

/// Whether a policy has internet sockets at all.
pub fn has_network(policy: &Policy) -> bool {
    sockets(policy) != calls::Sockets::None
}

/// The sockets of a run on a machine: only a supervisor of the run's own can tell hosts apart.
fn sockets_on(policy: &Policy, ability: Ability) -> calls::Sockets {
    match sockets(policy) {
        calls::Sockets::Hosts if ability.supervisor != SupervisorAbility::Own => calls::Sockets::None,
        other => other,
    }
}

/// Whether each process is counted as it is created, and one too many refused. With a higher limit, the tree is sampled
/// and a run past it ends: a signal that arrives before the supervisor has received a call interrupts it, and then
/// `fork` fails with `EINTR`, which no other fork does. A shell whose SIGCHLD handler doesn't restart calls (dash) says
/// "Cannot fork" once in some hundred pipelines, too often for a build that is nowhere near the limit.
fn counts_processes(policy: &Policy, ability: Ability) -> bool {
    const MAX: u64 = 256;
    let is_low = policy.limits.processes.is_some_and(|most| most <= MAX);
    is_low && !ability.control_group.processes()
}

/// Linux 6.12: signals and abstract sockets are confined to a domain.
pub const LANDLOCK_SCOPE_ABI: i32 = 6;

fn program(policy: &Policy, ability: Ability, watch: Watch) -> Result<Vec<Instruction>, PlanError> {
    const LANDLOCK_TRUNCATE_ABI: i32 = 3;
    let architecture = Architecture::native().ok_or(PlanError::NoSeccomp)?;
    let posture = calls::Posture {
        unjudged: match watch {
            Watch::Alone => Unjudged::Refused,
            Watch::None => Unjudged::Allowed,
            Watch::Supervised(_) if ability.supervisor == SupervisorAbility::Outer => Unjudged::Outside,
            Watch::Supervised(_) => Unjudged::Supervised,
        },
        sockets: sockets_on(policy, ability),
        maker: match watch {
            Watch::Supervised(_) if !ability.takes_descriptors => calls::Maker::Supervisor,
            _ => calls::Maker::Run,
        },
        memfds: if executes(policy, "/") {
            Memfds::Executable
        } else {
            Memfds::Sealed
        },
        truncation: if ability.landlock_abi < LANDLOCK_TRUNCATE_ABI {
            Truncation::Filter
        } else {
            Truncation::Landlock
        },
        signals: if ability.landlock_abi < LANDLOCK_SCOPE_ABI {
            Signals::Supervisor
        } else {
            Signals::Landlock
        },
        trace: match watch {
            Watch::Supervised(supervision) => supervision.trace,
            Watch::Alone | Watch::None => Trace::Exact,
        },
        cutting: if policy.capabilities.contains(Capabilities::DELETE) {
            Cutting::Free
        } else {
            Cutting::Refused
        },
        allocating: match (policy.limits.disk, policy.limits.file_size) {
            (Some(_), _) => Allocating::Refused,
            (None, Some(_)) => Allocating::Watched,
            (None, None) => Allocating::Free,
        },
        spawning: if !policy.capabilities.contains(Capabilities::SPAWN) {
            Spawning::Refused
        } else if counts_processes(policy, ability) {
            Spawning::Counted
        } else {
            Spawning::Free
        },
        extra: extra_calls(policy, architecture)?,
    };
    let table = calls::table(&posture, architecture)?;
    let mut program = filter::assemble(&table, architecture, calls::UNKNOWN)?;
    if ability.supervisor == SupervisorAbility::Outer {
        filter::leave_to_outer(&mut program);
    }
    Ok(program)
}

fn extra_calls(policy: &Policy, architecture: Architecture) -> Result<Vec<u32>, PlanError> {
    let number = |name: &String| calls::number(name, architecture).ok_or_else(|| PlanError::UnknownCall(name.clone()));
    policy.system_calls.iter().map(number).collect()
}

/// Who judges reading under a policy, judged by its Landlock rules.
pub fn reading(policy: &Policy) -> Reading {
    files::reading(policy)
}

/// Whether programs may be started from everywhere below a path.
pub fn executes(policy: &Policy, path: impl AsRef<Path>) -> bool {
    policy
        .grants
        .iter()
        .any(|grant| grant.access.contains(Access::EXECUTE) && grant.covers(path.as_ref()))
}

/// Whether a run may have a cache: it has a private place to write to, starts programs from such places, and fetches
/// something or works in its root. Only a supervisor keeps a cache's files from being linked outside.
fn keeps_cache(policy: &Policy, watch: Watch) -> bool {
    let is_supervised = matches!(watch, Watch::Supervised(_));
    let is_of_use = policy.reach != NetworkPolicy::Nothing || policy.writes_root();
    let capabilities = Capabilities::READ | Capabilities::WRITE | Capabilities::DELETE;
    is_supervised
        && policy.scratch
        && is_of_use
        && executes(policy, "/tmp")
        && policy.capabilities.contains(capabilities)
}

fn home(policy: &Policy) -> Home {
    if policy.environment.contains_key(std::ffi::OsStr::new("HOME")) {
        Home::Callers
    } else if policy.scratch {
        Home::Scratch
    } else {
        Home::Nowhere
    }
}
