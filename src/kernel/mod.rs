//! What this machine can enforce: asked of the kernel itself, never guessed from its version.

mod facts;

pub use facts::{Facts, Finding, Level, gather};

use crate::plan::Ability;
use crate::sys::{confine, notify};

/// What the plan compiler has to know, at the price of three system calls.
pub fn ability(control_group: bool) -> Ability {
    const SECCOMP_RET_ERRNO: u32 = 0x0005_0000;
    Ability {
        landlock_abi: confine::landlock_abi().unwrap_or(0),
        seccomp: confine::seccomp_action_available(SECCOMP_RET_ERRNO),
        control_group,
        supervisor: notify::is_available(),
    }
}
