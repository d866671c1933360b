//! Errors of configurations.

use std::io;
use std::path::PathBuf;

use crate::profile::{DocumentFault, ProfileError, visible};

/// The reason that a configuration can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    /// The file can't be read.
    #[error("can't read the configuration `{}`", shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A project's file, or its directory, is a link, or of the wrong type.
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
    /// The suggested remedy, if the message doesn't contain it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ConfigurationError::Linked { .. } => {
                Some("a project's configuration is a file of its own: links could lead out of the project")
            }
            ConfigurationError::Unreadable { .. } | ConfigurationError::Faults(_) => None,
        }
    }

    /// The faults of a document.
    #[must_use]
    pub fn faults(faults: Vec<DocumentFault>) -> ConfigurationError {
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

fn shown(path: &std::path::Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}
