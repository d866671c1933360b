//! What the user set on the server's command line. No call changes it.

use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use stockade_policy::profile::is_within;

/// The agent that all runs act for.
pub const AGENT: &str = "mcp";

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The root of all runs, its real path.
    pub root: PathBuf,
    /// That directory: a run may lead its name elsewhere.
    pub root_directory: Arc<OwnedFd>,
    /// Whether the user named it; else it is the directory that the server was started in.
    pub is_root_named: bool,
    /// The profiles that a call may name.
    pub profiles: Profiles,
    /// The trees where runs under any of them write, the root among them: what lies there is the client's.
    pub written: Vec<PathBuf>,
    /// Who answers the questions of runs.
    pub ask: Asked,
    /// How long a question stays open.
    pub ask_timeout: Duration,
    /// The longest that a run may take.
    pub time_limit: Duration,
    /// The most calls that run something at once.
    pub parallel: usize,
    /// The program to start for each call: this program.
    pub program: PathBuf,
}

/// Who answers the questions of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// The person at the client, where it offers elicitation; else as `--ask auto` says.
    Client,
    /// As this value of `--ask` says.
    Elsewhere(String),
}

/// A profile that a call may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The name for clients.
    pub name: String,
    /// The word for `--profile`.
    pub argument: String,
    /// One sentence about it.
    pub description: String,
    /// The profiles that it extends, nearest first.
    pub extends: Vec<String>,
    /// The files that it was read from. No run may change one.
    pub files: Vec<PathBuf>,
    /// Its hash, where it was read from files: a run that finds another profile there is refused.
    pub digest: Option<String>,
}

/// The profiles that a call may name: those within the ceiling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profiles {
    offered: Vec<Profile>,
    /// The profile of a call that names none.
    default: usize,
    ceiling: String,
}

/// The choice of profiles can't be served.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ProfilesError {
    /// The widest profile.
    #[error("a server never offers the profile `trusted`")]
    Trusted,
    /// The same under another name.
    #[error("the profile `{0}` extends `trusted`, which a server never offers")]
    ExtendsTrusted(String),
    /// The default is wider than the ceiling.
    #[error("the profile `{profile}` isn't within the ceiling `{ceiling}`: it grants more")]
    Beyond {
        /// The default.
        profile: String,
        /// The ceiling.
        ceiling: String,
        /// What it grants beyond that, in a line each.
        grants: Vec<String>,
    },
}

/// The profile that no server offers.
const TRUSTED: &str = "trusted";

impl Profile {
    /// Refuses `trusted` by whatever name.
    fn refuse_trusted(&self) -> Result<(), ProfilesError> {
        if self.name == TRUSTED || self.argument == TRUSTED {
            return Err(ProfilesError::Trusted);
        }
        match self.extends.iter().any(|name| name == TRUSTED) {
            true => Err(ProfilesError::ExtendsTrusted(self.name.clone())),
            false => Ok(()),
        }
    }
}

impl Profiles {
    /// Of the shipped profiles, narrowest first, those within the ceiling. `default` is the ceiling where nothing is said; both may
    /// be profiles of the user's own, of which `beyond` says what the first grants and the second doesn't.
    ///
    /// # Errors
    /// One of them is `trusted`, or the default isn't within the ceiling.
    pub fn within(
        ceiling: Profile,
        default: Option<Profile>,
        shipped: impl IntoIterator<Item = Profile>,
        beyond: impl FnOnce(&Profile, &Profile) -> Vec<String>,
    ) -> Result<Profiles, ProfilesError> {
        let default = default.unwrap_or_else(|| ceiling.clone());
        for profile in [&ceiling, &default] {
            profile.refuse_trusted()?;
        }
        let grants = match is_within(&default.argument, &ceiling.argument) {
            true => Vec::new(),
            false => beyond(&default, &ceiling),
        };
        if !grants.is_empty() {
            return Err(ProfilesError::Beyond {
                profile: default.name,
                ceiling: ceiling.name,
                grants,
            });
        }
        let mut offered: Vec<Profile> = shipped
            .into_iter()
            .filter(|profile| profile.name != TRUSTED && is_within(&profile.argument, &ceiling.argument))
            .collect();
        for own in [&default, &ceiling] {
            if !offered.iter().any(|profile| profile.argument == own.argument) {
                offered.push(own.clone());
            }
        }
        let at = offered.iter().position(|profile| profile.argument == default.argument);
        Ok(Profiles {
            default: at.unwrap_or_default(),
            ceiling: ceiling.name,
            offered,
        })
    }

    /// The files that they were read from.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.offered
            .iter()
            .flat_map(|profile| profile.files.iter().map(PathBuf::as_path))
    }

    /// All of them.
    pub fn offered(&self) -> &[Profile] {
        &self.offered
    }

    /// The one of a call that names none.
    pub fn default(&self) -> &Profile {
        &self.offered[self.default]
    }

    /// The name of the widest.
    pub fn ceiling(&self) -> &str {
        &self.ceiling
    }

    /// The one of this name, if a call may name it.
    pub fn named(&self, name: &str) -> Option<&Profile> {
        self.offered.iter().find(|profile| profile.name == name)
    }
}

impl Settings {
    /// A directory that a call names, if it is there and within the root.
    pub fn within_root(&self, directory: &str) -> Option<PathBuf> {
        let real = std::fs::canonicalize(self.root.join(directory)).ok()?;
        (real.starts_with(&self.root) && real.is_dir()).then_some(real)
    }
}

/// A path without `.` and `..`, from the root on; `None` where it has `..`.
pub fn plain(path: &str, root: &Path) -> Option<PathBuf> {
    let whole = root.join(path);
    let is_plain = whole.components().all(|part| !matches!(part, Component::ParentDir));
    is_plain.then(|| whole.components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(name: &str) -> Profile {
        Profile {
            name: name.into(),
            argument: name.into(),
            description: String::new(),
            extends: Vec::new(),
            files: Vec::new(),
            digest: None,
        }
    }

    fn shipped() -> Vec<Profile> {
        stockade_policy::profile::SHIPPED
            .iter()
            .map(|(name, _)| profile(name))
            .collect()
    }

    fn more(_: &Profile, _: &Profile) -> Vec<String> {
        vec!["read  /etc".into()]
    }

    fn names(profiles: &Profiles) -> Vec<&str> {
        profiles.offered().iter().map(|profile| profile.name.as_str()).collect()
    }

    #[test]
    fn a_call_names_a_profile_within_the_ceiling_and_never_trusted() {
        let profiles = Profiles::within(profile("workspace"), None, shipped(), more).unwrap();
        assert_eq!(names(&profiles), ["minimal", "readonly", "filesystem", "workspace"]);
        assert_eq!(profiles.default().name, "workspace");
        for name in ["trusted", "mcp-standard", "network-api", "./own.toml", "", "Workspace"] {
            assert_eq!(profiles.named(name), None, "{name}");
        }
        let trusted = Profiles::within(profile("trusted"), None, shipped(), more);
        assert_eq!(trusted, Err(ProfilesError::Trusted));
    }

    #[test]
    fn a_profile_that_extends_trusted_is_none_to_offer() {
        let own = Profile {
            argument: "/etc/own.toml".into(),
            extends: vec!["base".into(), "trusted".into()],
            ..profile("own")
        };
        let refused = Err(ProfilesError::ExtendsTrusted("own".into()));
        assert_eq!(Profiles::within(own.clone(), None, shipped(), more), refused);
        assert_eq!(Profiles::within(own.clone(), Some(own), shipped(), more), refused);
    }

    #[test]
    fn the_default_is_within_the_ceiling() {
        let profiles = Profiles::within(profile("filesystem"), Some(profile("minimal")), shipped(), more).unwrap();
        assert_eq!(profiles.default().name, "minimal");
        assert!(Profiles::within(profile("minimal"), Some(profile("readonly")), shipped(), more).is_err());
    }

    #[test]
    fn of_the_others_an_own_ceiling_offers_only_the_narrowest() {
        let own = Profile {
            argument: "/etc/own.toml".into(),
            ..profile("own")
        };
        let profiles = Profiles::within(own, None, shipped(), more).unwrap();
        assert_eq!(names(&profiles), ["minimal", "own"]);
        assert_eq!(profiles.named("own").unwrap().argument, "/etc/own.toml");
    }

    #[test]
    fn a_path_that_climbs_is_no_plain_one() {
        let root = Path::new("/r");
        assert_eq!(plain("a/./b", root), Some("/r/a/b".into()));
        assert_eq!(plain("/etc/hosts", root), Some("/etc/hosts".into()));
        assert_eq!(plain("a/../../b", root), None);
    }
}
