//! The machine's enforcement features: queried from the kernel itself, never guessed from its version.

mod facts;
mod landlock;
mod unsupervised;

pub use facts::{Facts, Finding, Level, NO_SECCOMP, gather};
pub use landlock::Absence;
pub use unsupervised::Unsupervised;

use crate::plan::{Ability, Grouped, SupervisorAbility};
use stockade_sys::{confine, other, outer, process};

/// The features that the plan compiler needs, at the cost of a few system calls; inside a run some more.
pub fn ability(control_group: Grouped) -> Ability {
    const SECCOMP_RET_ERRNO: u32 = 0x0005_0000;
    Ability {
        landlock_abi: landlock_abi().unwrap_or(0),
        seccomp: confine::seccomp_action_available(SECCOMP_RET_ERRNO),
        control_group,
        supervisor: supervisor(),
        takes_descriptors: other::takes_descriptors(),
    }
}

/// The memory available to this process in bytes: the machine's, or the container's if its control group has less.
pub fn memory() -> Option<u64> {
    let machine = process::machine_memory()?.total;
    // Version 2 and version 1.
    const LIMITS: [&str; 2] = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let limits = LIMITS.iter().filter_map(|file| facts::first_line(file)?.parse().ok());
    let group: Option<u64> = limits.min();
    Some(group.map_or(machine, |group| machine.min(group)))
}

/// Landlock's ABI. Builds with debug assertions take an older one from `STOCKADE_TEST_LANDLOCK_ABI`, and use nothing
/// that it lacks.
fn landlock_abi() -> std::io::Result<i32> {
    let abi = confine::landlock_abi()?;
    if cfg!(debug_assertions)
        && let Some(older) = std::env::var("STOCKADE_TEST_LANDLOCK_ABI").ok()
        && let Ok(older) = older.parse::<i32>()
    {
        return Ok(abi.min(older));
    }
    Ok(abi)
}

/// Inside a run, a listener of its own is refused; then the outer run is asked. `None` only if it is certain that
/// nothing answers: what an outer supervisor would answer on behalf isn't narrowed by Landlock and filter.
pub fn supervisor() -> SupervisorAbility {
    match Unsupervised::find() {
        None => return SupervisorAbility::Own,
        Some(Unsupervised::Unreadable) => return SupervisorAbility::None,
        Some(Unsupervised::Unknown | Unsupervised::Refused) => {}
    }
    match outer::connect() {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ECONNREFUSED | libc::EPERM)) => SupervisorAbility::None,
        _ => SupervisorAbility::Outer,
    }
}
