//! What can be wrong with configurations, and with the list of those that are trusted.

use std::io;
use std::path::PathBuf;

use crate::profile::{Fault, ProfileError, visible};

/// Why a configuration can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    /// The file can't be read.
    #[error("can't read the configuration `{}`", shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A project's file, or its directory, is a link, or of a kind that it can't be.
    #[error(
        "can't read the configuration `{}`: it is a symbolic link, or no file in a directory",
        shown(path)
    )]
    Linked {
        /// The file or directory.
        path: PathBuf,
    },
    /// The document has faults: all of them, in the order of the text.
    #[error(transparent)]
    Faults(ProfileError),
}

impl ConfigurationError {
    /// What a person can do about it, where the message itself doesn't say.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ConfigurationError::Linked { .. } => {
                Some("a project's configuration is a file of its own: links could lead out of the project")
            }
            ConfigurationError::Unreadable { .. } | ConfigurationError::Faults(_) => None,
        }
    }

    pub(super) fn faults(faults: Vec<Fault>) -> ConfigurationError {
        ConfigurationError::Faults(ProfileError::Faults(faults))
    }
}

impl From<ProfileError> for ConfigurationError {
    fn from(error: ProfileError) -> ConfigurationError {
        match error {
            ProfileError::Unreadable { path, source } => ConfigurationError::Unreadable { path, source },
            other => ConfigurationError::Faults(other),
        }
    }
}

/// Why a configuration couldn't be trusted, or a rule not be remembered.
#[cfg(feature = "judge")]
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no state directory: neither `$XDG_STATE_HOME` nor a home.
    #[error("there is no state directory, where what is trusted would be kept")]
    Stateless,
    /// A directory or file of the state can't be used.
    #[error("can't use `{}`", shown(path))]
    State {
        /// The directory or file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The list of what is trusted isn't as it was written.
    #[error("the list of trusted configurations, `{}`, is damaged: {why}", shown(path))]
    Damaged {
        /// The list.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A rule was to be written into a file that isn't trusted.
    #[error("`{}` isn't trusted, so no rule is written into it", shown(path))]
    Untrusted {
        /// The project's configuration.
        path: PathBuf,
    },
    /// The project's configuration can't be written.
    #[error("can't write `{}`", shown(path))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The project's configuration can't be used.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
}

#[cfg(feature = "judge")]
impl TrustError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            TrustError::Stateless => Some("set `XDG_STATE_HOME` or `HOME` to a directory of yours"),
            TrustError::State { .. } => Some(
                "it must be yours alone and no symbolic link; inside a run it is closed, and nothing can be trusted",
            ),
            TrustError::Damaged { .. } => Some("move it away, and trust again what you trust"),
            TrustError::Untrusted { .. } => Some("`stockade trust` shows what it would allow, and trusts it"),
            TrustError::Unwritable { .. } => None,
            TrustError::Configuration(error) => error.hint(),
        }
    }
}

fn shown(path: &std::path::Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}
