//! Runs one test of a profile: without the sandbox first, since a refusal proves nothing if that fails too.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::foreseen::{Foreseen, foresee};
use super::probe::{self, words};
use super::stage::{NotMade, Ready, World};
use stockade::internal::Surroundings;
use stockade::{Error, Sandbox};
use stockade_policy::policy::Policy;
use stockade_policy::profile::{Attempt, Model, Profile};

/// An attempt takes a moment; one that waits for something is a failure of the probe.
const MAX_LENGTH: Duration = Duration::from_secs(10);

/// The part that all tests of a profile share.
pub struct Bench<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The model endpoints of the profile.
    pub models: &'a [Model],
    /// The caller's environment.
    pub caller: &'a Surroundings,
    /// The root that the caller names.
    pub root: Option<&'a Path>,
    /// This program.
    pub probe: &'a Path,
}

/// The result of a test.
pub struct Found {
    /// How it was determined.
    pub means: Means,
    /// Whether the attempt is allowed; `None` if unknown.
    pub is_allowed: Option<bool>,
    /// The system's answer, or the reason that the attempt wasn't made.
    pub said: String,
    /// The policy's decision; for an attempt that was made only on request.
    pub foreseen: Option<Foreseen>,
}

/// How a result was determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// A confined process made the attempt.
    Sandbox,
    /// The policy decides so.
    Policy,
}

/// The reason that a test couldn't be carried out.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The test's directory couldn't be created.
    #[error("can't make a directory for the tests of `{profile}`")]
    World {
        /// The profile.
        profile: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The probe couldn't be started without the sandbox.
    #[error("can't start the probe `{}`", .probe.display())]
    Probe {
        /// The probe.
        probe: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The run was refused or couldn't be started.
    #[error(transparent)]
    Run(#[from] Error),
}

impl Bench<'_> {
    /// Makes one attempt, if that doesn't change the user's files.
    ///
    /// # Errors
    /// The probe can't be started, bare or confined.
    pub fn test(&self, attempt: &Attempt) -> Result<Found, TrialError> {
        let mut world = self.world()?;
        let ready = match world.prepare(attempt) {
            Ok(ready) => ready,
            Err(NotMade(reason)) => return self.by_policy(&world, attempt, reason),
        };
        if let Some(said) = self.fails_bare(&world, attempt, &ready)? {
            return Ok(Found {
                means: Means::Sandbox,
                is_allowed: None,
                said: format!("it fails without the sandbox too: {said}"),
                foreseen: None,
            });
        }
        // The bare attempt may have consumed its target.
        drop((ready, world));
        let mut world = self.world()?;
        match world.prepare(attempt) {
            Ok(ready) => self.confined(&world, attempt, &ready),
            Err(NotMade(reason)) => self.by_policy(&world, attempt, reason),
        }
    }

    fn world(&self) -> Result<World, TrialError> {
        match self.root {
            Some(root) => Ok(World::given(root, self.caller)),
            None => World::make(self.profile, self.caller).map_err(|source| TrialError::World {
                profile: self.profile.name.clone(),
                source,
            }),
        }
    }

    fn sandbox(&self, world: &World) -> Sandbox {
        Sandbox::of(self.profile.clone(), world.surroundings.clone(), self.models.to_vec())
            .root(&world.root)
            .time_limit(MAX_LENGTH)
    }

    fn policy(&self, world: &World) -> Result<Policy, Error> {
        Ok(self.sandbox(world).command(self.probe).prepare()?.policy)
    }

    fn by_policy(&self, world: &World, attempt: &Attempt, reason: &str) -> Result<Found, TrialError> {
        let foreseen = foresee(&self.policy(world)?, attempt, &target_path(world, attempt), "");
        Ok(Found {
            means: Means::Policy,
            is_allowed: Some(foreseen.is_allowed),
            said: reason.to_string(),
            foreseen: Some(foreseen),
        })
    }

    /// The system's error if the attempt fails even unconfined.
    fn fails_bare(&self, world: &World, attempt: &Attempt, ready: &Ready) -> Result<Option<String>, TrialError> {
        let ended = Command::new(self.probe)
            .args(words(attempt, &ready.target, &ready.value))
            .env_clear()
            .envs(world.surroundings.environment.iter().cloned())
            .current_dir(&world.root)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .map_err(|source| TrialError::Probe {
                probe: self.probe.to_path_buf(),
                source,
            })?;
        let is_done = ended.status.code() == Some(i32::from(probe::DONE));
        Ok((!is_done).then(|| match ended.stdout.as_slice() {
            [] => ended.status.to_string(),
            said => text(said),
        }))
    }

    fn confined(&self, world: &World, attempt: &Attempt, ready: &Ready) -> Result<Found, TrialError> {
        let mut command = self.sandbox(world).command(self.probe);
        command.args(words(attempt, &ready.target, &ready.value) as [OsString; 5]);
        let ended = command.output()?;
        let is_allowed = match ended.outcome.exit_code() {
            probe::DONE => Some(true),
            probe::REFUSED => Some(false),
            _ => None,
        };
        let said = match is_allowed {
            Some(_) => text(&ended.stdout),
            None => format!("the probe ended with exit code {}", ended.outcome.exit_code()),
        };
        Ok(Found {
            means: Means::Sandbox,
            is_allowed,
            said,
            foreseen: None,
        })
    }

    /// The policy's decision on an attempt that was made, to explain its result.
    ///
    /// # Errors
    /// The run would be refused.
    pub fn foresee(&self, attempt: &Attempt) -> Result<Foreseen, TrialError> {
        let mut world = self.world()?;
        let ready = world.prepare(attempt);
        let value = ready.as_ref().map_or("", |ready| ready.value.as_str());
        let path = target_path(&world, attempt);
        Ok(foresee(&self.policy(&world)?, attempt, &path, value))
    }
}

fn target_path(world: &World, attempt: &Attempt) -> PathBuf {
    match attempt {
        Attempt::Path(_, spec) => world.path(spec),
        _ => PathBuf::new(),
    }
}

/// The probe's output; a program that it executed may have added to it.
fn text(bytes: &[u8]) -> String {
    const MAX_LENGTH: usize = 200;
    String::from_utf8_lossy(bytes).chars().take(MAX_LENGTH).collect()
}
