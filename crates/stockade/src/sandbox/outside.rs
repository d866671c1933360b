//! Files outside a run that Stockade reads before the next one, writes after it, or executes beside it unconfined: the
//! run may change none of them.

use std::path::{Path, PathBuf};

use super::closed_places;
use super::{Error, Sandbox};
use crate::config::Configuration;
use crate::plan::{Ability, SupervisorAbility};
use crate::policy::{Access, DenialKind, DenialRule, Grant, Policy, Target};
use crate::profile::{Origin, Profile};
use crate::real_path::Walker;

/// A program that Stockade starts unconfined.
struct Unconfined {
    /// The flag or field that names it, as a person wrote it.
    said: &'static str,
    files: Vec<PathBuf>,
}

impl Sandbox {
    /// Keeps the run from changing a file that is written after it, by the kernel's name.
    #[must_use]
    pub fn guard(mut self, path: &Path, flag: &'static str) -> Self {
        self.guarded.push((path.to_path_buf(), flag));
        self
    }

    /// Keeps the run from changing what runs of another sandbox may not: the files of its profile, and those guarded in it.
    #[must_use]
    pub fn guard_as(mut self, other: &Sandbox) -> Self {
        self.guarded.extend(other.guarded.iter().cloned());
        self
    }

    /// The profile, as it was loaded.
    pub fn loaded_profile(&self) -> &Profile {
        &self.profile
    }

    /// The denials that protect all of them.
    ///
    /// # Errors
    /// A program that runs unconfined can't be protected; the user's configuration can't be read.
    pub(super) fn guards(&self, policy: &Policy, ability: Ability) -> Result<Vec<DenialRule>, Error> {
        if ability.supervisor == SupervisorAbility::None {
            // The ruleset would exclude such a file, and nothing could be created beside it.
            return refuse_changeable(policy, &self.guards_of_programs()?).map(|()| Vec::new());
        }
        self.guards_of_all()
    }

    /// The same wherever a supervisor enforces them, or a caller that judges by them.
    ///
    /// # Errors
    /// As [`Sandbox::guards`].
    pub(super) fn guards_of_all(&self) -> Result<Vec<DenialRule>, Error> {
        let files = self.guarded.iter();
        let files = files.map(|(path, flag)| guarded(path, Origin::Flag((*flag).to_string())));
        let mut denials = with_links(files.collect())?;
        denials.extend(self.guards_of_programs()?);
        Ok(denials)
    }

    fn guards_of_programs(&self) -> Result<Vec<DenialRule>, Error> {
        let programs = self.unconfined()?;
        let denials = programs.iter().flat_map(|program| {
            let origin = || Origin::Flag(program.said.to_string());
            program.files.iter().map(move |path| guarded(path, origin()))
        });
        with_links(denials.collect())
    }

    fn unconfined(&self) -> Result<Vec<Unconfined>, Error> {
        let configuration = Configuration::load_if_open(self.surroundings.configuration.as_deref(), None)?;
        let of_configuration = configuration.and_then(|configuration| configuration.on_violation);
        let of_configuration = of_configuration.map(|on_violation| Unconfined {
            said: "on_violation",
            files: on_violation.files(),
        });
        let asked = self.approver_programs();
        let asked = (!asked.is_empty()).then_some(Unconfined {
            said: "--ask",
            files: asked,
        });
        Ok(of_configuration.into_iter().chain(asked).collect())
    }
}

/// The denials, with those for links on the way to their places.
fn with_links(mut denials: Vec<DenialRule>) -> Result<Vec<DenialRule>, Error> {
    let behind = closed_places::behind_links(&denials, &mut Walker::default())?;
    denials.extend(behind);
    Ok(denials)
}

/// A denial that refuses changes of a path.
pub(super) fn guarded(path: &Path, origin: Origin) -> DenialRule {
    DenialRule {
        target: Target::Path(path.to_path_buf()),
        access: Access::CHANGE,
        kind: DenialKind::Guarded,
        origin,
    }
}

fn refuse_changeable(policy: &Policy, denials: &[DenialRule]) -> Result<(), Error> {
    for denial in denials {
        let Target::Path(path) = &denial.target else { continue };
        let covers = |grant: &Grant| grant.access.intersects(Access::CHANGE) && grant.covers(path);
        if policy.grants.iter().any(covers) {
            return Err(Error::Unconfined {
                said: denial.origin.flag(),
                path: path.clone(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_supervisor_a_run_that_may_change_such_a_program_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::profile("workspace").unwrap().root(root.path());
        let policy = sandbox.policy_of_any_command().unwrap();
        let refused = |path: &Path| refuse_changeable(&policy, &[guarded(path, Origin::Flag("on_violation".into()))]);
        assert!(refused(Path::new("/usr/bin/notify-send")).is_ok());
        let inside = std::fs::canonicalize(root.path()).unwrap().join("hook");
        let error = refused(&inside).unwrap_err();
        assert!(
            matches!(&error, Error::Unconfined { path, .. } if *path == inside),
            "{error}"
        );
        assert!(error.hint().unwrap().contains("leave `on_violation` away"));
    }
}
