//! What can be wrong with the list of trusted configurations.

use std::io;
use std::path::PathBuf;

use stockade::config::ConfigurationError;
use stockade::profile::visible;

/// Why a configuration couldn't be trusted, or a rule not be remembered.
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
