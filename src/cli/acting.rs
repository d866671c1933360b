//! Whom a run acts for: what an agent's configuration and the flags say of profile, capabilities, mode and scope.

use std::path::Path;

use super::args::Run;
use super::layers::Here;
use super::message::{Failure, note};
use crate::Sandbox;
use crate::policy::{Capabilities, Mode, Role};

/// Without a profile's name nothing is granted.
pub const LOWEST: &str = "minimal";

/// What counts for a run beside its grants.
pub struct Acting {
    /// The profile.
    pub profile: String,
    role: Role,
}

impl Acting {
    /// From the flags, and what is configured for the agent that they name. One that nobody configured is a name alone.
    ///
    /// # Errors
    /// A configuration can't be read, or has faults.
    pub fn of(run: &Run) -> Result<Acting, Failure> {
        let mut acting = Acting {
            profile: LOWEST.into(),
            role: Role::WHOLE,
        };
        if let Some(name) = &run.agent {
            acting.take_agent(name, run.root.as_deref())?;
        }
        if let Some(profile) = &run.profile {
            acting.profile.clone_from(profile);
        }
        if !run.cap.is_empty() {
            let named = run.cap.iter().fold(Capabilities::empty(), |all, one| all | *one);
            acting.role.capabilities &= named;
        }
        if let Some(mode) = run.mode {
            acting.role.mode = mode;
        }
        if acting.role.mode == Mode::Bypass {
            note("DANGER: mode `bypass`: the agent's scope doesn't count and no change asks; for tests alone");
        }
        Ok(acting)
    }

    fn take_agent(&mut self, name: &str, root: Option<&Path>) -> Result<(), Failure> {
        if let Some(agent) = Here::load(root)?.layers.agent(name) {
            self.profile = agent.profile().to_string();
            self.role = agent.role();
        }
        Ok(())
    }

    /// The sandbox under the profile, as far as the role has it.
    pub fn sandbox(&self) -> Result<Sandbox, Failure> {
        Ok(Sandbox::profile(&self.profile)?.role(self.role.clone()))
    }
}
