//! The identity of a run: profile, capabilities, mode and scope, from the agent's configuration and the flags.

use std::path::PathBuf;

use super::REFUSED;
use super::args::Run;
use super::layers::{Here, UnknownAgent};
use super::message::{Failure, inform, note};
use stockade::Sandbox;
use stockade_judge::{Call, Decision, Judge};
use stockade_policy::config::Agent;
use stockade_policy::policy::{Capabilities, Mode, Role};
use stockade_policy::profile::visible;
use stockade_text::quote::command_line;

/// The profile without a name: it grants nothing.
pub const LOWEST: &str = "minimal";

/// Settings of a run beside its grants.
pub struct Acting {
    /// The profile.
    pub profile: String,
    role: Role,
    /// The hash that the profile has to have.
    digest: Option<String>,
    /// The real path of the root whose configuration was read.
    root: Option<PathBuf>,
    /// The sandbox of a profile that was loaded beforehand, for any number of runs.
    loaded: Option<Sandbox>,
}

/// Hint for the name of an undeclared tool.
const DECLARE: &str = "declare it as `[tools.NAME]` in `config.toml`";

/// Refuses to run as a tool a command that `check` denies.
fn refuse_what_is_denied(run: &Run, tool: &str, agent: Option<&Agent>, here: &Here) -> Result<(), Failure> {
    let judge = Judge::new(here.layers.permissions(), here.layers.tools(), &here.root);
    let call = Call {
        tool: tool.to_string(),
        command: Some(command_line(&run.command)),
        skill_name: None,
    };
    let answer = judge.tool(agent, &call, &here.root);
    match answer.decision {
        Decision::Deny => {
            let reason = visible(&answer.reason).into_owned();
            let failure = Failure::text(REFUSED, format!("Permission denied: {reason}"));
            Err(match here.layers.tool(tool) {
                Some(_) => failure,
                None => failure.hint(DECLARE),
            })
        }
        Decision::Allow | Decision::Confirm => Ok(()),
    }
}

impl Acting {
    /// Combines the flags with the configuration of the agent that they name.
    ///
    /// # Errors
    /// A configuration can't be read, or has faults; the agent or the tool isn't declared.
    pub fn of(run: &Run) -> Result<Acting, Failure> {
        let mut acting = Acting {
            profile: LOWEST.into(),
            role: Role::WHOLE,
            digest: run.profile_digest.clone(),
            root: None,
            loaded: None,
        };
        if run.agent.is_some() || run.tool.is_some() {
            acting.take_configured(run, &Here::load(run.root.as_deref())?)?;
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
            note(
                "DANGER: mode `bypass` ignores the agent's scope and allows granted changes without a question; use it only for tests",
            );
        }
        Ok(acting)
    }

    /// The same for `stockade run`: where the flags say nothing, by the configuration's profile for runs.
    ///
    /// # Errors
    /// As of [`Acting::of`].
    pub fn of_run(run: &Run) -> Result<Acting, Failure> {
        let mut acting = Acting::of(run)?;
        let is_plain = run.profile.is_none() && run.agent.is_none() && run.tool.is_none();
        let Some(here) = is_plain
            .then(|| Here::if_open(run.root.as_deref()))
            .transpose()?
            .flatten()
        else {
            return Ok(acting);
        };
        if let Some((profile, origin)) = here.layers.run_profile() {
            inform(&format!("runs under `{profile}`, by {}", visible(&origin.to_string())));
            acting.profile = profile.to_owned();
            acting.root = Some(here.root.clone());
        }
        let untrusted = here
            .layers
            .missing_lines()
            .into_iter()
            .find(|line| line.text.starts_with("run."));
        if let Some(line) = untrusted {
            note(&format!(
                "`{}` doesn't count, since the project isn't trusted: `stockade trust` shows it",
                visible(&line.text)
            ));
        }
        Ok(acting)
    }

    fn take_configured(&mut self, run: &Run, here: &Here) -> Result<(), Failure> {
        self.root = Some(here.root.clone());
        let name = run.agent.as_ref();
        let agent = name
            .map(|name| UnknownAgent::or_agent(&here.layers, name))
            .transpose()?;
        if let Some(agent) = &agent {
            self.profile = agent.profile().to_string();
            self.role = agent.role();
        }
        let Some(name) = &run.tool else { return Ok(()) };
        refuse_what_is_denied(run, name, agent.as_ref(), here)?;
        let Some(tool) = here.layers.tool(name) else {
            let message = format!("the tool `{}` isn't declared", visible(name));
            return Err(Failure::text(REFUSED, message).hint(DECLARE));
        };
        if let Some(profile) = tool.profile {
            self.profile = profile;
        }
        if let Some(needed) = tool.capabilities {
            self.role.capabilities &= needed;
        }
        Ok(())
    }

    /// The same with another profile.
    pub fn under(&self, profile: &str) -> Acting {
        Acting {
            profile: profile.to_string(),
            role: self.role.clone(),
            digest: None,
            root: self.root.clone(),
            loaded: None,
        }
    }

    /// Loads the profile now: whatever becomes of its files, all runs have it as it is.
    ///
    /// # Errors
    /// The profile isn't known, has faults, or isn't the one that was chosen.
    pub fn resolved(self) -> Result<Acting, Failure> {
        let loaded = Some(self.load()?);
        Ok(Acting { loaded, ..self })
    }

    /// The sandbox of the profile alone, if it was loaded beforehand.
    pub fn loaded(&self) -> Option<&Sandbox> {
        self.loaded.as_ref()
    }

    /// Refuses a sandbox with another root than that whose configuration was read: a run may have moved the name in between.
    ///
    /// # Errors
    /// It has another, or its root can't be used.
    pub fn refuse_other_root(&self, sandbox: &Sandbox) -> Result<(), Failure> {
        match &self.root {
            Some(root) => Ok(sandbox.refuse_other_root(root)?),
            None => Ok(()),
        }
    }

    /// The sandbox under the profile, limited to what the role has.
    pub fn sandbox(&self) -> Result<Sandbox, Failure> {
        let loaded = self.loaded.clone().map_or_else(|| self.load(), Ok)?;
        Ok(loaded.role(self.role.clone()))
    }

    fn load(&self) -> Result<Sandbox, Failure> {
        let sandbox = Sandbox::profile(&self.profile)?;
        let is_it = |digest: &String| *digest == sandbox.loaded_profile().digest();
        if self.digest.as_ref().is_none_or(is_it) {
            return Ok(sandbox);
        }
        let message = format!(
            "the profile `{}` has changed since it was chosen",
            visible(&self.profile)
        );
        Err(Failure::text(REFUSED, message).hint("start the server again to use it as it is now"))
    }
}
