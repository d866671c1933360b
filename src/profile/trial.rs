//! One test of a profile, tried: without the sandbox first, since a refusal proves nothing where that fails too.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::foreseen::{Foreseen, foresee};
use super::probe::{self, words};
use super::stage::{NotMade, Ready, World};
use stockade::policy::Policy;
use stockade::profile::{Attempt, Model, Profile};
use stockade::surroundings::Surroundings;
use stockade::{Error, Sandbox};

/// An attempt takes a moment; one that waits for something is a failure of the probe.
const LONGEST: Duration = Duration::from_secs(10);

/// What is the same for all tests of a profile.
pub struct Bench<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The model endpoints that it means.
    pub models: &'a [Model],
    /// The caller's world.
    pub caller: &'a Surroundings,
    /// The root that the caller names.
    pub root: Option<&'a Path>,
    /// This program.
    pub probe: &'a Path,
}

/// What a test found.
pub struct Found {
    /// How.
    pub means: Means,
    /// Whether the attempt is allowed; `None` where that can't be told.
    pub is_allowed: Option<bool>,
    /// What the system said, or why the attempt wasn't made.
    pub said: String,
    /// What the policy says; of what was tried only where it is asked for.
    pub foreseen: Option<Foreseen>,
}

/// How something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// A confined process tried it.
    Sandbox,
    /// The policy says so.
    Policy,
}

/// Why a test couldn't be carried out at all.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The place for it couldn't be made.
    #[error("can't make a directory for the tests of `{profile}`")]
    World {
        /// The profile.
        profile: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The probe couldn't be started without the sandbox.
    #[error("can't start the probe `{}`", .probe.display())]
    Probe {
        /// The probe.
        probe: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The run was refused or couldn't be started.
    #[error(transparent)]
    Run(#[from] Error),
}

impl Bench<'_> {
    /// Tries one attempt, where it can be made without changing what the user has.
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
        // The bare attempt may have used up what it found.
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
            .time_limit(LONGEST)
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

    /// What the system says where the attempt fails although nothing confines it.
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

    /// What the policy says to an attempt that was made, for who wonders at what came of it.
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

/// What a probe printed; what it executed may have printed more.
fn text(bytes: &[u8]) -> String {
    const LONGEST: usize = 200;
    String::from_utf8_lossy(bytes).chars().take(LONGEST).collect()
}
